//! The scales on which responses are compared.

use serde::{Deserialize, Serialize};

/// Larger increases are not shown as numbers: they follow from few repetitions, and tell nothing else.
const INCREASE_SHOWN_MAX: f64 = 1_000.0;

/// How two values of a response are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseScale {
    /// By their ratio: times, throughput. The analysis uses logarithms, and only values above 0.
    Ratio,
    /// By their difference: shares, which can be 0.
    Difference,
}

impl ResponseScale {
    /// The value on the scale of the analysis; `None` if it has none there.
    #[must_use]
    pub fn to_scale(self, value: f64) -> Option<f64> {
        match self {
            ResponseScale::Ratio => Some(value.ln()).filter(|_| value > 0.0),
            ResponseScale::Difference => Some(value),
        }
        .filter(|value| value.is_finite())
    }

    /// Converts the mean of values on the scale of the analysis back: for ratios, this is the geometric mean.
    #[must_use]
    pub fn from_scale(self, value: f64) -> f64 {
        match self {
            ResponseScale::Ratio => value.exp(),
            ResponseScale::Difference => value,
        }
    }

    /// Converts a difference on the scale of the analysis to a change in percent, or in percentage points of a share.
    #[must_use]
    pub fn percent(self, difference: f64) -> f64 {
        match self {
            ResponseScale::Ratio => 100.0 * difference.exp_m1(),
            ResponseScale::Difference => 100.0 * difference,
        }
    }

    /// Converts a change in percent, or in percentage points, to a difference on the scale of the analysis.
    #[must_use]
    pub fn from_percent(self, percent: f64) -> f64 {
        match self {
            ResponseScale::Ratio => (percent / 100.0).ln_1p(),
            ResponseScale::Difference => percent / 100.0,
        }
    }

    /// The smallest increase that an experiment can show, for a column of at most ten characters.
    #[must_use]
    pub fn increase_text(self, increase: f64) -> String {
        let unit = match self {
            ResponseScale::Ratio => "%",
            ResponseScale::Difference => "pp",
        };
        match increase > INCREASE_SHOWN_MAX {
            true => format!("> {INCREASE_SHOWN_MAX} {unit}"),
            false => format!("{increase:.1} {unit}"),
        }
    }

    /// The unit of a change.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            ResponseScale::Ratio => "%",
            ResponseScale::Difference => "percentage points",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases_fit_into_their_column() {
        let text = |increase| ResponseScale::Ratio.increase_text(increase);
        assert_eq!([text(12.34), text(1_000.0), text(28_667_831.8)], ["12.3 %", "1000.0 %", "> 1000 %"]);
        assert_eq!(ResponseScale::Difference.increase_text(2e9), "> 1000 pp");
    }
}
