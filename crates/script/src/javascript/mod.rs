//! JavaScript, as in `${__javaScript(…)}` and in conditions of the If Controller.
//!
//! JMeter's engine is Rhino in its default version, an older language with Java's objects in it; here QuickJS runs the
//! scripts. What only one of both knows is refused before it runs ([`compile`]) or ends in an error.

mod engine;
mod screen;
mod session;

use std::sync::Arc;

use crate::{Place, Scope, ScriptError, Value};
use engine::{Key, Stop};
use session::Session;

/// Names that were not foreseen, each of which starts the script anew.
const RESTARTS_MAX: u32 = 200;

/// A parsed script; copies share it.
#[derive(Debug, Clone)]
pub struct Script {
    text: Arc<str>,
    is_expression: bool,
    names: Arc<[Box<str>]>,
    draws_random: bool,
    asks_sample: bool,
    asks_clock: bool,
}

fn error_of(stop: Stop) -> ScriptError {
    match stop {
        Stop::Thrown { message, line } => {
            ScriptError::Evaluation { message, place: Place { line: line.max(1), column: 1 } }
        }
        Stop::Limit => {
            ScriptError::LimitReached { limit: "about a second of work or 64 MiB of memory".into() }
        }
        Stop::Broken(message) => ScriptError::Evaluation { message, place: Place { line: 1, column: 1 } },
    }
}

/// Parses a script.
///
/// # Errors
/// [`ScriptError::Syntax`] for what is no JavaScript, [`ScriptError::Unsupported`] for what needs a Java machine.
pub fn compile(text: &str) -> Result<Script, ScriptError> {
    let screened = screen::screen(text)?;
    engine::parses(text, false).map_err(|stop| match stop {
        Stop::Thrown { message, line } => {
            ScriptError::Syntax { message, place: Place { line: line.max(1), column: 1 } }
        }
        other => error_of(other),
    })?;
    let is_statement = text.trim_start().starts_with('{') || text.trim_start().starts_with("function");
    let is_expression = !is_statement && engine::parses(text, true).is_ok();
    Ok(Script {
        text: text.into(),
        is_expression,
        names: screened.names.into(),
        draws_random: screened.draws_random,
        asks_sample: screened.asks_sample,
        asks_clock: screened.asks_clock,
    })
}

impl Script {
    fn key(&self, bound: bool) -> Key {
        Key { text: self.text.clone(), is_expression: self.is_expression, bound }
    }

    /// Runs the script with `vars`, `props`, `log`, `ctx`, `threadName`, `sampleResult` in sight, as `__javaScript`
    /// does; the value is that of the last expression statement, as the text that Rhino makes of it
    /// (`undefined` and `null` included).
    ///
    /// # Errors
    /// [`ScriptError::Evaluation`] for what the script throws, [`ScriptError::LimitReached`] when it takes too long.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
        let key = self.key(true);
        let mut session = Session::new(scope, &self.names, self.draws_random, self.asks_sample);
        for _ in 0..RESTARTS_MAX {
            let random = session.random_state();
            let (outcome, mut after) = engine::run(&key, session);
            if !after.fetch_missing(scope) {
                after.apply(scope);
                return outcome.map(|text| Value::Text(text.into())).map_err(error_of);
            }
            after.restore_random(random);
            session = after;
        }
        Err(ScriptError::LimitReached {
            limit: format!("{RESTARTS_MAX} names that are put together while it runs"),
        })
    }

    /// Runs the script as the condition of an If Controller: nothing but the language itself is in sight, and the
    /// result must read `true` or `false`.
    ///
    /// # Errors
    /// As for [`Script::evaluate`]; any other result is an [`ScriptError::Evaluation`], which JMeter logs and takes
    /// for `false`.
    pub fn evaluate_condition(&self) -> Result<bool, ScriptError> {
        if self.draws_random || self.asks_clock {
            return Err(ScriptError::Unsupported {
                what: "the clock or a random number in a condition".into(),
                place: Place { line: 1, column: 1 },
            });
        }
        let (outcome, _) = engine::run(&self.key(false), Session::default());
        match outcome.map_err(error_of)?.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(ScriptError::Evaluation {
                message: format!("the condition is `{other}`, neither `true` nor `false`"),
                place: Place { line: 1, column: 1 },
            }),
        }
    }
}
