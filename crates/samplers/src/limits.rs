//! How much of a response the samplers of text and bytes keep in memory.

use busyhour_limits::{Limit, exceeded};

/// Bytes of one response, as for a body of HTTP.
pub const RESPONSE_BYTES_MAX: usize = 64 << 20;

/// Counts a response that is longer, and describes it.
pub(crate) fn too_long() -> String {
    exceeded(Limit::BodyBytes);
    format!("The response is longer than the {} MiB that are kept in memory", RESPONSE_BYTES_MAX >> 20)
}
