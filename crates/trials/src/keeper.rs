//! The keeper: a process that starts a command and ends it, with all of its descendants, when its own parent ends or asks for it.
//!
//! The keeper is a separate process because the experiment itself may be killed. Its standard input is a pipe from the experiment,
//! which the kernel closes in that case. As a child subreaper, the keeper stays the ancestor of daemons that leave their process
//! group. Reports are lines on standard output: `exited exit code 0` when the command ends, and `left 2` at the end.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The byte on standard input that starts a command that waits.
pub(crate) const RELEASE: u8 = b'g';

/// A command for the keeper.
#[derive(Debug, Clone)]
pub struct KeepRequest {
    /// The cores that the command may use; empty for those of this process.
    pub cores: Vec<u32>,
    /// The file to which the output of the command is appended.
    pub log: PathBuf,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Whether descendants may continue after the end of the command, until the parent ends or requests the end.
    pub lingers: bool,
    /// Whether the command starts only when the parent asks for it, so that the keeper can first be moved to control
    /// groups.
    pub waits: bool,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// Why a command cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The list of words is empty.
    #[error("there is no command")]
    NoCommand,
    /// The log cannot be opened.
    #[error("the log {path} cannot be opened")]
    Log {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The cores do not exist, or may not be used.
    #[error("the cores {cores:?} cannot be used")]
    Cores {
        /// The cores.
        cores: Vec<u32>,
        /// The cause.
        source: std::io::Error,
    },
    /// The command cannot be started.
    #[error("{program:?} cannot be started")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The system lacks a function.
    #[error("processes can be kept on Linux only")]
    Unsupported,
}

/// Starts a command, reports its end, and ends all of its descendants.
///
/// # Errors
/// The command cannot be started.
#[cfg(not(target_os = "linux"))]
pub fn keep(_request: &KeepRequest, _report: &mut dyn FnMut(String)) -> Result<(), KeepError> {
    Err(KeepError::Unsupported)
}

#[cfg(target_os = "linux")]
pub use linux::keep;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::fs::File;
    use std::io::Read as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, wait,
    };
    use rustix::thread::{CpuSet, sched_setaffinity};

    use super::{KeepError, KeepRequest, RELEASE};

    /// Interval at which processes that survive are killed again.
    const KILL_INTERVAL: Duration = Duration::from_millis(50);

    enum Event {
        /// The parent ended, or requested the end.
        Stop,
        /// A process ended.
        Ended(Pid, WaitStatus),
        /// No descendant is left.
        AllEnded,
    }

    /// Starts a command, reports its end, and ends all of its descendants.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn keep(request: &KeepRequest, report: &mut dyn FnMut(String)) -> Result<(), KeepError> {
        if request.waits && !is_released() {
            return Ok(());
        }
        let main = start(request)?;
        let (send, events) = channel();
        let reaped = send.clone();
        std::thread::spawn(move || watch_parent(&send));
        std::thread::spawn(move || reap(&reaped));
        let mut keeper =
            Keeper { request, main, is_main_running: true, has_descendants: true, kill_at: None, left: 0 };
        keeper.follow(&events, report);
        report(format!("left {}", keeper.left));
        Ok(())
    }

    /// Waits until the parent requests the start. Any other byte requests the end.
    fn is_released() -> bool {
        read_byte() == Some(RELEASE)
    }

    /// The next byte from the parent; `None` after its end.
    fn read_byte() -> Option<u8> {
        let mut byte = [0];
        loop {
            match std::io::stdin().lock().read(&mut byte) {
                Ok(1..) => return byte.first().copied(),
                Ok(0) => return None,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    fn start(request: &KeepRequest) -> Result<Pid, KeepError> {
        let (program, arguments) = request.command.split_first().ok_or(KeepError::NoCommand)?;
        let log = File::options().create(true).append(true).open(&request.log);
        let opened = log.and_then(|log| Ok((log.try_clone()?, log)));
        let (out, err) =
            opened.map_err(|source| KeepError::Log { path: request.log.display().to_string(), source })?;
        if !request.cores.is_empty() {
            let mut set = CpuSet::new();
            for core in request.cores.iter().filter(|core| (**core as usize) < CpuSet::MAX_CPU) {
                set.set(*core as usize);
            }
            sched_setaffinity(None, &set)
                .map_err(|error| KeepError::Cores { cores: request.cores.clone(), source: error.into() })?;
        }
        let failed = |source| KeepError::Start { program: program.to_string_lossy().into_owned(), source };
        set_child_subreaper(Some(getpid())).map_err(|error| failed(error.into()))?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        // The child is reaped with all other descendants.
        Pid::from_raw(child.id().cast_signed()).ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))
    }

    fn watch_parent(send: &Sender<Event>) {
        // A byte requests the end; if there are no bytes, the parent has ended.
        read_byte();
        let _ = send.send(Event::Stop);
    }

    fn reap(send: &Sender<Event>) {
        loop {
            let event = match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) => Event::Ended(pid, status),
                Ok(None) | Err(rustix::io::Errno::INTR) => continue,
                Err(_) => Event::AllEnded,
            };
            let is_last = matches!(event, Event::AllEnded);
            if send.send(event).is_err() || is_last {
                return;
            }
        }
    }

    struct Keeper<'r> {
        request: &'r KeepRequest,
        main: Pid,
        is_main_running: bool,
        has_descendants: bool,
        /// When processes are killed; `None` until they are asked to end.
        kill_at: Option<Instant>,
        /// Number of processes that outlived the command.
        left: usize,
    }

    impl Keeper<'_> {
        fn follow(&mut self, events: &Receiver<Event>, report: &mut dyn FnMut(String)) {
            while self.has_descendants || self.kill_at.is_none() {
                let event = match self.kill_at {
                    Some(at) => events.recv_timeout(at.saturating_duration_since(Instant::now())),
                    None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                };
                match event {
                    Ok(Event::Ended(pid, status)) if pid == self.main => {
                        self.is_main_running = false;
                        report(format!("exited {}", describe(status)));
                        if !self.request.lingers {
                            self.end();
                        }
                    }
                    Ok(Event::Ended(..)) => {}
                    Ok(Event::AllEnded) => self.has_descendants = false,
                    Ok(Event::Stop) => self.end(),
                    Err(RecvTimeoutError::Timeout) => {
                        signal_all(Signal::KILL);
                        self.kill_at = Some(Instant::now() + KILL_INTERVAL);
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        }

        /// Asks all descendants to end.
        fn end(&mut self) {
            if self.kill_at.is_some() {
                return;
            }
            let asked = signal_all(Signal::TERM);
            if !self.is_main_running {
                self.left = asked;
            }
            self.kill_at = Some(Instant::now() + self.request.grace);
        }
    }

    fn describe(status: WaitStatus) -> String {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (_, Some(signal)) => format!("signal {signal}"),
            _ => "an unknown status".to_owned(),
        }
    }

    /// Sends a signal to all descendants of this process that have not ended; returns their number.
    fn signal_all(signal: Signal) -> usize {
        let own = getpid();
        let parents = parents();
        let mut count = 0;
        for pid in parents.keys() {
            let mut ancestor = *pid;
            // A chain of parents cannot be longer than the number of processes.
            for _ in 0..parents.len() {
                let Some(parent) = parents.get(&ancestor) else { break };
                if *parent == own.as_raw_nonzero().get() {
                    let target = Pid::from_raw(*pid);
                    count += usize::from(target.is_some_and(|target| kill_process(target, signal).is_ok()));
                    break;
                }
                ancestor = *parent;
            }
        }
        count
    }

    /// The parent of each process that has not ended.
    fn parents() -> HashMap<i32, i32> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return HashMap::new() };
        let parent = |entry: std::fs::DirEntry| {
            let pid = entry.file_name().to_str()?.parse::<i32>().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name of the program is in parentheses, and can contain anything.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let is_zombie = fields.next()? == "Z";
            let parent = fields.next()?.parse::<i32>().ok()?;
            (!is_zombie).then_some((pid, parent))
        };
        entries.flatten().filter_map(parent).collect()
    }
}
