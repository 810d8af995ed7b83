//! Limits on the resources of the generator that a response may use, with their defaults.
//!
//! `docs/limits.md` describes them for users.

use busyhour_limits::Limit;
use busyhour_program::body_memory::MemoryError;

use crate::failure::Failure;
use crate::response::grouped;

/// The maximum number of nested encodings in one `Content-Encoding`, as in curl.
pub const CONTENT_ENCODINGS_MAX: usize = 5;

/// The number of bytes to which every compressed body may be decompressed, whatever its compressed size, summed over all its
/// layers.
pub const UNPACKED_BYTES_MIN: u64 = 64 << 20;

/// The number of decompressed bytes per received byte beyond [`UNPACKED_BYTES_MIN`]. One layer of deflate yields at most 1,032,
/// so no body with a single layer of gzip or deflate is rejected.
pub const UNPACKED_PER_RECEIVED_MAX: u64 = 1_100;

/// The maximum number of retained bytes of a body if the plan needs it and no property sets a limit. This is much more than
/// typical pages have, and a sixteenth of JMeter's default heap of 1 GiB.
pub const BODY_BYTES_RETAINED_MAX: usize = 64 << 20;

/// The maximum size of the cookies of one user under one manager in bytes: names, values, domains and paths.
pub const COOKIE_BYTES_MAX: usize = 1 << 20;

/// The maximum number of cookies of one user under one manager; RFC 6265 requires this many from browsers.
pub const COOKIES_MAX: usize = 3_000;

/// The maximum size of the validators (`ETag`, `Last-Modified`, `Vary`) of one cached response in bytes.
pub const CACHE_ENTRY_BYTES_MAX: usize = 16 * 1024;

/// The maximum number of embedded resources of one sample, including those of frames.
pub const RESOURCES_MAX: usize = 10_000;

/// The maximum size of the absolute addresses of all resources of one page in bytes. Each address may contain the
/// address of the page, so the size is limited in addition to the number.
pub const RESOURCE_ADDRESS_BYTES_MAX: usize = 16 << 20;

/// The maximum size of the absolute links of one page, with the fields of forms, for the HTML Link Parser, in bytes.
pub const LINK_BYTES_MAX: usize = 64 << 20;

/// The maximum size of the retained bodies of one sample, including its redirects and embedded resources, in bytes.
pub const SAMPLE_BYTES_RETAINED_MAX: usize = 256 << 20;

/// The maximum number of repetitions of one request because of authentication.
pub const AUTHENTICATION_ROUNDS_MAX: u32 = 10;

/// The limit on the retained part of a body, if the plan needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLimit {
    /// A longer body fails its sample.
    Refuse(usize),
    /// The first bytes are retained, as with JMeter's `httpsampler.max_bytes_to_store_per_request`.
    Truncate(usize),
    /// The whole body is retained, as in JMeter if the property is 0.
    Unlimited,
}

impl Default for BodyLimit {
    fn default() -> Self {
        Self::Refuse(BODY_BYTES_RETAINED_MAX)
    }
}

impl Failure {
    /// The response exceeds a limit.
    pub(crate) fn limited(limit: Limit, class: &'static str, message: impl Into<String>) -> Self {
        Self { limit: Some(limit), ..Self::new(class, message) }
    }

    /// There is not enough memory for a body; the failure has the class of the JVM's error.
    pub(crate) fn no_memory(why: MemoryError) -> Self {
        Self::limited(Limit::BodyMemory, "java.lang.OutOfMemoryError", why.to_string())
    }

    /// A part of the message exceeds a limit; the text is that of HttpCore's `MessageConstraintException`.
    pub(crate) fn constraint(limit: Limit, what: &str, most: u64) -> Self {
        let message = format!("Maximum {what} exceeded ({})", grouped(most));
        Self::limited(limit, "org.apache.http.MessageConstraintException", message)
    }
}
