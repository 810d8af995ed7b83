//! Tests the terminal view in a real terminal, whose state must be restored.
//!
//! `script` (of util-linux) creates the terminal; without it the tests are skipped with a message.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use busyhour_record::Manifest;

use crate::program::{Room, wait_for};
use crate::servers::Server;

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// A run in a terminal.
struct Terminal {
    room: Room,
    _server: Server,
    script: Child,
    screen: Arc<Mutex<Vec<u8>>>,
}

/// Starts an endless run; `None` if `script` is missing.
fn started() -> Option<Terminal> {
    if !Command::new("script")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
        {
            eprintln!("SKIPPED: `script` of util-linux is missing, which creates the terminal");
        }
        return None;
    }
    let server = Server::quick();
    let room = Room::new();
    let line = format!(
        "stty rows 40 cols 120; stty -a > before; sh -c 'echo $$ > pid; exec {} run http://127.0.0.1:{}/ \
         --arrivals \"poisson(100/s) for 1h\"' > out; echo $? > code; stty -a > after",
        env!("CARGO_BIN_EXE_busyhour"),
        server.port()
    );
    let mut script = Command::new("script")
        .args(["--quiet", "--flush", "--command", &line, "/dev/null"])
        .current_dir(room.path())
        .env_remove("CI")
        .env_remove("NO_COLOR")
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let screen: Arc<Mutex<Vec<u8>>> = Arc::default();
    let (mut shown, kept) = (script.stdout.take().unwrap(), Arc::clone(&screen));
    std::thread::spawn(move || {
        let mut chunk = [0; 4_096];
        while let Ok(read @ 1..) = std::io::Read::read(&mut shown, &mut chunk) {
            kept.lock().unwrap().extend_from_slice(&chunk[..read]);
        }
    });
    Some(Terminal { room, _server: server, script, screen })
}

impl Terminal {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    fn wait_for_text(&self, text: &str) {
        wait_for(text, || self.text().contains(text).then_some(()));
    }

    fn press(&mut self, keys: &str) {
        let keyboard = self.script.stdin.as_mut().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Waits for the end, and checks that the terminal is restored.
    fn ends_restored(mut self, code: &str) -> Manifest {
        wait_for("the end of the run", || self.room.path().join("after").exists().then_some(()));
        wait_for("the end of the terminal", || self.script.try_wait().unwrap());
        assert_eq!(self.room.read("code").trim(), code);
        assert_eq!(
            self.room.read("before"),
            self.room.read("after"),
            "the state of the terminal is restored"
        );
        let text = self.text();
        assert_eq!((text.matches(ENTER).count(), text.matches(LEAVE).count()), (1, 1));
        assert!(self.room.read("out").contains("poisson") || self.room.read("out").contains("Arrivals:"));
        self.room.manifest()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

#[test]
fn keys_change_the_run_and_the_terminal_is_restored() {
    let Some(mut terminal) = started() else { return };
    terminal.wait_for_text("Busiest labels");
    terminal.press("+");
    terminal.wait_for_text("1.25 times the requested rate");
    terminal.press("p");
    terminal.wait_for_text("paused");
    terminal.press("p?");
    // Unchanged cells, such as blanks, are not sent, so only a single word can be expected.
    terminal.wait_for_text("directory.");
    terminal.press("q");
    terminal.wait_for_text("again");
    terminal.press("q");
    let manifest = terminal.ends_restored("4");
    let changes: Vec<String> =
        manifest.events.iter().map(busyhour_sample::ControlEvent::description).collect();
    assert_eq!(
        changes,
        [
            "the rate changed to 1.25 times the configured rate",
            "the load was paused",
            "the load was resumed",
            "the run was stopped"
        ]
    );
}

#[test]
fn ctrl_c_in_the_terminal_ends_the_run_and_restores_the_terminal() {
    let Some(mut terminal) = started() else { return };
    terminal.wait_for_text("Busiest labels");
    terminal.press("\x03");
    let manifest = terminal.ends_restored("4");
    let changes: Vec<_> = manifest.events.iter().map(|event| (event.change, event.from)).collect();
    assert_eq!(changes, [(busyhour_sample::LoadChange::Stop, busyhour_sample::ChangedFrom::Terminal)]);
}

#[test]
fn a_signal_ends_the_run_and_restores_the_terminal() {
    let Some(terminal) = started() else { return };
    terminal.wait_for_text("Busiest labels");
    let pid = terminal.room.read("pid").trim().parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let manifest = terminal.ends_restored("4");
    assert!(manifest.events.is_empty(), "the sender of the signal is unknown");
}

#[test]
fn the_result_takes_one_screen_with_a_link_to_the_report() {
    let server = Server::quick();
    let room = Room::new();
    let line = format!(
        "stty rows 24 cols 80; {} run http://127.0.0.1:{}/ -n 40 -c 2 --dir here; echo $? > code",
        env!("CARGO_BIN_EXE_busyhour"),
        server.port()
    );
    let shown = Command::new("script")
        .args(["--quiet", "--flush", "--command", &line, "/dev/null"])
        .current_dir(room.path())
        .env_remove("NO_COLOR")
        .env("TERM", "xterm-256color")
        .stdin(Stdio::null())
        .output();
    let Ok(shown) = shown else {
        #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
        {
            eprintln!("SKIPPED: `script` of util-linux is missing, which creates the terminal");
        }
        return;
    };
    assert_eq!(room.read("code").trim(), "0");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let result = &text[text.find("40 requests in").unwrap_or_else(|| panic!("{text}"))..];
    assert!(result.lines().count() < 24, "{result}");
    let page = std::fs::canonicalize(room.path().join("here/report.html")).unwrap();
    assert!(result.contains(&format!("\x1b]8;;file://{}", page.display())), "{result}");
    assert!(result.trim_end().ends_with("busyhour report here --details"), "{result}");
    assert!(!result.contains("Caveats") && !result.contains("wrote"), "{result}");
}
