//! Scripts before and after samples, as assertions, timers and listeners.

use busyhour_program::element::{Assertion, Delay, Processor, Timer};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::Level;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_record::AssertionResult;
use busyhour_script::{Binding, ScriptError, Value};

use super::{Family, ScriptSettings, ScriptText, World};
use crate::refusal::Refusal;

/// When a processor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Before,
    After,
    Listener,
}

/// A script that runs before or after a sample, or as a listener.
#[derive(Debug)]
pub struct ScriptProcessor {
    script: ScriptText,
    part: Part,
}

impl ScriptProcessor {
    /// Problems that JMeter reports only when the script runs.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.script.warnings
    }

    /// The parts that it may read of any result, including the previous one.
    #[must_use]
    pub fn reads(&self) -> Retention {
        self.script.reads
    }

    /// Whether it may read any variable by its name.
    #[must_use]
    pub fn reads_any_variable(&self) -> bool {
        self.script.reads_any_variable
    }

    /// A pre-processor.
    ///
    /// # Errors
    /// For scripts that cannot be run as JMeter would.
    pub fn before(settings: ScriptSettings) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)?, part: Part::Before })
    }

    /// A post-processor.
    ///
    /// # Errors
    /// For scripts that cannot be run as JMeter would.
    pub fn after(settings: ScriptSettings) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)?, part: Part::After })
    }

    /// A listener.
    ///
    /// # Errors
    /// For scripts that cannot be run as JMeter would.
    pub fn listener(settings: ScriptSettings) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)?, part: Part::Listener })
    }
}

impl Processor for ScriptProcessor {
    fn process(&self, user: &mut UserState) {
        let beanshell = self.script.family == Family::BeanShell;
        if beanshell && self.part == Part::After && !user.has_result {
            return;
        }
        let own = match self.part {
            Part::Before if beanshell => vec![("sampler", Binding::Sampler)],
            Part::After if beanshell => vec![("data", Binding::Bytes(user.result.body.clone()))],
            Part::Listener => vec![("sampleEvent", Binding::Event), ("sampleResult", Binding::Sample)],
            _ => Vec::new(),
        };
        if let Err(error) = self.script.run(user, None, World::Plain, &own, &[]) {
            self.script.report(user, &error);
            if matches!(error, ScriptError::Fatal { .. }) {
                user.abandon_sample("its script ended the user");
            }
        }
    }

    fn keep(&self) -> Retention {
        if self.script.looks_at_result { Retention::ALL } else { Retention::default() }
    }

    fn opens_request(&self) -> bool {
        self.script.opens_request
    }
}

/// A script that judges a sample.
#[derive(Debug)]
pub struct ScriptAssertion {
    script: ScriptText,
    name: Template,
}

impl ScriptAssertion {
    /// Problems that JMeter reports only when the script runs.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.script.warnings
    }

    /// The parts that it may read of any result, including the previous one.
    #[must_use]
    pub fn reads(&self) -> Retention {
        self.script.reads
    }

    /// Whether it may read any variable by its name.
    #[must_use]
    pub fn reads_any_variable(&self) -> bool {
        self.script.reads_any_variable
    }

    /// Takes an assertion out of the plan; `name` as it is rendered.
    ///
    /// # Errors
    /// For scripts that cannot be run as JMeter would.
    pub fn new(settings: ScriptSettings, name: Template) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)?, name })
    }

    /// The names that JMeter gives a BeanShell assertion.
    fn facts(user: &UserState) -> Vec<(&'static str, Binding)> {
        let result = &user.result;
        let text = |text: &str| Binding::Value(Value::text(text));
        vec![
            ("Response", Binding::Sample),
            ("ResponseData", Binding::Bytes(result.body.clone())),
            ("ResponseCode", text(&result.code)),
            ("ResponseMessage", text(&result.message)),
            ("ResponseHeaders", text(&result.response_headers)),
            ("RequestHeaders", text(&result.request_headers)),
            ("SampleLabel", text(&result.label)),
            ("SamplerData", text(&result.request_data)),
            ("Successful", Binding::Value(Value::Boolean(result.success))),
            ("FailureMessage", text("")),
            ("Failure", Binding::Value(Value::Boolean(false))),
        ]
    }

    fn judge(&self, user: &mut UserState) -> AssertionResult {
        let beanshell = self.script.family == Family::BeanShell;
        let mut own = vec![("SampleResult", Binding::Sample)];
        let back: &[&str] = if beanshell {
            own.extend(Self::facts(user));
            &["Failure", "FailureMessage"]
        } else {
            own.push(("AssertionResult", Binding::Assertion));
            &[]
        };
        let mut outcome = AssertionResult::default();
        match self.script.run(user, None, World::Assertion, &own, back) {
            Ok(ran) if beanshell => {
                // A name that the script does not mention keeps what it was bound to.
                let value = |at: usize| ran.values.get(at).filter(|value| **value != Value::Null);
                outcome.failure =
                    value(0).is_some_and(|value| value.to_java_string().eq_ignore_ascii_case("true"));
                outcome.message = value(1).map(Value::to_java_string).unwrap_or_default();
                outcome.blank_message = true;
            }
            Ok(ran) => {
                outcome.failure = ran.verdict.failure;
                outcome.message = ran.verdict.message;
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
                // The exception without its place, which the log has.
                outcome.error = true;
                outcome.failure = self.script.family == Family::Bsf;
                outcome.message = self.script.thrown(&error);
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
        let outcome = self.judge(user);
        std::mem::swap(&mut user.result, result);
        outcome
    }

    fn keep(&self) -> Retention {
        if self.script.looks_at_result { Retention::ALL } else { Retention::default() }
    }
}

/// A script whose value is a pause in milliseconds.
#[derive(Debug)]
pub struct ScriptTimer {
    script: ScriptText,
}

impl ScriptTimer {
    /// Problems that JMeter reports only when the script runs.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.script.warnings
    }

    /// The parts that it may read of any result, including the previous one.
    #[must_use]
    pub fn reads(&self) -> Retention {
        self.script.reads
    }

    /// Whether it may read any variable by its name.
    #[must_use]
    pub fn reads_any_variable(&self) -> bool {
        self.script.reads_any_variable
    }

    /// Takes a timer out of the plan.
    ///
    /// # Errors
    /// For scripts that cannot be run as JMeter would.
    pub fn new(settings: ScriptSettings) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings)? })
    }
}

impl Timer for ScriptTimer {
    fn delay(&self, user: &mut UserState) -> Delay {
        let text = match self.script.run(user, None, World::Plain, &[], &[]) {
            Ok(ran) if ran.value == Value::Null => {
                if self.script.family != Family::BeanShell {
                    user.log(Level::Warn, "Script did not return a value");
                }
                return Delay::default();
            }
            Ok(ran) => ran.value.to_java_string(),
            Err(error) => {
                self.script.report(user, &error);
                return Delay::default();
            }
        };
        let Ok(ms) = text.parse::<i64>() else {
            let line = format!("Number format exception while decoding number: '{text}'");
            user.log(if self.script.family == Family::Jsr223 { Level::Error } else { Level::Warn }, &line);
            return Delay::default();
        };
        Delay { wait_ns: u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000), slot: None }
    }
}
