//! The JMESPath Extractor and Assertion.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::rc::Rc;

use busyhour_program::ElementError;
use busyhour_program::element::{Assertion, Processor};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;

use crate::jmespath::JmesPathError;
use crate::jmespath::{JmesPath, read, write};
use crate::json_extractor::remove_old_matches;
use crate::json_verdict::{JsonAssertionSettings, empty_response, failed, passed};
use crate::jsonpath::Value;
use crate::match_number;
use crate::matches::MatchBudget;
use crate::oro::{PatternText, malformed_pattern};
use crate::refusal::Refusal;
use crate::scope::SampleScope;

/// Settings of a JMESPath extractor.
#[derive(Clone, Debug, Default)]
pub struct JmesExtractorSettings {
    /// `TestElement.name`: the name of the element.
    pub name: String,
    /// `JMESExtractor.referenceName`: variable, or prefix of the variables, to set.
    pub refname: Template,
    /// `JMESExtractor.jmesPathExpr`: the JMESPath expression.
    pub path: Template,
    /// `JMESExtractor.matchNumber`: 0 for a random match, −1 for all, otherwise the number of the match; blank means 0.
    pub match_number: Template,
    /// `JMESExtractor.defaultValue`: the value if nothing is found.
    pub default: Template,
    /// `Sample.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// The JMESPath extractor.
#[derive(Debug)]
pub struct JmesExtractor {
    settings: JmesExtractorSettings,
}

/// Number of compiled paths that each thread caches.
const CACHED_MAX: usize = 400;

type CachedPath = Rc<Result<JmesPath, JmesPathError>>;

thread_local! {
    static CACHE: RefCell<HashMap<String, CachedPath>> = RefCell::default();
}

fn cached_path(text: &str) -> CachedPath {
    CACHE.with_borrow_mut(|cache| {
        if let Some(path) = cache.get(text) {
            return Rc::clone(path);
        }
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        let path = Rc::new(JmesPath::compile(text));
        cache.insert(text.to_owned(), Rc::clone(&path));
        path
    })
}

/// The error in a constant path, which JMeter would report at each sample.
pub fn jmespath_error(path: &Template) -> Option<String> {
    JmesPath::compile(busyhour_java::trim(path.as_literal()?)).err().map(String::from)
}

impl JmesExtractor {
    /// Creates the extractor from its settings.
    pub fn new(settings: JmesExtractorSettings) -> Self {
        Self { settings }
    }

    fn documents(&self, user: &mut UserState) -> Vec<String> {
        if let SampleScope::Variable(name) = &self.settings.scope {
            let name = name.text(user).into_owned();
            return vec![user.variables.get(&name).unwrap_or_default().to_owned()];
        }
        let mut documents = Vec::new();
        if user.has_result {
            self.settings.scope.visit(&user.result, |result| {
                let text = result.body_text();
                if !busyhour_java::is_blank(&text) {
                    documents.push(text.into_owned());
                }
                ControlFlow::Continue(())
            });
        }
        documents
    }
}

/// The values of a path in all documents. The items of an array are separate values.
fn extract(documents: &[String], path: &str) -> Result<Vec<String>, ElementError> {
    let path = cached_path(path);
    let path = path.as_ref().as_ref().map_err(Clone::clone)?;
    let mut found = Vec::new();
    let mut budget = MatchBudget::default();
    for document in documents {
        match path.search(&read(document)?)? {
            Value::Null => {}
            Value::Array(items) => {
                for item in &items {
                    let text = write(item);
                    budget.spend(text.len()).map_err(|error| error.to_string())?;
                    found.push(text);
                }
            }
            single => found.push(write(&single)),
        }
    }
    Ok(found)
}

impl Processor for JmesExtractor {
    fn process(&self, user: &mut UserState) {
        let settings = &self.settings;
        let documents = self.documents(user);
        let refname = settings.refname.text(user).into_owned();
        let default = settings.default.text(user).into_owned();
        let number = settings.match_number.text(user).into_owned();
        let wanted: i32 = if busyhour_java::is_blank(&number) {
            0
        } else if let Ok(number) = number.parse() {
            number
        } else {
            // JMeter also skips the remaining post-processors.
            user.log(LogLevel::Error, &format!("{}: For input string: \"{number}\"", settings.name));
            return;
        };
        let path = settings.path.text(user).into_owned();
        remove_old_matches(user, &refname);
        if documents.is_empty() {
            user.variables.set(&refname, &default);
            return;
        }
        let found = match extract(&documents, busyhour_java::trim(&path)) {
            Ok(found) => found,
            Err(why) => {
                let line = format!("Error processing JSON content in {}, message: {why}", settings.name);
                user.log(LogLevel::Error, &line);
                user.variables.set(&refname, &default);
                return;
            }
        };
        let mut name = user.take_buffer();
        match (usize::try_from(wanted), found.len()) {
            (_, 0) => user.variables.set(&refname, &default),
            (Ok(number), count) => {
                let selected = match_number::select_or_single(user, number, count);
                user.variables.set(&refname, selected.map_or(&default, |index| &found[index]));
            }
            (Err(_), _) => {
                for (index, text) in found.iter().enumerate() {
                    name.clear();
                    let _ = write!(name, "{refname}_{}", index + 1);
                    user.variables.set(&name, text);
                }
            }
        }
        name.clear();
        let _ = write!(name, "{refname}_matchNr");
        user.variables.set(&name, &found.len().to_string());
        user.give_back(name);
    }

