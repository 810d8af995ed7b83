//! Why a search ended.

use serde::{Deserialize, Serialize};

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// The answer has the required precision.
    Precise,
    /// The time under load is spent.
    BudgetSpent,
    /// The largest load of the range passes, or the largest one that the generator delivers.
    PassesEverywhere,
    /// The smallest load of the range fails.
    FailsEverywhere,
    /// Higher loads pass more often than lower ones.
    NotMonotone,
    /// The generator did not deliver even the smallest loads.
    NotDelivered,
    /// Several trials in a row were spoiled on the host.
    HostSpoiled,
    /// The maximum number of trials was reached.
    TooManyTrials,
}

impl SearchEnd {
    /// The reason as a sentence without a full stop.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            SearchEnd::Precise => "the answer has the required precision",
            SearchEnd::BudgetSpent => {
                "the time under load was spent before the answer had the required precision"
            }
            SearchEnd::PassesEverywhere => {
                "the thresholds pass at all loads that were possible; widen the range"
            }
            SearchEnd::FailsEverywhere => {
                "the thresholds fail at the smallest load of the range; start at a lower load"
            }
            SearchEnd::NotMonotone => {
                "higher loads pass more often than lower ones, so there is no largest load: look for warm-up, caches or \
                 scaling that start with the load"
            }
            SearchEnd::NotDelivered => {
                "the generator did not deliver the load, not even at the lower end of the range"
            }
            SearchEnd::HostSpoiled => "trials were spoiled several times in a row; use a quieter machine",
            SearchEnd::TooManyTrials => "the maximum number of trials was reached",
        }
    }
}
