//! JavaScript, as in `${__javaScript(…)}`, in conditions of the If Controller, and in JSR223 and BSF elements.
//!
//! JMeter uses Rhino with its default language version, an older JavaScript with access to Java objects. JSR223 elements use
//! the engine that the Java virtual machine provides, which was Nashorn up to Java 14. This crate runs the scripts with
//! QuickJS. A construct that either JMeter's engine or QuickJS does not support is rejected by [`compile`] or fails with an
//! error at run time.

mod dialect;
mod engine;
mod host;
mod screen;

use std::sync::Arc;

use crate::jvm::bridge::{self, BridgeValue};
use crate::{Binding, Identifiers, Scope, ScriptError, TextPlace, Value};
use dialect::BoundNames;
pub use dialect::ImitatedEngine;
use engine::{Key, RunError, ScriptValue};
use screen::Word;

/// A parsed script. Clones share the parsed form.
#[derive(Debug, Clone)]
pub struct Script {
    text: Arc<str>,
    is_expression: bool,
    imitated: ImitatedEngine,
    is_element: bool,
    uses_random_or_clock: bool,
}

fn script_error(error: RunError) -> ScriptError {
    match error {
        RunError::Thrown { message, line } => {
            ScriptError::Evaluation { message, place: TextPlace { line: line.max(1), column: 1 } }
        }
        RunError::Limit | RunError::Null => {
            ScriptError::LimitReached { limit: "about a second of work or 64 MiB of memory".into() }
        }
        RunError::EngineUnavailable(message) => {
            ScriptError::Evaluation { message, place: TextPlace { line: 1, column: 1 } }
        }
    }
}

/// Parses a script of `__javaScript` or a condition.
///
/// # Errors
/// [`ScriptError::Syntax`] for invalid syntax, [`ScriptError::Unsupported`] for constructs that need a Java virtual machine.
pub fn compile(text: &str) -> Result<Script, ScriptError> {
    parse(text, ImitatedEngine::Rhino, false)
}

/// Parses the script of an element.
///
/// # Errors
/// As for [`compile`].
pub fn compile_element(text: &str, imitated: ImitatedEngine) -> Result<Script, ScriptError> {
    parse(text, imitated, true)
}

fn parse(text: &str, imitated: ImitatedEngine, is_element: bool) -> Result<Script, ScriptError> {
    let screened = screen::screen(text, imitated, is_element, &mut |_| {})?;
    let text = screened.text;
    engine::parses(&text, false).map_err(|error| match error {
        RunError::Thrown { message, line } => {
            ScriptError::Syntax { message, place: TextPlace { line: line.max(1), column: 1 } }
        }
        other => script_error(other),
    })?;
    let is_statement = text.trim_start().starts_with('{') || text.trim_start().starts_with("function");
    let is_expression = !is_statement && engine::parses(&text, true).is_ok();
    Ok(Script {
        text: text.into(),
        is_expression,
        imitated,
        is_element,
        uses_random_or_clock: screened.draws_random || screened.reads_clock,
    })
}

impl Script {
    /// The names that the script refers to.
    #[must_use]
    pub fn identifiers(&self) -> Identifiers {
        let mut found = Identifiers::default();
        let mut visit = |word: Word<'_>| match word {
            Word::Name(name) => found.add(name),
            Word::Literal(text) => found.add_literal(text),
        };
        // `compile` has checked the script, so an error cannot occur here.
        let _ = screen::screen(&self.text, self.imitated, self.is_element, &mut visit);
        found
    }

    fn key(&self, bound_names: BoundNames) -> Key {
        Key {
            text: self.text.clone(),
            is_expression: self.is_expression,
            imitated: self.imitated,
            bound_names,
        }
    }

    /// Runs the script with the bindings of `__javaScript`: `vars`, `props`, `log`, `ctx`, `threadName`, `sampleResult`.
    /// Returns the value of the last expression statement, converted to a string as Rhino does, also for `undefined` and
    /// `null`.
    ///
    /// # Errors
    /// [`ScriptError::Evaluation`] if the script throws, [`ScriptError::LimitReached`] if it takes too long.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
        let [vars, props, log, context, sample] = bridge::FUNCTION_HOSTS.map(BridgeValue::Object);
        let sample = if scope.sample().is_some() { sample } else { BridgeValue::Null };
        let given = vec![vars, props, log, context, sample, BridgeValue::Text(scope.thread_name())];
        let (outcome, _) = host::run_in_scope(scope, || engine::run(&self.key(BoundNames::Function), given));
        match outcome.map_err(script_error)? {
            ScriptValue::Text(text) => Ok(Value::Text(text.into())),
            ScriptValue::Null | ScriptValue::Undefined => Ok(Value::Null),
        }
    }

    /// Runs the script of an element, with the names in `bindings` bound in addition to `vars`, `props`, `log` and `ctx`.
    /// Returns a text or null. If the result of the script is JavaScript's `undefined`, returns the argument `undefined`.
    ///
    /// # Errors
    /// As for [`Script::evaluate`], and [`ScriptError::Unsupported`] if the script used an operation that needs Java, even
    /// if the script caught the error.
    pub fn run(
        &self,
        scope: &mut dyn Scope,
        bindings: &[(&str, Binding)],
        undefined: Value,
    ) -> Result<Value, ScriptError> {
        debug_assert!(self.is_element, "the script was compiled as another kind of script");
        let key = self.key(BoundNames::Element);
        let (outcome, refused) = host::run_in_scope(scope, || {
            let given = BoundNames::Element.names().iter().enumerate().map(|(at, name)| {
                // The first four names are bound for every script.
                if let Some(host) = bridge::FUNCTION_HOSTS[..4].get(at) {
                    return BridgeValue::Object(*host);
                }
                let found = bindings.iter().find(|(known, _)| known == name);
                found.map_or(BridgeValue::Absent, |(_, binding)| host::pass_binding(binding))
            });
            engine::run(&key, given.collect())
        });
        if let Some(what) = refused {
            return Err(ScriptError::Unsupported { what, place: TextPlace { line: 1, column: 1 } });
        }
        Ok(match outcome.map_err(script_error)? {
            ScriptValue::Text(text) => Value::Text(text.into()),
            ScriptValue::Null => Value::Null,
            ScriptValue::Undefined => undefined,
        })
    }

    /// Runs the script as the condition of an If Controller. No names are bound, and the result converted to a string must
    /// be `true` or `false`.
    ///
    /// # Errors
    /// As for [`Script::evaluate`]; any other result is an [`ScriptError::Evaluation`], which JMeter logs and treats as
    /// `false`.
    pub fn evaluate_condition(&self) -> Result<bool, ScriptError> {
        if self.uses_random_or_clock {
            return Err(ScriptError::Unsupported {
                what: "the clock or a random number in a condition".into(),
                place: TextPlace { line: 1, column: 1 },
            });
        }
        let value = engine::run(&self.key(BoundNames::Nothing), Vec::new()).map_err(script_error)?;
        match value {
            ScriptValue::Text(text) if text == "true" => Ok(true),
            ScriptValue::Text(text) if text == "false" => Ok(false),
            other => Err(ScriptError::Evaluation {
                message: match other {
                    ScriptValue::Text(text) => {
                        format!("the condition is `{text}`, neither `true` nor `false`")
                    }
                    ScriptValue::Null | ScriptValue::Undefined => "the condition has no value".into(),
                },
                place: TextPlace { line: 1, column: 1 },
            }),
        }
    }
}
