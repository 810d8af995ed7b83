//! The JSON path extractor and assertion of jmeter-plugins (by Atlantbh).

use busyhour_program::element::{Assertion, Processor};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_record::AssertionResult;

use crate::json_extractor::{FixedPath, clear_old, fixed_path, kept_path};
use crate::json_verdict::{JsonAssertionSettings, no_response};
use crate::jsonpath::{self, Value};
use crate::oro::{PatternText, bad_expression};
use crate::refusal::Refusal;
use busyhour_program::ElementError;

/// Settings of the plugin's JSON path extractor.
#[derive(Clone, Debug, Default)]
pub struct PluginJsonExtractorSettings {
    /// `JSONPATH`
    pub path: Template,
    /// `VAR`: the variable to set.
    pub refname: Template,
    /// `DEFAULT`
    pub default: Template,
    /// The variable to look at (`VARIABLE`) when `SUBJECT` is `VAR`; else the response.
    pub source: Option<Template>,
}

/// The plugin's JSON path extractor.
#[derive(Debug)]
pub struct PluginJsonExtractor {
    settings: PluginJsonExtractorSettings,
    path: Option<FixedPath>,
}

fn follow(text: &str, path: &FixedPath) -> Result<Value, ElementError> {
    if text.is_empty() {
        return Err("json string can not be null or empty".into());
    }
    let path = path.as_ref().map_err(ToString::to_string)?;
    let document = jsonpath::read(text).map_err(|error| error.to_string())?;
    path.find(&document).map(std::borrow::Cow::into_owned).map_err(|error| error.to_string().into())
}

/// A value as the plugin stores and compares it.
fn shown(value: &Value) -> String {
    if matches!(value, Value::Null) { "null".to_owned() } else { value.asserted() }
}

impl PluginJsonExtractor {
    /// Takes an extractor out of the plan.
    ///
    /// # Errors
    /// For paths that are not supported.
    pub fn new(settings: PluginJsonExtractorSettings) -> Result<Self, Refusal> {
        let path = settings.path.as_literal().map(fixed_path).transpose()?;
        Ok(Self { settings, path })
    }

    /// What is wrong with a path that doesn't vary: the plugin finds that out at each sample.
    pub fn wrong_path(&self) -> Option<String> {
        self.path.as_ref()?.as_ref().err().map(ToString::to_string)
    }

    fn find(&self, user: &mut UserState) -> Result<Value, ElementError> {
        let text = match &self.settings.source {
            Some(name) => {
                let name = name.text(user).into_owned();
                user.variables.get(&name).unwrap_or_default().to_owned()
            }
            None if user.has_result => user.result.body_text().into_owned(),
            None => String::new(),
        };
        let value = match &self.path {
            Some(path) => follow(&text, path)?,
            None => follow(&text, kept_path(&self.settings.path.text(user)).as_ref())?,
        };
        match &value {
            Value::Array(items) if items.is_empty() => Err("Extracted array is empty".into()),
            _ => Ok(value),
        }
    }
}

impl Processor for PluginJsonExtractor {
    fn process(&self, user: &mut UserState) {
        let refname = self.settings.refname.text(user).into_owned();
        let found = self.find(user);
        let count = format!("{refname}_matchNr");
        // A single value leaves what an earlier list has set.
        if !matches!(&found, Ok(value) if !matches!(value, Value::Array(_))) {
            clear_old(user, &refname);
        }
        match found {
            Ok(value) => {
                user.variables.set(&refname, &shown(&value));
                if let Value::Array(items) = &value {
                    user.variables.set(&count, &items.len().to_string());
                    for (index, item) in items.iter().enumerate() {
                        user.variables.set(&format!("{refname}_{}", index + 1), &shown(item));
                    }
                }
            }
            Err(_) => {
                let default = self.settings.default.text(user).into_owned();
                user.variables.set(&refname, &default);
                user.variables.set(&count, "0");
            }
        }
    }

    fn keep(&self) -> Retention {
        Retention { body: self.settings.source.is_none(), ..Retention::default() }
    }
}

