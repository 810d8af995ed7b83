//! What a server may send within one sample.

use busyhour_limits::{Limit, exceeded};
use busyhour_program::body_memory::NoMemory;

use crate::trouble::Trouble;

/// Bytes of the server's answer to the handshake, as of a response head of HTTP.
pub const HEAD_BYTES_MAX: usize = 1 << 20;

/// Bytes of the frames of one sample: its response and the frames that filters keep from it.
pub const FRAME_BYTES_MAX: u64 = 64 << 20;

/// Frames that filters keep from one sampler. Each is a result inside the sample.
pub const FILTERED_FRAMES_MAX: u32 = 10_000;

pub(crate) fn head_too_long() -> Trouble {
    limited(
        Limit::HeadBytes,
        format!("The answer to the handshake is longer than {} MiB", HEAD_BYTES_MAX >> 20),
    )
}

pub(crate) fn frames_too_long() -> Trouble {
    let most = FRAME_BYTES_MAX >> 20;
    limited(
        Limit::FrameBytes,
        format!("The frames of the sample are longer than the {most} MiB that are kept"),
    )
}

pub(crate) fn too_many_frames() -> Trouble {
    let message = format!("Filters discarded more than {FILTERED_FRAMES_MAX} frames in one sample");
    limited(Limit::FilteredFrames, message)
}

pub(crate) fn no_memory(why: NoMemory) -> Trouble {
    limited(Limit::BodyMemory, format!("There is no memory for the frame: {why}"))
}

fn limited(limit: Limit, message: String) -> Trouble {
    exceeded(limit);
    Trouble::Limited(message)
}
