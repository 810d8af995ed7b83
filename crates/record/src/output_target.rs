//! The destinations to which output files write their bytes.

use std::fs::File;
use std::io::{self, Write};

/// The destination of an output file: a file, a pipe, or a failing disk in tests.
pub(crate) trait Target: Send {
    /// Writes some of the bytes, as [`Write::write`] does.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Truncates the contents to this length.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
}

impl Target for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(self, bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }
}
