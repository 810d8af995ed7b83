//! Limits on the part of a response that samplers other than HTTP keep in memory.

use busyhour_limits::{Limit, count_exceeded};
use busyhour_program::body_memory::{BodyMemory, MemoryError};

/// The maximum number of bytes of one response, the same as for an HTTP body.
pub const RESPONSE_BYTES_MAX: usize = 64 << 20;

/// The received part of a response, within the limits of one response and of all users' responses.
#[derive(Default)]
pub(crate) struct LimitedResponse {
    pub bytes: Vec<u8>,
    pub memory: BodyMemory,
}

impl LimitedResponse {
    /// Appends received bytes.
    ///
    /// # Errors
    /// If the bytes would exceed a limit; the event is counted.
    pub fn append(&mut self, piece: &[u8]) -> Result<(), String> {
        if self.bytes.len() + piece.len() > RESPONSE_BYTES_MAX {
            return Err(too_long());
        }
        self.memory.append(&mut self.bytes, piece).map_err(no_memory)
    }

    /// Pads the response with zeros to `length` bytes, like a Java buffer that was only partly filled.
    ///
    /// # Errors
    /// If the bytes would exceed a limit; the event is counted.
    pub fn fill(&mut self, length: usize) -> Result<(), String> {
        const ZEROS: [u8; 4096] = [0; 4096];
        while self.bytes.len() < length {
            let count = ZEROS.len().min(length - self.bytes.len());
            self.append(&ZEROS[..count])?;
        }
        Ok(())
    }

    /// Reserves memory for a text that is derived from the bytes and takes `times` their memory.
    ///
    /// # Errors
    /// If the responses of all users together would exceed their limit.
    pub fn reserve(&mut self, times: usize) -> Result<(), String> {
        self.memory.hold(self.bytes.len().saturating_mul(times)).map_err(no_memory)
    }
}

/// Counts a response that exceeds the limit, and returns the message.
pub(crate) fn too_long() -> String {
    count_exceeded(Limit::BodyBytes);
    format!("The response is longer than the {} MiB that are retained in memory", RESPONSE_BYTES_MAX >> 20)
}

/// Counts a response that exceeds the limit for the responses of all users, and returns the message.
fn no_memory(why: MemoryError) -> String {
    count_exceeded(Limit::BodyMemory);
    format!("Not enough memory: {why}")
}