/// The plugin's JSON path assertion.
#[derive(Debug)]
pub struct PluginJsonAssertion {
    settings: JsonAssertionSettings,
    path: Option<FixedPath>,
    pattern: Option<PatternText>,
}

impl PluginJsonAssertion {
    /// Takes an assertion out of the plan.
    ///
    /// # Errors
    /// For paths that are not supported, and regular expressions whose matches are not promised.
    pub fn new(settings: JsonAssertionSettings) -> Result<Self, Refusal> {
        let path = settings.path.as_literal().map(fixed_path).transpose()?;
        let pattern = settings.pattern()?;
        Ok(Self { settings, path, pattern })
    }

    fn equals(&self, user: &mut UserState, expected: &str, value: &Value) -> Result<bool, ElementError> {
        let text = shown(value);
        let Some(pattern) = &self.pattern else { return Ok(text == expected) };
        let ready = pattern.get(user);
        let pattern = ready.pattern().map_err(|error| bad_expression(ready.source(), error))?;
        pattern.matches(&text).map_err(|error| error.to_string().into())
    }

    fn compare(
        &self,
        user: &mut UserState,
        text: &str,
        path: &str,
        expected: &str,
    ) -> Result<(), ElementError> {
        let value = match &self.path {
            Some(path) => follow(text, path)?,
            None => follow(text, kept_path(path).as_ref())?,
        };
        if !self.settings.validate {
            return Ok(());
        }
        let expect_null = self.settings.expect_null;
        let mut fits = expect_null && value == Value::Null;
        if let Value::Array(items) = &value {
            fits = items.is_empty() && expected == "[]";
            for item in items {
                fits = fits || (expect_null && *item == Value::Null) || self.equals(user, expected, item)?;
            }
        }
        if fits || self.equals(user, expected, &value)? {
            return Ok(());
        }
        let message = if expect_null {
            format!("Value expected to be null, but found '{}'", value.java_text())
        } else if self.settings.is_regex {
            format!("Value expected to match regexp '{expected}', but it did not match: '{}'", shown(&value))
        } else {
            format!("Value expected to be '{expected}', but found '{}'", shown(&value))
        };
        Err(message.into())
    }
}

impl Assertion for PluginJsonAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.settings.name.text(user).into_owned()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let text = result.body_text();
        if text.is_empty() {
            return no_response();
        }
        let path = self.settings.path.text(user).into_owned();
        let expected = self.settings.expected.text(user).into_owned();
        let compared = self.compare(user, &text, &path, &expected);
        self.settings.verdict(compared, &path, &expected)
    }

    fn keep(&self) -> Retention {
        Retention { body: true, ..Retention::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user_with_body};

    fn after(path: &str, earlier: &[(&str, &str)]) -> String {
        let literal = Template::literal;
        let mut user = user_with_body(r#"{"a":{"b":1.50,"n":null,"e":[]},"l":[1,"x",{"k":true}]}"#);
        for (name, value) in earlier {
            user.variables.set(name, value);
        }
        let settings = PluginJsonExtractorSettings {
            path: literal(path),
            refname: literal("v"),
            default: literal("none"),
            source: None,
        };
        PluginJsonExtractor::new(settings).expect("supported").process(&mut user);
        all_variables(&user)
    }

    #[test]
    fn lists_become_variables() {
        insta::assert_snapshot!(after("$.l[*]", &[("v_4", "old"), ("v_1", "older")]), @r#"v=[1,"x",{"k":true}] v_1=1 v_2=x v_3={"k":true} v_4=old v_matchNr=3"#);
        insta::assert_snapshot!(after("$.a.b", &[("v_1", "old"), ("v_matchNr", "1")]), @"v=1.5 v_1=old v_matchNr=1");
        insta::assert_snapshot!(after("$.a.n", &[]), @"v=null");
        insta::assert_snapshot!(after("$.a.e", &[("v_1", "old")]), @"v=none v_matchNr=0");
        insta::assert_snapshot!(after("$.x", &[]), @"v=none v_matchNr=0");
    }
}
