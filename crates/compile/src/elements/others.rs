//! Elements that are neither samplers nor around any, and plugins' listeners, which are known by their names.

use super::descriptor::Descriptor;
use super::listeners::ResultFileClass;

/// Class of the test plan, which is the root of its file.
pub(crate) const TEST_PLAN: &str = "TestPlan";

/// Class of the workbench of old plans, a sibling of the test plan.
pub(crate) const WORK_BENCH: &str = "WorkBench";

/// The elements of the other kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherClass {
    /// A fragment, which runs only where a Module or Include Controller refers to it.
    Fragment,
    /// A listener that sends metrics elsewhere.
    BackendListener,
    /// It has no effect in a run; why, as the end of a sentence.
    Inert(&'static str),
}

const NO_WINDOW: OtherClass = OtherClass::Inert("has no part in a run without a window");

/// These elements. None has a row in the table.
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
        "ConfigTestElement",
        "Config Element",
        OtherClass::Inert("is for other protocols and has no effect here"),
    )
    .unlisted()
    .numbers(super::samplers::HTTP_NUMBERS),
    Descriptor::new(WORK_BENCH, "WorkBench", NO_WINDOW).unlisted(),
    Descriptor::new("ProxyControl", "HTTP(S) Test Script Recorder", NO_WINDOW).unlisted(),
    Descriptor::new("HttpMirrorControl", "HTTP Mirror Server", NO_WINDOW).unlisted(),
    Descriptor::new("PropertyControl", "Property Display", NO_WINDOW).unlisted(),
    Descriptor::new("PropertyDisplay", "Property Display", NO_WINDOW).unlisted(),
    Descriptor::new(
        "Summariser",
        "Generate Summary Results",
        OtherClass::Inert("is left out: every run prints its summary lines"),
    )
    .unlisted(),
];

/// What the name of a class without a descriptor shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedLike {
    /// A listener that writes result files as JMeter's own do.
    ResultFile(ResultFileClass),
    /// A listener that only shows, sends or writes something.
    DisplayListener,
}

/// Ends of the names of listeners' classes.
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

/// Packages of listeners.
const LISTENER_PACKAGES: [&str; 2] = [".vizualizers.", ".visualizers."];

/// What the name of a class shows, if anything. Listeners of plugins are many, and a run without them loses nothing but
/// what they show.
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
