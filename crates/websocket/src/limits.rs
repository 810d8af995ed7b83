//! Limits for the data that a server may send within one sample.

use busyhour_limits::{Limit, count_exceeded};
use busyhour_program::body_memory::MemoryError;

use crate::failure::SampleFailure;

/// The maximum size of the server's handshake response, equal to the limit for HTTP response heads.
pub const HEAD_BYTES_MAX: usize = 1 << 20;

/// The maximum size of all frames of one sample: its response and the discarded frames.
pub const FRAME_BYTES_MAX: u64 = 64 << 20;

/// The maximum number of frames that filters discard in one sample; each is recorded as a sub-result.
pub const FILTERED_FRAMES_MAX: u32 = 10_000;

pub(crate) fn head_too_long() -> SampleFailure {
    limited(Limit::HeadBytes, format!("The handshake response is longer than {} MiB", HEAD_BYTES_MAX >> 20))
}

pub(crate) fn frames_too_long() -> SampleFailure {
    let most = FRAME_BYTES_MAX >> 20;
    limited(Limit::FrameBytes, format!("The frames of the sample exceed the limit of {most} MiB"))
}

pub(crate) fn too_many_frames() -> SampleFailure {
    let message = format!("Filters discarded more than {FILTERED_FRAMES_MAX} frames in one sample");
    limited(Limit::FilteredFrames, message)
}

pub(crate) fn no_memory(why: MemoryError) -> SampleFailure {
    limited(Limit::BodyMemory, format!("Not enough memory for the frame: {why}"))
}

fn limited(limit: Limit, message: String) -> SampleFailure {
    count_exceeded(limit);
    SampleFailure::Limited(message)
}
