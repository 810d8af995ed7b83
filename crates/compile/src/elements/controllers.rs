//! Controllers.

use super::descriptor::Descriptor;

/// The kinds of controllers, by what they do with their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControllerClass {
    /// Runs them in order.
    Simple,
    /// Repeats them.
    Loop,
    /// Runs them if a condition holds.
    If,
    /// Repeats them while a condition holds.
    While,
    /// Runs them for each variable of a series.
    ForEach,
    /// Runs them in a user's first pass only.
    OnceOnly,
    /// Runs the next one in each pass.
    Interleave,
    /// Runs one at random in each pass.
    Random,
    /// Runs all in random order.
    RandomOrder,
    /// Runs the child that a text selects.
    Switch,
    /// Repeats them for a time.
    Runtime,
    /// Runs a controller from elsewhere in the plan; a copy of it is its only child.
    Module,
    /// Runs the fragment of another file; copies of its elements are its children.
    Include,
    /// Runs them while no other user runs a section with the same name.
    CriticalSection,
    /// Sets variables and runs them.
    Parameterized,
    /// Runs one child in each pass, selected by weight.
    WeightedSwitch,
    /// Runs them in a share or a number of passes.
    Throughput,
    /// Measures them as one sample.
    Transaction,
}

/// The controllers.
pub(crate) const ELEMENTS: &[Descriptor<ControllerClass>] = &[
    Descriptor::new("LoopController", "Loop Controller", ControllerClass::Loop)
        .numbers(&["LoopController.loops"])
        .properties(&["LoopController.continue_forever"]),
    Descriptor::new("GenericController", "Simple Controller", ControllerClass::Simple),
    Descriptor::new("RecordingController", "Recording Controller", ControllerClass::Simple),
    Descriptor::new("IfController", "If Controller", ControllerClass::If)
        .note("JavaScript conditions run in QuickJS, without Java")
        .properties(&["IfController.condition", "IfController.evaluateAll", "IfController.useExpression"]),
    Descriptor::new("WhileController", "While Controller", ControllerClass::While)
        .properties(&["WhileController.condition"]),
    Descriptor::new("ForeachController", "ForEach Controller", ControllerClass::ForEach).properties(&[
        "ForeachController.endIndex",
        "ForeachController.inputVal",
        "ForeachController.returnVal",
        "ForeachController.startIndex",
        "ForeachController.useSeparator",
    ]),
    Descriptor::new("OnceOnlyController", "Once Only Controller", ControllerClass::OnceOnly),
    Descriptor::new("InterleaveControl", "Interleave Controller", ControllerClass::Interleave)
        .properties(&["InterleaveControl.accrossThreads", "InterleaveControl.style"]),
    Descriptor::new("RandomController", "Random Controller", ControllerClass::Random),
    Descriptor::new("RandomOrderController", "Random Order Controller", ControllerClass::RandomOrder),
    Descriptor::new("SwitchController", "Switch Controller", ControllerClass::Switch)
        .properties(&["SwitchController.value"]),
    Descriptor::new("RunTime", "Runtime Controller", ControllerClass::Runtime)
        .properties(&["RunTime.seconds"]),
    Descriptor::new("ModuleController", "Module Controller", ControllerClass::Module)
        .properties(&["ModuleController.node_path"]),
    Descriptor::new("IncludeController", "Include Controller", ControllerClass::Include)
        .properties(&["IncludeController.includepath"]),
    Descriptor::new(
        "CriticalSectionController",
        "Critical Section Controller",
        ControllerClass::CriticalSection,
    )
    .note("users enter in the order of their arrival")
    .properties(&["CriticalSectionController.lockName"]),
    Descriptor::new(
        "kg.apc.jmeter.control.ParameterizedController",
        "Parameterized Controller (jmeter-plugins)",
        ControllerClass::Parameterized,
    ),
    Descriptor::new(
        "com.blazemeter.jmeter.control.WeightedSwitchController",
        "Weighted Switch Controller (BlazeMeter)",
        ControllerClass::WeightedSwitch,
    ),
    Descriptor::new("ThroughputController", "Throughput Controller", ControllerClass::Throughput)
        .numbers(&["ThroughputController.maxThroughput", "ThroughputController.percentThroughput"])
        .properties(&["ThroughputController.perThread", "ThroughputController.style"]),
    Descriptor::new("TransactionController", "Transaction Controller", ControllerClass::Transaction)
        .properties(&["TransactionController.includeTimers", "TransactionController.parent"]),
];
