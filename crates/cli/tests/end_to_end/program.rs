//! Runs the program and inspects its results.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use busyhour_record::{Manifest, RunDir};

/// Timeout for operations that hang; all others are much faster.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `condition` returns a value; panics after [`PATIENCE`].
pub(crate) fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(began.elapsed() < PATIENCE, "timeout while waiting for: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A temporary working directory.
pub(crate) struct Room(tempfile::TempDir);

impl Room {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the program in this directory and waits for its end.
    pub(crate) fn run<I: AsRef<str>>(&self, arguments: impl IntoIterator<Item = I>) -> Ended {
        self.start(arguments).end()
    }

    /// Like `run`, with arguments separated by blanks.
    pub(crate) fn run_line(&self, line: &str) -> Ended {
        self.run(line.split_whitespace())
    }

    /// Starts the program in this directory.
    pub(crate) fn start<I: AsRef<str>>(&self, arguments: impl IntoIterator<Item = I>) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_busyhour"));
        command.args(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self.start_command(command)
    }

    /// Starts a command in this directory, with its output redirected to files.
    pub(crate) fn start_command(&self, mut command: Command) -> Running {
        let out = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(out.path().join(name)).unwrap();
        let child = command
            .current_dir(self.path())
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .unwrap();
        Running { child, out }
    }

    /// The only run directory in `busyhour-runs`.
    pub(crate) fn run_dir(&self) -> RunDir {
        let runs = self.path().join("busyhour-runs");
        let all: Vec<_> = std::fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(all.len(), 1, "one run directory: {all:?}");
        RunDir::open(&all[0])
    }

    pub(crate) fn has_run_dir(&self) -> bool {
        // The parent directory is created shortly before.
        std::fs::read_dir(self.path().join("busyhour-runs")).is_ok_and(|mut entries| entries.next().is_some())
    }

    pub(crate) fn manifest(&self) -> Manifest {
        self.run_dir().read_manifest().unwrap()
    }
}

/// A running program, which is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    out: tempfile::TempDir,
}

impl Running {
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.out.path().join("out")).unwrap()).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.out.path().join("err")).unwrap()).into_owned()
    }

    /// Its process ID.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until standard error contains `text`.
    pub(crate) fn wait_for_stderr(&self, text: &str) {
        wait_for(text, || self.stderr().contains(text).then_some(()));
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Asks it to end and waits, so that it ends its own children.
    #[cfg(target_os = "linux")]
    pub(crate) fn terminate(&mut self) {
        self.signal(rustix::process::Signal::TERM);
        let began = Instant::now();
        while began.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Limits its address space to the current size plus `more` bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn limit_memory(&self, more: u64) {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let size =
            status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB")).unwrap();
        let most = Some(size.parse::<u64>().unwrap() * 1024 + more);
        let limit = Rlimit { current: most, maximum: most };
        prlimit(Some(Pid::from_child(&self.child)), Resource::As, limit).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "the program does not end; its output:\n{}\n{}",
                self.stdout(),
                self.stderr()
            );
            std::thread::sleep(Duration::from_millis(2));
        };
        let ended = Ended { status, stdout: self.stdout(), stderr: self.stderr() };
        assert!(!ended.stderr.contains("panicked"), "a panic:\n{}", ended.stderr);
        ended
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output and exit code of the program.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Both output streams, for messages of failed tests.
    pub(crate) fn all(&self) -> String {
        format!("[{}]\n--- stdout\n{}--- stderr\n{}", self.status, self.stdout, self.stderr)
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{}", self.all());
        self
    }

    /// Asserts that standard error contains all of `texts`.
    #[track_caller]
    pub(crate) fn reports(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is missing in stderr:\n{}", self.all());
        }
        self
    }

    /// Asserts that standard output contains all of `texts`.
    #[track_caller]
    pub(crate) fn prints(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stdout.contains(text), "{text:?} is not printed:\n{}", self.all());
        }
        self
    }
}

/// Rows of a JTL file as maps from column name to value. Values must not contain line ends.
pub(crate) fn rows(jtl: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut lines = jtl.lines().map(fields);
    let header = lines.next().unwrap_or_default();
    lines.map(|row| header.iter().cloned().zip(row).collect()).collect()
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}
