//! The XML Assertion, which checks that a response is well-formed.

use busyhour_program::element::Assertion;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;
use busyhour_xml::{self as xml, ReadOptions};

/// Fails a response that is not well-formed XML or that has a document type declaration.
#[derive(Debug)]
pub struct XmlAssertion {
    name: Template,
}

impl XmlAssertion {
    /// Creates the assertion. `name` is `TestElement.name`.
    pub fn new(name: Template) -> Self {
        Self { name }
    }
}

fn empty_response() -> AssertionResult {
    AssertionResult { failure: true, message: "Response was null".to_owned(), ..AssertionResult::default() }
}

impl Assertion for XmlAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.name.text(user).into_owned()
    }

    fn check(&self, _: &mut UserState, result: &SampleResult) -> AssertionResult {
        let text = result.body_text();
        if text.is_empty() {
            return empty_response();
        }
        match xml::read(&text, ReadOptions { no_doctype: true, ..ReadOptions::default() }) {
            Ok(_) => AssertionResult::default(),
            Err(why) => AssertionResult {
                failure: true,
                error: true,
                message: why.to_string(),
                ..AssertionResult::default()
            },
        }
    }

    fn retention(&self) -> Retention {
        Retention { body: true, ..Retention::default() }
    }
}
