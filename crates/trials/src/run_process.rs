//! A run as a process of its own: its start, its end and its summary.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use busyhour_analysis::Summary;
use busyhour_record::RunDir;

use crate::process::{Kept, KeptCommand, SUCCESS, Waited};
use crate::stop::StopRequest;

/// Time between SIGTERM and SIGKILL for the run. It finishes its samples, and writes its files.
pub(crate) const RUN_GRACE: Duration = Duration::from_secs(15);

/// Time that a run may take longer than its load.
pub(crate) const RUN_MORE: Duration = Duration::from_secs(300);

/// Number of characters of a log that messages show.
const TAIL_CHARS: usize = 300;

/// The log of the run, in its directory.
pub(crate) const RUN_LOG: &str = "generator.log";

/// The longest time that a run may take, if its load is planned to last `length_s`.
pub(crate) fn run_limit(length_s: f64) -> Duration {
    Duration::from_secs_f64(2.0 * length_s) + RUN_MORE
}

/// A run to execute as a process of its own, without changes of the system under test.
#[derive(Debug, Clone)]
pub struct RunProcess<'r> {
    /// The program `busyhour`.
    pub busyhour: &'r Path,
    /// The arguments of `busyhour`: `run`, its target and its options, without a directory.
    pub arguments: Vec<OsString>,
    /// The directory of the run.
    pub dir: &'r Path,
    /// The planned time of load in seconds.
    pub length_s: f64,
}

/// How a run ended.
#[derive(Debug)]
pub enum RunProcessEnd {
    /// It ended by itself, with this summary.
    Ended(Box<Summary>),
    /// A stop was requested.
    Stopped,
    /// It failed, with the reason.
    Failed(String),
}

/// A run that was started. When it is dropped, it is ended.
#[derive(Debug)]
pub struct ActiveRun<'r> {
    run: RunProcess<'r>,
    kept: Kept,
}

impl<'r> RunProcess<'r> {
    /// Starts the run.
    ///
    /// # Errors
    /// The directory cannot be created, or the process cannot be started.
    pub fn start(self) -> std::io::Result<ActiveRun<'r>> {
        std::fs::create_dir_all(self.dir)?;
        let directory = std::env::current_dir()?;
        let mut words: Vec<OsString> = vec![self.busyhour.into()];
        words.extend(self.arguments.iter().cloned());
        words.extend(["--quiet".into(), "--dir".into(), self.dir.into()]);
        let command = KeptCommand {
            busyhour: self.busyhour,
            experiment: self.dir,
            words,
            environment: Vec::new(),
            directory: &directory,
            cores: &[],
            log: self.dir.join(RUN_LOG),
            grace: RUN_GRACE,
            lingers: false,
            waits: false,
        };
        let kept = command.start()?;
        Ok(ActiveRun { run: self, kept })
    }
}

impl ActiveRun<'_> {
    /// Waits for the end of the run.
    #[must_use]
    pub fn wait(mut self, stop: &StopRequest) -> RunProcessEnd {
        let limit = run_limit(self.run.length_s);
        let waited = self.kept.wait(limit, stop);
        self.kept.end();
        let status = match waited {
            Waited::Ended(status) => status,
            Waited::Stopped => return RunProcessEnd::Stopped,
            Waited::TimedOut => {
                return RunProcessEnd::Failed(format!("the run did not end within {} s", limit.as_secs()));
            }
        };
        match run_summary(self.run.dir, &status) {
            Ok(summary) => RunProcessEnd::Ended(Box::new(summary)),
            Err(reason) => RunProcessEnd::Failed(reason),
        }
    }
}

/// The summary of a run that ended with `status`, if its exit code allows one. A failed threshold does not invalidate a run.
pub(crate) fn run_summary(dir: &Path, status: &str) -> Result<Summary, String> {
    if !matches!(status, SUCCESS | "exit code 4" | "exit code 5" | "exit code 6" | "exit code 7") {
        return Err(format!("the run ended with {status}{}", log_tail(dir, RUN_LOG)));
    }
    let path = RunDir::open(dir).summary_path();
    let unreadable = |error: &dyn std::fmt::Display| format!("{} cannot be read: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&error))?;
    Summary::from_json(&text).map_err(|error| unreadable(&error))
}

/// The end of a log in a directory, for a message.
pub(crate) fn log_tail(dir: &Path, log: &str) -> String {
    let text = std::fs::read(dir.join(log)).unwrap_or_default();
    let end = &text[text.len().saturating_sub(4 * TAIL_CHARS)..];
    let end = String::from_utf8_lossy(end);
    let lines: Vec<&str> = end.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
    let shown: Vec<&str> = lines.into_iter().rev().collect();
    let shown: String = shown.join(" | ").chars().take(TAIL_CHARS).collect();
    let shown = if shown.is_empty() { "empty".to_owned() } else { shown };
    format!("; {log}: {shown}")
}
