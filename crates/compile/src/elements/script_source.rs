//! Where scripted elements have their scripts.

use busyhour_processors::Family;

/// The kind of a scripted element, and the names of its properties.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScriptSource {
    /// Which of JMeter's three kinds of scripted elements.
    pub(crate) family: Family,
    /// The script's text.
    pub(crate) script: &'static str,
    /// What it is called with.
    pub(crate) parameters: &'static str,
    /// The file that has the script instead.
    pub(crate) filename: &'static str,
    /// Whether the interpreter forgets its variables before each run.
    pub(crate) resets: &'static str,
}

impl ScriptSource {
    /// Whether JMeter evaluates the properties once when the test starts: it prepares test beans that listen to the start.
    pub(crate) fn is_evaluated_at_start(&self) -> bool {
        match self.family {
            Family::Jsr223 => true,
            // The sampler and the assertion are no test beans.
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

/// BeanShell elements but these two.
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
