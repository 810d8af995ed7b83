//! Exit codes and messages.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::console::{self, Stream};

/// The exit codes of every verb. They are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: success; for a run: it completed, with or without failed samples (as in JMeter).
    Completed = 0,
    /// 1: the program or the system failed.
    Internal = 1,
    /// 2: the command line is invalid.
    Usage = 2,
    /// 3: the plan, an input file or a model was rejected.
    Refused = 3,
    /// 4: the run was stopped before its end, by a request or by an error; its measurements are stored.
    Stopped = 4,
    /// 5: the run completed, but some results could not be written.
    ResultsLost = 5,
    /// 6: a threshold failed.
    ThresholdFailed = 6,
    /// 7: a failed threshold stopped the run; its measurements are stored.
    StoppedByThreshold = 7,
    /// 8: a comparison found that something got worse, or the last change in a history of runs is a regression.
    Worse = 8,
    /// 9: a model has a saturated station, or measurements reject it.
    ModelFails = 9,
    /// 10: the run completed without sending a request.
    NothingSent = 10,
    /// 11: a history has too few runs to detect a regression, or a search for the largest load is less precise than requested.
    NotJudged = 11,
    /// 12: the run ended, but a part of its load is missing, because an agent was lost.
    LoadLost = 12,
}

/// The table of exit codes for the `--help` of verbs that run plans.
pub const RUN_TABLE: &str = "Exit codes:
  0  the run completed, with or without failed samples
  1  the program or the system failed
  2  the command line is wrong
  3  the plan was refused
  4  the run was stopped before its end, by a request (Ctrl-C, SIGTERM, SIGHUP,
     stop port) or by an error of the plan
  5  the run completed, but some results could not be written
  6  the run completed, but a threshold failed
  7  a failed threshold stopped the run
  10 the run completed without sending a request
  12 an agent was lost, and a part of the load with it
A run that was stopped still stores its measurements.";

/// The table of exit codes for the `--help` of `report`.
pub const REPORT_TABLE: &str = "Exit codes:
  0  success; all thresholds passed
  1  the program or the system failed
  2  the command line is wrong
  3  an input cannot be read
  5  an output file could not be written
  6  a threshold failed";

/// The table of exit codes for the `--help` of verbs that read results.
pub const READ_TABLE: &str = "Exit codes:
  0  success
  1  the program or the system failed
  2  the command line is wrong
  3  an input cannot be read";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Prints an error message and returns the exit code.
pub fn complain(exit: Exit, message: &(impl std::fmt::Display + ?Sized)) -> Exit {
    say(&format!("error: {message}"));
    exit
}

/// Appends a hint to an error message, unless `hint` is empty.
pub fn hinted(message: String, hint: &str) -> String {
    if hint.is_empty() { message } else { format!("{message}\n  hint: {hint}") }
}

/// Prints a message to stderr. Parts of the message may come from plans, files and servers.
pub fn say(message: &str) {
    let message = busyhour_diagnostic::printable_lines(message);
    console::write(Stream::Err, format!("{message}\n").as_bytes());
}

/// The amount of output besides results, errors and warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Nothing else (`--quiet`).
    Quiet,
    /// Notes.
    Normal,
    /// Notes, phases of runs and times for reading (`-v`).
    Verbose,
}

static VERBOSITY: AtomicU8 = AtomicU8::new(Verbosity::Normal as u8);

/// Sets the amount of output for the whole process.
pub fn set_verbosity(verbosity: Verbosity) {
    VERBOSITY.store(verbosity as u8, Ordering::Relaxed);
}

/// Whether `--quiet` was given.
pub fn is_quiet() -> bool {
    VERBOSITY.load(Ordering::Relaxed) == Verbosity::Quiet as u8
}

/// Whether `-v` was given.
pub fn is_verbose() -> bool {
    VERBOSITY.load(Ordering::Relaxed) == Verbosity::Verbose as u8
}

/// Prints a message that is neither an error nor a warning, unless `--quiet` was given.
pub fn note(message: &str) {
    if !is_quiet() {
        say(message);
    }
}

/// Prints a result to stdout; returns false if stdout is closed.
pub fn print(text: &str) -> bool {
    console::write(Stream::Out, text.as_bytes())
}
