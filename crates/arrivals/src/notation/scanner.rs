//! Scans numbers, units and words.

use super::limits::{check_duration, check_rate};
use crate::error::{ParseError, nearest};
use crate::stage::{Per, Rate};

/// Scans a text from a position on.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

/// A number: its digits, its value and its position.
pub(super) struct Number {
    digits: String,
    pub(super) value: f64,
    pub(super) at: usize,
}

const TIME_UNITS: [(&str, u64); 20] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("secs", 1_000_000_000),
    ("second", 1_000_000_000),
    ("seconds", 1_000_000_000),
    ("min", 60_000_000_000),
    ("mins", 60_000_000_000),
    ("minute", 60_000_000_000),
    ("minutes", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("hour", 3_600_000_000_000),
    ("hours", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("day", 86_400_000_000_000),
    ("days", 86_400_000_000_000),
];

const RATE_UNITS: [(&str, Per); 11] = [
    ("ms", Per::Millisecond),
    ("s", Per::Second),
    ("sec", Per::Second),
    ("second", Per::Second),
    ("min", Per::Minute),
    ("minute", Per::Minute),
    ("h", Per::Hour),
    ("hour", Per::Hour),
    ("d", Per::Day),
    ("day", Per::Day),
    ("millisecond", Per::Millisecond),
];

impl<'a> Scanner<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Consumes `what` if the text continues with it; returns whether it did.
    pub(super) fn take(&mut self, what: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    pub(super) fn expect(&mut self, what: &str, context: &str) -> Result<(), ParseError> {
        if self.take(what) {
            return Ok(());
        }
        Err(ParseError::new(self.at, format!("expected `{what}` {context}, found {}", self.here())))
    }

    /// The next token, for error messages.
    pub(super) fn here(&self) -> String {
        let rest = self.rest().trim_start();
        let word = rest.len() - rest.trim_start_matches(char::is_alphanumeric).len();
        match (word, rest.chars().next()) {
            (_, None) => "the end".to_owned(),
            (0, Some(other)) => format!("`{other}`"),
            (length, _) => format!("`{}`", rest[..length].chars().take(24).collect::<String>()),
        }
    }

    /// Returns the next word without consuming it: a letter followed by letters, digits and underscores.
    pub(super) fn peek_word(&mut self) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        rest.chars().next().filter(|first| first.is_alphabetic())?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        Some(&rest[..end])
    }

    /// Consumes one of these words if it is next, ignoring case.
    pub(super) fn take_word(&mut self, words: &[&str]) -> bool {
        match self.peek_word() {
            Some(word) if words.iter().any(|known| word.eq_ignore_ascii_case(known)) => {
                self.at += word.len();
                true
            }
            _ => false,
        }
    }

    pub(super) fn starts_number(&mut self) -> bool {
        self.peek().is_some_and(|c| c.is_ascii_digit() || c == '.')
    }

    /// Parses a number without a sign: digits, optionally grouped by underscores, then optionally a fraction and an exponent.
    pub(super) fn number(&mut self, what: &str) -> Result<Number, ParseError> {
        self.skip_space();
        let (at, rest) = (self.at, self.rest());
        let bytes = rest.as_bytes();
        let run = |from: usize| {
            let of = |b: &u8| b.is_ascii_digit() || *b == b'_';
            bytes[from..].iter().position(|b| !of(b)).map_or(bytes.len(), |length| from + length)
        };
        let mut end = run(0);
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            end = run(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                end = run(end + 1 + sign);
            }
        }
        let digits = rest[..end].replace('_', "");
        let value = digits.parse::<f64>().ok().filter(|value| value.is_finite());
        let Some(value) = value.filter(|_| bytes[0].is_ascii_digit() || bytes[0] == b'.') else {
            let error = ParseError::new(at, format!("expected {what}, found {}", self.here()));
            return Err(match bytes.first() {
                Some(b'-') => error.with_hint("numbers must not be negative"),
                _ => error,
            });
        };
        self.at += end;
        Ok(Number { digits, value, at })
    }

    /// Parses a rate: `500/s`.
    pub(super) fn rate(&mut self) -> Result<Rate, ParseError> {
        let number = self.number("a rate like 500/s")?;
        let shown = &number.digits;
        let after = self.at;
        let divided = self.take("/") || self.take_word(&["per"]);
        let word = self.peek_word();
        let begin = self.at;
        if !divided {
            if word.is_some_and(|w| ["rps", "qps", "hz"].contains(&w.to_lowercase().as_str())) {
                return Err(ParseError::new(begin, format!("unknown unit {}", self.here()))
                    .with_hint(format!("write {shown}/s")));
            }
            return Err(ParseError::new(after, "missing unit of a rate")
                .with_hint(format!("write {shown}/s, {shown}/min or {shown}/h")));
        }
        let Some(word) = word else {
            return Err(ParseError::new(begin, format!("missing unit of a rate, found {}", self.here()))
                .with_hint(format!("write {shown}/s, {shown}/min or {shown}/h")));
        };
        let unit = RATE_UNITS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
        let Some((_, per)) = unit else {
            return Err(unknown_unit(
                word,
                begin,
                "the units of rates are /ms, /s, /min, /h and /d",
                &["ms", "sec", "min", "hour"],
            ));
        };
        self.at += word.len();
        check_rate(Rate { value: number.value, per: *per }, number.at)
    }

    /// Parses a time: `60s`, `1min 30s`.
    pub(super) fn time(&mut self) -> Result<u64, ParseError> {
        self.skip_space();
        let at = self.at;
        let mut sum_ns = self.time_part()?;
        loop {
            // A following number is part of the time only if it has a unit of time.
            let mut ahead = *self;
            if !ahead.starts_number() {
                break;
            }
            let Ok(part_ns) = ahead.time_part() else { break };
            sum_ns = sum_ns.saturating_add(part_ns);
            *self = ahead;
        }
        check_duration(sum_ns, at)
    }

    fn time_part(&mut self) -> Result<u128, ParseError> {
        let number = self.number("a time like 60s")?;
        let after = self.at;
        let Some(word) = self.peek_word() else {
            let shown = &number.digits;
            let error = ParseError::new(after, "missing unit of a time");
            return Err(error.with_hint(format!("write {shown}s, {shown}ms or {shown}min")));
        };
        let Some((_, unit_ns)) = TIME_UNITS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)) else {
            let hint = "the units of times are ns, us, ms, s, min, h and d";
            return Err(unknown_unit(word, self.at, hint, &["sec", "min", "hour", "day"]));
        };
        self.at += word.len();
        // Whole numbers are converted exactly; a floating-point number has only 53 bits.
        Ok(match number.digits.parse::<u128>() {
            Ok(whole) => whole.saturating_mul(u128::from(*unit_ns)),
            Err(_) => (number.value * *unit_ns as f64).round() as u128,
        })
    }
}

fn unknown_unit(word: &str, at: usize, all: &str, known: &[&str]) -> ParseError {
    let shown: String = word.chars().take(24).collect();
    let error = ParseError::new(at, format!("unknown unit `{shown}`"));
    error.with_hint(match nearest(word, known) {
        _ if word == "m" || word == "M" => "write min for minutes, ms for milliseconds".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => all.to_owned(),
    })
}
