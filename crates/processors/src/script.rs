//! JSR223 and BeanShell elements with plain scripts.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use busyhour_engine::Nanos;
use busyhour_engine::element::Processor;
use busyhour_engine::program::ImmediateSampler;
use busyhour_engine::result::Keep;
use busyhour_engine::run::{Level, Stop};
use busyhour_engine::template::{Segment, Template};
use busyhour_engine::user::UserState;
use busyhour_functions::{ALLOW_UNSUPPORTED_PROPERTY, UserScope};
use busyhour_record::DataType;
use busyhour_script::java_like::{self, Language};
use busyhour_script::{ScriptError, Value};

use crate::refusal::Refusal;

/// What a plan says of a JSR223 or BeanShell element.
#[derive(Clone, Debug)]
pub struct ScriptSettings {
    /// `TestElement.name`
    pub name: String,
    /// Of JSR223 elements `scriptLanguage`, through [`language_of`]; BeanShell for BeanShell elements.
    pub language: Language,
    /// The text: `script`, of a BeanShell sampler `BeanShellSampler.query`.
    pub script: Template,
    /// `parameters` (`BeanShellSampler.parameters`): evaluated, but a script that uses them is refused.
    pub parameters: Template,
    /// `filename` (`BeanShellSampler.filename`)
    pub filename: Template,
}

/// The language a JSR223 element names; none given is Groovy.
///
/// # Errors
/// For all but Groovy and BeanShell.
pub fn language_of(text: &str) -> Result<Language, Refusal> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "groovy" => Ok(Language::Groovy),
        "beanshell" | "bsh" => Ok(Language::BeanShell),
        other => Err(Refusal::unsupported(format!("is written in {other}"))),
    }
}

/// A script as an element holds it.
#[derive(Debug)]
struct ScriptText {
    name: String,
    language: Language,
    text: Text,
    parameters: Template,
    /// What it may look at must be kept of the result.
    looks_at_result: bool,
}

#[derive(Debug)]
enum Text {
    Fixed(java_like::Script),
    Varying(Template),
}

type Compiled = Rc<Result<java_like::Script, ScriptError>>;

/// Scripts kept per thread that are made of variables.
const KEPT_MAX: usize = 500;

thread_local! {
    static KEPT: RefCell<HashMap<(Language, String), Compiled>> = RefCell::default();
}

fn kept(language: Language, text: &str) -> Compiled {
    KEPT.with_borrow_mut(|kept| {
        let key = (language, text.to_owned());
        if let Some(script) = kept.get(&key) {
            return Rc::clone(script);
        }
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        let script = Rc::new(java_like::compile(text, language));
        kept.insert(key, Rc::clone(&script));
        script
    })
}

/// Whether a word stands in a text.
fn mentions(text: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(part_of_word) && !text[at + word.len()..].starts_with(part_of_word)
    })
}

impl ScriptText {
    /// `absent`: a name that JMeter does not set for this kind of element, or sets to something else.
    fn new(settings: ScriptSettings, absent: &str) -> Result<Self, Refusal> {
        if !settings.filename.is_empty() {
            return Err(Refusal::unsupported("runs a script out of a file"));
        }
        // With 1 for everything that varies the script fits within quotes and without.
        let probe: String = settings
            .script
            .segments()
            .iter()
            .map(|segment| if let Segment::Text(text) = segment { text } else { "1" })
            .collect();
        if mentions(&probe, absent) {
            return Err(Refusal::unsupported(format!("has a script that uses {absent}")));
        }
        let refuse = |error: &ScriptError| {
            let refusal = if error.is_unsupported() {
                Refusal::unsupported(format!("has a script with what cannot be run: {error}"))
            } else {
                Refusal::invalid(format!("has a script that is none: {error}"))
            };
            refusal.with_hint("only plain scripts run here: variables, properties, texts, numbers, log")
        };
        let compiled = java_like::compile(&probe, settings.language);
        let is_fixed = settings.script.as_literal().is_some();
        let text = match compiled {
            Ok(script) if is_fixed => Text::Fixed(script),
            Err(error) if is_fixed || error.is_unsupported() => return Err(refuse(&error)),
            _ => Text::Varying(settings.script.clone()),
        };
        let looks_at_result =
            ["prev", "SampleResult", "data", "ctx"].iter().any(|name| mentions(&probe, name));
        let ScriptSettings { name, language, parameters, .. } = settings;
        Ok(Self { name, language, text, parameters, looks_at_result })
    }

    fn run(&self, user: &mut UserState) -> Result<Value, ScriptError> {
        // A function in them may set a variable.
        let _ = self.parameters.text(user);
        match &self.text {
            Text::Fixed(script) => script.evaluate(&mut UserScope::new(user)),
            Text::Varying(template) => {
                let text = template.text(user);
                match kept(self.language, &text).as_ref() {
                    Ok(script) => script.evaluate(&mut UserScope::new(user)),
                    Err(error) => Err(error.clone()),
                }
            }
        }
    }

    /// Logs an error. A script that only this program cannot run would make the results wrong, so the run ends.
    fn report(&self, user: &UserState, error: &ScriptError) {
        let (level, words) = match self.language {
            Language::Groovy => (Level::Error, "Problem in JSR223 script"),
            Language::BeanShell => (Level::Warn, "Problem in BeanShell script"),
        };
        user.log(level, &format!("{words} {}, message: {error}", self.name));
        if error.is_unsupported() && !user.run.properties.flag(ALLOW_UNSUPPORTED_PROPERTY, false) {
            user.log(Level::Error, &format!("{}: this script cannot be run here; the test stops", self.name));
            user.run.ask_to_stop(Stop::Graceful);
        }
    }
}

