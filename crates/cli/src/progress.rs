//! What a person sees while a run goes on.

use std::io::IsTerminal as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use busyhour_engine::run::RunShared;
use busyhour_live::Steering as _;
use busyhour_record::{IntervalCounts, Manifest, Recorder};
use busyhour_report::{Progress, UserCounts, progress_line, summariser_end, summariser_interval};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::console::{self, Stream};
use crate::exit::say;
use crate::live::Live;
use crate::terminal_view::{Key, Screen, Shown, draw};

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
    screen: Option<ScreenShown>,
}

/// The screen, and what is on it beside the run.
struct ScreenShown {
    screen: Screen,
    keys: Option<UnboundedReceiver<Key>>,
    title: String,
    help: bool,
    /// What was said while it was there; said again when it is gone.
    said: Vec<String>,
    /// When the last of it was said.
    said_at: Instant,
}

/// How long the screen shows what was said last.
const MESSAGE: Duration = Duration::from_secs(8);

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
            screen: None,
        }
    }

    /// Shows the run on a screen from now on; on a line where that fails.
    pub(crate) fn take_screen(&mut self, manifest: &Manifest) {
        match Screen::take() {
            Ok((screen, keys)) => {
                let plan = &manifest.plan;
                let title = if plan.name.is_empty() { plan.path.clone() } else { plan.name.clone() };
                self.screen = Some(ScreenShown {
                    screen,
                    keys: Some(keys),
                    title,
                    help: false,
                    said: Vec::new(),
                    said_at: Instant::now(),
                });
            }
            Err(error) => say(&format!("warning: the terminal cannot show a screen: {error}")),
        }
    }

    /// The keys that are pressed while the screen is there.
    pub(crate) fn take_keys(&mut self) -> Option<UnboundedReceiver<Key>> {
        self.screen.as_mut().and_then(|shown| shown.keys.take())
    }

    /// Shows what the keys do, or no longer.
    pub(crate) fn switch_help(&mut self) {
        if let Some(shown) = &mut self.screen {
            shown.help = !shown.help;
        }
    }

    /// Says something to the person at the terminal.
    pub(crate) fn say(&mut self, message: &str) {
        match &mut self.screen {
            Some(shown) => {
                shown.said.push(message.to_owned());
                shown.said_at = Instant::now();
            }
            None => {
                self.clear();
                say(message);
            }
        }
    }

    /// Gives the terminal back, and says what was said on the screen.
    fn leave_screen(&mut self) {
        if let Some(shown) = self.screen.take() {
            drop(shown.screen);
            shown.said.iter().for_each(|message| say(message));
        }
    }

    /// Shows how far the run is.
    pub(crate) fn step(&mut self, shared: &RunShared, recorder: &Recorder, live: Option<&Live>) {
        let unwritten = recorder.live().events;
        if let Some(live) = live {
            live.note_unwritten(unwritten);
        }
        if let (Some(shown), Some(live)) = (&mut self.screen, live) {
            let is_drawn = shown.draw(live, unwritten);
            if !is_drawn {
                self.leave_screen();
            }
            return;
        }
        let elapsed = Duration::from_nanos(shared.clock.now().0);
        if self.on_terminal {
            let live = recorder.live();
            let progress = Progress { elapsed, length: self.length, users: users(shared), live: &live };
            let line = progress_line(&progress, columns().unwrap_or(80).saturating_sub(1));
            console::write(Stream::Err, format!("\r\x1b[2K{line}").as_bytes());
            self.line_shown = true;
        } else if self.last.elapsed() >= self.interval {
            self.last = Instant::now();
            let (delta, total) = recorder.take_summary(shared.clock.now());
            self.put(&summariser_interval(&self.name, &delta, &total, users(shared)));
        }
    }

    /// Says how far the run is, because somebody asked.
    pub(crate) fn say_progress(&mut self, shared: &RunShared, recorder: &Recorder) {
        let elapsed = Duration::from_nanos(shared.clock.now().0);
        let live = recorder.live();
        let progress = Progress { elapsed, length: self.length, users: users(shared), live: &live };
        let line = progress_line(&progress, columns().unwrap_or(120).saturating_sub(1));
        self.say(&line);
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

    /// Takes the moving line or the screen away, so that something else can be said.
    pub(crate) fn clear(&mut self) {
        self.leave_screen();
        if std::mem::take(&mut self.line_shown) {
            console::write(Stream::Err, b"\r\x1b[2K");
        }
    }

    fn put(&self, lines: &str) {
        if self.name.is_empty() {
            return;
        }
        if self.to_stdout {
            crate::exit::print(lines);
        } else {
            console::write(Stream::Err, lines.as_bytes());
        }
    }
}

impl ScreenShown {
    /// Draws the run; false when that cannot be done any more.
    fn draw(&mut self, live: &Live, unwritten: usize) -> bool {
        let state = live.steered.state();
        let message = self.said.last().filter(|_| self.said_at.elapsed() < MESSAGE);
        let course = live.follower.course();
        let shown = Shown {
            title: &self.title,
            course: &course,
            state: &state,
            has_rate: live.steered.fixed_rate().is_none(),
            message: message.map_or("", String::as_str),
            help: self.help,
            unwritten: unwritten as u64,
            page: live.page_url(),
            colour: std::env::var_os("NO_COLOR").is_none(),
        };
        self.screen.draw(|frame| draw(frame, &shown))
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
