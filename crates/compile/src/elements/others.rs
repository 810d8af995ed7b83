//! Elements that do not affect samplers, and listeners of plugins, which are recognized by their class names.

use super::descriptor::Descriptor;
use super::listeners::ResultFileClass;

/// The class of the test plan, which is the root of its file.
pub(crate) const TEST_PLAN: &str = "TestPlan";

/// The class of the workbench of old plans, a sibling of the test plan.
pub(crate) const WORK_BENCH: &str = "WorkBench";

/// The elements of the other kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherClass {
    /// A fragment, which runs only where a Module or Include Controller refers to it.
    Fragment,
    /// A listener that sends metrics elsewhere.
    BackendListener,
    /// A listener that fetches values from agents on the machines of the system under test.
    PerfMonCollector,
    /// An element without effect in a run. The text is the reason, as the end of a sentence.
    Inert(&'static str),
}

const GUI_ONLY: OtherClass = OtherClass::Inert("has no effect in a run without a GUI");

/// The elements of the other kinds. Only the PerfMon Metrics Collector has a row in the table.
pub(crate) const ELEMENTS: &[Descriptor<OtherClass>] = &[
    Descriptor::new(TEST_PLAN, "Test Plan", OtherClass::Inert("is in a place where no test plan is allowed"))
        .unlisted()
        .properties(&[
            "TestPlan.comments",
            "TestPlan.functional_mode",
            "TestPlan.serialize_threadgroups",
            "TestPlan.tearDown_on_shutdown",
            "TestPlan.thread_groups",
            "TestPlan.user_define_classpath",
            "TestPlan.user_defined_variables",
        ]),
    Descriptor::new("TestFragmentController", "Test Fragment", OtherClass::Fragment).unlisted(),
    Descriptor::new("BackendListener", "Backend Listener", OtherClass::BackendListener).unlisted(),
    Descriptor::new(
        "kg.apc.jmeter.perfmon.PerfMonCollector",
        "PerfMon Metrics Collector (jmeter-plugins)",
        OtherClass::PerfMonCollector,
    )
    .note("by TCP only; `busyhour observe --serve --perfmon 4444` replaces the agent; connects again when an agent returns"),
    Descriptor::new(
        "ConfigTestElement",
        "Config Element",
        OtherClass::Inert("is for other protocols and has no effect here"),
    )
    .unlisted()
    .numbers(super::samplers::HTTP_NUMBERS),
    Descriptor::new(WORK_BENCH, "WorkBench", GUI_ONLY).unlisted(),
    Descriptor::new("ProxyControl", "HTTP(S) Test Script Recorder", GUI_ONLY).unlisted(),
    Descriptor::new("HttpMirrorControl", "HTTP Mirror Server", GUI_ONLY).unlisted(),
    Descriptor::new("PropertyControl", "Property Display", GUI_ONLY).unlisted(),
    Descriptor::new("PropertyDisplay", "Property Display", GUI_ONLY).unlisted(),
    Descriptor::new(
        "Summariser",
        "Generate Summary Results",
        OtherClass::Inert("is left out: every run prints its summary lines"),
    )
    .unlisted(),
];

/// The kind of listener that the name of a class without a descriptor indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedLike {
    /// A listener that writes result files like JMeter's own.
    ResultFile(ResultFileClass),
    /// A listener that only displays, sends or writes something.
    DisplayListener,
}

/// Suffixes of the class names of listeners.
const LISTENER_ENDS: [&str; 10] = [
    "Listener",
    "Visualizer",
    "Visualiser",
    "Reporter",
    "ResultSaver",
    "Monitor",
    "Collector",
    "FileWriter",
    "Uploader",
    "StatusLogger",
];

/// Parts of the class names of listeners: names of their packages.
const LISTENER_PACKAGES: [&str; 2] = [".vizualizers.", ".visualizers."];

/// The kind of listener that a class name indicates, if any. There are many listeners of plugins, and a run without
/// them loses only their output.
pub(crate) fn named_like(class: &str) -> Option<NamedLike> {
    if class.ends_with("ResultCollector") {
        let is_plugin = class.starts_with("kg.apc.");
        let class = if is_plugin { ResultFileClass::PluginCollector } else { ResultFileClass::Collector };
        return Some(NamedLike::ResultFile(class));
    }
    let is_listener = LISTENER_ENDS.iter().any(|end| class.ends_with(end))
        || LISTENER_PACKAGES.iter().any(|package| class.contains(package));
    is_listener.then_some(NamedLike::DisplayListener)
}
