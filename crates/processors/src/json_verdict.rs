//! What the assertions about JSON documents have in common: their settings, and what their outcomes come to.

use busyhour_program::template::Template;
use busyhour_record::AssertionResult;

use crate::oro::PatternText;
use crate::refusal::Refusal;
use busyhour_program::ElementError;

/// Settings of an assertion about a JSON document: JMeter's two, and that of jmeter-plugins.
#[derive(Clone, Debug)]
pub struct JsonAssertionSettings {
    /// `TestElement.name`
    pub name: Template,
    /// `JSON_PATH`, or `JMES_PATH` of the JMESPath assertion.
    pub path: Template,
    /// `JSONVALIDATION`: also compare the value.
    pub validate: bool,
    /// `EXPECTED_VALUE`
    pub expected: Template,
    /// `ISREGEX`: the expected value is a regular expression; true when absent.
    pub is_regex: bool,
    /// `EXPECT_NULL`: null is what is expected.
    pub expect_null: bool,
    /// `INVERT`: fail when all is as described.
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
    /// The regular expression that values are compared with, if it is one that they are compared with.
    pub(crate) fn pattern(&self) -> Result<Option<PatternText>, Refusal> {
        let uses_pattern = self.validate && self.is_regex;
        uses_pattern.then(|| PatternText::new(self.expected.clone(), false)).transpose()
    }

    /// What a comparison by JSON path comes to, in JMeter's words; `Err`: why the document is not as described.
    pub(crate) fn verdict(
        &self,
        compared: Result<(), ElementError>,
        path: &str,
        expected: &str,
    ) -> AssertionResult {
        match (compared, self.invert) {
            (Err(message), false) => failure(message.into()),
            (Ok(()), true) if !self.validate => failure(format!("Failed that JSONPath not exists: {path}")),
            (Ok(()), true) if self.expect_null => {
                failure(format!("Failed that JSONPath {path} not matches null"))
            }
            (Ok(()), true) => failure(format!("Failed that JSONPath {path} not matches {expected}")),
            _ => holds(),
        }
    }
}

/// An assertion that holds: these have an empty message then.
pub(crate) fn holds() -> AssertionResult {
    AssertionResult { blank_message: true, ..AssertionResult::default() }
}

/// A failed assertion.
pub(crate) fn failure(message: String) -> AssertionResult {
    AssertionResult { failure: true, message, ..AssertionResult::default() }
}

/// The failed assertion of a response with nothing in it.
pub(crate) fn no_response() -> AssertionResult {
    failure("Response was null".to_owned())
}
