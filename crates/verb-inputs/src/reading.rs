//! Reads results with a progress line, and prints the reason if they cannot be read.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use busyhour_analysis::Summary;
use busyhour_diagnostic::Diagnostic;
use busyhour_results::{ReadRunError, ResultsInput, ResultsOptions, summarise_results};
use busyhour_terminal::exit::{Exit, is_verbose, say};
use busyhour_terminal::output::width;

/// Interval between updates of the progress line.
const STEP: Duration = Duration::from_millis(200);

/// A progress line on a terminal.
pub struct ReadingProgress {
    name: String,
    began: Instant,
    next: Instant,
    shown: bool,
    on_terminal: bool,
}

impl ReadingProgress {
    /// The progress of reading the input with this name.
    pub fn new(name: &str) -> ReadingProgress {
        let on_terminal = std::io::stderr().is_terminal();
        // The first line is delayed, so that no progress is shown for short files.
        ReadingProgress {
            name: name.to_owned(),
            began: Instant::now(),
            next: Instant::now() + STEP,
            shown: false,
            on_terminal,
        }
    }

    /// Shows the number of bytes read, and the percentage if the total is known.
    pub fn show(&mut self, bytes: u64, of: Option<u64>) {
        if !self.on_terminal || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + STEP;
        self.shown = true;
        let mib = bytes as f64 / f64::from(1 << 20);
        let share = match of {
            Some(of) if of >= bytes => format!("{:.0} %", bytes as f64 * 100.0 / of.max(1) as f64),
            _ => String::new(),
        };
        let line = format!("reading {}: {mib:.0} MiB {share}", self.name);
        let width = width().unwrap_or(80).saturating_sub(1);
        let line: String = line.chars().take(width).collect();
        let _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
    }

    /// Removes the line; with `-v`, prints how long reading took.
    pub fn clear(&mut self) {
        if is_verbose() {
            say(&format!("read {} in {:.1} s", self.name, self.began.elapsed().as_secs_f64()));
        }
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

/// Reads the inputs and shows the progress.
pub fn read(inputs: Vec<ResultsInput>, options: &ResultsOptions) -> Result<Summary, ReadRunError> {
    with_progress(inputs, |inputs, progress| summarise_results(inputs, options, progress))
}

/// Reads `inputs` with `summarise` and shows the progress.
pub fn with_progress<T>(
    inputs: Vec<ResultsInput>,
    summarise: impl FnOnce(Vec<ResultsInput>, &mut dyn FnMut(u64, Option<u64>)) -> T,
) -> T {
    let name = match &inputs[..] {
        [one] => one.name.clone(),
        several => format!("{} inputs", several.len()),
    };
    let mut progress = ReadingProgress::new(&name);
    let summary = summarise(inputs, &mut |bytes, of| progress.show(bytes, of));
    progress.clear();
    summary
}

/// Prints the reason why results cannot be read.
pub fn refuse(error: &ReadRunError) -> Exit {
    let mut diagnostic = Diagnostic::error("results", error.to_string());
    if let Some(cause) = std::error::Error::source(error) {
        diagnostic = diagnostic.with_error(cause);
    }
    if !error.hint().is_empty() {
        diagnostic = diagnostic.with_hint(error.hint());
    }
    say(&diagnostic.to_string());
    Exit::Refused
}
