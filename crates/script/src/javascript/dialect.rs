//! The engines that scripts are written for, and the objects that they see.

/// The JavaScript engine of JMeter for which a script is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Imitated {
    /// Rhino 1.7.14: `__javaScript`, conditions, BSF elements.
    Rhino,
    /// Nashorn: JSR223 elements.
    Nashorn,
}

/// The objects of JMeter that a script can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Sight {
    /// A condition: nothing.
    Nothing,
    /// `__javaScript`
    Function,
    /// An element.
    Element,
}

impl Sight {
    /// The names that are bound when the script starts.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Sight::Nothing => &[],
            Sight::Function => &["vars", "props", "log", "ctx", "sampleResult", "threadName"],
            Sight::Element => &[
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
