//! Progress of a run in the terminal.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use busyhour_launch::{CommandHandler as _, FinishedRun, RunHandle, RunUserCounts};
use busyhour_report::{Progress, ThreadCounts, progress_line, summariser_end, summariser_interval};
use busyhour_terminal::console::{self, Stream};
use busyhour_terminal::exit::{is_quiet, say};
use busyhour_terminal::output::width;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::live::Live;
use crate::terminal_view::{Key, Screen, Shown, draw};

/// Interval between updates of the progress line.
pub(crate) const STEP: Duration = Duration::from_millis(500);

/// Shows the progress of a run.
pub(crate) struct Display {
    on_terminal: bool,
    /// Whether JMeter's summary lines are printed to standard output instead of the progress line.
    to_stdout: bool,
    name: String,
    interval: Duration,
    last: Instant,
    length: Option<Duration>,
    line_shown: bool,
    screen: Option<ScreenShown>,
}

/// The full-screen view and its messages.
struct ScreenShown {
    screen: Screen,
    keys: Option<UnboundedReceiver<Key>>,
    title: String,
    help: bool,
    /// Messages shown on the screen, printed again after the screen is closed.
    messages: Vec<String>,
    /// Time of the last message.
    last_message: Instant,
}

/// Time for which the screen shows a message.
const MESSAGE: Duration = Duration::from_secs(8);

impl Display {
    /// `name` and `interval_s` are the settings of the summariser. An empty name disables it, as in JMeter.
    pub(crate) fn new(as_jmeter: bool, name: String, interval_s: u64, length: Option<Duration>) -> Self {
        Self {
            on_terminal: std::io::stderr().is_terminal(),
            to_stdout: as_jmeter,
            name,
            interval: Duration::from_secs(interval_s.max(1)),
            last: Instant::now(),
            length,
            line_shown: false,
            screen: None,
        }
    }

    /// Switches to the full screen; if that fails, the progress line is used.
    pub(crate) fn take_screen(&mut self, title: &str) {
        match Screen::enter() {
            Ok((screen, keys)) => {
                self.screen = Some(ScreenShown {
                    screen,
                    keys: Some(keys),
                    title: busyhour_diagnostic::printable(title),
                    help: false,
                    messages: Vec::new(),
                    last_message: Instant::now(),
                });
            }
            Err(error) => say(&format!("warning: the terminal cannot show a screen: {error}")),
        }
    }

    /// The receiver of the keys that are pressed while the screen is shown.
    pub(crate) fn take_keys(&mut self) -> Option<UnboundedReceiver<Key>> {
        self.screen.as_mut().and_then(|shown| shown.keys.take())
    }

    /// Shows or hides the help on keys.
    pub(crate) fn switch_help(&mut self) {
        if let Some(shown) = &mut self.screen {
            shown.help = !shown.help;
        }
    }

    /// Shows a message to the user.
    pub(crate) fn say(&mut self, message: &str) {
        match &mut self.screen {
            Some(shown) => {
                shown.messages.push(message.to_owned());
                shown.last_message = Instant::now();
            }
            None => {
                self.clear();
                say(message);
            }
        }
    }

    /// Closes the screen and prints its messages.
    fn leave_screen(&mut self) {
        if let Some(shown) = self.screen.take() {
            drop(shown.screen);
            shown.messages.iter().for_each(|message| say(message));
        }
    }

    /// Updates the progress.
    pub(crate) fn step(&mut self, run: &RunHandle, live: Option<&Live>) {
        if let (Some(shown), Some(live)) = (&mut self.screen, live) {
            let is_drawn = shown.draw(live, run.live().events);
            if !is_drawn {
                self.leave_screen();
            }
            return;
        }
        if is_quiet() && !self.to_stdout {
            return;
        }
        if self.on_terminal {
            let line = self.line(run, width().unwrap_or(80));
            console::write(Stream::Err, format!("\r\x1b[2K{line}").as_bytes());
            self.line_shown = true;
        } else if self.last.elapsed() >= self.interval {
            self.last = Instant::now();
            if self.to_stdout {
                let (last, total) = run.take_interval();
                self.print(&summariser_interval(&self.name, &last, &total, counts(run.users())));
            } else if !self.name.is_empty() {
                self.say_progress(run);
            }
        }
    }

    /// The progress line for a terminal with this number of columns.
    fn line(&self, run: &RunHandle, columns: usize) -> String {
        let live = run.live();
        let progress =
            Progress { elapsed: run.elapsed(), length: self.length, users: counts(run.users()), live: &live };
        progress_line(&progress, columns.saturating_sub(1))
    }

    /// Prints the progress on request (SIGUSR1).
    pub(crate) fn say_progress(&mut self, run: &RunHandle) {
        let line = self.line(run, width().unwrap_or(120));
        self.say(&line);
    }

    /// Prints the counts of the last interval and of the whole run.
    pub(crate) fn end(&mut self, run: &FinishedRun) {
        self.clear();
        // JMeter's command line prints these lines even for a run without samples. In Busyhour's own form, the result
        // follows instead.
        if !self.on_terminal && self.to_stdout {
            self.print(&summariser_end(
                &self.name,
                &run.last_interval,
                &run.all_intervals,
                counts(run.users),
            ));
        }
    }

    /// Removes the progress line or closes the screen, so that other text can be printed.
    pub(crate) fn clear(&mut self) {
        self.leave_screen();
        if std::mem::take(&mut self.line_shown) {
            console::write(Stream::Err, b"\r\x1b[2K");
        }
    }

    fn print(&self, lines: &str) {
        if !self.name.is_empty() {
            busyhour_terminal::exit::print(lines);
        }
    }
}

impl ScreenShown {
    /// Draws the screen. Returns false if the terminal is no longer available.
    fn draw(&mut self, live: &Live, unwritten: usize) -> bool {
        let state = live.control.state();
        let message = self.messages.last().filter(|_| self.last_message.elapsed() < MESSAGE);
        let run = live.view.run();
        let shown = Shown {
            title: &self.title,
            run: &run,
            state: &state,
            has_rate: live.control.fixed_rate().is_none(),
            message: message.map_or("", String::as_str),
            help: self.help,
            unwritten: unwritten as u64,
            page: live.page_url(),
            colour: std::env::var_os("NO_COLOR").is_none(),
        };
        self.screen.draw(|frame| draw(frame, &shown))
    }
}

fn counts(users: RunUserCounts) -> ThreadCounts {
    ThreadCounts { active: users.active, started: users.started, finished: users.finished }
}
