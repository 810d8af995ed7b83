//! Taking the terminal, and giving it back.

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

/// Smallest terminal that has room for everything.
const COLUMNS_MIN: u16 = 100;
const ROWS_MIN: u16 = 28;

/// How long the thread that reads keys may take to see that it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// The terminal is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Why the terminal cannot show a screen; `None` when it can.
pub(crate) fn reason_against() -> Option<String> {
    if !io::stderr().is_terminal() {
        return Some("standard error is no terminal".into());
    }
    if std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
        return Some("the terminal is a dumb one (TERM)".into());
    }
    if std::env::var_os("CI").is_some_and(|ci| !ci.is_empty()) {
        return Some("CI is set".into());
    }
    #[cfg(unix)]
    {
        // Who is in the background and touches the terminal is stopped by the system.
        let in_front = rustix::termios::tcgetpgrp(io::stderr());
        if in_front.is_ok_and(|group| group != rustix::process::getpgrp()) {
            return Some("the program runs in the background".into());
        }
    }
    match ratatui::crossterm::terminal::size() {
        Ok((columns, rows)) if columns >= COLUMNS_MIN && rows >= ROWS_MIN => None,
        Ok((columns, rows)) => {
            Some(format!("the terminal has {columns} by {rows} characters, not {COLUMNS_MIN} by {ROWS_MIN}"))
        }
        Err(error) => Some(format!("the size of the terminal is not known: {error}")),
    }
}

/// The terminal while it shows the run.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    ending: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn take() -> io::Result<(Screen, UnboundedReceiver<Key>)> {
        give_back_on_panic();
        TAKEN.store(true, Ordering::SeqCst);
        // From here on every way out gives it back.
        let taken = enable_raw_mode()
            .and_then(|()| execute!(io::stderr(), EnterAlternateScreen))
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stderr())));
        let terminal = taken.inspect_err(|_| give_back())?;
        let (send, keys) = unbounded_channel();
        let ending = Arc::new(AtomicBool::new(false));
        let is_ending = Arc::clone(&ending);
        let reader = std::thread::Builder::new().name("keys".into()).spawn(move || {
            while !is_ending.load(Ordering::Relaxed) {
                match ratatui::crossterm::event::poll(LOOK) {
                    Ok(false) => {}
                    // A terminal that is gone has no keys; the run goes on.
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
        let reader = reader.inspect_err(|_| give_back())?;
        Ok((Screen { terminal, ending, reader: Some(reader) }, keys))
    }

    /// Draws; false when the terminal is not ours any more.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> bool {
        TAKEN.load(Ordering::SeqCst) && self.terminal.draw(draw).is_ok()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        // What it has read is not left to the shell. After a panic the terminal hands out whole lines only, and the thread may wait
        // for the end of one for ever: then it ends with the program.
        if let Some(reader) = self.reader.take()
            && TAKEN.load(Ordering::SeqCst)
        {
            let _ = reader.join();
        }
        give_back();
    }
}

/// Gives the terminal back, if it is taken.
pub(crate) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs nothing.
        let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Has a panic, on whatever thread, give the terminal back before its words are printed.
fn give_back_on_panic() {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Set in the process that takes a terminal and panics.
    const PANICS: &str = "BUSYHOUR_TEST_PANICS_IN_A_TERMINAL";

    const NAME: &str = "terminal_view::terminal::tests::a_panic_is_told_on_the_terminal_as_it_was";

    /// A thread of a run panics while the screen is shown; what the program draws afterwards goes nowhere.
    fn panic_beside_the_screen() {
        let (mut screen, _keys) = Screen::take().unwrap();
        // A word: of blanks nothing is sent.
        assert!(screen.draw(|frame| frame.render_widget("screenful", frame.area())));
        assert!(std::thread::spawn(|| panic!("words of a panic")).join().is_err());
        assert!(!screen.draw(|frame| frame.render_widget("overwritten", frame.area())));
    }

    /// The process is this test once more, in a terminal that `script` (of util-linux) makes.
    #[test]
    fn a_panic_is_told_on_the_terminal_as_it_was() {
        if std::env::var_os(PANICS).is_some() {
            return panic_beside_the_screen();
        }
        let room = tempfile::tempdir().unwrap();
        let program = std::env::current_exe().unwrap();
        let line = format!(
            "stty rows 40 cols 120; stty -a > before; '{}' --exact {NAME} --nocapture --test-threads 1; echo $? > code; stty -a > after",
            program.display()
        );
        let made = Command::new("script")
            .args(["--quiet", "--flush", "--command", &line, "/dev/null"])
            .current_dir(room.path())
            .env(PANICS, "1")
            .env("TERM", "xterm-256color")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .output();
        let Ok(made) = made else {
            #[allow(clippy::print_stderr, reason = "who runs the tests must learn that this one did not")]
            {
                eprintln!("NOT CHECKED: there is no `script` of util-linux, so no terminal was made");
            }
            return;
        };
        let shown = String::from_utf8_lossy(&made.stdout);
        let read = |name: &str| std::fs::read_to_string(room.path().join(name)).unwrap();
        assert_eq!(read("code").trim(), "0", "{shown}");
        assert_eq!(read("before"), read("after"), "the terminal is as it was");
        let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text:?} is not in {shown:?}"));
        let (enter, leave) = ("\x1b[?1049h", "\x1b[?1049l");
        assert!(place(enter) < place("screenful"), "{shown:?}");
        assert!(place("screenful") < place(leave), "{shown:?}");
        assert!(place(leave) < place("words of a panic"), "the screen would have hidden them: {shown:?}");
        assert_eq!((shown.matches(enter).count(), shown.matches(leave).count()), (1, 1), "{shown:?}");
        assert!(!shown.contains("overwritten"), "{shown:?}");
    }
}
