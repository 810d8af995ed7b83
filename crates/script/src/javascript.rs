//! JavaScript, as in `${__javaScript(…)}`, in conditions of the If Controller, and in JSR223 and BSF elements.
//!
//! JMeter's engine is Rhino in its default version, an older language with Java's objects in it; JSR223 elements run in the
//! engine that the Java machine finds, which was Nashorn up to Java 14. Here QuickJS runs the scripts. What only one of both
//! knows is refused before it runs ([`compile`]) or ends in an error.

mod dialect;
mod engine;
mod host;
mod screen;

use std::sync::Arc;

use crate::jvm::bridge::{self, Passed};
use crate::{Binding, Identifiers, Place, Scope, ScriptError, Value};
pub use dialect::Imitated;
use dialect::Sight;
use engine::{Key, Stop, Worth};
use screen::Word;

/// A parsed script; copies share it.
#[derive(Debug, Clone)]
pub struct Script {
    text: Arc<str>,
    is_expression: bool,
    imitated: Imitated,
    is_element: bool,
    depends_on_chance_or_clock: bool,
}

fn error_of(stop: Stop) -> ScriptError {
    match stop {
        Stop::Thrown { message, line } => {
            ScriptError::Evaluation { message, place: Place { line: line.max(1), column: 1 } }
        }
        Stop::Limit | Stop::Null => {
            ScriptError::LimitReached { limit: "about a second of work or 64 MiB of memory".into() }
        }
        Stop::Broken(message) => ScriptError::Evaluation { message, place: Place { line: 1, column: 1 } },
    }
}

/// Parses a script of `__javaScript` or a condition.
///
/// # Errors
/// [`ScriptError::Syntax`] for what is no JavaScript, [`ScriptError::Unsupported`] for what needs a Java machine.
pub fn compile(text: &str) -> Result<Script, ScriptError> {
    parsed(text, Imitated::Rhino, false)
}

/// Parses the script of an element.
///
/// # Errors
/// As for [`compile`].
pub fn compile_element(text: &str, imitated: Imitated) -> Result<Script, ScriptError> {
    parsed(text, imitated, true)
}

fn parsed(text: &str, imitated: Imitated, is_element: bool) -> Result<Script, ScriptError> {
    let screened = screen::screen(text, imitated, is_element, &mut |_| {})?;
    let text = screened.text;
    engine::parses(&text, false).map_err(|stop| match stop {
        Stop::Thrown { message, line } => {
            ScriptError::Syntax { message, place: Place { line: line.max(1), column: 1 } }
        }
        other => error_of(other),
    })?;
    let is_statement = text.trim_start().starts_with('{') || text.trim_start().starts_with("function");
    let is_expression = !is_statement && engine::parses(&text, true).is_ok();
    Ok(Script {
        text: text.into(),
        is_expression,
        imitated,
        is_element,
        depends_on_chance_or_clock: screened.draws_random || screened.asks_clock,
    })
}

impl Script {
    /// The names that the script refers to.
    #[must_use]
    pub fn identifiers(&self) -> Identifiers {
        let mut found = Identifiers::default();
        let mut see = |word: Word<'_>| match word {
            Word::Name(name) => found.add(name),
            Word::Literal(text) => found.add_literal(text),
        };
        // The script has passed this screen before; an error has no more names.
        let _ = screen::screen(&self.text, self.imitated, self.is_element, &mut see);
        found
    }

    fn key(&self, sight: Sight) -> Key {
        Key { text: self.text.clone(), is_expression: self.is_expression, imitated: self.imitated, sight }
    }

    /// Runs the script with `vars`, `props`, `log`, `ctx`, `threadName`, `sampleResult` in sight, as `__javaScript`
    /// does; the value is that of the last expression statement, as the text that Rhino makes of it
    /// (`undefined` and `null` included).
    ///
    /// # Errors
    /// [`ScriptError::Evaluation`] for what the script throws, [`ScriptError::LimitReached`] when it takes too long.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
        let [vars, props, log, context, sample] = bridge::FUNCTION_HOSTS.map(Passed::Object);
        let sample = if scope.sample().is_some() { sample } else { Passed::Null };
        let given = vec![vars, props, log, context, sample, Passed::Text(scope.thread_name())];
        let (outcome, _) = host::in_world(scope, || engine::run(&self.key(Sight::Function), given));
        match outcome.map_err(error_of)? {
            Worth::Text(text) => Ok(Value::Text(text.into())),
            Worth::Null | Worth::Undefined => Ok(Value::Null),
        }
    }

    /// Runs the script of an element, with these names bound besides `vars`, `props`, `log` and `ctx`; its value is a text
    /// or null. `undefined` is what JMeter sees where the engine says so.
    ///
    /// # Errors
    /// As for [`Script::evaluate`], and [`ScriptError::Unsupported`] when the script came to something that only Java can
    /// do, whether it caught the error or not.
    pub fn run(
        &self,
        scope: &mut dyn Scope,
        bindings: &[(&str, Binding)],
        undefined: Value,
    ) -> Result<Value, ScriptError> {
        debug_assert!(self.is_element, "compiled as another kind of script");
        let key = self.key(Sight::Element);
        let (outcome, refused) = host::in_world(scope, || {
            let given = Sight::Element.names().iter().enumerate().map(|(at, name)| {
                // The first four are those that every script sees.
                if let Some(host) = bridge::FUNCTION_HOSTS[..4].get(at) {
                    return Passed::Object(*host);
                }
                let found = bindings.iter().find(|(known, _)| known == name);
                found.map_or(Passed::Absent, |(_, binding)| host::bound(binding))
            });
            engine::run(&key, given.collect())
        });
        if let Some(what) = refused {
            return Err(ScriptError::Unsupported { what, place: Place { line: 1, column: 1 } });
        }
        Ok(match outcome.map_err(error_of)? {
            Worth::Text(text) => Value::Text(text.into()),
            Worth::Null => Value::Null,
            Worth::Undefined => undefined,
        })
    }

    /// Runs the script as the condition of an If Controller: nothing but the language itself is in sight, and the
    /// result must read `true` or `false`.
    ///
    /// # Errors
    /// As for [`Script::evaluate`]; any other result is an [`ScriptError::Evaluation`], which JMeter logs and takes
    /// for `false`.
    pub fn evaluate_condition(&self) -> Result<bool, ScriptError> {
        if self.depends_on_chance_or_clock {
            return Err(ScriptError::Unsupported {
                what: "the clock or a random number in a condition".into(),
                place: Place { line: 1, column: 1 },
            });
        }
        let worth = engine::run(&self.key(Sight::Nothing), Vec::new()).map_err(error_of)?;
        match worth {
            Worth::Text(text) if text == "true" => Ok(true),
            Worth::Text(text) if text == "false" => Ok(false),
            other => Err(ScriptError::Evaluation {
                message: match other {
                    Worth::Text(text) => format!("the condition is `{text}`, neither `true` nor `false`"),
                    Worth::Null | Worth::Undefined => "the condition has no value".into(),
                },
                place: Place { line: 1, column: 1 },
            }),
        }
    }
}
