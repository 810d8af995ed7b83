//! The MD5Hex assertion.

use std::fmt::Write as _;

use busyhour_program::element::Assertion;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;
use md5::{Digest as _, Md5};

/// Fails a result whose body has a different MD5 sum than expected.
#[derive(Debug)]
pub struct Md5HexAssertion {
    name: Template,
    expected: Template,
}

impl Md5HexAssertion {
    /// Creates the assertion. `name` is `TestElement.name`, and `expected` is `MD5HexAssertion.size`, the sum in hexadecimal
    /// digits.
    pub fn new(name: Template, expected: Template) -> Self {
        Self { name, expected }
    }
}

impl Assertion for Md5HexAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.name.text(user).into_owned()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let failure =
            |message: String| AssertionResult { failure: true, message, ..AssertionResult::default() };
        if result.body.is_empty() {
            return failure("Response was null".to_owned());
        }
        let expected = self.expected.text(user);
        if expected.is_empty() {
            return failure("MD5Hex to test against is empty".to_owned());
        }
        let mut sum = String::with_capacity(32);
        for byte in Md5::digest(&result.body) {
            let _ = write!(sum, "{byte:02x}");
        }
        if sum.eq_ignore_ascii_case(&expected) {
            return AssertionResult::default();
        }
        failure(format!("Error asserting MD5 sum : got {sum} but should have been {expected}"))
    }

    fn retention(&self) -> Retention {
        Retention { body: true, ..Retention::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::user_with_body;

    #[test]
    fn sums_are_compared_without_regard_to_case() {
        let mut user = user_with_body("");
        let result = SampleResult { body: b"abc".to_vec(), ..SampleResult::default() };
        let mut message = |expected: &str| {
            Md5HexAssertion::new(Template::default(), Template::literal(expected))
                .check(&mut user, &result)
                .message
        };
        assert_eq!(message("900150983CD24FB0D6963F7D28E17F72"), "");
        assert_eq!(message(""), "MD5Hex to test against is empty");
        insta::assert_snapshot!(message("00"), @"Error asserting MD5 sum : got 900150983cd24fb0d6963f7d28e17f72 but should have been 00");
    }
}
