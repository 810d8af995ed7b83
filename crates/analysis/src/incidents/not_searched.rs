//! Describes the parts of a run that were not searched for incidents.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::track::SLICES_MIN;

/// Minimum length of a measured part in seconds, including its first and last second, which are not searched.
const LENGTH_MIN: u64 = SLICES_MIN as u64 + 2;

/// A part of the search that was omitted, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NotSearched {
    /// The searched part is too short.
    TooShort {
        /// Length of the searched part in seconds.
        seconds: u64,
    },
    /// There are too few requests to search for changes of times and rates.
    TooFewRequests {
        /// Number of requests in the searched part.
        requests: u64,
    },
    /// Labels have too few requests to be searched on their own.
    SmallLabels {
        /// Number of these labels.
        labels: u64,
    },
    /// Times are recorded in whole milliseconds, and the 95th percentile is only a few milliseconds.
    WholeMilliseconds {
        /// 95th percentile in ms.
        p95_ms: f64,
    },
    /// The load is unknown, so a lower rate may be caused by a lower load.
    UnknownLoad,
    /// There are so few users that one slow response changes the total rate.
    FewUsers,
}

impl NotSearched {
    /// Whether the reason concerns the whole search and not only single labels, times or rates.
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
                    "not searched: {seconds} whole seconds are too few to compare parts of the run ({LENGTH_MIN} are needed)"
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