/// A JSR223 or BeanShell pre- or post-processor.
#[derive(Debug)]
pub struct ScriptProcessor {
    script: ScriptText,
    needs_result: bool,
}

impl ScriptProcessor {
    /// Takes a processor out of the plan. `needs_result`: it is a BeanShell post-processor, which JMeter skips
    /// before the first result.
    ///
    /// # Errors
    /// For scripts that cannot be run as JMeter would.
    pub fn new(settings: ScriptSettings, needs_result: bool) -> Result<Self, Refusal> {
        Ok(Self { script: ScriptText::new(settings, "SampleResult")?, needs_result })
    }
}

impl Processor for ScriptProcessor {
    fn process(&self, user: &mut UserState) {
        if self.needs_result && !user.has_result {
            return;
        }
        if let Err(error) = self.script.run(user) {
            self.script.report(user, &error);
        }
    }

    fn keep(&self) -> Keep {
        if self.script.looks_at_result { Keep::ALL } else { Keep::default() }
    }
}

/// A JSR223 or BeanShell sampler: what its script returns is the body.
#[derive(Debug)]
pub struct ScriptSampler {
    script: ScriptText,
    source: Template,
}

impl ScriptSampler {
    /// Takes a sampler out of the plan.
    ///
    /// # Errors
    /// For scripts that cannot be run as JMeter would.
    pub fn new(settings: ScriptSettings) -> Result<Self, Refusal> {
        let source = settings.script.clone();
        Ok(Self { script: ScriptText::new(settings, "prev")?, source })
    }
}

fn replace(text: &mut String, by: &str) {
    text.clear();
    text.push_str(by);
}

impl ImmediateSampler for ScriptSampler {
    fn sample(&self, user: &mut UserState, label: &Template, intended: Nanos) {
        let source = self.source.text(user);
        user.begin_result(label, intended);
        let result = &mut user.result;
        result.data_type = DataType::Text;
        replace(&mut result.code, "200");
        replace(&mut result.message, "OK");
        if self.script.language == Language::Groovy {
            replace(&mut result.request_data, &source);
        }
        let value = self.script.run(user);
        match value {
            Ok(value) => {
                let result = &mut user.result;
                if value != Value::Null {
                    result.body.clear();
                    result.body.extend_from_slice(value.to_java_string().as_bytes());
                    result.body_bytes = result.body.len() as u64;
                }
                if self.script.language == Language::BeanShell {
                    // JMeter sets these from the script's own variables afterwards, whatever the script did.
                    replace(&mut result.code, "200");
                    replace(&mut result.message, "OK");
                    result.success = true;
                }
            }
            Err(error) => {
                self.script.report(user, &error);
                let result = &mut user.result;
                result.success = false;
                replace(&mut result.code, "500");
                replace(&mut result.message, &error.to_string());
            }
        }
        user.result.end = user.now();
    }
}

#[cfg(test)]
mod tests {
    use busyhour_engine::symbols::Symbols;

    use super::*;
    use crate::testing::{user, user_with_body};

    fn settings(language: Language, script: &str) -> ScriptSettings {
        ScriptSettings {
            name: "S".into(),
            language,
            script: Template::literal(script),
            parameters: Template::default(),
            filename: Template::default(),
        }
    }

    #[test]
    fn processors_set_variables() {
        for language in [Language::Groovy, Language::BeanShell] {
            let script = r#"vars.put("x", vars.get("y") + "!");"#;
            let processor = ScriptProcessor::new(settings(language, script), false).expect("supported");
            let mut user = user(&Symbols::default());
            user.variables.set("y", "1");
            processor.process(&mut user);
            assert_eq!(user.variables.get("x"), Some("1!"));
            assert_eq!(processor.keep(), Keep::default());
        }
    }

    #[test]
    fn processors_read_the_result() {
        let script = r#"vars.put("code", prev.getResponseDataAsString())"#;
        let processor = ScriptProcessor::new(settings(Language::Groovy, script), true).expect("supported");
        assert_eq!(processor.keep(), Keep::ALL);
        let mut before = user(&Symbols::default());
        processor.process(&mut before);
        assert_eq!(before.variables.get("code"), None);
        let mut user = user_with_body("body");
        processor.process(&mut user);
        assert_eq!(user.variables.get("code"), Some("body"));
    }

    #[test]
    fn samplers_return_their_body() {
        let sampler = ScriptSampler::new(settings(Language::Groovy, r#"return "a" + 1"#)).expect("supported");
        let mut user = user(&Symbols::default());
        sampler.sample(&mut user, &Template::literal("L"), Nanos(0));
        let result = &user.result;
        assert_eq!((result.body_text().as_ref(), result.code.as_str(), result.success), ("a1", "200", true));
        assert_eq!((result.label.as_str(), result.body_bytes), ("L", 2));
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        let refused = |script: &str| ScriptProcessor::new(settings(Language::Groovy, script), false).is_err();
        assert!(refused("import java.util.*; new Foo().bar()"));
        assert!(refused("SampleResult.setSuccessful(false)"));
        assert!(ScriptSampler::new(settings(Language::Groovy, "prev.getResponseCode()")).is_err());
        assert!(!refused("vars.put('previous', 'a')"));
        let mut with_parameters = settings(Language::Groovy, "args[0]");
        with_parameters.parameters = Template::literal("a");
        assert!(ScriptProcessor::new(with_parameters, false).is_err());
        let mut with_file = settings(Language::Groovy, "");
        with_file.filename = Template::literal("x.groovy");
        assert!(ScriptProcessor::new(with_file, false).is_err());
        assert!(language_of("jython").is_err() && language_of("").is_ok() && language_of("bsh").is_ok());
    }
}
