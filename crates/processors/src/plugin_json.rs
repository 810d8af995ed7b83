//! The JSON Path Extractor and Assertion of jmeter-plugins (by Atlantbh).

use busyhour_program::ElementError;
use busyhour_program::element::{Assertion, Processor};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;

use crate::json_extractor::{ConstantPath, cached_path, compile_constant_path, remove_old_matches};
use crate::json_verdict::JsonAssertionSettings;
use crate::jsonpath::{self, Value};
use crate::oro::{PatternText, malformed_pattern};
use crate::refusal::Refusal;

/// Settings of the plugin's JSON path extractor.
#[derive(Clone, Debug, Default)]
pub struct PluginJsonExtractorSettings {
    /// `JSONPATH`: the path.
    pub path: Template,
    /// `VAR`: the variable to set.
    pub refname: Template,
    /// `DEFAULT`: the value if nothing is found.
    pub default: Template,
    /// The variable to search (`VARIABLE`) if `SUBJECT` is `VAR`; `None` to search the response.
    pub source: Option<Template>,
}

/// The plugin's JSON path extractor.
#[derive(Debug)]
pub struct PluginJsonExtractor {
    settings: PluginJsonExtractorSettings,
    path: Option<ConstantPath>,
}

fn find_value(text: &str, path: &ConstantPath) -> Result<Value, ElementError> {
    if text.is_empty() {
        return Err("json string can not be null or empty".into());
    }
    let path = path.as_ref().map_err(|error| ElementError::caused_by(error.clone()))?;
    let document = jsonpath::read(text).map_err(ElementError::caused_by)?;
    path.find(&document).map(std::borrow::Cow::into_owned).map_err(ElementError::caused_by)
}

/// The text of a value that the plugin stores and compares.
fn plugin_text(value: &Value) -> String {
    if matches!(value, Value::Null) { "null".to_owned() } else { value.asserted() }
}

impl PluginJsonExtractor {
    /// Creates the extractor from its settings.
    ///
    /// # Errors
    /// The path is not supported.
    pub fn new(settings: PluginJsonExtractorSettings) -> Result<Self, Refusal> {
        let path = settings.path.as_literal().map(compile_constant_path).transpose()?;
        Ok(Self { settings, path })
    }

    /// The error in a constant path, which the plugin reports at each sample.
    pub fn path_error(&self) -> Option<String> {
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
            Some(path) => find_value(&text, path)?,
            None => find_value(&text, cached_path(&self.settings.path.text(user)).as_ref())?,
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
        // A single value does not remove the variables of an earlier list.
        if !matches!(&found, Ok(value) if !matches!(value, Value::Array(_))) {
            remove_old_matches(user, &refname);
        }
        match found {
            Ok(value) => {
                user.variables.set(&refname, &plugin_text(&value));
                if let Value::Array(items) = &value {
                    user.variables.set(&count, &items.len().to_string());
                    for (index, item) in items.iter().enumerate() {
                        user.variables.set(&format!("{refname}_{}", index + 1), &plugin_text(item));
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

    fn retention(&self) -> Retention {
        Retention { body: self.settings.source.is_none(), ..Retention::default() }
    }
}

/// The plugin's JSON path assertion.
#[derive(Debug)]
pub struct PluginJsonAssertion {
    settings: JsonAssertionSettings,
    path: Option<ConstantPath>,
    pattern: Option<PatternText>,
}

impl PluginJsonAssertion {
    /// Creates the assertion from its settings.
    ///
    /// # Errors
    /// The path is not supported, or a regular expression may match differently than in JMeter.
    pub fn new(settings: JsonAssertionSettings) -> Result<Self, Refusal> {
        let (path, pattern) = settings.compile()?;
        Ok(Self { settings, path, pattern })
    }

    fn equals(&self, user: &mut UserState, expected: &str, value: &Value) -> Result<bool, ElementError> {
        let text = plugin_text(value);
        let Some(pattern) = &self.pattern else { return Ok(text == expected) };
        let resolved = pattern.get(user);
        let pattern = resolved.pattern().map_err(|error| malformed_pattern(resolved.source(), error))?;
        pattern.matches(&text).map_err(ElementError::caused_by)
    }

    fn compare(
        &self,
        user: &mut UserState,
        text: &str,
        path: &str,
        expected: &str,
    ) -> Result<(), ElementError> {
        let value = match &self.path {
            Some(path) => find_value(text, path)?,
            None => find_value(text, cached_path(path).as_ref())?,
        };
        if !self.settings.validate {
            return Ok(());
        }
        let expect_null = self.settings.expect_null;
        let mut matches = expect_null && value == Value::Null;
        if let Value::Array(items) = &value {
            matches = items.is_empty() && expected == "[]";
            for item in items {
                matches =
                    matches || (expect_null && *item == Value::Null) || self.equals(user, expected, item)?;
            }
        }
        if matches || self.equals(user, expected, &value)? {
            return Ok(());
        }
        let message = if expect_null {
            format!("Value expected to be null, but found '{}'", value.java_text())
        } else if self.settings.is_regex {
            format!(
                "Value expected to match regexp '{expected}', but it did not match: '{}'",
                plugin_text(&value)
            )
        } else {
            format!("Value expected to be '{expected}', but found '{}'", plugin_text(&value))
        };
        Err(message.into())
    }
}

impl Assertion for PluginJsonAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.settings.name.text(user).into_owned()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        self.settings
            .check(user, result, |user, text, path, expected| self.compare(user, text, path, expected))
    }

    fn retention(&self) -> Retention {
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
    fn arrays_become_variables() {
        insta::assert_snapshot!(after("$.l[*]", &[("v_4", "old"), ("v_1", "older")]), @r#"v=[1,"x",{"k":true}] v_1=1 v_2=x v_3={"k":true} v_4=old v_matchNr=3"#);
        insta::assert_snapshot!(after("$.a.b", &[("v_1", "old"), ("v_matchNr", "1")]), @"v=1.5 v_1=old v_matchNr=1");
        insta::assert_snapshot!(after("$.a.n", &[]), @"v=null");
        insta::assert_snapshot!(after("$.a.e", &[("v_1", "old")]), @"v=none v_matchNr=0");
        insta::assert_snapshot!(after("$.x", &[]), @"v=none v_matchNr=0");
    }
}
