//! The Java process of a cells emulator. It ends when its standard input is closed, so it never runs longer than this
//! process.

use std::fs::{self, File, OpenOptions};
use std::future::Future;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::error::CellsError;
use super::files::{CLASSES, CONFIGURATIONS, CONSOLE_LOG};
use super::jdk::Jdk;
use super::options::CellsOptions;
use super::output_end::last_lines;

/// Time limit for the start of Java.
const START_TIME: Duration = Duration::from_secs(60);

/// Time limit for the end of Java after its standard input was closed.
const CLOSING_TIME: Duration = Duration::from_secs(5);

/// Maximum length of a line of Java's output before the emulator is ready, in bytes.
const LINE_BYTES_MAX: u64 = 4_096;

/// Maximum length of the end of Java's output that an error contains, in bytes.
const TAIL_BYTES: u64 = 8_192;

/// The exit code of a JVM whose heap was full, with the option `ExitOnOutOfMemoryError`.
const OUT_OF_MEMORY: i32 = 3;

/// A running cells emulator. Dropping this value ends the emulator.
#[derive(Debug)]
pub struct CellsServer {
    java: JavaProcess,
    address: SocketAddr,
    pid: u32,
    ended: oneshot::Receiver<()>,
}

impl CellsServer {
    /// Compiles and starts an emulator, which takes a few seconds, and waits until it listens.
    ///
    /// # Errors
    /// There is no suitable JDK, the directory cannot be written, the port is in use, or Java rejects its options.
    pub fn start(options: &CellsOptions) -> Result<Self, CellsError> {
        let dir = &options.dir;
        let jdk = Jdk::find(options.java_home.as_deref())?;
        let classes = dir.join(CLASSES);
        fs::create_dir_all(&classes).map_err(write_error(&classes))?;
        let configurations = dir.join(CONFIGURATIONS);
        fs::write(&configurations, options.configurations.text()).map_err(write_error(&configurations))?;
        jdk.compile_in(dir)?;
        let (mut java, output) = JavaProcess::spawn(&jdk, options)?;
        let line = match output.answer.recv_timeout(START_TIME) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(java.not_ready()),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let seconds = START_TIME.as_secs();
                return Err(CellsError::TooSlow { seconds, output: java.console_tail() });
            }
        };
        match answer(&line) {
            Some(Answer::Listening { port, pid }) => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
                Ok(Self { java, address, pid, ended: output.ended })
            }
            Some(Answer::PortFailed(message)) => {
                Err(CellsError::Port { port: options.port, message: message.into() })
            }
            Some(Answer::Refused(message)) => Err(CellsError::Refused(message.into())),
            None => Err(java.not_ready()),
        }
    }

    /// The address on which the emulator listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process id of the JVM, for tools such as `jcmd`.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until `shutdown` completes, and ends the emulator.
    ///
    /// # Errors
    /// The Java process ended before `shutdown` completed.
    pub async fn serve(mut self, shutdown: impl Future<Output = ()>) -> Result<(), CellsError> {
        tokio::select! {
            () = shutdown => {
                self.java.close();
                Ok(())
            }
            _ = &mut self.ended => Err(self.java.ended()),
        }
    }
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> CellsError {
    let path = path.to_owned();
    move |source| CellsError::Write { path, source }
}

/// The result of the start, which the emulator prints.
#[derive(Debug, PartialEq, Eq)]
enum Answer<'l> {
    Listening { port: u16, pid: u32 },
    PortFailed(&'l str),
    Refused(&'l str),
}

/// Parses a line of output; `None` for a line of the JVM itself.
fn answer(line: &str) -> Option<Answer<'_>> {
    let (word, rest) = line.trim_end().split_once(' ')?;
    match word {
        "listening" => {
            let (port, pid) = rest.split_once(' ')?;
            Some(Answer::Listening { port: port.parse().ok()?, pid: pid.parse().ok()? })
        }
        "port" => Some(Answer::PortFailed(rest)),
        "refused" => Some(Answer::Refused(rest)),
        _ => None,
    }
}

/// The Java process. Dropping this value ends the process.
#[derive(Debug)]
struct JavaProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    console: PathBuf,
    /// Disconnected when the output of the process ends.
    closed: mpsc::Receiver<()>,
}

