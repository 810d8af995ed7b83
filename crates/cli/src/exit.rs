//! Exit codes, and saying why.

use std::process::ExitCode;

use crate::console::{self, Stream};

/// The exit codes of every verb. They are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: the work was done; for a run: it came to its end, whatever the samples said (as JMeter).
    Completed = 0,
    /// 1: the program itself failed, or the system refused something it needs.
    Internal = 1,
    /// 2: the command line cannot be understood.
    Usage = 2,
    /// 3: the plan is refused before the first request; a model cannot be used as it is.
    Refused = 3,
    /// 4: the run was stopped before its end, by a request or by an error; what was measured is written.
    Stopped = 4,
    /// 5: the run came to its end but results could not be written whole.
    ResultsLost = 5,
    /// 6: the work was done, and a threshold was not kept.
    ThresholdFailed = 6,
    /// 7: a threshold that was not kept stopped the run before its end; what was measured is written.
    StoppedByThreshold = 7,
    /// 8: a comparison found that something got worse, or the last change in a history of runs is a regression.
    Worse = 8,
    /// 9: a model has a station that cannot keep up, or measurements reject it.
    ModelFails = 9,
    /// 10: the run came to its end without sending a request.
    NothingSent = 10,
    /// 11: a history has too few runs to judge whether the last change is a regression.
    NotJudged = 11,
}

/// The table for `--help` of what makes runs.
pub(crate) const RUN_TABLE: &str = "Exit codes:
  0  the run came to its end, whatever its samples said
  1  the program or the system failed
  2  the command line cannot be understood
  3  the plan is refused before the first request
  4  the run was stopped before its end by a request (Ctrl-C, SIGTERM, SIGHUP,
     stop port) or by an error of the plan; what was measured is written
  5  the run came to its end, but not all results could be written
  6  the run came to its end, but a threshold was not kept
  7  a threshold that was not kept stopped the run; what was measured is written
  10 the run came to its end without sending a request";

/// That of `judge`.
pub(crate) const JUDGE_TABLE: &str = "Exit codes:
  0  every threshold was kept
  1  the program or the system failed
  2  the command line cannot be understood
  3  an input cannot be read
  5  a file that was asked for could not be written
  6  a threshold was not kept";

/// That of what reads results and makes something of them.
pub(crate) const READ_TABLE: &str = "Exit codes:
  0  done
  1  the program or the system failed
  2  the command line cannot be understood
  3  an input cannot be read";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Says what is wrong; gives the code back.
pub(crate) fn complain(exit: Exit, message: &str) -> Exit {
    say(&format!("error: {message}"));
    exit
}

/// A complaint with what to do about it; `hint` may be empty.
pub(crate) fn hinted(message: String, hint: &str) -> String {
    if hint.is_empty() { message } else { format!("{message}\n  hint: {hint}") }
}

/// Says something to the person (stderr).
pub(crate) fn say(message: &str) {
    console::write(Stream::Err, format!("{message}\n").as_bytes());
}

/// Prints a result (stdout); false when nobody reads any more.
pub(crate) fn print(text: &str) -> bool {
    console::write(Stream::Out, text.as_bytes())
}

/// Prints what a script of the plan prints, to where it prints it. A closed stream is no reason to fail.
pub(crate) fn print_of_script(stream: busyhour_engine::run::Stream, text: &str) {
    use std::io::Write as _;
    match stream {
        busyhour_engine::run::Stream::Output => {
            print(text);
        }
        busyhour_engine::run::Stream::Error => {
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }
}
