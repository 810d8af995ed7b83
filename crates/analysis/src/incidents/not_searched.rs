//! What the search for incidents leaves out.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::track::SLICES_MIN;

/// Fewest seconds of a searched part: without the first and the last second.
const LENGTH_MIN: u64 = SLICES_MIN as u64 + 2;

/// What was not searched for incidents, and why.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NotSearched {
    /// The searched part is too short.
    TooShort {
        /// Its length in seconds.
        seconds: u64,
    },
    /// There are too few requests for changes of times and rates.
    TooFewRequests {
        /// Requests in the searched part.
        requests: u64,
    },
    /// Labels have too few requests to be searched on their own.
    SmallLabels {
        /// Their number.
        labels: u64,
    },
    /// Times are recorded in whole milliseconds, and most are shorter than a few of them.
    WholeMilliseconds {
        /// 95th percentile in ms.
        p95_ms: f64,
    },
    /// The load is unknown, so that a lower rate may be a lower load.
    UnknownLoad,
    /// There are so few users that one slow response changes the rate.
    FewUsers,
}

impl NotSearched {
    /// Whether it concerns the whole search, not single labels, times or rates.
    #[must_use]
    pub fn is_general(self) -> bool {
        matches!(self, NotSearched::TooShort { .. } | NotSearched::TooFewRequests { .. })
    }
}

impl fmt::Display for NotSearched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotSearched::TooShort { seconds } => {
                write!(
                    f,
                    "not searched: {seconds} whole seconds are too short to compare their parts ({LENGTH_MIN} are needed)"
                )
            }
            NotSearched::TooFewRequests { requests } => write!(
                f,
                "only errors and pauses were searched: {requests} requests are too few for changes of times and rates"
            ),
            NotSearched::SmallLabels { labels: 1 } => {
                f.write_str("one label has too few requests to be searched on its own")
            }
            NotSearched::SmallLabels { labels } => {
                write!(f, "{labels} labels have too few requests to be searched on their own")
            }
            NotSearched::WholeMilliseconds { p95_ms } => write!(
                f,
                "changes of less than 2 ms are not visible: times are in whole milliseconds, and p95 is {p95_ms:.0} ms"
            ),
            NotSearched::UnknownLoad => f.write_str(
                "rates were not searched: the number of users is unknown, so the load may have changed",
            ),
            NotSearched::FewUsers => {
                f.write_str("rates were not searched: with so few users, one slow response changes them")
            }
        }
    }
}
