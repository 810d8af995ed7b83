//! A file that may fail without taking the run along.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::RecorderEvent;

/// Bytes gathered before they are written.
const BUFFER: usize = 128 << 10;

/// A buffered file of units (rows, samples) that are written whole or not at all.
///
/// When a write fails (a full disk), the units in the buffer are counted as lost, what reached the file of them is cut
/// off again, and later units try anew.
pub(crate) struct OutputFile {
    name: String,
    file: File,
    buffer: Vec<u8>,
    /// Length of the buffer's whole units.
    whole: usize,
    units: u64,
    /// Length of the file after the last write that succeeded.
    len: u64,
    lost: u64,
    error: Option<String>,
}

impl OutputFile {
    /// Opens `path`, making its directory if need be. With `append` what it holds is kept.
    pub(crate) fn open(path: &Path, append: bool) -> io::Result<OutputFile> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && !append {
            file.set_len(0)?;
        }
        Ok(OutputFile {
            name: path.display().to_string(),
            len: if append { metadata.len() } else { 0 },
            file,
            buffer: Vec::with_capacity(BUFFER + (BUFFER >> 2)),
            whole: 0,
            units: 0,
            lost: 0,
            error: None,
        })
    }

    /// The file's name, as it was given.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where the bytes of the next unit go; [`OutputFile::end_unit`] ends it.
    pub(crate) fn unit(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// What was put into the buffer since the last call is a whole that stands for `units`. False when a write failed.
    pub(crate) fn end_unit(&mut self, units: u64) -> bool {
        self.whole = self.buffer.len();
        self.units += units;
        self.whole < BUFFER || self.flush()
    }

    /// Writes the buffer; false when that failed.
    pub(crate) fn flush(&mut self) -> bool {
        if self.whole == 0 {
            return true;
        }
        let result = self.file.write_all(&self.buffer[..self.whole]);
        if let Err(error) = &result {
            self.lost += self.units;
            if self.error.is_none() {
                self.error = Some(error.to_string());
            }
            // Not every file can be cut (a pipe); what it holds cannot be helped then.
            let _ = self.file.set_len(self.len);
        } else {
            self.len += self.whole as u64;
        }
        self.buffer.drain(..self.whole);
        self.whole = 0;
        self.units = 0;
        result.is_ok()
    }

    /// The file's trouble, if it had any.
    pub(crate) fn event(&self) -> Option<RecorderEvent> {
        let error = self.error.clone()?;
        Some(RecorderEvent::LostOutput { file: self.name.clone(), error, lost: self.lost })
    }

    pub(crate) const fn failed(&self) -> bool {
        self.error.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_costs_what_it_could_not_take_and_is_told() {
        let device = Path::new("/dev/full");
        if !device.exists() {
            return;
        }
        let mut file = OutputFile::open(device, true).unwrap();
        for _ in 0..3 {
            file.unit().extend_from_slice(b"row\n");
            file.end_unit(1);
        }
        assert!(!file.flush());
        let Some(RecorderEvent::LostOutput { file, lost, .. }) = file.event() else { panic!("no event") };
        assert_eq!((file.as_str(), lost), ("/dev/full", 3));
    }

    #[test]
    fn appends_or_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/file");
        for (append, text) in [(true, "a"), (true, "b"), (false, "c")] {
            let mut file = OutputFile::open(&path, append).unwrap();
            file.unit().extend_from_slice(text.as_bytes());
            file.end_unit(1);
            assert!(file.flush());
            assert_eq!(file.event(), None);
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "c");
    }
}
