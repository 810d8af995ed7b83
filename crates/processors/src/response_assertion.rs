//! The response assertion.

use std::borrow::Cow;

use busyhour_program::ElementError;
use busyhour_program::element::{Assertion, AssertionScope};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;

use crate::oro::{PatternText, malformed_pattern};
use crate::refusal::Refusal;
use crate::scope::{Field, SampleScope};

/// Settings of a response assertion.
#[derive(Clone, Debug, Default)]
pub struct ResponseAssertionSettings {
    /// `TestElement.name`: the name of the element.
    pub name: Template,
    /// `Assertion.test_field`, as parsed by [`Field::of_assertion`].
    pub field: Field,
    /// `Asserion.test_strings` (with JMeter's spelling), in order.
    pub test_strings: Vec<Template>,
    /// `Assertion.test_type`: a sum of 1 (matches), 2 (contains), 4 (not), 8 (equals), 16 (substring) and 32 (or); 2 if absent.
    pub test_type: i32,
    /// `Assertion.assume_success`: mark the sample as successful before the check.
    pub assume_success: bool,
    /// `Assertion.custom_message`: replaces JMeter's message if it is not empty.
    pub custom_message: Template,
    /// `Assertion.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

const MATCHES: i32 = 1;
const CONTAINS: i32 = 2;
const NOT: i32 = 4;
const EQUALS: i32 = 8;
const SUBSTRING: i32 = 16;
const OR: i32 = 32;

/// The kind of comparison. The first kind in this order whose bit is set in the type is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Contains,
    Equals,
    Substring,
    Matches,
}

/// The response assertion.
#[derive(Debug)]
pub struct ResponseAssertion {
    settings: ResponseAssertionSettings,
    kind: Kind,
    /// The compiled test strings, if they are patterns.
    patterns: Vec<PatternText>,
}

impl ResponseAssertion {
    /// Creates the assertion from its settings.
    ///
    /// # Errors
    /// A regular expression may match differently than in JMeter.
    pub fn new(settings: ResponseAssertionSettings) -> Result<Self, Refusal> {
        let has = |bit: i32| settings.test_type & bit != 0;
        let kind = if has(CONTAINS) {
            Kind::Contains
        } else if has(EQUALS) {
            Kind::Equals
        } else if has(SUBSTRING) {
            Kind::Substring
        } else {
            Kind::Matches
        };
        let patterns = if matches!(kind, Kind::Contains | Kind::Matches) {
            let patterns = settings.test_strings.iter().map(|text| PatternText::new(text.clone(), false));
            patterns.collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        Ok(Self { settings, kind, patterns })
    }

    /// Returns whether the text matches the test string at `index` (ignoring `not`), and that string if a message needs it.
    fn compare(
        &self,
        user: &mut UserState,
        index: usize,
        text: &str,
    ) -> Result<(bool, String), ElementError> {
        if let Kind::Equals | Kind::Substring = self.kind {
            let wanted = self.settings.test_strings[index].text(user);
            let found =
                if self.kind == Kind::Equals { text == wanted } else { text.contains(wanted.as_ref()) };
            let fails = found == self.has(NOT);
            return Ok((found, if fails { wanted.into_owned() } else { String::new() }));
        }
        let resolved = self.patterns[index].get(user);
        let pattern = resolved.pattern().map_err(|error| {
            let why = malformed_pattern(resolved.source(), error);
            format!("Bad test configuration org.apache.oro.text.MalformedCachePatternException: {why}")
        })?;
        let found = if self.kind == Kind::Contains { pattern.contains(text) } else { pattern.matches(text) };
        let found = found.map_err(|error| format!("Bad test configuration {error}"))?;
        let fails = found == self.has(NOT);
        Ok((found, if fails { resolved.source().to_owned() } else { String::new() }))
    }

    /// Whether a bit is set in the type.
    fn has(&self, bit: i32) -> bool {
        self.settings.test_type & bit != 0
    }

    fn custom_message(&self, user: &mut UserState) -> Option<String> {
        let custom = self.settings.custom_message.text(user);
        (!custom.is_empty()).then(|| custom.into_owned())
    }

    fn failure_message(&self, user: &mut UserState, wanted: &str, text: &str) -> String {
        let subject = match (&self.settings.scope, self.settings.field) {
            (SampleScope::Variable(name), _) => Cow::Owned(format!("variable({})", name.text(user))),
            (_, Field::Body | Field::Unescaped) => "text".into(),
            (_, Field::Document) => "document".into(),
            (_, Field::Code) => "code".into(),
            (_, Field::Message) => "message".into(),
            (_, Field::RequestHeaders) => "request headers".into(),
            (_, Field::RequestData) => "request data".into(),
            (_, Field::ResponseHeaders) => "headers".into(),
            (_, Field::Url) => "URL".into(),
        };
        let expectation = match self.settings.test_type & !NOT {
            CONTAINS | SUBSTRING => "contain",
            MATCHES => "match",
            EQUALS => "equal",
            _ => "",
        };
        let expectation = match (expectation, self.has(NOT)) {
            ("", _) => "expected something using".to_owned(),
            (verb, false) => format!("expected to {verb}"),
            (verb, true) => format!("expected not to {verb}"),
        };
        let compared =
            if self.has(EQUALS) { Cow::Owned(difference(user, text, wanted)) } else { Cow::Borrowed(wanted) };
        format!("Test failed: {subject} {expectation} /{compared}/")
    }
}

impl Assertion for ResponseAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.settings.name.text(user).into_owned()
    }

    fn scope(&self) -> AssertionScope {
        self.settings.scope.for_assertion()
    }

    fn assumes_success(&self) -> bool {
        self.settings.assume_success
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let mut outcome = AssertionResult::default();
        let text = match &self.settings.scope {
            SampleScope::Variable(name) => {
                let name = name.text(user);
                user.variables.get(&name).unwrap_or_default().to_owned().into()
            }
            _ => match self.settings.field.text(result) {
                Ok(text) => text,
                Err(error) => return AssertionResult { error: true, message: error.to_string(), ..outcome },
            },
        };
        if text.is_empty() {
            if !self.has(NOT) {
                outcome.failure = true;
                outcome.message.push_str("Response was null");
            }
            return outcome;
        }
        let mut failures = String::new();
        for index in 0..self.settings.test_strings.len() {
            let (found, wanted) = match self.compare(user, index, &text) {
                Ok(found) => found,
                Err(message) => return AssertionResult { error: true, message: message.into(), ..outcome },
            };
            let passes = found != self.has(NOT);
            match (self.has(OR), passes) {
                (true, true) => return outcome,
                (true, false) => {
                    failures.push_str(&self.failure_message(user, &wanted, &text));
                    failures.push('\t');
                }
                (false, true) => {}
                (false, false) => {
                    outcome.failure = true;
                    outcome.message = match self.custom_message(user) {
                        Some(custom) => custom,
                        None => self.failure_message(user, &wanted, &text),
                    };
                    return outcome;
                }
            }
        }
        if self.has(OR) {
            // Without test strings, JMeter's message is the separator alone.
            if failures.is_empty() {
                failures.push('\t');
            }
            outcome.failure = true;
            outcome.message = self.custom_message(user).unwrap_or(failures);
        }
        outcome
    }

    fn retention(&self) -> Retention {
        if self.settings.scope.is_variable() { Retention::default() } else { self.settings.field.retention() }
    }
}

