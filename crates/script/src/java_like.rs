//! Groovy and BeanShell: the parts of the languages that the scripts of JMeter plans use.

pub use crate::decimal::Decimal;
pub use crate::language::JavaLike;

use crate::jvm;
use crate::{Binding, Identifiers, Memory, Scope, ScriptError, Value, Warning};

/// A parsed script. Clones share the parsed form.
#[derive(Debug, Clone)]
pub struct Script {
    script: jvm::Script,
}

/// Parses a script.
///
/// # Errors
/// [`ScriptError::Syntax`] for invalid syntax, [`ScriptError::Unsupported`] for constructs that may behave differently here.
pub fn compile(text: &str, language: JavaLike) -> Result<Script, ScriptError> {
    Ok(Script { script: jvm::compile(text, language.into())? })
}

/// Whether JMeter's parser certainly also rejects a text for which [`compile`] returned a syntax error. This crate does not
/// implement all of Groovy's grammar, so it may reject other texts that are valid.
#[must_use]
pub fn is_certainly_invalid(text: &str, language: JavaLike) -> bool {
    jvm::is_certainly_invalid(text, language)
}

impl Script {
    /// Errors that JMeter reports only when the script runs.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.script.warnings()
    }

    /// Whether the script may read more of the current sampler than its name.
    #[must_use]
    pub fn accesses_request(&self) -> bool {
        self.script.accesses_request()
    }

    /// The names that the script refers to.
    #[must_use]
    pub fn identifiers(&self) -> Identifiers {
        self.script.identifiers()
    }

    /// Runs the script as JMeter's functions do and returns the value of the last statement.
    ///
    /// # Errors
    /// [`ScriptError::Evaluation`] if JMeter would log an error and use an empty text as the result.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
        let thread_name = Binding::Value(Value::text(scope.thread_name()));
        let result = || if scope.sample().is_some() { Binding::Sample } else { Binding::Value(Value::Null) };
        let bindings = [
            ("threadName", thread_name),
            ("prev", result()),
            ("SampleResult", result()),
            ("sampler", Binding::Sampler),
            ("OUT", Binding::Out),
        ];
        Ok(self.run(scope, &bindings, &[], None)?.0)
    }

    /// Runs the script with the names in `bindings` bound in addition to `vars`, `props`, `log` and `ctx`. Returns its value
    /// and the final values of the names in `back`. `memory` holds the variables of a BeanShell interpreter between runs.
    ///
    /// # Errors
    /// As for [`Script::evaluate`].
    pub fn run(
        &self,
        scope: &mut dyn Scope,
        bindings: &[(&str, Binding)],
        back: &[&str],
        memory: Option<&mut Memory>,
    ) -> Result<(Value, Vec<Value>), ScriptError> {
        self.script.run(scope, bindings, back, memory)
    }
}
