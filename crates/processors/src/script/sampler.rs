//! Samplers that are scripts: what the script returns is the body.

use busyhour_program::result::Retention;
use busyhour_program::sampler::ImmediateSampler;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_record::{DataType, Nanos};
use busyhour_script::{Binding, ScriptError, Value};

use super::{Family, Ran, ScriptSettings, ScriptText, World};
use crate::refusal::Refusal;

/// A JSR223, BSF or BeanShell sampler.
#[derive(Debug)]
pub struct ScriptSampler {
    script: ScriptText,
    source: Template,
    filename: Template,
}

/// What a BeanShell sampler's script may set by these names.
const BACK: [&str; 3] = ["ResponseCode", "ResponseMessage", "IsSuccess"];

impl ScriptSampler {
    /// What JMeter stumbles over only when the script runs.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.script.warnings
    }

    /// What it may read of any result, such as that of the sample before.
    #[must_use]
    pub fn reads(&self) -> Retention {
        self.script.reads
    }

    /// Whether it may read any variable by its name.
    #[must_use]
    pub fn reads_any_variable(&self) -> bool {
        self.script.reads_any_variable
    }

    /// Takes a sampler out of the plan.
    ///
    /// # Errors
    /// For scripts that cannot be run as JMeter would.
    pub fn new(settings: ScriptSettings) -> Result<Self, Refusal> {
        let (source, filename) = (settings.script.clone(), settings.filename.clone());
        Ok(Self { script: ScriptText::new(settings)?, source, filename })
    }

    fn finish(&self, user: &mut UserState, outcome: Result<Ran, ScriptError>) {
        let beanshell = self.script.family == Family::BeanShell;
        match outcome {
            Ok(ran) => {
                let result = &mut user.result;
                let is_kept = self.script.family == Family::Jsr223 && !result.body.is_empty();
                if ran.value != Value::Null && !is_kept {
                    result.body.clear();
                    result.body.extend_from_slice(ran.value.to_java_string().as_bytes());
                    replace(&mut result.encoding, "UTF-8");
                    // The size is that of results which the script added, if it has added any.
                    if result.sub_results.is_empty() || result.body_bytes == 0 {
                        result.body_bytes = result.body.len() as u64;
                    }
                }
                if beanshell {
                    // A name that the script does not mention keeps what it was bound to.
                    let value = |at: usize| ran.values.get(at).filter(|value| **value != Value::Null);
                    let text = |at: usize, otherwise: &str| {
                        value(at).map_or_else(|| otherwise.to_owned(), Value::to_java_string)
                    };
                    replace(&mut result.code, &text(0, "200"));
                    replace(&mut result.message, &text(1, "OK"));
                    result.success = text(2, "true").eq_ignore_ascii_case("true");
                }
            }
            Err(error) => {
                self.script.report(user, &error);
                let result = &mut user.result;
                result.success = false;
                replace(&mut result.code, "500");
                replace(&mut result.message, &self.script.thrown(&error));
            }
        }
    }
}

fn replace(text: &mut String, by: &str) {
    text.clear();
    text.push_str(by);
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
            (self.script.looks_at_previous && user.has_result).then(|| std::mem::take(&mut user.result));
        user.begin_result(label, intended);
        let result = &mut user.result;
        result.data_type = DataType::Text;
        replace(&mut result.code, "200");
        replace(&mut result.message, "OK");
        replace(&mut result.request_data, &source);
        let mut own = vec![("SampleResult", Binding::Sample)];
        let back: &[&str] = if self.script.family == Family::BeanShell {
            let text = |text: &str| Binding::Value(Value::text(text));
            own.extend([
                ("ResponseCode", text("200")),
                ("ResponseMessage", text("OK")),
                ("IsSuccess", Binding::Value(Value::Boolean(true))),
            ]);
            &BACK
        } else {
            &[]
        };
        if previous.is_none() {
            own.push(("prev", Binding::Value(Value::Null)));
        }
        let outcome = {
            let rendered = self.filename.is_empty().then_some(source.as_str());
            self.script.run(user, rendered, World::Sampler(previous.map(Box::new)), &own, back)
        };
        self.finish(user, outcome);
        if user.result.times.end == Nanos::default() {
            // What the script slept belongs to its sample; the user waits it out afterwards.
            user.result.times.end = user.now() + user.owed_ns;
        }
    }
}
