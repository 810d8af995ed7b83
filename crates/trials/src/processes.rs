//! Processes of an experiment that was killed, which are recognized by an environment variable.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::process::{EXPERIMENT_VARIABLE, POLL_INTERVAL, experiment_mark};

/// Time in which keepers end the processes that they started.
const KEEPER_PATIENCE: Duration = Duration::from_secs(30);

/// Time between SIGTERM and SIGKILL for processes without a keeper.
const GRACE: Duration = Duration::from_secs(10);

/// Time in which killed processes must be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// A process of the experiment.
struct Found {
    pid: i32,
    is_keeper: bool,
}

/// Ends the processes that trials of the experiment started. Keepers end theirs without help, so that they get time for it first.
/// Returns their number, and the process IDs of those that did not end.
pub(crate) fn end_left(dir: &Path) -> (usize, BTreeSet<i32>) {
    let mark = format!("{EXPERIMENT_VARIABLE}={}", experiment_mark(dir));
    let mut seen = BTreeSet::new();
    let mut wait = |limit: Duration, until: &dyn Fn(&[Found]) -> bool| -> Vec<Found> {
        let deadline = Instant::now() + limit;
        loop {
            let found = with_mark(&mark);
            seen.extend(found.iter().map(|process| process.pid));
            if until(&found) || Instant::now() >= deadline {
                return found;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    };
    let mut left = wait(KEEPER_PATIENCE, &|found| !found.iter().any(|process| process.is_keeper));
    for (signal, limit) in [(Signal::Term, GRACE), (Signal::Kill, KILL_PATIENCE)] {
        if left.is_empty() {
            break;
        }
        send(&left, signal);
        left = wait(limit, &|found| found.is_empty());
    }
    let left = left.iter().map(|process| process.pid).collect();
    (seen.len(), left)
}

#[derive(Debug, Clone, Copy)]
enum Signal {
    Term,
    Kill,
}

#[cfg(target_os = "linux")]
fn send(processes: &[Found], signal: Signal) {
    use rustix::process::{Pid, Signal as Sent, kill_process};
    let sent = match signal {
        Signal::Term => Sent::TERM,
        Signal::Kill => Sent::KILL,
    };
    for process in processes {
        if let Some(pid) = Pid::from_raw(process.pid) {
            // An error means that it has just ended; otherwise it is found again, and reported.
            let _ = kill_process(pid, sent);
        }
    }
}

/// Processes are kept on Linux only.
#[cfg(not(target_os = "linux"))]
fn send(_processes: &[Found], _signal: Signal) {}

/// The processes, other than this one, whose environment contains the mark.
fn with_mark(mark: &str) -> Vec<Found> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let own = std::process::id().cast_signed();
    let found = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse::<i32>().ok().filter(|pid| *pid != own)?;
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let has_mark = environment.split(|byte| *byte == 0).any(|line| line == mark.as_bytes());
        has_mark.then(|| Found { pid, is_keeper: is_keeper(pid) })
    });
    found.collect()
}

fn is_keeper(pid: i32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0).skip(1);
    words.next() == Some(b"experiment") && words.next() == Some(b"keep")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_processes_with_the_mark_are_ended() {
        let dir = tempfile::tempdir().unwrap();
        let start = |mark: &str| {
            let mut command = std::process::Command::new("cat");
            command.env(EXPERIMENT_VARIABLE, mark).stdin(std::process::Stdio::piped());
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        };
        let (mut own, mut other) = (start(&experiment_mark(dir.path())), start("/another"));
        // The environment of a process is readable a moment after the process has started.
        while std::fs::read(format!("/proc/{}/environ", own.id())).unwrap().is_empty() {
            std::thread::yield_now();
        }
        // Waiting closes the input of the process, which would end it.
        let input = own.stdin.take();
        let waiting = std::thread::spawn(move || own.wait().unwrap());
        let (count, left) = end_left(dir.path());
        assert_eq!((count, left.len()), (1, 0));
        assert!(!waiting.join().unwrap().success());
        drop(input);
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
