//! What a person sees while a run goes on.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use busyhour_engine::run::RunShared;
use busyhour_record::{IntervalCounts, Recorder};
use busyhour_report::{Progress, UserCounts, progress_line, summariser_end, summariser_interval};

use crate::exit::say;
use crate::live::Live;

/// How often a line moves on a terminal.
pub(crate) const STEP: Duration = Duration::from_millis(500);

/// How the course of a run is shown.
pub(crate) struct Display {
    on_terminal: bool,
    /// JMeter prints these lines to standard output.
    to_stdout: bool,
    name: String,
    interval: Duration,
    last: Instant,
    length: Option<Duration>,
    line_shown: bool,
}

impl Display {
    /// `name` and `interval_s` are the summariser's; without a name it is off, as in JMeter.
    pub(crate) fn new(as_jmeter: bool, name: String, interval_s: u64, length: Option<Duration>) -> Self {
        Self {
            on_terminal: std::io::stderr().is_terminal(),
            to_stdout: as_jmeter,
            name,
            interval: Duration::from_secs(interval_s.max(1)),
            last: Instant::now(),
            length,
            line_shown: false,
        }
    }

    /// Says something to the person at the terminal.
    pub(crate) fn say(&mut self, message: &str) {
        self.clear();
        say(message);
    }

    /// Shows how far the run is.
    pub(crate) fn step(&mut self, shared: &RunShared, recorder: &Recorder, live: Option<&Live>) {
        let unwritten = recorder.live().events;
        if let Some(live) = live {
            live.note_unwritten(unwritten);
        }
        let elapsed = Duration::from_nanos(shared.clock.now().0);
        if self.on_terminal {
            let live = recorder.live();
            let progress = Progress { elapsed, length: self.length, users: users(shared), live: &live };
            let line = progress_line(&progress, columns().unwrap_or(80).saturating_sub(1));
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r\x1b[2K{line}");
            let _ = err.flush();
            self.line_shown = true;
        } else if self.last.elapsed() >= self.interval {
            self.last = Instant::now();
            let (delta, total) = recorder.take_summary(shared.clock.now());
            self.put(&summariser_interval(&self.name, &delta, &total, users(shared)));
        }
    }

    /// The last words: the numbers of the last interval, and all.
    pub(crate) fn end(&mut self, shared: &RunShared, delta: &IntervalCounts, total: &IntervalCounts) {
        self.clear();
        if !self.on_terminal {
            // JMeter prints its line of impossible numbers when there was nothing to sum up.
            if self.to_stdout || total.samples > 0 {
                self.put(&summariser_end(&self.name, delta, total, users(shared)));
            }
        }
    }

    /// Takes the moving line away, so that something else can be said.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.line_shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    fn put(&self, lines: &str) {
        if self.name.is_empty() {
            return;
        }
        if self.to_stdout {
            crate::exit::print(lines);
        } else {
            let _ = write!(std::io::stderr(), "{lines}");
        }
    }
}

fn users(shared: &RunShared) -> UserCounts {
    UserCounts {
        active: u64::from(shared.active.load(Ordering::Relaxed)),
        started: shared.started.load(Ordering::Relaxed),
        finished: shared.finished.load(Ordering::Relaxed),
    }
}

/// Columns of the terminal that standard error, or standard output, is.
pub(crate) fn columns() -> Option<usize> {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(std::io::stderr())
            .or_else(|_| rustix::termios::tcgetwinsize(std::io::stdout()))
            .ok()?;
        (size.ws_col > 0).then_some(usize::from(size.ws_col))
    }
    #[cfg(not(unix))]
    None
}
