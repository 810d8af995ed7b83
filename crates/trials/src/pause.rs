//! Pauses a process of others during a trial.

use std::path::Path;

/// Why a process cannot be paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PauseError {
    /// There is no such process, or it has ended.
    #[error("there is no process {0}")]
    Missing(u32),
    /// The processes of this system have no known start times.
    #[error("the process {0} cannot be recognized, because this system has no /proc")]
    NoStartTime(u32),
}

/// The commands that pause a process and let it continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseCommands {
    /// Pauses the process. Fails if the process has ended.
    pub apply: String,
    /// Lets it continue. Succeeds without an effect if the process has ended.
    pub undo: String,
}

impl PauseCommands {
    /// The commands for a process, which is identified by its ID and its start time: another process may get the ID later, and must not
    /// receive the signals.
    ///
    /// # Errors
    /// The process does not exist.
    pub fn new(pid: u32) -> Result<PauseCommands, PauseError> {
        if !Path::new("/proc/self/stat").exists() {
            return Err(PauseError::NoStartTime(pid));
        }
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let start = running_since(&text).ok_or(PauseError::Missing(pid))?;
        // The name of the program, in parentheses, may contain blanks. The state is the first field after it, the start time the 20th.
        let is_same = format!(
            "set -- $(sed 's/.*) //' /proc/{pid}/stat 2>/dev/null); [ \"${{20}}\" = {start} ] && [ \"$1\" != Z ]"
        );
        Ok(PauseCommands {
            apply: format!(
                "{is_same} || {{ echo 'the process {pid} has ended' >&2; exit 1; }}; kill -STOP {pid}"
            ),
            undo: format!("{is_same} || exit 0; kill -CONT {pid}"),
        })
    }
}

/// The start time in a text of `/proc/PID/stat`; `None` for a process that has ended.
fn running_since(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(") ")?.1.split_whitespace();
    let state = fields.next()?;
    fields.nth(18)?.parse().ok().filter(|_| !matches!(state, "Z" | "X"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn waiting() -> Child {
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }

    fn succeeds(command: &str) -> bool {
        Command::new("sh").args(["-c", command]).stderr(Stdio::null()).status().unwrap().success()
    }

    fn state(pid: u32) -> String {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        text.rsplit_once(") ").unwrap().1[..1].to_owned()
    }

    /// Waits until the process is in one of the states: a signal is delivered a moment after it was sent.
    fn wait_for_state(pid: u32, states: &str) {
        while !states.contains(&state(pid)) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_process_is_paused_and_continues() {
        let mut process = waiting();
        let commands = PauseCommands::new(process.id()).unwrap();
        assert!(succeeds(&commands.apply));
        wait_for_state(process.id(), "T");
        assert!(succeeds(&commands.undo));
        wait_for_state(process.id(), "SRD");
        process.kill().unwrap();
        wait_for_state(process.id(), "Z");
        assert_eq!(PauseCommands::new(process.id()), Err(PauseError::Missing(process.id())));
        for _ in 0..2 {
            assert!(!succeeds(&commands.apply), "an ended process cannot be paused");
            assert!(succeeds(&commands.undo), "an ended process has nothing to undo");
            process.wait().unwrap();
        }
    }

    #[test]
    fn another_process_with_the_same_id_gets_no_signal() {
        let mut process = waiting();
        let commands = PauseCommands::new(process.id()).unwrap();
        let since = running_since(&std::fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap());
        let other = |command: &str| command.replace(&format!("= {} ]", since.unwrap()), "= 1 ]");
        assert_ne!(other(&commands.apply), commands.apply);
        assert!(!succeeds(&other(&commands.apply)) && succeeds(&other(&commands.undo)));
        assert_ne!(state(process.id()), "T");
        process.kill().unwrap();
        process.wait().unwrap();
    }

    #[test]
    fn a_process_that_does_not_exist_is_refused() {
        // Larger than the largest process ID of Linux.
        assert_eq!(PauseCommands::new(4_194_305), Err(PauseError::Missing(4_194_305)));
        let stat = "7 (a) b) c) S 1 7 7 0 -1 4 1 0 0 0 5 2 0 0 20 0 1 0 4711 99 0";
        assert_eq!(running_since(stat), Some(4711));
        assert_eq!(running_since(&stat.replace(") S", ") Z")), None);
    }
}
