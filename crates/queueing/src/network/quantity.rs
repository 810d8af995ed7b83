//! Times and rates in text form: `"50ms"`, `"20/s"`.

use super::error::NotationError;
use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Units of time as (name, multiplier, divisor) to convert to seconds. The divisor avoids rounding errors: 700/1000 is
/// the nearest number to 0.7, but 700 · 0.001 is not.
const UNITS: [(&str, f64, f64); 6] = [
    ("ns", 1.0, 1e9),
    ("us", 1.0, 1e6),
    ("ms", 1.0, 1e3),
    ("s", 1.0, 1.0),
    ("min", 60.0, 1.0),
    ("h", 3_600.0, 1.0),
];

/// A time in seconds: `0.05`, `50ms`, `2s`, `1.5min`.
///
/// # Errors
/// The text is not a number of at least 0 with a known unit.
pub fn seconds(text: &str) -> Result<f64, NotationError> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic());
    let unit = text[digits.len()..].replace('µ', "u");
    let (multiplier, divisor) = match UNITS.iter().find(|(name, ..)| *name == unit) {
        Some((_, multiplier, divisor)) => (*multiplier, *divisor),
        None if unit.is_empty() => (1.0, 1.0),
        None => {
            return Err(NotationError::TimeUnit(unit));
        }
    };
    Ok(number(digits)? * multiplier / divisor)
}

/// A rate per second: `20`, `20/s`, `1200/min`, `3600/h`.
///
/// # Errors
/// The text is not a number of at least 0 with a known unit.
pub fn rate_per_s(text: &str) -> Result<f64, NotationError> {
    let (digits, unit) = text.trim().split_once('/').unwrap_or((text.trim(), "s"));
    let factor = match unit.trim() {
        "s" | "sec" => 1.0,
        "min" => 60.0,
        "h" => 3_600.0,
        other => {
            return Err(NotationError::RateUnit(other.to_owned()));
        }
    };
    Ok(number(digits)? / factor)
}

/// A number that is at least 0 and finite.
///
/// # Errors
/// The text is not such a number.
pub fn number(text: &str) -> Result<f64, NotationError> {
    let text = text.trim();
    let value: f64 =
        text.parse().map_err(|source| NotationError::NotANumber { text: text.to_owned(), source })?;
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(NotationError::Negative) }
}

/// A time in the notation of a model: the shortest text that parses to the same value, preferably with a number of at
/// least 1.
#[must_use]
pub fn seconds_text(value_s: f64) -> String {
    UNITS
        .iter()
        .flat_map(|(unit, multiplier, divisor)| {
            let number = value_s / multiplier * divisor;
            // Rounding prevents results such as 49.99999999999999ms.
            let rounded = format!("{number:.9}");
            [rounded.trim_end_matches('0').trim_end_matches('.').to_owned(), number.to_string()]
                .map(|digits| (number < 1.0, format!("{digits}{unit}")))
        })
        .filter(|(_, text)| seconds(text) == Ok(value_s))
        .min_by_key(|(is_small, text)| (*is_small, text.len()))
        .map_or_else(|| format!("{value_s}s"), |(_, text)| text)
}

/// A time in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seconds(pub(super) f64);

/// A rate per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PerSecond(pub(super) f64);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&seconds_text(self.0))
    }
}

impl Serialize for PerSecond {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}/s", self.0))
    }
}

/// Passes strings, and numbers in text form, to `parse`.
struct TextOrNumber<T> {
    parse: fn(&str) -> Result<T, NotationError>,
    expected: &'static str,
}

impl<T> Visitor<'_> for TextOrNumber<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        (self.parse)(&number.to_string()).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        (self.parse)(&number.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        (self.parse)(&number.to_string()).map_err(E::custom)
    }
}

/// Deserializes a string, or a number as if it were the equivalent string.
pub(super) fn text_or_number<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    parse: fn(&str) -> Result<T, NotationError>,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(TextOrNumber { parse, expected })
}

/// The schema of values that [`text_or_number`] reads.
pub(super) fn text_or_number_schema(description: &str) -> Schema {
    json_schema!({ "type": ["string", "number"], "description": description })
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_number(deserializer, "a time such as \"50ms\"", |text| seconds(text).map(Seconds))
    }
}

impl<'de> Deserialize<'de> for PerSecond {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_number(deserializer, "a rate such as \"20/s\"", |text| rate_per_s(text).map(PerSecond))
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text_or_number_schema("A time: \"50ms\", with ns, us, ms, s, min or h; a number is seconds.")
    }
}

impl JsonSchema for PerSecond {
    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text_or_number_schema("A rate: \"20/s\", with /s, /min or /h; a number is per second.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_text_form_are_read_back_unchanged() {
        for (value_s, text) in [
            (0.05, "50ms"),
            (2.0, "2s"),
            (90.0, "90s"),
            (3600.0, "1h"),
            (0.0001, "100us"),
            (0.7, "700ms"),
            (0.0, "0s"),
        ] {
            assert_eq!(seconds_text(value_s), text);
        }
        for value_s in [1.0 / 157.0, 1.0 / 3.0, 2.0 / 157.0, 1e-9, 123_456.789, f64::MIN_POSITIVE] {
            assert_eq!(seconds(&seconds_text(value_s)), Ok(value_s), "{}", seconds_text(value_s));
        }
    }
}
