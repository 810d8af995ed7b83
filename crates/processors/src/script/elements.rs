//! Pre-processors, post-processors, listeners, assertions and timers that run scripts.

use busyhour_program::element::{Assertion, Delay, Processor, Timer};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;
use busyhour_script::{Binding, ScriptError, Value};

use super::{Family, ScriptFacts, ScriptRole, ScriptSettings, ScriptText};
use crate::refusal::Refusal;

/// The kind of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessorKind {
    Pre,
    Post,
    Listener,
}

/// A pre-processor, post-processor or listener that runs a script.
#[derive(Debug)]
pub struct ScriptProcessor {
    script: ScriptText,
    kind: ProcessorKind,
}

impl ScriptProcessor {
    /// The facts about the script that the compiler of a plan needs.
    #[must_use]
    pub fn facts(&self) -> &ScriptFacts {
        &self.script.facts
    }

    /// Creates a pre-processor.
    ///
    /// # Errors
    /// The script cannot be run with the same result as in JMeter.
    pub fn before(settings: ScriptSettings) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)?, kind: ProcessorKind::Pre })
    }

    /// Creates a post-processor.
    ///
    /// # Errors
    /// The script cannot be run with the same result as in JMeter.
    pub fn after(settings: ScriptSettings) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)?, kind: ProcessorKind::Post })
    }

    /// Creates a listener.
    ///
    /// # Errors
    /// The script cannot be run with the same result as in JMeter.
    pub fn listener(settings: ScriptSettings) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)?, kind: ProcessorKind::Listener })
    }
}

impl Processor for ScriptProcessor {
    fn process(&self, user: &mut UserState) {
        let is_beanshell = self.script.family == Family::BeanShell;
        if is_beanshell && self.kind == ProcessorKind::Post && !user.has_result {
            return;
        }
        let bindings = match self.kind {
            ProcessorKind::Pre if is_beanshell => vec![("sampler", Binding::Sampler)],
            ProcessorKind::Post if is_beanshell => vec![("data", Binding::Bytes(user.result.body.clone()))],
            ProcessorKind::Listener => {
                vec![("sampleEvent", Binding::Event), ("sampleResult", Binding::Sample)]
            }
            _ => Vec::new(),
        };
        if let Err(error) = self.script.run(user, None, ScriptRole::Other, &bindings, &[]) {
            self.script.report(user, &error);
            if matches!(error, ScriptError::Fatal { .. }) {
                user.abandon_sample("its script ended the user");
            }
        }
    }

    fn retention(&self) -> Retention {
        if self.script.reads_result { Retention::ALL } else { Retention::default() }
    }

    fn accesses_request(&self) -> bool {
        self.script.accesses_request
    }
}

/// An assertion that runs a script.
#[derive(Debug)]
pub struct ScriptAssertion {
    script: ScriptText,
    name: Template,
}

impl ScriptAssertion {
    /// The facts about the script that the compiler of a plan needs.
    #[must_use]
    pub fn facts(&self) -> &ScriptFacts {
        &self.script.facts
    }

