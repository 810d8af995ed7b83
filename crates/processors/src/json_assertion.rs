//! The JSON Assertion.

use busyhour_program::ElementError;
use busyhour_program::element::Assertion;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;

use crate::json_extractor::{ConstantPath, cached_path};
use crate::json_verdict::JsonAssertionSettings;
use crate::jsonpath::{self, Value};
use crate::oro::{PatternText, ResolvedPattern, malformed_pattern};
use crate::refusal::Refusal;

/// The JSON assertion.
#[derive(Debug)]
pub struct JsonAssertion {
    settings: JsonAssertionSettings,
    path: Option<ConstantPath>,
    pattern: Option<PatternText>,
}

impl JsonAssertion {
    /// Creates the assertion from its settings.
    ///
    /// # Errors
    /// The path is not supported, or a regular expression may match differently than in JMeter.
    pub fn new(settings: JsonAssertionSettings) -> Result<Self, Refusal> {
        let (path, pattern) = settings.compile()?;
        Ok(Self { settings, path, pattern })
    }

    /// The error in a constant path, which JMeter reports at each sample.
    pub fn path_error(&self) -> Option<String> {
        self.path.as_ref()?.as_ref().err().map(ToString::to_string)
    }

    /// Compares the document with the expected value.
    ///
    /// # Errors
    /// The document does not satisfy the assertion. The message is JMeter's.
    fn compare(
        &self,
        user: &mut UserState,
        text: &str,
        path_text: &str,
        expected: &str,
    ) -> Result<(), ElementError> {
        let document = jsonpath::read(text).map_err(ElementError::caused_by)?;
        let cached;
        let path = match &self.path {
            Some(path) => path,
            None => {
                cached = cached_path(path_text);
                cached.as_ref()
            }
        };
        let path = path.as_ref().map_err(|error| ElementError::caused_by(error.clone()))?;
        let value = path.find(&document).map_err(ElementError::caused_by)?;
        if !self.settings.validate {
            let is_empty = matches!(value.as_ref(), Value::Array(items) if items.is_empty());
            if is_empty && !path.is_definite() {
                return Err(format!(
                    "JSONPath '{path_text}' is indefinite and the extracted Value is an empty Array. Please use an \
                     assertion value, to be sure to get a correct result. Expected value was '{expected}'"
                ).into());
            }
            return Ok(());
        }
        let pattern = self.pattern.as_ref().map(|pattern| pattern.get(user));
        let equals = |value: &Value| equals(pattern.as_ref(), expected, value);
        let expect_null = self.settings.expect_null;
        let matches = match value.as_ref() {
            Value::Array(items) => {
                let mut matches = items.is_empty() && expected == "[]";
                for item in items {
                    matches = matches || (expect_null && *item == Value::Null) || equals(item)?;
                }
                matches || equals(&value)?
            }
            single => (expect_null && *single == Value::Null) || equals(single)?,
        };
        if matches {
            return Ok(());
        }
        let message = if expect_null {
            format!("Value in json path '{path_text}' expected to be null, but found '{}'", value.java_text())
        } else if self.settings.is_regex {
            format!(
                "Value in json path '{path_text}' expected to match regexp '{expected}', but it did not match: '{}'",
                value.asserted()
            )
        } else {
            format!(
                "Value in json path '{path_text}' expected to be '{expected}', but found '{}'",
                value.asserted()
            )
        };
        Err(message.into())
    }
}

fn equals(
    pattern: Option<&ResolvedPattern<'_>>,
    expected: &str,
    value: &Value,
) -> Result<bool, ElementError> {
    match pattern {
        Some(resolved) => {
            let pattern = resolved.pattern().map_err(|error| malformed_pattern(resolved.source(), error))?;
            pattern.matches(&value.asserted()).map_err(ElementError::caused_by)
        }
        // An expected text that is not JSON counts as null, as in json-smart.
        None => Ok(jsonpath::read(expected).unwrap_or(Value::Null) == *value),
    }
}

impl Assertion for JsonAssertion {
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
    use busyhour_program::template::Template;

    use super::*;
    use crate::testing::user_with_body;

    const BODY: &str =
        r#"{"a":1,"s":"xyz","l":[1,"b",null],"n":null,"o":{"k":1.5,"b":true},"e":[],"d":10.0}"#;

