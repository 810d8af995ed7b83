//! Processes of a test: a hub, agents, a controller.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use busyhour_standin::StandIn;
use serde_json::Value;
use tempfile::TempDir;

/// Maximum time for anything.
const PATIENCE: Duration = Duration::from_secs(90);

/// A process that ends with its test. Its output goes to files.
pub(crate) struct Process {
    pub(crate) child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts `busyhour` with arguments in a directory. `name` is the name of its output files.
    pub(crate) fn start(dir: &Path, name: &str, arguments: &[&str]) -> Process {
        Process::of(Path::new(env!("CARGO_BIN_EXE_busyhour")), dir, name, arguments)
    }

    /// Starts a program.
    pub(crate) fn of(program: &Path, dir: &Path, name: &str, arguments: &[&str]) -> Process {
        Process::spawn(dir, name, Command::new(program).args(arguments))
    }

    /// Starts a command in a directory. `name` is the name of its output files.
    pub(crate) fn spawn(dir: &Path, name: &str, command: &mut Command) -> Process {
        let (out, err) = (dir.join(format!("{name}.out")), dir.join(format!("{name}.err")));
        let child = command
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&out).unwrap())
            .stderr(std::fs::File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Process { child, out, err }
    }

    /// What it has printed on standard output.
    pub(crate) fn out(&self) -> String {
        std::fs::read_to_string(&self.out).unwrap_or_default()
    }

    /// What it has printed on standard error.
    pub(crate) fn err(&self) -> String {
        std::fs::read_to_string(&self.err).unwrap_or_default()
    }

    /// Waits until its output contains a text.
    pub(crate) fn says(&mut self, text: &str) {
        wait_for(text, || {
            let said = self.out() + &self.err();
            let has_ended = self.child.try_wait().unwrap().is_some();
            assert!(said.contains(text) || !has_ended, "it ended without {text:?}: {said}");
            said.contains(text).then_some(())
        });
    }

    /// Waits for its end.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        let (out, err) = (self.out.clone(), self.err.clone());
        wait_for(&format!("{} {}", out.display(), err.display()), || self.child.try_wait().unwrap())
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

/// Waits until `ready` returns a value.
pub(crate) fn wait_for<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The path of the NATS server; `None`, with a message, if it is not on this machine.
pub(crate) fn nats_server() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = std::ffi::OsString::from("/usr/sbin:/usr/local/sbin");
    let dirs = std::env::split_paths(&path).chain(std::env::split_paths(&more));
    let found = dirs.map(|dir| dir.join("nats-server")).find(|file| file.is_file());
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: nats-server is not installed");
    }
    found
}

/// A hub, its agents, and a server under test.
pub(crate) struct Site {
    pub(crate) room: TempDir,
    pub(crate) hub: Process,
    pub(crate) agents: Vec<Process>,
    pub(crate) server: StandIn,
}

impl Site {
    /// Starts a hub with this number of agents. `None`, with a message, if there is no NATS server on this machine.
    pub(crate) fn start(agents: usize) -> Option<Site> {
        nats_server()?;
        let room = tempfile::tempdir().unwrap();
        let hub = start_hub(room.path(), 0);
        let server = StandIn::start_application().unwrap();
        let mut site = Site { room, hub, agents: Vec::new(), server };
        for number in 1..=agents {
            site.add_agent(number, &[]);
        }
        Some(site)
    }

    /// Starts an agent and waits until it is ready.
    pub(crate) fn add_agent(&mut self, number: usize, more: &[&str]) {
        let (name, dir) = (format!("agent{number}"), format!("work{number}"));
        let mut arguments = vec!["cluster", "agent", "--join", "hub/agent.json", "--name", &name];
        arguments.extend(["--dir", &dir, "--cores", "1"]);
        arguments.extend(more);
        let mut agent = Process::start(self.room.path(), &name, &arguments);
        agent.says("is waiting for work");
        self.agents.push(agent);
    }

    pub(crate) fn dir(&self) -> &Path {
        self.room.path()
    }

    /// Starts a run on the agents; its directory is `run`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Process {
        let mut all = vec!["run"];
        all.extend(arguments);
        all.extend(["--on", "hub/controller.json", "--dir", "run", "--observe", "none"]);
        Process::start(self.dir(), "run", &all)
    }

    /// Starts `busyhour` with arguments. `name` is the name of its output files.
    pub(crate) fn process(&self, name: &str, arguments: &[&str]) -> Process {
        Process::start(self.dir(), name, arguments)
    }

    /// Executes `busyhour` and returns its standard output.
    pub(crate) fn execute(&self, arguments: &[&str]) -> String {
        let mut process = Process::start(self.dir(), "verb", arguments);
        let status = process.ends();
        assert!(status.success(), "{arguments:?}: {status} {}", process.err());
        process.out()
    }

    /// The address of the server under test.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.server.port())
    }

    /// The property with the port of the server.
    pub(crate) fn port(&self) -> String {
        format!("PORT={}", self.server.port())
    }

    pub(crate) fn json(&self, file: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.dir().join(file)).unwrap()).unwrap()
    }
}

/// Starts a hub in the directory `hub` of `room`.
pub(crate) fn start_hub(room: &Path, port: u16) -> Process {
    let port = port.to_string();
    let mut hub = Process::start(room, "hub", &["cluster", "hub", "--dir", "hub", "--port", &port]);
    hub.says("Ctrl-C ends the hub");
    hub
}

/// Exit code of a process that ended by itself.
pub(crate) fn code(process: &mut Process) -> i32 {
    process.ends().code().unwrap_or_else(|| panic!("ended by a signal: {}", process.err()))
}
