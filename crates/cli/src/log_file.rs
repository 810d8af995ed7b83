//! The run's log, in the manner of JMeter's.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_engine::run::{Level, LogSink};

/// Lines longer than this are cut: a response body in an error message must not fill the disk.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// After so many bytes the log says so and ends.
const LOG_BYTES_MAX: u64 = 256 * 1024 * 1024;

struct Writer {
    out: BufWriter<File>,
    written: u64,
}

/// An open log file.
#[derive(Clone)]
pub(crate) struct LogFile(Arc<Mutex<Writer>>);

impl LogFile {
    /// Makes the file anew.
    pub(crate) fn create(path: &Path) -> std::io::Result<Self> {
        let out = BufWriter::new(File::create(path)?);
        Ok(Self(Arc::new(Mutex::new(Writer { out, written: 0 }))))
    }

    /// Where the engine writes to.
    pub(crate) fn sink(&self) -> LogSink {
        let own = self.clone();
        Box::new(move |level, line| own.write(level, line))
    }

    /// Writes one line; a full disk is no reason to end a run.
    pub(crate) fn write(&self, level: Level, line: &str) {
        if level < Level::Info {
            return;
        }
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.written > LOG_BYTES_MAX {
            return;
        }
        let mut end = line.len().min(LINE_BYTES_MAX);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let word = match level {
            Level::Debug => "DEBUG",
            Level::Info => "INFO ",
            Level::Warn => "WARN ",
            Level::Error => "ERROR",
        };
        let now = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S,%3f");
        let text = format!("{now} {word} busyhour: {}\n", &line[..end]);
        writer.written += text.len() as u64;
        let _ = writer.out.write_all(text.as_bytes());
        if writer.written > LOG_BYTES_MAX {
            let _ = writer.out.write_all(b"the log has grown too long and ends here\n");
        }
    }

    /// Hands over to the system what is still in memory.
    pub(crate) fn flush(&self) {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).out.flush();
    }
}