/// The channels on which a thread reports the output of the process.
struct JavaOutput {
    /// Receives the line with the result of the start; disconnected if there is none.
    answer: mpsc::Receiver<String>,
    /// Completes when the output ends.
    ended: oneshot::Receiver<()>,
}

impl JavaProcess {
    fn spawn(jdk: &Jdk, options: &CellsOptions) -> Result<(Self, JavaOutput), CellsError> {
        let path = options.dir.join(CONSOLE_LOG);
        // The file is emptied; then both output streams of the process are appended to it.
        let console = File::create(&path)
            .and_then(|_| OpenOptions::new().append(true).open(&path))
            .map_err(write_error(&path))?;
        let errors = console.try_clone().map_err(write_error(&path))?;
        let mut command = Command::new(jdk.java());
        command
            .args(options.java_arguments())
            .current_dir(&options.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors);
        // A Ctrl-C in the terminal must not end the Java process before this process does.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(CellsError::Spawn)?;
        let (answer_sender, answer) = mpsc::channel();
        let (ended_sender, ended) = oneshot::channel();
        let (closed_sender, closed) = mpsc::channel();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut java = Self { child, stdin, console: path, closed };
        let follow = move || {
            if let Some(stdout) = stdout {
                follow_output(stdout, console, answer_sender);
            }
            drop((ended_sender, closed_sender));
        };
        std::thread::Builder::new().name("java output".into()).spawn(follow).map_err(CellsError::Spawn)?;
        if let Some(stdin) = &mut java.stdin {
            let lines = options.configurations.lines(options.cpu_factor);
            // A failed write is ignored: if the process has ended, it is later reported as not ready.
            let _ = stdin.write_all(lines.as_bytes()).and_then(|()| stdin.flush());
        }
        Ok((java, JavaOutput { answer, ended }))
    }

    /// Ends the process; kills it if it does not end by itself in time.
    fn close(&mut self) {
        drop(self.stdin.take());
        if self.closed.recv_timeout(CLOSING_TIME) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }

    fn wait(&mut self) -> Result<ExitStatus, CellsError> {
        self.child.wait().map_err(CellsError::Spawn)
    }

    /// The error for a process that ended without reporting the result of its start.
    fn not_ready(&mut self) -> CellsError {
        match self.wait() {
            Ok(status) => CellsError::NotReady { status, output: self.console_tail() },
            Err(error) => error,
        }
    }

    /// The error for a process that ended by itself.
    fn ended(&mut self) -> CellsError {
        match self.wait() {
            Ok(status) if status.code() == Some(OUT_OF_MEMORY) => CellsError::OutOfMemory,
            Ok(status) => CellsError::Ended { status, output: self.console_tail() },
            Err(error) => error,
        }
    }

    /// The last lines of the process's output. They are only a part of another error, so a failure to read them is not
    /// reported.
    fn console_tail(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.console)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
            let mut bytes = Vec::new();
            file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => last_lines(&String::from_utf8_lossy(&bytes)),
            Err(error) => format!("(its output in {} cannot be read: {error})", self.console.display()),
        }
    }
}

impl Drop for JavaProcess {
    fn drop(&mut self) {
        self.close();
    }
}

/// Sends the line with the result of the start to `answer_sender`, and writes all other lines to `console`.
fn follow_output(stdout: ChildStdout, mut console: File, answer_sender: mpsc::Sender<String>) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    while matches!((&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line);
        if answer(&text).is_some() {
            let _ = answer_sender.send(text.into_owned());
            break;
        }
        let _ = console.write_all(&line);
        line.clear();
    }
    drop(answer_sender);
    // The pipe is read to its end even if the disk is full, because a full pipe would block the JVM.
    if io::copy(&mut reader, &mut console).is_err() {
        let _ = io::copy(&mut reader, &mut io::sink());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_distinguished_from_the_output_of_the_jvm() {
        assert_eq!(answer("listening 8080 17\n"), Some(Answer::Listening { port: 8080, pid: 17 }));
        assert_eq!(
            answer("port Address already in use\n"),
            Some(Answer::PortFailed("Address already in use"))
        );
        assert_eq!(answer("refused no class x.Y\n"), Some(Answer::Refused("no class x.Y")));
        for other in ["", "listening", "listening 70000 17", "listening 80", "[0.008s][info][gc] Using G1"] {
            assert_eq!(answer(other), None, "{other}");
        }
    }
}
