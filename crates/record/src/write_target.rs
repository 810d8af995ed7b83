//! What output files write to.

use std::fs::File;
use std::io::{self, Write};

/// Where the bytes go: a file, or in tests something that fails when told to.
pub(crate) trait Target: Send {
    /// Takes some of the bytes, as [`Write::write`].
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts what was written back to this length.
    fn cut(&mut self, len: u64) -> io::Result<()>;
}

impl Target for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(self, bytes)
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }
}
