//! Starts Java programs.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// An installed JDK.
#[derive(Clone, Debug)]
pub struct Jdk {
    pub home: PathBuf,
}

impl Jdk {
    /// The JDKs of the variable `BUSYHOUR_TEST_JDKS` (homes, separated by colons), or that of the `java` in the path. Empty without Java
    /// and a compiler, with a note.
    pub fn installed() -> Vec<Jdk> {
        if classes().is_none() {
            eprintln!("note: javac is not installed; the tests with running JVMs are skipped");
            return Vec::new();
        }
        let homes: Vec<PathBuf> = match std::env::var("BUSYHOUR_TEST_JDKS") {
            Ok(homes) => homes.split(':').filter(|home| !home.is_empty()).map(PathBuf::from).collect(),
            Err(_) => default_home().into_iter().collect(),
        };
        if homes.is_empty() {
            eprintln!("note: java is not installed; the tests with running JVMs are skipped");
        }
        homes.into_iter().map(|home| Jdk { home }).collect()
    }

    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Whether the JVM starts with these options; otherwise a note is printed.
    pub fn supports(&self, options: &[&str]) -> bool {
        let output = Command::new(self.tool("java")).args(options).arg("-version").output();
        let is_supported = output.is_ok_and(|output| output.status.success());
        if !is_supported {
            eprintln!("note: {} does not support {options:?}; skipped", self.home.display());
        }
        is_supported
    }
}

/// The home of the `java` in the path.
fn default_home() -> Option<PathBuf> {
    let output = Command::new("java").args(["-XshowSettings:properties", "-version"]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let home = text.lines().find_map(|line| line.trim().strip_prefix("java.home = "))?;
    Some(PathBuf::from(home))
}

/// The directory with the compiled `Load`; `None` without a compiler.
pub fn classes() -> Option<&'static Path> {
    static CLASSES: OnceLock<Option<PathBuf>> = OnceLock::new();
    CLASSES
        .get_or_init(|| {
            let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jvm-load");
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/jvm/Load.java");
            let compiler =
                Command::new("javac").args(["--release", "11", "-d"]).arg(&target).arg(source).status();
            match compiler {
                Ok(status) => {
                    assert!(status.success(), "Load.java is compiled");
                    Some(target)
                }
                Err(_) => None,
            }
        })
        .as_deref()
}

/// A running program `Load`.
#[derive(Debug)]
pub struct Load {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Load {
    /// Starts the program and waits until it is ready.
    pub fn start(jdk: &Jdk, options: &[&str]) -> Load {
        let mut command = Command::new(jdk.tool("java"));
        command.args(options);
        Load::start_command(command)
    }

    /// Adds the program to a command that ends with the options of Java, starts it and waits until it is ready.
    pub fn start_command(mut command: Command) -> Load {
        command.arg("-Xmx64m").arg("-cp").arg(classes().expect("compiled")).arg("Load");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a program");
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut load = Load { child, commands, answers };
        load.await_line("ready");
        load
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a command and waits until it is done.
    pub fn say(&mut self, command: &str) {
        let commands = self.commands.as_mut().expect("running");
        writeln!(commands, "{command}").and_then(|()| commands.flush()).expect("a running program");
        self.await_line(command);
    }

    fn await_line(&mut self, expected: &str) {
        loop {
            let mut line = String::new();
            let length = self.answers.read_line(&mut line).expect("text");
            assert!(length > 0, "the program ended before it printed {expected}");
            // The JVM prints warnings about options, and a thread dump after SIGQUIT, to the same stream.
            if line.trim_end() == expected {
                return;
            }
        }
    }

    /// Ends the program.
    pub fn stop(mut self) {
        drop(self.commands.take());
        let status = self.child.wait().expect("a child");
        assert!(status.success(), "{status}");
    }

    /// Sends a signal of the command `kill`.
    pub fn signal(&self, signal: &str) {
        run(OsStr::new("kill"), &[&format!("-{signal}"), &self.pid().to_string()]);
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program and returns what it prints.
pub fn run(program: &OsStr, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program:?}: {error}"));
    assert!(output.status.success(), "{program:?} {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}
