//! How much of a response the samplers of text and bytes keep in memory.

use busyhour_limits::{Limit, exceeded};
use busyhour_program::body_memory::{BodyMemory, NoMemory};

/// Bytes of one response, as for a body of HTTP.
pub const RESPONSE_BYTES_MAX: usize = 64 << 20;

/// What has come of a response, within the limits of one response and of all users' responses.
#[derive(Default)]
pub(crate) struct Received {
    pub bytes: Vec<u8>,
    pub memory: BodyMemory,
}

impl Received {
    /// Appends a piece.
    ///
    /// # Errors
    /// The limit that it would exceed, which is counted.
    pub fn append(&mut self, piece: &[u8]) -> Result<(), String> {
        if self.bytes.len() + piece.len() > RESPONSE_BYTES_MAX {
            return Err(too_long());
        }
        self.memory.append(&mut self.bytes, piece).map_err(no_memory)
    }

    /// Fills up with zeros to so many bytes, as a buffer of Java is that was not filled.
    ///
    /// # Errors
    /// The limit that they would exceed, which is counted.
    pub fn fill(&mut self, length: usize) -> Result<(), String> {
        const ZEROS: [u8; 4096] = [0; 4096];
        while self.bytes.len() < length {
            let count = ZEROS.len().min(length - self.bytes.len());
            self.append(&ZEROS[..count])?;
        }
        Ok(())
    }

    /// Makes room for a text that is made of the bytes and takes so many times their memory.
    ///
    /// # Errors
    /// All users' responses would take more than they may.
    pub fn make_room(&mut self, times: usize) -> Result<(), String> {
        self.memory.hold(self.bytes.len().saturating_mul(times)).map_err(no_memory)
    }
}

/// Counts a response that is longer, and describes it.
pub(crate) fn too_long() -> String {
    exceeded(Limit::BodyBytes);
    format!("The response is longer than the {} MiB that are kept in memory", RESPONSE_BYTES_MAX >> 20)
}

/// Counts a response for which there is no memory, and describes it.
fn no_memory(why: NoMemory) -> String {
    exceeded(Limit::BodyMemory);
    format!("There is no memory: {why}")
}
