//! A figure that may be unavailable.

use serde::{Deserialize, Serialize};

/// A figure in its base unit, or the reason why it is unavailable. In JSON: a number, or an object with the key `unavailable`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figure {
    /// The value, with six significant digits.
    Known(f64),
    /// The value is unknown, which is not the same as 0.
    Unavailable {
        /// The reason, as a clause.
        unavailable: String,
    },
}

impl Figure {
    /// A known figure, rounded to six significant digits. A value that is not finite is unavailable.
    #[must_use]
    pub fn known(value: f64) -> Figure {
        if !value.is_finite() {
            return Figure::unavailable("the readings contradict each other");
        }
        if value == 0.0 {
            return Figure::Known(0.0);
        }
        // Larger values are whole numbers of bytes or events, which remain exact.
        let digits = 5 - value.abs().log10().floor() as i32;
        Figure::Known(match digits {
            ..=0 => value.round(),
            1..=300 => (value * 10f64.powi(digits)).round() / 10f64.powi(digits),
            _ => value,
        })
    }

    /// An unavailable figure.
    pub fn unavailable(reason: impl Into<String>) -> Figure {
        Figure::Unavailable { unavailable: reason.into() }
    }

    /// The value; `None` if it is unavailable.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self {
            Figure::Known(value) => Some(*value),
            Figure::Unavailable { .. } => None,
        }
    }

    /// The reason why the figure is unavailable; `None` if it is known.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Figure::Known(_) => None,
            Figure::Unavailable { unavailable } => Some(unavailable),
        }
    }
}

impl From<Result<f64, String>> for Figure {
    fn from(result: Result<f64, String>) -> Figure {
        match result {
            Ok(value) => Figure::known(value),
            Err(reason) => Figure::unavailable(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_to_six_digits_and_large_ones_to_whole_numbers() {
        let known = |value| Figure::known(value).value();
        assert_eq!(known(1.0 / 3.0), Some(0.333_333));
        assert_eq!(known(-1_234.567_89), Some(-1234.57));
        assert_eq!(known(123_456_789.6), Some(123_456_790.0));
        assert_eq!(known(1.234_567_89e-9), Some(1.234_57e-9));
        assert_eq!(known(0.0), Some(0.0));
        assert_eq!(known(f64::NAN), None);
        assert_eq!(known(f64::INFINITY), None);
    }
}
