//! Equivalence tests. With enough values, every test of equality rejects, so decisions are based on whether a difference is
//! material.

use serde::{Deserialize, Serialize};

/// A band of values that are practically equivalent to the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// Lower end of the band.
    pub low: f64,
    /// Upper end of the band.
    pub high: f64,
}

/// The position of a confidence interval relative to a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The whole interval is inside the band.
    Inside,
    /// The whole interval is outside the band.
    Outside,
    /// The interval is partly inside and partly outside the band, or is unknown.
    Inconclusive,
}

impl Band {
    /// The band from `middle − half` to `middle + half`.
    #[must_use]
    pub fn around(middle: f64, half: f64) -> Band {
        Band { low: middle - half, high: middle + half }
    }

    /// The position of the interval from `low` to `high` relative to the band; inconclusive if an end is NaN.
    #[must_use]
    pub fn judge(&self, low: f64, high: f64) -> Decision {
        if low >= self.low && high <= self.high {
            Decision::Inside
        } else if high < self.low || low > self.high {
            Decision::Outside
        } else {
            Decision::Inconclusive
        }
    }
}

impl Decision {
    /// Combines the decisions on two measures: outside if one of them is outside, inside if both are inside, otherwise
    /// inconclusive.
    #[must_use]
    pub fn and(self, other: Decision) -> Decision {
        match (self, other) {
            (Decision::Outside, _) | (_, Decision::Outside) => Decision::Outside,
            (Decision::Inside, Decision::Inside) => Decision::Inside,
            _ => Decision::Inconclusive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_inside_outside_or_undecided() {
        let band = Band::around(1.0, 0.05);
        for (low, high, decision) in [
            (0.98, 1.02, Decision::Inside),
            (1.10, 1.20, Decision::Outside),
            (0.10, 0.90, Decision::Outside),
            (0.94, 0.98, Decision::Inconclusive),
            (0.50, 1.50, Decision::Inconclusive),
            (f64::NAN, f64::NAN, Decision::Inconclusive),
            (f64::NEG_INFINITY, f64::INFINITY, Decision::Inconclusive),
        ] {
            assert_eq!(band.judge(low, high), decision, "{low} {high}");
        }
    }

    #[test]
    fn a_combination_is_outside_if_one_decision_is() {
        use Decision::{Inconclusive, Inside, Outside};
        assert_eq!(Inside.and(Inside), Inside);
        assert_eq!(Inside.and(Inconclusive), Inconclusive);
        assert_eq!(Inconclusive.and(Outside), Outside);
    }
}
