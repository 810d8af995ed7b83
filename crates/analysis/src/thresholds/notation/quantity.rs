//! Parses numbers with units.

use super::super::criterion::{CriterionLimit, Meaning, MeasuredQuantity, ValueUnit};
use super::scanner::{ParseError, Reader};

/// A number with its unit.
pub(super) struct Quantity<'t> {
    pub(super) value: f64,
    pub(super) unit: &'t str,
    pub(super) from: usize,
}

impl<'t> Reader<'t> {
    /// Parses a number and its unit.
    pub(super) fn quantity(&mut self) -> Result<Quantity<'t>, ParseError> {
        let from = self.place();
        let left = self.left();
        let digits = left.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(left.len());
        let value = left[..digits].parse::<f64>().ok().filter(|value| value.is_finite());
        let Some(value) = value else {
            return Err(self
                .wrong_here("a number is missing")
                .hint("for example 800ms, 1.5s, 5%, 200/s, 0.9"));
        };
        let following = left[digits..].trim_start();
        // In `5 ms` the word after the space is a unit, in `5 over 30s` it is not.
        let spaces = left.len() - digits - following.len();
        let len =
            following.find(|c: char| !(c.is_alphanumeric() || "%/.µ".contains(c))).unwrap_or(following.len());
        let unit = &following[..len];
        let spaced_unit = spaces == 0 || is_unit(unit);
        let unit = if spaced_unit { unit } else { "" };
        self.at = from + digits + if spaced_unit && !unit.is_empty() { spaces + unit.len() } else { 0 };
        Ok(Quantity { value, unit, from })
    }

    /// Converts a quantity to the limit for a subject.
    pub(super) fn limit(
        &self,
        subject: &MeasuredQuantity,
        quantity: &Quantity<'_>,
        meaning: Meaning,
        like_k6: bool,
    ) -> Result<CriterionLimit, ParseError> {
        let limit = |value, unit| Ok(CriterionLimit { value, unit });
        let at = quantity.from;
        let number = |what: &str, hint: &str| {
            Err(self.wrong_from(at, format!("{subject} is {what}")).hint(hint.to_owned()))
        };
        if subject.is_time() {
            if quantity.unit.is_empty() && !like_k6 && meaning == Meaning::Require {
                let hint = format!("write {0}ms or {0}s", quantity.value);
                return Err(self.wrong_from(at, "the limit is a time, and its unit is missing").hint(hint));
            }
            // Without a unit, k6 uses milliseconds and Taurus seconds.
            let value = match quantity.unit {
                "" if like_k6 => quantity.value,
                "" => quantity.value * 1e3,
                _ => self.ms(quantity)?,
            };
            return limit(value, ValueUnit::Milliseconds);
        }
        match subject {
            MeasuredQuantity::Rate => {
                let per_second = match quantity.unit {
                    "" | "/s" => 1.0,
                    "/min" | "/m" => 60.0,
                    "/h" => 3_600.0,
                    _ => return number("a number per second", "for example 200/s or 12000/min"),
                };
                limit(quantity.value / per_second, ValueUnit::PerSecond)
            }
            MeasuredQuantity::Failed if like_k6 => limit(quantity.value * 100.0, ValueUnit::Percent),
            _ if subject.is_count() => match quantity.unit {
                "" => limit(quantity.value, ValueUnit::Count),
                "%" if *subject == MeasuredQuantity::Hits => {
                    number("the number of all samples and cannot be a share", "for example hits > 1000")
                }
                "%" if quantity.value > 100.0 => Err(self.wrong_from(at, "a share is at most 100%")),
                "%" => limit(quantity.value, ValueUnit::Percent),
                _ => number("a number or a share", "for example 20 or 5%"),
            },
            _ if !quantity.unit.is_empty() => number("a number without a unit", "for example 0.9"),
            MeasuredQuantity::Users => limit(quantity.value, ValueUnit::Users),
            MeasuredQuantity::Apdex { .. } if quantity.value > 1.0 => {
                Err(self.wrong_from(at, "an APDEX must be between 0 and 1"))
            }
            _ => limit(quantity.value, ValueUnit::Ratio),
        }
    }

    /// Converts a time to ms. A time can have several parts, as in 1m30s.
    pub(super) fn ms(&self, quantity: &Quantity<'_>) -> Result<f64, ParseError> {
        let wrong = || {
            self.wrong_from(quantity.from, "this is not a time")
                .hint("write a time as in 800ms, 1.5s, 1m30s, 250us")
        };
        let (mut sum, mut value, mut left) = (0.0, quantity.value, quantity.unit);
        loop {
            let end = left.find(|c: char| c.is_ascii_digit()).unwrap_or(left.len());
            sum += value * time_unit(&left[..end]).ok_or_else(wrong)?;
            left = &left[end..];
            if left.is_empty() {
                return Ok(sum);
            }
            let end = left.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(left.len());
            value = left[..end].parse().map_err(|_| wrong())?;
            left = &left[end..];
        }
    }

    /// Parses whole seconds, at least `least`.
    pub(super) fn seconds(&mut self, what: &str, least: u64) -> Result<u64, ParseError> {
        let quantity = self.quantity()?;
        // As in Taurus, the default unit is the second.
        let ms = if quantity.unit.is_empty() { quantity.value * 1e3 } else { self.ms(&quantity)? };
        let seconds = (ms / 1e3).round();
        if (seconds * 1e3 - ms).abs() > 1e-6 || seconds < least as f64 || seconds > 1e9 {
            let message = format!("{what} must be a whole number of seconds, at least {least}");
            return Err(self.wrong_from(quantity.from, message));
        }
        Ok(seconds as u64)
    }
}

/// The number of milliseconds in a unit.
fn time_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "us" | "µs" => 1e-3,
        "ms" => 1.0,
        "s" | "sec" => 1e3,
        "m" | "min" => 60e3,
        "h" => 3_600e3,
        "d" => 86_400e3,
        _ => return None,
    })
}

fn is_unit(text: &str) -> bool {
    time_unit(text).is_some() || text.starts_with(['%', '/'])
}