    fn message(path: &str, expected: Option<&str>, change: impl Fn(&mut JsonAssertionSettings)) -> String {
        let mut settings = JsonAssertionSettings {
            path: Template::literal(path),
            validate: expected.is_some(),
            expected: Template::literal(expected.unwrap_or_default()),
            ..JsonAssertionSettings::default()
        };
        change(&mut settings);
        let mut user = user_with_body(BODY);
        let result = std::mem::take(&mut user.result);
        let outcome = JsonAssertion::new(settings).expect("supported").check(&mut user, &result);
        if outcome.failure { outcome.message } else { "ok".to_owned() }
    }

    #[test]
    fn existence_is_checked() {
        insta::assert_snapshot!(message("$.a", None, |_| {}), @"ok");
        insta::assert_snapshot!(message("$.n", None, |_| {}), @"ok");
        insta::assert_snapshot!(message("$.x", None, |_| {}), @"No results for path: $['x']");
        insta::assert_snapshot!(message("$.x.y", None, |_| {}), @"Missing property in path $['x']");
        insta::assert_snapshot!(message("$..x", None, |_| {}), @"JSONPath '$..x' is indefinite and the extracted Value is an empty Array. Please use an assertion value, to be sure to get a correct result. Expected value was ''");
        insta::assert_snapshot!(message("$.a b", None, |_| {}), @"Use bracket notion ['my prop'] if your property contains blank characters. position: 2");
        insta::assert_snapshot!(message("$.a", None, |s| s.invert = true), @"Failed that JSONPath not exists: $.a");
        insta::assert_snapshot!(message("$.x", None, |s| s.invert = true), @"ok");
    }

    #[test]
    fn values_are_compared() {
        insta::assert_snapshot!(message("$.a", Some("1"), |_| {}), @"ok");
        insta::assert_snapshot!(message("$.a", Some("[2-9]"), |_| {}), @"Value in json path '$.a' expected to match regexp '[2-9]', but it did not match: '1'");
        insta::assert_snapshot!(message("$.s", Some("x"), |_| {}), @"Value in json path '$.s' expected to match regexp 'x', but it did not match: 'xyz'");
        insta::assert_snapshot!(message("$.s", Some("xyz"), |s| s.is_regex = false), @"ok");
        insta::assert_snapshot!(message("$.s", Some("x"), |s| s.is_regex = false), @"Value in json path '$.s' expected to be 'x', but found 'xyz'");
        insta::assert_snapshot!(message("$.l", Some("b"), |_| {}), @"ok");
        insta::assert_snapshot!(message("$.l[*]", Some("c"), |_| {}), @r#"Value in json path '$.l[*]' expected to match regexp 'c', but it did not match: '[1,"b",null]'"#);
        insta::assert_snapshot!(message("$.n", Some(""), |s| s.expect_null = true), @"ok");
        insta::assert_snapshot!(message("$.o", Some(""), |s| s.expect_null = true), @"Value in json path '$.o' expected to be null, but found '{k=1.5, b=true}'");
        insta::assert_snapshot!(message("$.o", Some(r#"{"b":true,"k":1.5}"#), |s| s.is_regex = false), @"ok");
        insta::assert_snapshot!(message("$.n", Some(""), |s| s.is_regex = false), @"Value in json path '$.n' expected to be '', but found 'null'");
        insta::assert_snapshot!(message("$.l", Some("\\[1,\"b\",null\\]"), |_| {}), @"ok");
        insta::assert_snapshot!(message("$.l", Some("[1,\"b\",null]"), |s| s.is_regex = false), @"ok");
        insta::assert_snapshot!(message("$.e", Some("[]"), |_| {}), @"ok");
        insta::assert_snapshot!(message("$.d", Some("10.0"), |_| {}), @"ok");
        insta::assert_snapshot!(message("$.d", Some("10"), |s| s.is_regex = false), @"Value in json path '$.d' expected to be '10', but found '10.0'");
        insta::assert_snapshot!(message("$.a", Some("1"), |s| s.invert = true), @"Failed that JSONPath $.a not matches 1");
        insta::assert_snapshot!(message("$.n", Some("1"), |s| { s.invert = true; s.expect_null = true; }), @"Failed that JSONPath $.n not matches null");
        insta::assert_snapshot!(message("$.l.length()", Some("3"), |_| {}), @"ok");
        insta::assert_snapshot!(message("$.a", Some("(1"), |_| {}), @r"
        Invalid expression: (1
        Unmatched parentheses.
        ");
    }
}
