//! The plan and the environment of a run, for scripts.

/// The file of the plan, environment variables, and texts with `${…}`.
///
/// Files and environment do not change during a run. [`evaluate_text`](Self::evaluate_text) may call functions of JMeter, including other
/// scripts of the same user, which see and change the same variables and results. [`Scope`](crate::Scope) has an example.
pub trait ScriptPlan {
    /// The absolute path of the plan's folder; empty if there is no plan.
    fn plan_directory(&self) -> String {
        String::new()
    }
    /// File name of the plan, without its folder; empty if there is no plan.
    fn plan_file(&self) -> String {
        String::new()
    }
    /// An environment variable.
    fn environment(&self, _name: &str) -> Option<String> {
        None
    }
    /// Evaluates the variables and functions (`${…}`) in a text. As in JMeter, this does not fail: functions log their
    /// errors, and unknown references remain in the text.
    fn evaluate_text(&mut self, text: &str) -> String {
        text.to_owned()
    }
}
