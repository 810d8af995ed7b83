//! The journal of systemd, by `journalctl`.

use std::io::{self, Read as _};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use super::{BUFFER_BYTES, FollowError, POLL_BYTES_MAX, PolledFile};

/// Selects the records of the journal to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalOptions {
    /// Only these units; all if empty.
    pub units: Vec<String>,
    /// The namespace of the journal.
    pub namespace: Option<String>,
    /// The time of the first record to read, in nanoseconds since 1970; `None`: only records that are written from now on.
    pub since_unix_ns: Option<i64>,
}

/// The fields that [`crate::Unwrapper`] reads.
const FIELDS: &str = "--output-fields=MESSAGE,PRIORITY,_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,_PID,SYSLOG_PID,_SOURCE_REALTIME_TIMESTAMP";

/// Maximum length of the error output that an error contains.
const MESSAGE_BYTES_MAX: usize = 2_000;

impl JournalOptions {
    /// The arguments of `journalctl`.
    fn arguments(&self) -> Vec<String> {
        let fixed = ["--follow", "--output=json", "--all", "--no-pager", "--quiet", FIELDS];
        let mut arguments: Vec<String> = fixed.map(str::to_owned).to_vec();
        match self.since_unix_ns {
            // journalctl accepts `@` followed by seconds since 1970 with up to six decimal places.
            Some(unix_ns) => {
                let (seconds, fraction) =
                    (unix_ns.div_euclid(1_000_000_000), unix_ns.rem_euclid(1_000_000_000));
                arguments.push("--lines=all".into());
                arguments.push(format!("--since=@{seconds}.{:06}", fraction / 1_000));
            }
            None => arguments.push("--lines=0".into()),
        }
        arguments.extend(self.namespace.iter().map(|namespace| format!("--namespace={namespace}")));
        arguments.extend(self.units.iter().map(|unit| format!("--unit={unit}")));
        arguments
    }
}

/// Reads the journal as lines of JSON ([`crate::Envelope::Journal`]). Dropping the follower ends `journalctl`.
#[derive(Debug)]
pub struct JournalFollower {
    child: Child,
    output: ChildStdout,
    errors: ChildStderr,
    message: Vec<u8>,
    buffer: Vec<u8>,
}

impl JournalFollower {
    /// Starts `journalctl`.
    ///
    /// # Errors
    /// `journalctl` is not installed or cannot be started.
    pub fn start(options: &JournalOptions) -> Result<JournalFollower, FollowError> {
        let mut command = Command::new("journalctl");
        command.args(options.arguments());
        JournalFollower::of(command)
    }

    /// Starts a command that writes records in the format of `journalctl -o json`, such as one on another machine.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn of(mut command: Command) -> Result<JournalFollower, FollowError> {
        let failed = |action| move |source| FollowError::Journal { action, source };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed("start"))?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        let Some((output, errors)) = pipes else {
            return Err(failed("start")(io::Error::other("no pipe to the process")));
        };
        rustix::io::ioctl_fionbio(&output, true).map_err(io::Error::from).map_err(failed("set-up"))?;
        rustix::io::ioctl_fionbio(&errors, true).map_err(io::Error::from).map_err(failed("set-up"))?;
        Ok(JournalFollower { child, output, errors, message: Vec::new(), buffer: vec![0; BUFFER_BYTES] })
    }

    /// Reads the bytes that have arrived and passes them to `bytes`, in pieces.
    ///
    /// # Errors
    /// `journalctl` has ended with an error, or its output cannot be read.
    pub fn poll(&mut self, mut bytes: impl FnMut(&[u8])) -> Result<PolledFile, FollowError> {
        let mut polled = PolledFile::default();
        while polled.bytes < POLL_BYTES_MAX {
            match self.output.read(&mut self.buffer) {
                Ok(0) => {
                    polled.has_ended = self.has_ended()?;
                    return Ok(polled);
                }
                Ok(count) => {
                    polled.bytes += count as u64;
                    bytes(&self.buffer[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.read_errors();
                    return Ok(polled);
                }
                Err(source) => return Err(FollowError::Journal { action: "output", source }),
            }
        }
        polled.has_more = true;
        Ok(polled)
    }

    /// Empties the pipe of the error output, so that the process does not wait for it.
    fn read_errors(&mut self) {
        let mut buffer = [0; 1_024];
        while let Ok(count @ 1..) = self.errors.read(&mut buffer) {
            let room = MESSAGE_BYTES_MAX.saturating_sub(self.message.len());
            self.message.extend_from_slice(&buffer[..count.min(room)]);
        }
    }

    /// Whether the process, whose output has ended, has exited; an error if it failed.
    fn has_ended(&mut self) -> Result<bool, FollowError> {
        let status =
            self.child.try_wait().map_err(|source| FollowError::Journal { action: "exit", source })?;
        self.read_errors();
        match status {
            None => Ok(false),
            Some(status) if status.success() => Ok(true),
            Some(status) => {
                let message = String::from_utf8_lossy(&self.message).trim().to_owned();
                Err(FollowError::JournalEnded { status, message })
            }
        }
    }
}

impl Drop for JournalFollower {
    fn drop(&mut self) {
        // The process may have ended already; there is nothing to do if it cannot be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_arguments() {
        let options = JournalOptions {
            units: vec!["shop.service".into()],
            namespace: Some("load".into()),
            since_unix_ns: Some(1_710_756_000_500_000_000),
        };
        let arguments = options.arguments();
        for argument in [
            "--unit=shop.service",
            "--namespace=load",
            "--since=@1710756000.500000",
            "--lines=all",
            "--follow",
        ] {
            assert!(arguments.iter().any(|found| found == argument), "{argument}: {arguments:?}");
        }
        assert!(JournalOptions::default().arguments().contains(&"--lines=0".to_owned()));
    }
}
