//! Filters, which discard frames before they reach a sampler.

use busyhour_oro::Finder;
use busyhour_program::ElementError;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

use crate::binary;
use crate::frame::{Frame, Kind};

/// Which control frames a filter discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PingKind {
    /// Pings and pongs.
    All,
    /// Pings.
    Ping,
    /// Pongs.
    Pong,
}

/// How a filter compares frames with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameComparison {
    /// Any frame matches.
    Plain,
    /// The whole payload is equal to the value.
    Equals,
    /// The whole payload matches a regular expression.
    EqualsRegex,
    /// A part of the payload is equal to the value.
    Contains,
    /// A part of the payload matches a regular expression.
    ContainsRegex,
    /// The payload starts with the value.
    StartsWith,
    /// The payload ends with the value.
    EndsWith,
}

impl FrameComparison {
    /// Returns the comparison with this name, and whether it is inverted.
    pub fn named(name: &str) -> Option<(Self, bool)> {
        let (plain, inverted) = match name.strip_prefix("Not") {
            Some(rest) => (rest, true),
            None => (name, false),
        };
        let comparison = match plain {
            "IsPlain" | "" if !inverted => Self::Plain,
            "Equals" => Self::Equals,
            "EqualsRegex" => Self::EqualsRegex,
            "Contains" => Self::Contains,
            "ContainsRegex" => Self::ContainsRegex,
            "StartsWith" => Self::StartsWith,
            "EndsWith" => Self::EndsWith,
            _ => return None,
        };
        Some((comparison, inverted))
    }
}

/// A filter.
#[derive(Clone, Debug)]
pub enum FrameFilter {
    /// Discards control frames.
    Ping {
        /// Which control frames are discarded.
        kind: PingKind,
        /// Whether it responds to pings.
        replies: bool,
    },
    /// Discards text or binary frames.
    Data {
        /// Whether it discards binary frames instead of text frames.
        binary: bool,
        /// The comparison of the payload.
        comparison: FrameComparison,
        /// Whether the comparison is inverted.
        inverted: bool,
        /// The value for the comparison: a text, a regular expression, or bytes in the notation of plans.
        value: Template,
        /// For [`FrameComparison::Contains`] with bytes: the required position of the value; empty: any position.
        position: Template,
    },
}

/// A filter with rendered settings.
pub(crate) struct Prepared {
    test: Test,
}

enum Test {
    Ping(PingKind, bool),
    Text(FrameComparison, bool, String, Option<Finder>),
    Binary(FrameComparison, bool, Vec<u8>, Option<i32>),
}

impl FrameFilter {
    /// Renders the settings.
    ///
    /// # Errors
    /// If a regular expression is invalid: Java's exception.
    pub(crate) fn prepare(&self, user: &mut UserState) -> Result<Prepared, ElementError> {
        let test = match self {
            Self::Ping { kind, replies } => Test::Ping(*kind, *replies),
            Self::Data { binary: false, comparison, inverted, value, .. } => {
                let value = value.text(user).into_owned();
                let pattern = match comparison {
                    FrameComparison::EqualsRegex => Some(format!(r"\A(?:{value})\z")),
                    FrameComparison::ContainsRegex => Some(value.clone()),
                    _ => None,
                };
                let regex = match pattern {
                    Some(pattern) => Some(
                        Finder::compile(&pattern)
                            .map_err(|error| format!("java.util.regex.PatternSyntaxException: {error}"))?,
                    ),
                    None => None,
                };
                Test::Text(*comparison, *inverted, value, regex)
            }
            Self::Data { comparison, inverted, value, position, .. } => {
                // A filter with an invalid value discards no frames; the plugin logs it.
                let value = binary::parse(&value.text(user)).unwrap_or_default();
                let position = position.text(user).parse().ok();
                Test::Binary(*comparison, *inverted, value, position)
            }
        };
        Ok(Prepared { test })
    }
}

impl Prepared {
    /// Whether the filter discards the frame.
    pub(crate) fn discards(&self, frame: &Frame) -> bool {
        match &self.test {
            Test::Ping(kind, _) => match frame.kind {
                Kind::Ping => *kind != PingKind::Pong,
                Kind::Pong => *kind != PingKind::Ping,
                _ => false,
            },
            Test::Text(comparison, inverted, value, regex) => {
                frame.kind == Kind::Text
                    && text_matches(*comparison, &frame.text(), value, regex.as_ref()) != *inverted
            }
            Test::Binary(comparison, inverted, value, position) => {
                frame.kind == Kind::Binary
                    && bytes_match(*comparison, &frame.payload, value, *position) != *inverted
            }
        }
    }

    /// Whether the filter responds to this frame.
    pub(crate) fn replies_to(&self, frame: &Frame) -> bool {
        frame.kind == Kind::Ping && matches!(self.test, Test::Ping(_, true))
    }
}

fn text_matches(comparison: FrameComparison, text: &str, value: &str, regex: Option<&Finder>) -> bool {
    match comparison {
        FrameComparison::Plain => true,
        FrameComparison::Equals => text == value,
        FrameComparison::Contains => text.contains(value),
        FrameComparison::StartsWith => text.starts_with(value),
        FrameComparison::EndsWith => text.ends_with(value),
        FrameComparison::EqualsRegex | FrameComparison::ContainsRegex => {
            regex.is_some_and(|regex| regex.is_match(text).unwrap_or(false))
        }
    }
}

fn bytes_match(comparison: FrameComparison, bytes: &[u8], value: &[u8], position: Option<i32>) -> bool {
    match (comparison, position) {
        (FrameComparison::Equals, _) => bytes == value,
        (FrameComparison::Contains, None) => binary::contains(bytes, value),
        (FrameComparison::Contains, Some(at)) => {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            !value.is_empty() && bytes.get(at..).is_some_and(|rest| rest.starts_with(value))
        }
        (FrameComparison::StartsWith, _) => bytes.starts_with(value),
        (FrameComparison::EndsWith, _) => bytes.ends_with(value),
        // Regular expressions do not apply to bytes.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_have_names() {
        assert_eq!(FrameComparison::named("IsPlain"), Some((FrameComparison::Plain, false)));
        assert_eq!(FrameComparison::named("NotContainsRegex"), Some((FrameComparison::ContainsRegex, true)));
        assert_eq!(FrameComparison::named("NotIsPlain"), None);
        assert_eq!(FrameComparison::named("Like"), None);
    }

    #[test]
    fn texts_and_bytes_are_compared() {
        let whole = Finder::compile(r"\A(?:a.)\z").unwrap();
        assert!(text_matches(FrameComparison::EqualsRegex, "ab", "", Some(&whole)));
        assert!(!text_matches(FrameComparison::EqualsRegex, "abc", "", Some(&whole)));
        assert!(text_matches(FrameComparison::EndsWith, "abc", "bc", None));
        assert!(bytes_match(FrameComparison::Contains, b"abc", b"bc", Some(1)));
        assert!(!bytes_match(FrameComparison::Contains, b"abc", b"bc", Some(0)));
        assert!(!bytes_match(FrameComparison::Contains, b"abc", b"bc", Some(-1)));
        assert!(bytes_match(FrameComparison::StartsWith, b"abc", b"ab", None));
        assert!(
            bytes_match(FrameComparison::EndsWith, b"abc", b"c", None)
                && bytes_match(FrameComparison::Plain, b"", b"x", None)
        );
    }
}
