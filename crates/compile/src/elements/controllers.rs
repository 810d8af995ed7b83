//! Controllers.

use super::descriptor::Descriptor;

/// The kinds of controllers, by the way in which they execute their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControllerClass {
    /// Runs all children in order.
    Simple,
    /// Repeats all children.
    Loop,
    /// Runs the children if a condition is true.
    If,
    /// Repeats the children while a condition is true.
    While,
    /// Runs the children for each variable of a series.
    ForEach,
    /// Runs the children in a user's first pass only.
    OnceOnly,
    /// Runs the next child in each pass.
    Interleave,
    /// Runs one child, chosen at random, in each pass.
    Random,
    /// Runs all children in random order.
    RandomOrder,
    /// Runs the child that a text selects.
    Switch,
    /// Repeats the children for a period of time.
    Runtime,
    /// Runs a controller from elsewhere in the plan. A copy of that controller is its only child.
    Module,
    /// Runs the fragment of another file. Copies of the fragment's elements are its children.
    Include,
    /// Runs the children while no other user runs a section with the same name.
    CriticalSection,
    /// Sets variables, then runs the children.
    Parameterized,
    /// Runs one child in each pass, selected by weight.
    WeightedSwitch,
    /// Runs the children in a fraction or a number of its passes.
    Throughput,
    /// Measures the children as one sample.
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