    fn retention(&self) -> Retention {
        Retention { body: !self.settings.scope.is_variable(), ..Retention::default() }
    }
}

/// The JMESPath assertion.
#[derive(Debug)]
pub struct JmesAssertion {
    settings: JsonAssertionSettings,
    pattern: Option<PatternText>,
}

impl JmesAssertion {
    /// Creates the assertion from its settings.
    ///
    /// # Errors
    /// A regular expression may match differently than in JMeter.
    pub fn new(settings: JsonAssertionSettings) -> Result<Self, Refusal> {
        // If null is expected, the value is not compared with a pattern.
        let pattern = if settings.expect_null { None } else { settings.pattern()? };
        Ok(Self { settings, pattern })
    }

    fn compare(
        &self,
        user: &mut UserState,
        text: &str,
        path: &str,
        expected: &str,
    ) -> Result<bool, ElementError> {
        let settings = &self.settings;
        let document = read(text)?;
        let path = cached_path(path);
        let found = path.as_ref().as_ref().map_err(Clone::clone)?.search(&document)?;
        let is_null = matches!(found, Value::Null);
        if !settings.validate {
            return Ok(!is_null);
        }
        if settings.expect_null {
            return Ok(is_null);
        }
        let text = write(&found);
        if let Some(pattern) = &self.pattern {
            let resolved = pattern.get(user);
            let pattern = resolved.pattern().map_err(|error| malformed_pattern(resolved.source(), error))?;
            return pattern.matches(&text).map_err(ElementError::caused_by);
        }
        Ok(text == expected || read(expected)? == found)
    }

    fn message(&self, path: &str, expected: &str) -> String {
        let settings = &self.settings;
        let not = if settings.invert { " not" } else { "" };
        if !settings.validate {
            format!("JMESPATH {path} expected{not} to exist")
        } else if settings.expect_null {
            format!("Value expected{not} to be null")
        } else if settings.is_regex {
            format!("Value expected{not} to match {expected}")
        } else {
            format!("Value expected{not} to be equal to {expected}")
        }
    }
}

impl Assertion for JmesAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.settings.name.text(user).into_owned()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let text = result.body_text();
        if text.is_empty() {
            return empty_response();
        }
        let path = self.settings.path.text(user).into_owned();
        let expected = self.settings.expected.text(user).into_owned();
        match self.compare(user, &text, &path, &expected) {
            Ok(matches) if matches == self.settings.invert => failed(self.message(&path, &expected)),
            Err(message) if !self.settings.invert => {
                AssertionResult { error: true, message: message.into(), ..AssertionResult::default() }
            }
            _ => passed(),
        }
    }

    fn retention(&self) -> Retention {
        Retention { body: true, ..Retention::default() }
    }
}
