//! The scales on which responses are compared.

use serde::{Deserialize, Serialize};

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

    /// The unit of a change.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            ResponseScale::Ratio => "%",
            ResponseScale::Difference => "percentage points",
        }
    }
}
