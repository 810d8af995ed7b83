//! Assembles lines of the protocol from pieces of a stream.

/// Longest line that is read, in bytes: the names of about a thousand metrics.
pub(super) const LINE_MAX: usize = 64 << 10;

/// A line is longer than 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line of the protocol is longer than {LINE_MAX} bytes")]
pub struct LineTooLong;

/// Collects bytes until a line is complete.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    /// Adds `bytes` and passes each complete line to `use_line`, without its end.
    pub(super) fn receive(
        &mut self,
        bytes: &[u8],
        mut use_line: impl FnMut(&str),
    ) -> Result<(), LineTooLong> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.pending.len() + piece.len() > LINE_MAX {
                self.pending.clear();
                return Err(LineTooLong);
            }
            self.pending.extend_from_slice(piece);
            if let Some(line) = self.pending.strip_suffix(b"\n") {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                use_line(&String::from_utf8_lossy(line));
                self.pending.clear();
            }
        }
        Ok(())
    }
}
