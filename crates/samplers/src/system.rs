//! The OS Process Sampler: runs a command and records its output and exit code.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use busyhour_java::{hash_map, parse_boolean, parse_int};
use busyhour_program::ElementError;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::DataType;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::Command;

use crate::limits::LimitedResponse;
use crate::other::{OtherSampler, SampleRequest, Sampling};

/// The OS Process Sampler.
#[derive(Debug)]
pub struct ProcessSampler {
    /// `SystemSampler.command`
    pub command: Template,
    /// `SystemSampler.arguments`: the values of the arguments.
    pub arguments: Box<[Template]>,
    /// `SystemSampler.environment`: names and values, added to the environment of this process.
    pub environment: Box<[(Template, Template)]>,
    /// `SystemSampler.directory`; empty: the directory in which the run was started.
    pub directory: Template,
    /// `SystemSampler.checkReturnCode`
    pub check: Template,
    /// `SystemSampler.expectedReturnCode`
    pub expected: Template,
    /// `SystemSampler.stdin`: a file; empty: no input.
    pub stdin: Template,
    /// `SystemSampler.stdout`: a file; empty: the output becomes the response.
    pub stdout: Template,
    /// `SystemSampler.stderr`: a file; empty: the same destination as the output.
    pub stderr: Template,
    /// `SystemSampler.timeout`, milliseconds; 0: none.
    pub timeout: Template,
    /// The directory in which the run was started.
    pub base: PathBuf,
}

/// The rendered settings of one sample.
struct Call {
    command: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    directory: PathBuf,
    /// The expected code, if it is checked.
    expected: Option<i32>,
    stdin: String,
    stdout: String,
    stderr: String,
    timeout_ms: u64,
}

impl Call {
    fn new(sampler: &ProcessSampler, user: &mut UserState) -> Self {
        let directory = sampler.directory.text(user);
        let directory = sampler.base.join(&*directory);
        Self {
            command: sampler.command.text(user).into_owned(),
            arguments: sampler.arguments.iter().map(|value| value.text(user).into_owned()).collect(),
            environment: sampler
                .environment
                .iter()
                .map(|(name, value)| (name.text(user).into_owned(), value.text(user).into_owned()))
                .collect(),
            // Normalized as Java prints the path: `join` may leave a trailing separator.
            directory: directory.components().collect(),
            expected: parse_boolean(&sampler.check.text(user))
                .then(|| parse_int(&sampler.expected.text(user)).unwrap_or(0)),
            stdin: sampler.stdin.text(user).into_owned(),
            stdout: sampler.stdout.text(user).into_owned(),
            stderr: sampler.stderr.text(user).into_owned(),
            timeout_ms: u64::try_from(sampler.timeout.integer(user, 0)).unwrap_or(0),
        }
    }

    fn describe(&self) -> String {
        let mut line = self.command.clone();
        for argument in &self.arguments {
            line.push(' ');
            line.push_str(argument);
        }
        format!(
            "Working Directory: {}\nEnvironment: {}\nExecuting: {line}",
            self.directory.display(),
            java_map(&self.environment)
        )
    }
}

/// The output and the end of a process.
struct Outcome {
    output: LimitedResponse,
    end: End,
}

enum End {
    Exit(i32),
    TimedOut,
    /// The process did not start; the message of Java's exception.
    Failed(String),
}

impl ProcessSampler {
    async fn run(&self, request: SampleRequest<'_>) {
        let SampleRequest { user, label, intended, .. } = request;
        let call = Call::new(self, user);
        user.begin_result(label, intended);
        user.result.request_data = call.describe();
        user.result.content.data_type = DataType::Text;
        let Outcome { output, end } = run(&call).await;
        user.result.times.end = user.now();
        let result = &mut user.result;
        result.sizes.body_bytes = output.bytes.len() as u64;
        (result.body, result.body_memory) = (output.bytes, output.memory);
        result.outcome.success = false;
        let (code, message) = match end {
            End::Exit(code) => {
                let unexpected = call.expected.filter(|expected| *expected != code);
                result.outcome.success = unexpected.is_none();
                let message = unexpected.map(|expected| {
                    format!("Unexpected return code.  Expected [{expected}]. Actual [{code}].")
                });
                (code.to_string(), message.unwrap_or_else(|| "OK".into()))
            }
            End::TimedOut => {
                let ms = call.timeout_ms;
                ("500".into(), format!("Process timeout reached after {ms} milliseconds"))
            }
            End::Failed(why) => {
                ("500".into(), format!("Exception occurred whilst executing system call: {why}"))
            }
        };
        result.outcome.code = code;
        result.outcome.message = message;
    }
}

