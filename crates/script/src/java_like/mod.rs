//! The plain subset of Groovy and BeanShell: arithmetic, comparison, texts, variables, a few classes of the JDK.

use crate::{Place, Scope, ScriptError, Value};

/// Which of the two languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// BeanShell 2.0b6 (`__BeanShell`, BeanShell elements).
    BeanShell,
    /// Groovy 3.0 (`__groovy`, JSR223 elements).
    Groovy,
}

/// A parsed script.
#[derive(Debug, Clone)]
pub struct Script {
    _language: Language,
}

/// Parses a script.
///
/// # Errors
/// [`ScriptError::Syntax`] for what is neither, [`ScriptError::Unsupported`] for what may behave otherwise here.
pub fn compile(text: &str, language: Language) -> Result<Script, ScriptError> {
    let _ = (text, language);
    Err(ScriptError::Unsupported { what: "this script".into(), place: Place { line: 1, column: 1 } })
}

impl Script {
    /// Runs the script; its value is that of the last statement.
    ///
    /// # Errors
    /// [`ScriptError::Evaluation`] where JMeter would log an error and use an empty text as the result.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
        let _ = scope;
        Ok(Value::Null)
    }
}
