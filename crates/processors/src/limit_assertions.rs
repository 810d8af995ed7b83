//! The Duration Assertion and the Size Assertion.

use busyhour_program::ElementError;
use busyhour_program::element::{Assertion, AssertionScope};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;

use crate::java;
use crate::scope::SampleScope;

/// Settings of a duration assertion.
#[derive(Clone, Debug, Default)]
pub struct DurationAssertionSettings {
    /// `TestElement.name`: the name of the element.
    pub name: Template,
    /// `DurationAssertion.duration`, in milliseconds.
    pub duration: Template,
    /// `Assertion.scope`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// Fails a result whose elapsed time exceeds a limit.
#[derive(Debug)]
pub struct DurationAssertion {
    settings: DurationAssertionSettings,
}

impl DurationAssertion {
    /// Creates the assertion from its settings.
    pub fn new(settings: DurationAssertionSettings) -> Self {
        Self { settings }
    }
}

impl Assertion for DurationAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.settings.name.text(user).into_owned()
    }

    fn scope(&self) -> AssertionScope {
        self.settings.scope.for_assertion()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let allowed_ms = java::long(&self.settings.duration.text(user));
        let elapsed_ms = i64::try_from(result.elapsed_ms()).unwrap_or(i64::MAX);
        if allowed_ms <= 0 || elapsed_ms <= allowed_ms {
            return AssertionResult::default();
        }
        failure(format!(
            "The operation lasted too long: It took {} milliseconds, but should not have lasted longer than {} \
             milliseconds.",
            java::grouped(elapsed_ms),
            java::grouped(allowed_ms)
        ))
    }

    fn retention(&self) -> Retention {
        Retention::default()
    }
}

fn failure(message: String) -> AssertionResult {
    AssertionResult { failure: true, message, ..AssertionResult::default() }
}

/// The part of a result that a size assertion measures: `Assertion.test_field`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeField {
    /// Headers and body: `SizeAssertion.response_network_size` and all unknown values.
    #[default]
    Response,
    /// `SizeAssertion.response_headers`: the headers.
    Headers,
    /// `SizeAssertion.response_data`: the body.
    Body,
    /// `SizeAssertion.response_code`: length of the text.
    Code,
    /// `SizeAssertion.response_message`: length of the text.
    Message,
}

impl SizeField {
    /// The field for a value of `Assertion.test_field`.
    pub fn from_test_field(text: &str) -> Self {
        match text {
            "SizeAssertion.response_headers" => Self::Headers,
            "SizeAssertion.response_data" => Self::Body,
            "SizeAssertion.response_code" => Self::Code,
            "SizeAssertion.response_message" => Self::Message,
            _ => Self::Response,
        }
    }
}

/// Settings of a size assertion.
#[derive(Clone, Debug, Default)]
pub struct SizeAssertionSettings {
    /// `TestElement.name`: the name of the element.
    pub name: Template,
    /// `SizeAssertion.size`, in bytes.
    pub size: Template,
    /// `SizeAssertion.operator`: 1 =, 2 ≠, 3 >, 4 <, 5 ≥, 6 ≤.
    pub operator: i32,
    /// `Assertion.test_field`, as parsed by [`SizeField::from_test_field`].
    pub field: SizeField,
    /// `Assertion.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// Fails a result whose size does not satisfy the condition.
#[derive(Debug)]
pub struct SizeAssertion {
    settings: SizeAssertionSettings,
}

impl SizeAssertion {
    /// Creates the assertion from its settings.
    pub fn new(settings: SizeAssertionSettings) -> Self {
        Self { settings }
    }

