//! The log of a run, in the format of JMeter's log.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_program::run::{LogLevel, LogSink};

use crate::system::is_pipe;

/// Maximum length of a line in bytes, so that response bodies in error messages do not fill the disk.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// Maximum size of the log in bytes.
const LOG_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Maximum number of lines that are waiting to be written; further lines are lost and counted.
const WAITING_MAX: usize = 32 * 1024;

/// Maximum number of lines that are written without flushing the file.
const UNFLUSHED_MAX: usize = 1024;

/// Maximum time that the end of the run waits for the log.
const PATIENCE: Duration = Duration::from_secs(1);

struct Shared {
    clock: Clock,
    /// Unbounded, because a bounded channel takes its whole memory from the start; `waiting` limits the number of lines.
    lines: Sender<String>,
    /// Number of lines that have not been flushed to the file.
    waiting: AtomicUsize,
    written: AtomicU64,
    lost: AtomicU64,
}

/// An open log file. A separate thread writes it, so that neither a core nor the end of the run waits for a disk or a pipe.
#[derive(Clone)]
pub(crate) struct LogFile(Arc<Shared>);

impl LogFile {
    /// Creates or overwrites the file. If it is a pipe, the thread opens it when it has a reader.
    pub(crate) fn create(path: &Path, clock: Clock) -> std::io::Result<Self> {
        let opened = if is_pipe(path) { None } else { Some(File::create(path)?) };
        let (lines, inbox) = channel();
        let shared = Arc::new(Shared {
            clock,
            lines,
            waiting: AtomicUsize::new(0),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        });
        let (of_thread, path) = (Arc::clone(&shared), path.to_owned());
        std::thread::Builder::new()
            .name("log".into())
            .spawn(move || write_lines(opened, &path, &inbox, &of_thread))?;
        Ok(Self(shared))
    }

    /// The log sink for the engine.
    pub(crate) fn sink(&self) -> LogSink {
        let own = self.clone();
        Box::new(move |level, line| own.write(level, line))
    }

    /// Writes one line. Errors are ignored: a full disk must not end a run.
    pub(crate) fn write(&self, level: LogLevel, line: &str) {
        if level < LogLevel::Info || self.0.written.load(Ordering::Relaxed) > LOG_BYTES_MAX {
            return;
        }
        let mut end = line.len().min(LINE_BYTES_MAX);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let word = match level {
            LogLevel::Debug => "DEBUG",
            LogLevel::Info => "INFO ",
            LogLevel::Warn => "WARN ",
            LogLevel::Error => "ERROR",
        };
        let now = local_time(&self.0.clock).strftime("%Y-%m-%d %H:%M:%S,%3f");
        let mut text = format!("{now} {word} busyhour: {}\n", &line[..end]);
        if self.0.written.fetch_add(text.len() as u64, Ordering::Relaxed) + text.len() as u64 > LOG_BYTES_MAX
        {
            text.push_str("the log has reached its maximum size and ends here\n");
        }
        let is_full = self.0.waiting.fetch_add(1, Ordering::SeqCst) >= WAITING_MAX;
        if is_full || self.0.lines.send(text).is_err() {
            self.0.waiting.fetch_sub(1, Ordering::SeqCst);
            self.0.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for at most a second until all lines are written; returns the number of lost lines.
    pub(crate) fn flush(&self) -> u64 {
        let since = self.0.clock.now().as_duration();
        while self.0.waiting.load(Ordering::SeqCst) > 0 && self.0.clock.now().as_duration() < since + PATIENCE
        {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        self.0.lost.load(Ordering::Relaxed) + self.0.waiting.load(Ordering::SeqCst) as u64
    }
}

/// The current wall-clock time in the time zone of the system.
fn local_time(clock: &Clock) -> jiff::Zoned {
    let ms = i64::try_from(clock.wall_ms(clock.now())).unwrap_or(i64::MAX);
    let now = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    now.to_zoned(jiff::tz::TimeZone::system())
}

fn write_lines(opened: Option<File>, path: &PathBuf, inbox: &Receiver<String>, shared: &Shared) {
    // Opening a pipe blocks until it has a reader; the lines are queued meanwhile.
    let file = match opened {
        Some(file) => Ok(file),
        None => File::options().write(true).open(path),
    };
    let Ok(file) = file else { return };
    let mut out = BufWriter::new(file);
    let mut unflushed = 0;
    loop {
        let next = inbox.try_recv();
        if next == Err(TryRecvError::Empty) || unflushed == UNFLUSHED_MAX {
            let _ = out.flush();
            shared.waiting.fetch_sub(std::mem::take(&mut unflushed), Ordering::SeqCst);
        }
        let line = match next {
            Ok(line) => line,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                let Ok(line) = inbox.recv() else { break };
                line
            }
        };
        let _ = out.write_all(line.as_bytes());
        unflushed += 1;
    }
    let _ = out.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_except_debug() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.log");
        let log = LogFile::create(&path, Clock::start()).unwrap();
        for number in 0..1_000 {
            log.write(LogLevel::Info, &format!("line {number}"));
        }
        log.write(LogLevel::Debug, "hidden");
        assert_eq!(log.flush(), 0);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1_000);
        assert!(text.ends_with("INFO  busyhour: line 999\n"), "{}", &text[text.len() - 80..]);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_without_a_reader_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let log = LogFile::create(&path, Clock::start()).unwrap();
        let lines = WAITING_MAX as u64 + 100;
        (0..lines).for_each(|_| log.write(LogLevel::Info, "x"));
        assert_eq!(log.flush(), lines);
    }
}