/// Opens a file of the call; `None` if its name is blank. Errors are formatted as in Java.
fn open_file(name: &str, open: impl Fn(&Path) -> io::Result<File>) -> Result<Option<File>, ElementError> {
    if name.trim().is_empty() {
        return Ok(None);
    }
    open(Path::new(name))
        .map(Some)
        .map_err(|error| format!("java.io.FileNotFoundException: {name} ({})", reason(&error)).into())
}

/// The system's message for an error, without the number after it.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

async fn run(call: &Call) -> Outcome {
    let failed = |why: String| Outcome { output: LimitedResponse::default(), end: End::Failed(why) };
    if busyhour_http::are_hosts_restricted() {
        // A process could reach every host.
        return failed("java.lang.SecurityException: this agent does not start processes, because its hosts are restricted".into());
    }
    let files = (|| {
        let stdin = open_file(&call.stdin, |path| File::open(path))?;
        let stdout = open_file(&call.stdout, |path| File::create(path))?;
        Ok::<_, String>((stdin, stdout, open_file(&call.stderr, |path| File::create(path))?))
    })();
    let (stdin, stdout, stderr) = match files {
        Ok(files) => files,
        Err(why) => return failed(why),
    };
    let mut command = Command::new(&call.command);
    command.args(&call.arguments).envs(call.environment.iter().cloned()).current_dir(&call.directory);
    command.stdin(stdin.map_or_else(Stdio::null, Stdio::from)).kill_on_drop(true);
    let mut reader = None;
    let started = (|| -> io::Result<tokio::process::Child> {
        let piped = || -> io::Result<(pipe::Receiver, io::PipeWriter)> {
            let (reader, writer) = io::pipe()?;
            Ok((pipe::Receiver::from_owned_fd(reader.into())?, writer))
        };
        match (stdout, stderr) {
            (Some(out), Some(errors)) => {
                command.stdout(out).stderr(errors);
            }
            (Some(out), None) => {
                command.stderr(out.try_clone()?).stdout(out);
            }
            (None, errors) => {
                let (receiver, writer) = piped()?;
                match errors {
                    Some(errors) => command.stderr(errors),
                    None => command.stderr(writer.try_clone()?),
                };
                command.stdout(writer);
                reader = Some(receiver);
            }
        }
        command.spawn()
    })();
    // The command holds the writing ends of the pipes. Once it is dropped, the pipe closes when the child exits.
    drop(command);
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            let code = error.raw_os_error().unwrap_or(0);
            return failed(format!(
                "java.io.IOException: Cannot run program \"{}\" (in directory \"{}\"): error={code}, {}",
                call.command,
                call.directory.display(),
                reason(&error)
            ));
        }
    };
    let mut output = LimitedResponse::default();
    let ended = async {
        let status = match &mut reader {
            Some(reader) => {
                let ((), status) = tokio::join!(read_output(reader, &mut output), child.wait());
                status
            }
            None => child.wait().await,
        };
        status.map(exit_code)
    };
    let ended = if call.timeout_ms > 0 {
        tokio::time::timeout(Duration::from_millis(call.timeout_ms), ended).await.ok()
    } else {
        Some(ended.await)
    };
    let end = match ended {
        None => End::TimedOut,
        Some(Ok(code)) => End::Exit(code),
        Some(Err(error)) => End::Failed(format!("java.io.IOException: {error}")),
    };
    Outcome { output, end }
}

/// Reads to the end. Output beyond a limit is discarded, so that the command is not blocked; the event is counted.
async fn read_output(reader: &mut pipe::Receiver, output: &mut LimitedResponse) {
    let mut buffer = vec![0; 16 << 10];
    let mut is_within_limit = true;
    while let Ok(count @ 1..) = reader.read(&mut buffer).await {
        is_within_limit = is_within_limit && output.append(&buffer[..count]).is_ok();
    }
}

/// The exit code as in Java's `Process`: for a killed process, 128 plus the number of the signal.
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Formats a `HashMap` as Java does.
fn java_map(entries: &[(String, String)]) -> String {
    let entries = hash_map(entries.iter().cloned());
    let printed: Vec<String> = entries.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("{{{}}}", printed.join(", "))
}

impl OtherSampler for ProcessSampler {
    fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a> {
        Box::pin(self.run(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_printed_in_javas_order() {
        let entries = |keys: &[&str]| -> Vec<_> {
            keys.iter().map(|key| ((*key).to_owned(), key.to_lowercase())).collect()
        };
        assert_eq!(java_map(&[]), "{}");
        // The order is that of `java.util.HashMap` in Java 17.
        assert_eq!(java_map(&entries(&["PATH", "HOME", "A", "B"])), "{PATH=path, A=a, B=b, HOME=home}");
        assert_eq!(
            java_map(&entries(&["zebra", "apple", "mango"])),
            "{zebra=zebra, apple=apple, mango=mango}"
        );
    }

    #[test]
    fn the_error_number_is_removed_from_the_message() {
        assert_eq!(reason(&io::Error::from_raw_os_error(2)), "No such file or directory");
    }
}