    fn size(&self, user: &mut UserState, result: &SampleResult) -> Result<i64, ElementError> {
        if let SampleScope::Variable(name) = &self.settings.scope {
            let name = name.text(user);
            let value = user.variables.get(&name).unwrap_or("null");
            return value
                .parse()
                .map_err(|_| format!("Error parsing variable name: {name} value: {value}").into());
        }
        let bytes = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let length = |text: &str| i64::try_from(busyhour_java::length(text)).unwrap_or(i64::MAX);
        Ok(match self.settings.field {
            SizeField::Response => bytes(result.bytes()),
            SizeField::Headers => bytes(result.sizes.header_bytes),
            SizeField::Body => bytes(result.sizes.body_bytes),
            SizeField::Code => length(&result.outcome.code),
            SizeField::Message => length(&result.outcome.message),
        })
    }
}

impl Assertion for SizeAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.settings.name.text(user).into_owned()
    }

    fn scope(&self) -> AssertionScope {
        self.settings.scope.for_assertion()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let size = match self.size(user, result) {
            Ok(size) => size,
            Err(message) => return failure(message.into()),
        };
        let allowed = self.settings.size.text(user);
        let Ok(allowed) = allowed.parse::<i64>() else {
            let message = format!("java.lang.NumberFormatException: For input string: \"{allowed}\"");
            return AssertionResult { error: true, message, ..AssertionResult::default() };
        };
        let (holds, relation) = match self.settings.operator {
            1 => (size == allowed, "been equal to"),
            2 => (size != allowed, "not been equal to"),
            3 => (size > allowed, "been greater than"),
            4 => (size < allowed, "been less than"),
            5 => (size >= allowed, "been greater or equal to"),
            6 => (size <= allowed, "been less than or equal to"),
            _ => (false, "ERROR - invalid condition"),
        };
        if holds {
            return AssertionResult::default();
        }
        failure(format!(
            "The result was the wrong size: It was {} bytes, but should have {relation} {} bytes.",
            java::grouped(size),
            java::grouped(allowed)
        ))
    }

    fn retention(&self) -> Retention {
        Retention::default()
    }
}

#[cfg(test)]
mod tests {
    use busyhour_sample::{SampleOutcome, SampleSizes};

    use busyhour_sample::{Nanos, SampleTimes};

    use super::*;
    use crate::testing::user_with_body;

    #[test]
    fn a_long_duration_fails() {
        let mut user = user_with_body("");
        let result = SampleResult {
            times: SampleTimes { end: Nanos(2_500_000_000), ..SampleTimes::default() },
            ..SampleResult::default()
        };
        let mut message = |duration: &str| {
            let settings = DurationAssertionSettings {
                duration: Template::literal(duration),
                ..DurationAssertionSettings::default()
            };
            DurationAssertion::new(settings).check(&mut user, &result).message
        };
        insta::assert_snapshot!(message("2499"), @"The operation lasted too long: It took 2,500 milliseconds, but should not have lasted longer than 2,499 milliseconds.");
        assert_eq!(message("2500"), "");
        assert_eq!(message("0"), "");
        assert_eq!(message("x"), "");
    }

    #[test]
    fn a_wrong_size_fails() {
        let mut user = user_with_body("");
        let result = SampleResult {
            sizes: SampleSizes { header_bytes: 1000, body_bytes: 234, ..SampleSizes::default() },
            outcome: SampleOutcome { code: "200".into(), ..SampleOutcome::default() },
            ..SampleResult::default()
        };
        let mut message = |size: &str, operator: i32, field: &str| {
            let settings = SizeAssertionSettings {
                size: Template::literal(size),
                operator,
                field: SizeField::from_test_field(field),
                ..SizeAssertionSettings::default()
            };
            SizeAssertion::new(settings).check(&mut user, &result).message
        };
        insta::assert_snapshot!(message("1233", 1, ""), @"The result was the wrong size: It was 1,234 bytes, but should have been equal to 1,233 bytes.");
        assert_eq!(message("1234", 1, ""), "");
        assert_eq!(message("234", 1, "SizeAssertion.response_data"), "");
        assert_eq!(message("3", 6, "SizeAssertion.response_code"), "");
        insta::assert_snapshot!(message("3", 4, "SizeAssertion.response_code"), @"The result was the wrong size: It was 3 bytes, but should have been less than 3 bytes.");
        insta::assert_snapshot!(message("", 4, ""), @r#"java.lang.NumberFormatException: For input string: """#);
    }
}
