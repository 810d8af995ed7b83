//! Switches the terminal to the full-screen view and restores it.

use std::io::{self, IsTerminal as _, Stderr};
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::keys::Key;

/// Minimum number of columns and rows of the terminal for all parts of the view.
const COLUMNS_MIN: u16 = 100;
const ROWS_MIN: u16 = 28;

/// Interval at which the thread that reads keys checks whether it must end.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Whether the terminal shows the full-screen view.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The reason why the terminal cannot show the full-screen view; `None` if it can.
pub(crate) fn reason_against() -> Option<String> {
    if !io::stderr().is_terminal() {
        return Some("standard error is not a terminal".into());
    }
    if std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
        return Some("the terminal does not support it (TERM is unset or dumb)".into());
    }
    if std::env::var_os("CI").is_some_and(|ci| !ci.is_empty()) {
        return Some("CI is set".into());
    }
    #[cfg(unix)]
    {
        // The operating system suspends a background process that changes the terminal.
        let in_front = rustix::termios::tcgetpgrp(io::stderr());
        if in_front.is_ok_and(|group| group != rustix::process::getpgrp()) {
            return Some("the program runs in the background".into());
        }
    }
    match ratatui::crossterm::terminal::size() {
        Ok((columns, rows)) if columns >= COLUMNS_MIN && rows >= ROWS_MIN => None,
        Ok((columns, rows)) => Some(format!(
            "the terminal has {columns} by {rows} characters; {COLUMNS_MIN} by {ROWS_MIN} are needed"
        )),
        Err(error) => Some(format!("the size of the terminal is unknown: {error}")),
    }
}

/// Whether this process is in the foreground of its terminal, so that Ctrl-C sends it a signal.
pub(crate) fn is_in_foreground() -> bool {
    #[cfg(unix)]
    {
        let group =
            rustix::termios::tcgetpgrp(io::stderr()).or_else(|_| rustix::termios::tcgetpgrp(io::stdin()));
        group.is_ok_and(|group| group == rustix::process::getpgrp())
    }
    #[cfg(not(unix))]
    true
}

/// The terminal while it shows the full-screen view.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    ending: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Screen {
    /// Switches the terminal to the full-screen view.
    pub(crate) fn enter() -> io::Result<(Screen, UnboundedReceiver<Key>)> {
        restore_on_panic();
        TAKEN.store(true, Ordering::SeqCst);
        // From here on, the terminal is restored in all cases.
        let taken = enable_raw_mode()
            .and_then(|()| execute!(io::stderr(), EnterAlternateScreen))
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stderr())));
        let terminal = taken.inspect_err(|_| restore())?;
        let (send, keys) = unbounded_channel();
        let ending = Arc::new(AtomicBool::new(false));
        let is_ending = Arc::clone(&ending);
        let reader = std::thread::Builder::new().name("keys".into()).spawn(move || {
            while !is_ending.load(Ordering::Relaxed) {
                match ratatui::crossterm::event::poll(POLL_INTERVAL) {
                    Ok(false) => {}
                    // If the terminal is no longer available, the run continues.
                    Err(_) => return,
                    Ok(true) => {
                        let Ok(event) = ratatui::crossterm::event::read() else { return };
                        if let Some(key) = Key::of(&event)
                            && send.send(key).is_err()
                        {
                            return;
                        }
                    }
                }
            }
        });
        let reader = reader.inspect_err(|_| restore())?;
        Ok((Screen { terminal, ending, reader: Some(reader) }, keys))
    }

    /// Draws the view. Returns false if the terminal has been restored or is no longer available.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> bool {
        TAKEN.load(Ordering::SeqCst) && self.terminal.draw(draw).is_ok()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        // The thread is joined, so that it does not consume input of the shell. After a panic, the terminal is in line mode,
        // and the thread may block until the end of a line. In that case it is not joined and ends together with the
        // process.
        if let Some(reader) = self.reader.take()
            && TAKEN.load(Ordering::SeqCst)
        {
            let _ = reader.join();
        }
        restore();
    }
}

/// Restores the terminal if it shows the full-screen view.
pub(crate) fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Errors are ignored, because the terminal may no longer be available.
        let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Installs a panic hook that restores the terminal before the message is printed.
fn restore_on_panic() {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
        }));
    });
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Environment variable of the child process that panics in a terminal.
    const PANICS: &str = "BUSYHOUR_TEST_PANICS_IN_A_TERMINAL";

    const NAME: &str = "terminal_view::terminal::tests::the_terminal_is_restored_before_a_panic_message";

    /// Panics in a thread while the full-screen view is shown. Drawing after the panic must have no effect.
    fn panic_while_the_screen_is_shown() {
        let (mut screen, _keys) = Screen::enter().unwrap();
        // A word is drawn, because nothing is sent to the terminal for blanks.
        assert!(screen.draw(|frame| frame.render_widget("screenful", frame.area())));
        assert!(std::thread::spawn(|| panic!("words of a panic")).join().is_err());
        assert!(!screen.draw(|frame| frame.render_widget("overwritten", frame.area())));
    }

    /// Runs this test again as a child process in a terminal that `script` (of util-linux) creates.
    #[test]
    fn the_terminal_is_restored_before_a_panic_message() {
        if std::env::var_os(PANICS).is_some() {
            return panic_while_the_screen_is_shown();
        }
        let dir = tempfile::tempdir().unwrap();
        let program = std::env::current_exe().unwrap();
        let line = format!(
            "stty rows 40 cols 120; stty -a > before; '{}' --exact {NAME} --nocapture --test-threads 1; echo $? > code; stty -a > after",
            program.display()
        );
        let made = Command::new("script")
            .args(["--quiet", "--flush", "--command", &line, "/dev/null"])
            .current_dir(dir.path())
            .env(PANICS, "1")
            .env("TERM", "xterm-256color")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .output();
        let Ok(made) = made else {
            #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
            {
                eprintln!("SKIPPED: `script` of util-linux is missing, which creates the terminal");
            }
            return;
        };
        let shown = String::from_utf8_lossy(&made.stdout);
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(read("code").trim(), "0", "{shown}");
        assert_eq!(read("before"), read("after"), "the state of the terminal is restored");
        let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text:?} is not in {shown:?}"));
        let (enter, leave) = ("\x1b[?1049h", "\x1b[?1049l");
        assert!(place(enter) < place("screenful"), "{shown:?}");
        assert!(place("screenful") < place(leave), "{shown:?}");
        assert!(
            place(leave) < place("words of a panic"),
            "the message is printed after the screen is closed: {shown:?}"
        );
        assert_eq!((shown.matches(enter).count(), shown.matches(leave).count()), (1, 1), "{shown:?}");
        assert!(!shown.contains("overwritten"), "{shown:?}");
    }
}
