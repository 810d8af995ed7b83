//! What a response may cost the generator: the limits with their defaults.
//!
//! `docs/limits.md` has the same table for users.

use busyhour_limits::Limit;
use busyhour_program::body_memory::NoMemory;

use crate::failure::Failure;
use crate::response::grouped;

/// Encodings that one `Content-Encoding` may stack, as in curl.
pub const CONTENT_ENCODINGS_MAX: usize = 5;

/// Bytes that every compressed body may unpack to, those of all its layers added up.
pub const UNPACKED_BYTES_MIN: u64 = 64 << 20;

/// Beyond [`UNPACKED_BYTES_MIN`]: unpacked bytes per byte received. One layer of deflate yields at most 1,032, so that no
/// body with a single layer of gzip or deflate is refused.
pub const UNPACKED_PER_RECEIVED_MAX: u64 = 1_100;

/// Retained bytes of a body if the plan needs it and no property sets a limit: much more than typical pages, and a
/// tenth of JMeter's default heap of 1 GiB.
pub const BODY_BYTES_KEPT_MAX: usize = 64 << 20;

/// Bytes that the cookies of one user under one manager may take: names, values, domains and paths.
pub const COOKIE_BYTES_MAX: usize = 1 << 20;

/// Cookies of one user under one manager; RFC 6265 requires this many from browsers.
pub const COOKIES_MAX: usize = 3_000;

/// Bytes of the validators (`ETag`, `Last-Modified`, `Vary`) of one response that a cache keeps.
pub const CACHE_ENTRY_BYTES_MAX: usize = 16 * 1024;

/// Embedded resources that one sample fetches, those of frames included.
pub const RESOURCES_MAX: usize = 10_000;

/// Bytes of the absolute addresses of all resources of one page. Each address may contain the address of the page, so that
/// their length is limited in addition to their number.
pub const RESOURCE_ADDRESS_BYTES_MAX: usize = 16 << 20;

/// Bytes of the absolute links of one page, with the fields of forms, for the HTML Link Parser.
pub const LINK_BYTES_MAX: usize = 64 << 20;

/// Bytes of bodies that one sample keeps, those of its redirects and embedded resources added up.
pub const SAMPLE_BYTES_KEPT_MAX: usize = 256 << 20;

/// Repetitions of one request because of authentication.
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
    pub(crate) fn limited(limit: Limit, class: &'static str, message: impl Into<String>) -> Self {
        Self { limit: Some(limit), ..Self::new(class, message) }
    }

    /// There is no memory for a body; the class is that of the JVM.
    pub(crate) fn no_memory(why: NoMemory) -> Self {
        Self::limited(Limit::BodyMemory, "java.lang.OutOfMemoryError", why.to_string())
    }

    /// A part of the message exceeds a limit, in the words of HttpCore's `MessageConstraintException`.
    pub(crate) fn constraint(limit: Limit, what: &str, most: u64) -> Self {
        let message = format!("Maximum {what} exceeded ({})", grouped(most));
        Self::limited(limit, "org.apache.http.MessageConstraintException", message)
    }
}
