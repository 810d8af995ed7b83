//! Samplers that run scripts. The value of the script is the body of the result.

use busyhour_program::sampler::ImmediateSampler;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::{DataType, Nanos};
use busyhour_script::{Binding, ScriptError, Value};

use super::{Family, ScriptFacts, ScriptOutcome, ScriptRole, ScriptSettings, ScriptText};
use crate::refusal::Refusal;

/// A JSR223, BSF or BeanShell sampler.
#[derive(Debug)]
pub struct ScriptSampler {
    script: ScriptText,
    source: Template,
    filename: Template,
}

/// Variables with which the script of a BeanShell sampler sets its result.
const OUTPUTS: [&str; 3] = ["ResponseCode", "ResponseMessage", "IsSuccess"];

impl ScriptSampler {
    /// The facts about the script that the compiler of a plan needs.
    #[must_use]
    pub fn facts(&self) -> &ScriptFacts {
        &self.script.facts
    }

    /// Creates the sampler from its settings.
    ///
    /// # Errors
    /// The script cannot be run with the same result as in JMeter.
    pub fn new(settings: ScriptSettings) -> Result<Self, Refusal> {
        let (source, filename) = (settings.script.clone(), settings.filename.clone());
        Ok(Self { script: ScriptText::new(settings)?, source, filename })
    }

    fn finish(&self, user: &mut UserState, outcome: Result<ScriptOutcome, ScriptError>) {
        let is_beanshell = self.script.family == Family::BeanShell;
        match outcome {
            Ok(outcome) => {
                let result = &mut user.result;
                // In JSR223 samplers, a body that the script has set takes precedence over the script's value.
                let is_body_set = self.script.family == Family::Jsr223 && !result.body.is_empty();
                if outcome.value != Value::Null && !is_body_set {
                    result.body.clear();
                    result.body.extend_from_slice(outcome.value.to_java_string().as_bytes());
                    replace(&mut result.content.encoding, "UTF-8");
                    // If the script added sub-results, their size is the size of the result.
                    if result.sub_results.is_empty() || result.sizes.body_bytes == 0 {
                        result.sizes.body_bytes = result.body.len() as u64;
                    }
                }
                if is_beanshell {
                    // A variable that the script does not change has the value to which it was bound.
                    let value = |at: usize| outcome.outputs.get(at).filter(|value| **value != Value::Null);
                    let text = |at: usize, default: &str| {
                        value(at).map_or_else(|| default.to_owned(), Value::to_java_string)
                    };
                    replace(&mut result.outcome.code, &text(0, "200"));
                    replace(&mut result.outcome.message, &text(1, "OK"));
                    result.outcome.success = text(2, "true").eq_ignore_ascii_case("true");
                }
            }
            Err(error) => {
                self.script.report(user, &error);
                let result = &mut user.result;
                result.outcome.success = false;
                replace(&mut result.outcome.code, "500");
                replace(&mut result.outcome.message, &self.script.exception_text(&error));
            }
        }
    }
}

fn replace(text: &mut String, replacement: &str) {
    text.clear();
    text.push_str(replacement);
}

impl ImmediateSampler for ScriptSampler {
    fn sample(&self, user: &mut UserState, label: &Template, intended: Nanos) {
        let source = if self.filename.is_empty() {
            self.source.text(user).into_owned()
        } else {
            match self.script.family {
                Family::BeanShell => self.filename.text(user).into_owned(),
                _ => format!("File: {}", self.filename.text(user)),
            }
        };
        let previous =
            (self.script.reads_previous && user.has_result).then(|| std::mem::take(&mut user.result));
        user.begin_result(label, intended);
        let result = &mut user.result;
        result.content.data_type = DataType::Text;
        replace(&mut result.outcome.code, "200");
        replace(&mut result.outcome.message, "OK");
        replace(&mut result.request_data, &source);
        let mut bindings = vec![("SampleResult", Binding::Sample)];
        let outputs: &[&str] = if self.script.family == Family::BeanShell {
            let text = |text: &str| Binding::Value(Value::text(text));
            bindings.extend([
                ("ResponseCode", text("200")),
                ("ResponseMessage", text("OK")),
                ("IsSuccess", Binding::Value(Value::Boolean(true))),
            ]);
            &OUTPUTS
        } else {
            &[]
        };
        if previous.is_none() {
            bindings.push(("prev", Binding::Value(Value::Null)));
        }
        let outcome = {
            let rendered = self.filename.is_empty().then_some(source.as_str());
            self.script.run(user, rendered, ScriptRole::Sampler(previous.map(Box::new)), &bindings, outputs)
        };
        self.finish(user, outcome);
        if user.result.times.end == Nanos::default() {
            // The time that the script slept is part of the sample, but the user waits only after the script.
            user.result.times.end = user.now() + user.requested_sleep_ns;
        }
    }
}
