//! The requests of a run in the log of the server.

mod sentence;

use busyhour_serverlog::{MatchCounts, ServerClock, StatusChange};
use busyhour_stats::Decision;
use serde::{Deserialize, Serialize};

use crate::arrivals::{Measure, Observed};

/// Which requests of the run the server received, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerLog {
    /// The result in one or two sentences.
    pub line: String,
    /// Whether nothing needs an explanation: all requests arrived, as they were sent; `None` if that is unknown.
    pub is_complete: Option<bool>,
    /// The files.
    pub files: Vec<String>,
    /// The format of the lines.
    pub format: String,
    /// Number of lines, without blank ones.
    pub lines: u64,
    /// Number of lines that could not be read, which are not compared.
    pub unreadable: u64,
    /// The first of them, with its place and the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unreadable: Option<String>,
    /// Numbers of requests and lines.
    pub counts: MatchCounts,
    /// Servers of the run whose requests are not in the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_servers: Vec<OtherServer>,
    /// Statuses that the client received and the server logged, if they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status_changes: Vec<StatusChange>,
    /// The first requests without a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingRequest>,
    /// The clock of the server less that of the generator; `None` if too few requests match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<ServerClock>,
    /// The arrivals at the server.
    pub arrivals: ServerArrivals,
    /// Time outside of the server by label, all labels first; empty if it is not available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<OutsideTime>,
    /// Mean times of all requests with a line and a duration. Unlike quantiles, they do not depend on which line belongs to which of
    /// several requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_mean: Option<OutsideMean>,
    /// Why the time outside of the server is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_unavailable: Option<String>,
    /// Conclusions that the comparison does not support, in sentences.
    pub limits: Vec<String>,
}

/// A server whose requests are not in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherServer {
    /// Host and port.
    pub server: String,
    /// Number of requests to it.
    pub requests: u64,
}

/// A request without a line in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingRequest {
    /// Start in s since the start of the run.
    pub at_s: f64,
    /// The label.
    pub label: String,
    /// Whether it had a response.
    pub has_response: bool,
}

/// The arrivals at the server, compared with the planned and the sent ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ServerArrivals {
    /// The log has start times that are fine enough for gaps.
    Judged(Box<JudgedArrivals>),
    /// The times in the log are whole seconds or coarser than 1 ms: only counts can be compared.
    Counted {
        /// Rows of the table of counts.
        counts: Vec<CountRow>,
        /// Why gaps are not compared.
        reason: String,
    },
    /// The arrivals are unknown.
    Unavailable {
        /// The reason.
        reason: String,
    },
}

/// The arrivals at the server, compared with those that were sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedArrivals {
    /// Intended starts of the requests.
    pub planned: Observed,
    /// Actual starts.
    pub sent: Observed,
    /// Starts in the log.
    pub arrived: Observed,
    /// Measures of the arrivals relative to the sent requests.
    pub measures: Vec<Measure>,
    /// Whether the requests arrived as they were sent.
    pub decision: Decision,
}

/// The index of dispersion of the number of requests per time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountRow {
    /// Width of a time window in s.
    pub scale_s: f64,
    /// Index of dispersion of the planned starts.
    pub planned: f64,
    /// Index of dispersion of the actual starts.
    pub sent: f64,
    /// Index of dispersion of the starts in the log.
    pub arrived: f64,
}

/// Mean times in ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OutsideMean {
    /// Number of requests.
    pub requests: u64,
    /// Service time from the actual start.
    pub service_ms: f64,
    /// Duration in the log.
    pub server_ms: f64,
    /// Their difference.
    pub outside_ms: f64,
}

/// Response times, and the part of them that was not spent in the server: network, proxies, connections and queues before the server
/// measures time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutsideTime {
    /// The label; `None` for all labels.
    pub label: Option<String>,
    /// Number of requests whose line is certain.
    pub requests: u64,
    /// Quantiles 0.5, 0.95 and 0.99 of the service time (from the actual start) in ms.
    pub service_ms: [f64; 3],
    /// The same of the duration in the log.
    pub server_ms: [f64; 3],
    /// The same of their difference for each request.
    pub outside_ms: [f64; 3],
    /// Median of the part before the server's start in ms, for all labels; accurate to the bounds of the clock offset and half of
    /// `before_tick_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_ms: Option<f64>,
    /// Resolution of the starts in the log in ms.
    pub before_tick_ms: f64,
}
