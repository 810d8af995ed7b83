//! The comparison of a run with the log of a server.

use serde::{Deserialize, Serialize};

/// How the requests of a run and the lines of a log match.
#[derive(Debug, Clone, PartialEq)]
pub struct Matches {
    /// The counts.
    pub counts: MatchCounts,
    /// The offset of the server's clock; `None` if too few requests match.
    pub offset: Option<ServerClock>,
    /// Requests with their lines, in order of the requests.
    pub pairs: Vec<MatchedRequest>,
    /// The first lost requests, in order of time.
    pub lost: Vec<LostRequest>,
    /// Lines of the run, as indices into the given lines: those with a request, and repetitions; in order of time.
    pub lines_of_run: Vec<u32>,
    /// Statuses that the client received and the server logged, if they differ; the most frequent first.
    pub status_changes: Vec<StatusChange>,
    /// Servers, as numbers in [`crate::SentRequest::server`], whose requests are not in the log, with the number of their requests.
    pub other_servers: Vec<(u32, u64)>,
}

/// Numbers of requests and lines. `sent = arrived + lost + answered_elsewhere`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MatchCounts {
    /// Requests sent to the servers that wrote the log.
    pub sent: u64,
    /// Requests with a line in the log.
    pub arrived: u64,
    /// Requests without a response and without a line.
    pub lost: u64,
    /// Requests with a response, but without a line: a cache, a proxy or another instance answered them, or the log is incomplete.
    pub answered_elsewhere: u64,
    /// Requests without a response that have a line: the server received them.
    pub arrived_without_response: u64,
    /// Requests with a line that has another status than the response.
    pub other_status: u64,
    /// Lines without a request from the addresses of the generator, or with the identifier of a request that has a line already:
    /// repetitions by a proxy or a library, or requests of other programs at these addresses.
    pub repeated: u64,
    /// Lines during the run from other clients.
    pub foreign: u64,
    /// Lines before or after the run.
    pub outside: u64,
    /// Whether identifiers of requests were compared. Without them, the line of another request can be mistaken for
    /// that of a lost request.
    pub by_id: bool,
    /// Whether the query was left out of the comparison, because the log does not contain it.
    pub without_query: bool,
}

/// The clock of the server less the clock of the generator, at the beginning of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ServerClock {
    /// Lowest offset in ms that is compatible with the requests: none began at the server before it was sent, and none ended there
    /// after its response arrived.
    pub low_ms: f64,
    /// Highest offset in ms.
    pub high_ms: f64,
    /// Number of requests that the bounds were computed from.
    pub requests: u64,
    /// How the offset changes during the run; `None` if a constant offset is compatible with all requests.
    pub drift: Option<ClockDrift>,
}

impl ServerClock {
    /// The middle of the bounds in ms.
    #[must_use]
    pub fn middle_ms(&self) -> f64 {
        f64::midpoint(self.low_ms, self.high_ms)
    }

    /// Half the distance of the bounds in ms.
    #[must_use]
    pub fn half_width_ms(&self) -> f64 {
        (self.high_ms - self.low_ms) / 2.0
    }
}

/// How the offset of the clocks changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ClockDrift {
    /// One clock is faster.
    Steady {
        /// Lowest change of the offset in ms per minute.
        low_ms_per_min: f64,
        /// Highest change.
        high_ms_per_min: f64,
    },
    /// A clock was set, or its speed changed: no steady change is compatible with the requests.
    Irregular,
}

/// A request and its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchedRequest {
    /// Index of the request.
    pub sent: u32,
    /// Index of the line.
    pub line: u32,
    /// Whether no other line or request could belong to the same pair.
    pub is_certain: bool,
}

/// A request without a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostRequest {
    /// Index of the request.
    pub sent: u32,
    /// Whether it had a response.
    pub has_response: bool,
}

/// Requests whose status the client and the server disagree about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusChange {
    /// Status that the client received.
    pub received: u16,
    /// Status in the log.
    pub logged: u16,
    /// Number of requests.
    pub requests: u64,
}
