//! The properties of scripted elements.

use busyhour_processors::Family;

/// The kind of a scripted element, and the names of its properties.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScriptSource {
    /// The kind of scripted element: JSR223, BSF or BeanShell.
    pub(crate) family: Family,
    /// The property with the text of the script.
    pub(crate) script: &'static str,
    /// The property with the parameters of the script.
    pub(crate) parameters: &'static str,
    /// The property with the name of the file that contains the script instead.
    pub(crate) filename: &'static str,
    /// The property that makes the interpreter discard its variables before each run.
    pub(crate) resets: &'static str,
}

impl ScriptSource {
    /// Whether JMeter evaluates the properties once when the test starts. It does so for test beans that are notified of the
    /// start.
    pub(crate) fn is_evaluated_at_start(&self) -> bool {
        match self.family {
            Family::Jsr223 => true,
            // The sampler and the assertion are not test beans.
            Family::BeanShell => self.script == BEANSHELL.script,
            Family::Bsf => false,
        }
    }
}

const fn plain(family: Family) -> ScriptSource {
    ScriptSource {
        family,
        script: "script",
        parameters: "parameters",
        filename: "filename",
        resets: "resetInterpreter",
    }
}

/// JSR223 elements.
pub(crate) static JSR223: ScriptSource = plain(Family::Jsr223);

/// BSF elements.
pub(crate) static BSF: ScriptSource = plain(Family::Bsf);

/// BeanShell elements except the sampler and the assertion.
pub(crate) static BEANSHELL: ScriptSource = plain(Family::BeanShell);

/// The BeanShell Sampler.
pub(crate) static BEANSHELL_SAMPLER: ScriptSource = ScriptSource {
    family: Family::BeanShell,
    script: "BeanShellSampler.query",
    parameters: "BeanShellSampler.parameters",
    filename: "BeanShellSampler.filename",
    resets: "BeanShellSampler.resetInterpreter",
};

/// The BeanShell Assertion.
pub(crate) static BEANSHELL_ASSERTION: ScriptSource = ScriptSource {
    family: Family::BeanShell,
    script: "BeanShellAssertion.query",
    parameters: "BeanShellAssertion.parameters",
    filename: "BeanShellAssertion.filename",
    resets: "BeanShellAssertion.resetInterpreter",
};