    /// Creates the assertion from its settings and the template of its name.
    ///
    /// # Errors
    /// The script cannot be run with the same result as in JMeter.
    pub fn new(settings: ScriptSettings, name: Template) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)?, name })
    }

    /// The variables that JMeter binds for a BeanShell assertion.
    fn beanshell_bindings(user: &UserState) -> Vec<(&'static str, Binding)> {
        let result = &user.result;
        let text = |text: &str| Binding::Value(Value::text(text));
        vec![
            ("Response", Binding::Sample),
            ("ResponseData", Binding::Bytes(result.body.clone())),
            ("ResponseCode", text(&result.outcome.code)),
            ("ResponseMessage", text(&result.outcome.message)),
            ("ResponseHeaders", text(&result.response_headers)),
            ("RequestHeaders", text(&result.request_headers)),
            ("SampleLabel", text(&result.label)),
            ("SamplerData", text(&result.request_data)),
            ("Successful", Binding::Value(Value::Boolean(result.outcome.success))),
            ("FailureMessage", text("")),
            ("Failure", Binding::Value(Value::Boolean(false))),
        ]
    }

    fn run_script(&self, user: &mut UserState) -> AssertionResult {
        let is_beanshell = self.script.family == Family::BeanShell;
        let mut bindings = vec![("SampleResult", Binding::Sample)];
        let outputs: &[&str] = if is_beanshell {
            bindings.extend(Self::beanshell_bindings(user));
            &["Failure", "FailureMessage"]
        } else {
            bindings.push(("AssertionResult", Binding::Assertion));
            &[]
        };
        let mut outcome = AssertionResult::default();
        match self.script.run(user, None, ScriptRole::Assertion, &bindings, outputs) {
            Ok(script) if is_beanshell => {
                // A variable that the script does not change has the value to which it was bound.
                let value = |at: usize| script.outputs.get(at).filter(|value| **value != Value::Null);
                outcome.failure =
                    value(0).is_some_and(|value| value.to_java_string().eq_ignore_ascii_case("true"));
                outcome.message = value(1).map(Value::to_java_string).unwrap_or_default();
                outcome.blank_message = true;
            }
            Ok(script) => {
                outcome.failure = script.verdict.failure;
                outcome.message = script.verdict.message;
            }
            Err(ScriptError::Fatal { message, .. })
                if message.starts_with("java.lang.AssertionError")
                    || message.starts_with("Assertion failed: ") =>
            {
                outcome.failure = true;
                outcome.message = message;
            }
            Err(error) => {
                self.script.report(user, &error);
                // The message has no position; the log has it.
                outcome.error = true;
                outcome.failure = self.script.family == Family::Bsf;
                outcome.message = self.script.exception_text(&error);
            }
        }
        outcome
    }
}

impl Assertion for ScriptAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.name.text(user).into_owned()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        self.check_and_change(user, &mut result.clone())
    }

    fn check_and_change(&self, user: &mut UserState, result: &mut SampleResult) -> AssertionResult {
        std::mem::swap(&mut user.result, result);
        let outcome = self.run_script(user);
        std::mem::swap(&mut user.result, result);
        outcome
    }

    fn retention(&self) -> Retention {
        if self.script.reads_result { Retention::ALL } else { Retention::default() }
    }
}

/// A timer that runs a script, whose value is the delay in milliseconds.
#[derive(Debug)]
pub struct ScriptTimer {
    script: ScriptText,
}

impl ScriptTimer {
    /// The facts about the script that the compiler of a plan needs.
    #[must_use]
    pub fn facts(&self) -> &ScriptFacts {
        &self.script.facts
    }

    /// Creates the timer from its settings.
    ///
    /// # Errors
    /// The script cannot be run with the same result as in JMeter.
    pub fn new(settings: ScriptSettings) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)? })
    }
}

impl Timer for ScriptTimer {
    fn delay(&self, user: &mut UserState) -> Delay {
        let text = match self.script.run(user, None, ScriptRole::Other, &[], &[]) {
            Ok(outcome) if outcome.value == Value::Null => {
                if self.script.family != Family::BeanShell {
                    user.log(LogLevel::Warn, "Script did not return a value");
                }
                return Delay::default();
            }
            Ok(outcome) => outcome.value.to_java_string(),
            Err(error) => {
                self.script.report(user, &error);
                return Delay::default();
            }
        };
        let Ok(ms) = text.parse::<i64>() else {
            let line = format!("Number format exception while decoding number: '{text}'");
            user.log(
                if self.script.family == Family::Jsr223 { LogLevel::Error } else { LogLevel::Warn },
                &line,
            );
            return Delay::default();
        };
        Delay { wait_ns: u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000), slot: None }
    }
}
