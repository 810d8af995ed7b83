//! Processes that a keeper watches.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::keeper::RELEASE;
use crate::stop::StopRequest;

/// Time after the grace period until the keeper itself is killed.
const KEEPER_PATIENCE: Duration = Duration::from_secs(20);

/// Interval at which processes are checked.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A command with its settings.
#[derive(Debug, Clone)]
pub(crate) struct KeptCommand<'c> {
    /// This program, whose hidden verb is the keeper.
    pub(crate) busyhour: &'c Path,
    /// The directory of the experiment.
    pub(crate) experiment: &'c Path,
    /// The program and its arguments.
    pub(crate) words: Vec<OsString>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: &'c Path,
    pub(crate) cores: &'c [u32],
    pub(crate) log: PathBuf,
    pub(crate) grace: Duration,
    pub(crate) lingers: bool,
    /// Whether the command starts only when it is released.
    pub(crate) waits: bool,
}

/// The environment variable of all processes of an experiment.
pub(crate) const EXPERIMENT_VARIABLE: &str = "BUSYHOUR_EXPERIMENT";

/// The value of this variable.
pub(crate) fn experiment_mark(dir: &Path) -> String {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned()).display().to_string()
}

/// A running command. When it is dropped, the command and all of its descendants are ended.
#[derive(Debug)]
pub(crate) struct Kept {
    keeper: Child,
    order: Option<ChildStdin>,
    reports: Receiver<String>,
    grace: Duration,
    exit: Option<String>,
    left: usize,
}

/// Why waiting for a command ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The command ended, with this status.
    Ended(String),
    /// The time is over.
    TimedOut,
    /// A stop was requested.
    Stopped,
}

/// The status of a command that succeeded.
pub(crate) const SUCCESS: &str = "exit code 0";

impl KeptCommand<'_> {
    /// Starts the command.
    pub(crate) fn start(&self) -> std::io::Result<Kept> {
        let mut keeper = Command::new(self.busyhour);
        keeper.args(["experiment", "keep", "--log"]).arg(&self.log);
        keeper.arg("--grace-ms").arg(self.grace.as_millis().to_string());
        if !self.cores.is_empty() {
            let cores: Vec<String> = self.cores.iter().map(u32::to_string).collect();
            keeper.arg("--cores").arg(cores.join(","));
        }
        if self.lingers {
            keeper.arg("--lingers");
        }
        if self.waits {
            keeper.arg("--waits");
        }
        keeper.arg("--").args(&self.words);
        let log = std::fs::File::options().create(true).append(true).open(&self.log)?;
        keeper
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env(EXPERIMENT_VARIABLE, experiment_mark(self.experiment))
            .current_dir(self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        // Ctrl-C in a terminal is sent to a process group; the experiment itself ends its processes in order.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut keeper, 0);
        let mut keeper = keeper.spawn()?;
        let order = keeper.stdin.take();
        let (send, reports) = channel();
        if let Some(out) = keeper.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Kept { keeper, order, reports, grace: self.grace, exit: None, left: 0 })
    }
}

impl Kept {
    /// The process ID of the keeper. The command and its descendants begin in its control groups.
    pub(crate) fn pid(&self) -> u32 {
        self.keeper.id()
    }

    /// Starts a command that waits.
    pub(crate) fn release(&mut self) {
        if let Some(order) = &mut self.order {
            // An error means that the keeper has ended, which `exit` reports.
            let _ = order.write_all(&[RELEASE]);
        }
    }

    /// The status of the command, if it has ended.
    pub(crate) fn exit(&mut self) -> Option<&str> {
        self.read_reports();
        if self.exit.is_none() && matches!(self.keeper.try_wait(), Ok(Some(_))) {
            // The last report may arrive after the keeper's end.
            while let Ok(line) = self.reports.recv_timeout(Duration::from_secs(1)) {
                self.take_report(&line);
            }
            self.exit.get_or_insert_with(|| "an error before its start".to_owned());
        }
        self.exit.as_deref()
    }

    fn read_reports(&mut self) {
        while let Ok(line) = self.reports.try_recv() {
            self.take_report(&line);
        }
    }

    fn take_report(&mut self, line: &str) {
        if let Some(status) = line.strip_prefix("exited ") {
            self.exit = Some(status.to_owned());
        } else if let Some(left) = line.strip_prefix("left ").and_then(|left| left.parse().ok()) {
            self.left = left;
        }
    }

    /// Waits for the end of the command.
    pub(crate) fn wait(&mut self, limit: Duration, stop: &StopRequest) -> Waited {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.exit() {
                return Waited::Ended(status.to_owned());
            }
            if stop.is_requested() {
                return Waited::Stopped;
            }
            if Instant::now() >= deadline {
                return Waited::TimedOut;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Asks the keeper to end the command and all of its descendants, without waiting.
    pub(crate) fn ask_to_end(&mut self) {
        if let Some(mut order) = self.order.take() {
            let _ = order.write_all(b"e");
        }
    }

    /// Ends the command and all of its descendants. Returns the number of processes that had outlived the command.
    pub(crate) fn end(&mut self) -> usize {
        self.ask_to_end();
        let deadline = Instant::now() + self.grace + KEEPER_PATIENCE;
        while matches!(self.keeper.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                let _ = self.keeper.kill();
                let _ = self.keeper.wait();
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        while let Ok(line) = self.reports.recv_timeout(Duration::from_secs(1)) {
            self.take_report(&line);
        }
        self.left
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.end();
    }
}
