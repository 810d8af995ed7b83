//! The settings and outcomes that the assertions on JSON documents share.

use busyhour_program::ElementError;
use busyhour_program::result::SampleResult;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;

use crate::json_extractor::{ConstantPath, compile_constant_path};
use crate::oro::PatternText;
use crate::refusal::Refusal;

/// Settings of an assertion on a JSON document: JMeter's JSON and JMESPath Assertions, and the assertion of jmeter-plugins.
#[derive(Clone, Debug)]
pub struct JsonAssertionSettings {
    /// `TestElement.name`: the name of the element.
    pub name: Template,
    /// `JSON_PATH`, or `JMES_PATH` of the JMESPath assertion.
    pub path: Template,
    /// `JSONVALIDATION`: also compare the value.
    pub validate: bool,
    /// `EXPECTED_VALUE`: the value, or the pattern, with which the value at the path is compared.
    pub expected: Template,
    /// `ISREGEX`: the expected value is a regular expression; true if absent.
    pub is_regex: bool,
    /// `EXPECT_NULL`: the expected value is null.
    pub expect_null: bool,
    /// `INVERT`: fail if the document satisfies the other conditions.
    pub invert: bool,
}

impl Default for JsonAssertionSettings {
    fn default() -> Self {
        Self {
            name: Template::default(),
            path: Template::default(),
            validate: false,
            expected: Template::default(),
            is_regex: true,
            expect_null: false,
            invert: false,
        }
    }
}

impl JsonAssertionSettings {
    /// The regular expression with which values are compared, if the settings select one.
    pub(crate) fn pattern(&self) -> Result<Option<PatternText>, Refusal> {
        let uses_pattern = self.validate && self.is_regex;
        uses_pattern.then(|| PatternText::new(self.expected.clone(), false)).transpose()
    }

    /// The compiled path, if it is constant, and the regular expression, if the settings select one.
    ///
    /// # Errors
    /// The path is not supported, or the regular expression may match differently than in JMeter.
    pub(crate) fn compile(&self) -> Result<(Option<ConstantPath>, Option<PatternText>), Refusal> {
        let path = self.path.as_literal().map(compile_constant_path).transpose()?;
        Ok((path, self.pattern()?))
    }

    /// Checks a response by JSON path. `compare` compares the text of the response at a path with the expected value.
    pub(crate) fn check(
        &self,
        user: &mut UserState,
        result: &SampleResult,
        compare: impl FnOnce(&mut UserState, &str, &str, &str) -> Result<(), ElementError>,
    ) -> AssertionResult {
        let text = result.body_text();
        if text.is_empty() {
            return empty_response();
        }
        let path = self.path.text(user).into_owned();
        let expected = self.expected.text(user).into_owned();
        let compared = compare(user, &text, &path, &expected);
        self.outcome(compared, &path, &expected)
    }

    /// The outcome of a comparison by JSON path, with JMeter's messages. `compared` is an error if the document does not
    /// satisfy the conditions.
    pub(crate) fn outcome(
        &self,
        compared: Result<(), ElementError>,
        path: &str,
        expected: &str,
    ) -> AssertionResult {
        match (compared, self.invert) {
            (Err(message), false) => failed(message.into()),
            (Ok(()), true) if !self.validate => failed(format!("Failed that JSONPath not exists: {path}")),
            (Ok(()), true) if self.expect_null => {
                failed(format!("Failed that JSONPath {path} not matches null"))
            }
            (Ok(()), true) => failed(format!("Failed that JSONPath {path} not matches {expected}")),
            _ => passed(),
        }
    }
}

/// The outcome of a passed assertion, which has an empty message in JMeter.
pub(crate) fn passed() -> AssertionResult {
    AssertionResult { blank_message: true, ..AssertionResult::default() }
}

/// The outcome of a failed assertion.
pub(crate) fn failed(message: String) -> AssertionResult {
    AssertionResult { failure: true, message, ..AssertionResult::default() }
}

/// The outcome of an assertion on an empty response.
pub(crate) fn empty_response() -> AssertionResult {
    failed("Response was null".to_owned())
}
