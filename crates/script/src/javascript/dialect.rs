//! The engines that scripts are written for, and the names that are bound for scripts.

/// The JavaScript engine of JMeter for which a script is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImitatedEngine {
    /// Rhino 1.7.14: `__javaScript`, conditions, BSF elements.
    Rhino,
    /// Nashorn: JSR223 elements.
    Nashorn,
}

/// The set of names that are bound when a script starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BoundNames {
    /// No names: the script is a condition.
    Nothing,
    /// The names of the function `__javaScript`.
    Function,
    /// The names of a scripted element.
    Element,
}

impl BoundNames {
    /// The names, in the order of the script function's parameters.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            BoundNames::Nothing => &[],
            BoundNames::Function => &["vars", "props", "log", "ctx", "sampleResult", "threadName"],
            BoundNames::Element => &[
                "vars",
                "props",
                "log",
                "ctx",
                "prev",
                "sampler",
                "SampleResult",
                "AssertionResult",
                "sampleEvent",
                "sampleResult",
                "args",
                "Parameters",
                "Label",
                "FileName",
                "OUT",
            ],
        }
    }
}
