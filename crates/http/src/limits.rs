//! What a response may cost the generator: the limits with their defaults, and how often each was exceeded.
//!
//! `docs/limits.md` has the same table for users.

use std::sync::atomic::{AtomicU64, Ordering};

use busyhour_record::{LimitHits, ResponseLimit};

use crate::failure::Failure;
use crate::response::grouped;

/// Encodings that one `Content-Encoding` may stack, as in curl.
pub const CONTENT_ENCODINGS_MAX: usize = 5;

/// Bytes that every compressed body may unpack to, those of all its layers added up.
pub const UNPACKED_BYTES_MIN: u64 = 64 << 20;

/// Beyond [`UNPACKED_BYTES_MIN`]: unpacked bytes per byte received. One layer of deflate yields at most 1,032, so that no
/// body with a single layer of gzip or deflate is refused.
pub const UNPACKED_PER_RECEIVED_MAX: u64 = 1_100;

/// Bytes of a body that are kept when the plan needs it and no property says otherwise. It is far beyond the pages and
/// documents that extractors read, and a tenth of what JMeter's default heap of 1 GiB takes before it ends the test.
pub const BODY_BYTES_KEPT_MAX: usize = 64 << 20;

/// Bytes that the cookies of one user under one manager may take: names, values, domains and paths.
pub const COOKIE_BYTES_MAX: usize = 1 << 20;

/// Cookies of one user under one manager, as RFC 6265 asks of browsers.
pub const COOKIES_MAX: usize = 3_000;

/// Bytes of the validators (`ETag`, `Last-Modified`, `Vary`) of one response that a cache keeps.
pub const CACHE_ENTRY_BYTES_MAX: usize = 16 * 1024;

/// Embedded resources that one sample fetches, those of frames included.
pub const RESOURCES_MAX: usize = 10_000;

/// Bytes of bodies of embedded resources that one sample keeps.
pub const SAMPLE_BYTES_KEPT_MAX: usize = 256 << 20;

/// How often one request is sent again because the server asks for authorization.
pub const AUTHENTICATION_ROUNDS_MAX: u32 = 10;

/// How much of a body is kept when the plan needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLimit {
    /// A longer body fails its sample.
    Refuse(usize),
    /// The first so many bytes are kept, as under JMeter's `httpsampler.max_bytes_to_store_per_request`.
    Truncate(usize),
    /// All of it, as JMeter does when that property is 0.
    Unlimited,
}

impl Default for BodyLimit {
    fn default() -> Self {
        Self::Refuse(BODY_BYTES_KEPT_MAX)
    }
}

impl Failure {
    /// The response exceeds a limit.
    pub(crate) fn limited(limit: ResponseLimit, class: &'static str, message: impl Into<String>) -> Self {
        Self { limit: Some(limit), ..Self::new(class, message) }
    }

    /// A part of the message exceeds a limit, in the words of HttpCore's `MessageConstraintException`.
    pub(crate) fn constraint(limit: ResponseLimit, what: &str, most: u64) -> Self {
        let message = format!("Maximum {what} exceeded ({})", grouped(most));
        Self::limited(limit, "org.apache.http.MessageConstraintException", message)
    }
}

/// How often responses exceeded each limit.
#[derive(Debug, Default)]
pub struct LimitCounts([AtomicU64; ResponseLimit::ALL.len()]);

impl LimitCounts {
    /// Counts a response.
    pub fn count(&self, limit: ResponseLimit) {
        self.0[limit as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The limits that were exceeded.
    #[must_use]
    pub fn hits(&self) -> Vec<LimitHits> {
        let counts = ResponseLimit::ALL.into_iter().zip(&self.0);
        let hits = counts.map(|(limit, count)| LimitHits { limit, responses: count.load(Ordering::Relaxed) });
        hits.filter(|hits| hits.responses > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceeded_limits_are_counted_by_kind() {
        let counts = LimitCounts::default();
        assert!(counts.hits().is_empty());
        for limit in [ResponseLimit::Headers, ResponseLimit::RequestDeadline, ResponseLimit::Headers] {
            counts.count(limit);
        }
        let expected = [(ResponseLimit::Headers, 2), (ResponseLimit::RequestDeadline, 1)];
        assert_eq!(counts.hits(), expected.map(|(limit, responses)| LimitHits { limit, responses }));
        let failure = Failure::constraint(ResponseLimit::Headers, "header count", 65_536);
        assert_eq!(failure.message, "Maximum header count exceeded (65,536)");
    }
}
