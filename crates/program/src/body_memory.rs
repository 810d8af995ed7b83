//! The memory for response bodies, limited for the whole process: each body has a limit of its own, but a thousand users may
//! each retain a thousand bodies.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of bytes of all bodies together.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Number of bytes that all bodies occupy now.
static USED: AtomicUsize = AtomicUsize::new(0);

/// Buffers up to this size are not counted, so that small responses do not use a counter that all cores share.
const COUNTED_BYTES_MIN: usize = 64 << 10;

/// Limits the bytes of all bodies of the process.
pub fn limit_body_memory(bytes: usize) {
    MOST.store(bytes, Ordering::Relaxed);
}

const HINT: &str = "the property busyhour.body_memory sets the maximum size of all bodies in bytes";

/// Why there is no memory for a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// All bodies together would exceed this limit, in bytes.
    #[error("the response bodies of all users would take more than {0} bytes ({HINT})")]
    Limit(usize),
    /// The system could not allocate this number of bytes.
    #[error("the system has no memory for a response body of {0} bytes ({HINT})")]
    System(usize),
}

/// The share of one body in the memory for all bodies, in bytes. It is released when this value is dropped.
#[derive(Debug, Default)]
pub struct BodyMemory(usize);

impl BodyMemory {
    /// Appends a piece to a body.
    ///
    /// # Errors
    /// There is no memory for the piece; the body is unchanged.
    pub fn append(&mut self, body: &mut Vec<u8>, piece: &[u8]) -> Result<(), MemoryError> {
        let needed = body.len().saturating_add(piece.len());
        if needed > body.capacity() && needed > COUNTED_BYTES_MIN {
            let capacity = needed.max(body.capacity().saturating_mul(2));
            self.grow_within(capacity, MOST.load(Ordering::Relaxed))?;
            body.try_reserve_exact(capacity - body.len()).map_err(|_| MemoryError::System(capacity))?;
        }
        body.extend_from_slice(piece);
        Ok(())
    }

    /// Enlarges the share to `bytes` bytes, for a body that is stored elsewhere, such as one that is still being received.
    ///
    /// # Errors
    /// All bodies together would exceed the limit; the share is unchanged.
    pub fn hold(&mut self, bytes: usize) -> Result<(), MemoryError> {
        if bytes <= COUNTED_BYTES_MIN {
            return Ok(());
        }
        self.grow_within(bytes, MOST.load(Ordering::Relaxed))
    }

    fn grow_within(&mut self, bytes: usize, most: usize) -> Result<(), MemoryError> {
        let more = bytes.saturating_sub(self.0);
        let used = USED.fetch_add(more, Ordering::Relaxed);
        if used.saturating_add(more) > most {
            USED.fetch_sub(more, Ordering::Relaxed);
            return Err(MemoryError::Limit(most));
        }
        self.0 += more;
        Ok(())
    }
}

impl Clone for BodyMemory {
    /// A share for a copy of the body. The copy exists already, so it is counted even beyond the limit.
    fn clone(&self) -> Self {
        USED.fetch_add(self.0, Ordering::Relaxed);
        Self(self.0)
    }
}

impl Drop for BodyMemory {
    fn drop(&mut self) {
        if self.0 > 0 {
            USED.fetch_sub(self.0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_and_returned() {
        let (mut small, mut body) = (BodyMemory::default(), Vec::new());
        small.append(&mut body, &[1; 1_000]).unwrap();
        assert_eq!(small.0, 0);
        small.append(&mut body, &[1; 100_000]).unwrap();
        assert_eq!((small.0, body.len()), (101_000, 101_000));
        let copy = small.clone();
        let mut other = BodyMemory::default();
        let left = 1 << 30;
        assert_eq!(other.grow_within(left, left), Err(MemoryError::Limit(left)));
        assert_eq!(other.0, 0);
        drop((small, copy));
        assert_eq!(other.grow_within(left, left), Ok(()), "the share of a dropped body is released");
        assert_eq!(other.grow_within(left + 1, left), Err(MemoryError::Limit(left)));
    }
}