/// Shows two texts with brackets around the part that differs. A property limits the length of each part.
fn difference(user: &UserState, received: &str, wanted: &str) -> String {
    let properties = &user.run.properties;
    let length_max: usize = properties.number("assertion.equals_section_diff_len", 100);
    let open = properties.get("assertion.equals_diff_delta_start").unwrap_or_else(|| "[[[".to_owned());
    let close = properties.get("assertion.equals_diff_delta_end").unwrap_or_else(|| "]]]".to_owned());
    let received: Vec<u16> = received.encode_utf16().collect();
    let wanted: Vec<u16> = wanted.encode_utf16().collect();
    let first = received.iter().zip(&wanted).take_while(|(left, right)| left == right).count();
    // Skip the common end, but leave at least one code unit of each text.
    let mut received_end = received.len();
    let mut wanted_end = wanted.len();
    while received_end > first + 1
        && wanted_end > first + 1
        && received[received_end - 1] == wanted[wanted_end - 1]
    {
        received_end -= 1;
        wanted_end -= 1;
    }
    let truncate_end = |units: &[u16]| match units.get(..length_max) {
        Some(cut) if units.len() > length_max => format!("{}...", String::from_utf16_lossy(cut)),
        _ => String::from_utf16_lossy(units),
    };
    let truncate_start = |units: &[u16]| match units.len().checked_sub(length_max) {
        Some(from) if from > 0 => format!("...{}", String::from_utf16_lossy(&units[from..])),
        _ => String::from_utf16_lossy(units),
    };
    let before = truncate_start(&received[..first]);
    let after = truncate_end(&received[received_end..]);
    let mut received_part = truncate_end(&received[first..received_end]);
    let mut wanted_part = truncate_end(&wanted[first..wanted_end]);
    let (received_length, wanted_length) =
        (busyhour_java::length(&received_part), busyhour_java::length(&wanted_part));
    let pad = " ".repeat(received_length.abs_diff(wanted_length));
    if received_length > wanted_length {
        wanted_part.push_str(&pad);
    } else {
        received_part.push_str(&pad);
    }
    format!(
        "\n\n****** received  : {before}{open}{received_part}{close}{after}\n\n\
         ****** comparison: {before}{open}{wanted_part}{close}{after}\n\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::user_with_body;

    fn assertion(test_type: i32, strings: &[&str]) -> ResponseAssertion {
        ResponseAssertion::new(ResponseAssertionSettings {
            name: Template::literal("A"),
            test_strings: strings.iter().map(|text| Template::literal(text)).collect(),
            test_type,
            ..ResponseAssertionSettings::default()
        })
        .expect("supported")
    }

    fn message(body: &str, test_type: i32, strings: &[&str]) -> String {
        let mut user = user_with_body(body);
        let result = std::mem::take(&mut user.result);
        let outcome = assertion(test_type, strings).check(&mut user, &result);
        match (outcome.failure, outcome.error) {
            (false, false) => "ok".to_owned(),
            (true, false) => outcome.message,
            (false, true) => format!("error {}", outcome.message),
            (true, true) => "both".to_owned(),
        }
    }

    #[test]
    fn each_type_has_its_message() {
        insta::assert_snapshot!(message("abc", 2, &["b.", "^c"]), @"Test failed: text expected to contain /^c/");
        insta::assert_snapshot!(message("abc", 16, &["a", "b."]), @"Test failed: text expected to contain /b./");
        insta::assert_snapshot!(message("abc", 6, &["b."]), @"Test failed: text expected not to contain /b./");
        insta::assert_snapshot!(message("abc", 1, &["ab"]), @"Test failed: text expected to match /ab/");
        insta::assert_snapshot!(message("abc", 5, &["a.c"]), @"Test failed: text expected not to match /a.c/");
        insta::assert_snapshot!(message("abc", 1, &["a.c"]), @"ok");
        insta::assert_snapshot!(message("abc", 8, &["abc"]), @"ok");
        insta::assert_snapshot!(message("abc", 48, &["x", "c"]), @"ok");
        assert_eq!(
            message("abc", 48, &["x", "y"]),
            "Test failed: text expected something using /x/\tTest failed: text expected something using /y/\t"
        );
        insta::assert_snapshot!(message("", 2, &["x"]), @"Response was null");
        insta::assert_snapshot!(message("", 6, &["x"]), @"ok");
    }

    #[test]
    fn a_malformed_pattern_is_an_error() {
        insta::assert_snapshot!(message("abc", 2, &["(a"]), @r"
        error Bad test configuration org.apache.oro.text.MalformedCachePatternException: Invalid expression: (a
        Unmatched parentheses.
        ");
    }

    #[test]
    fn the_difference_is_shown() {
        assert_eq!(
            message("abcdef", 8, &["abXXdef"]),
            "Test failed: text expected to equal /\n\n****** received  : ab[[[c ]]]def\n\n\
             ****** comparison: ab[[[XX]]]def\n\n/"
        );
        assert_eq!(
            message("abc", 8, &["abcd"]),
            "Test failed: text expected to equal /\n\n****** received  : abc[[[ ]]]\n\n\
             ****** comparison: abc[[[d]]]\n\n/"
        );
        assert!(
            message("aaa", 8, &["aa"]).contains("received  : aa[[[a]]]\n\n****** comparison: aa[[[ ]]]\n")
        );
        assert!(
            message("abc", 12, &["abc"]).contains("received  : abc[[[]]]\n\n****** comparison: abc[[[]]]\n")
        );
        assert!(message("abc", 10, &["zz"]).starts_with("Test failed: text expected something using /\n\n"));
        let (head, tail) = ("x".repeat(150), "y".repeat(120));
        let (head_shown, tail_shown) = ("x".repeat(100), "y".repeat(100));
        assert_eq!(
            message(&format!("{head}a{tail}"), 8, &[&format!("{head}bb{tail}")]),
            format!(
                "Test failed: text expected to equal /\n\n****** received  : ...{head_shown}[[[a ]]]{tail_shown}...\n\n\
                 ****** comparison: ...{head_shown}[[[bb]]]{tail_shown}...\n\n/"
            )
        );
    }

    #[test]
    fn a_custom_message_replaces_the_text() {
        let mut user = user_with_body("abc");
        let result = std::mem::take(&mut user.result);
        let mut assertion = assertion(2, &["x"]);
        assertion.settings.custom_message = Template::literal("Oops");
        assert_eq!(assertion.check(&mut user, &result).message, "Oops");
        assert_eq!(assertion.name(&mut user), "A");
    }
}
