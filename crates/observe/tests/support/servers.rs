//! Processes that tests start and watch.

#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A process that prints a line when it is ready, and ends when its input is closed.
pub struct TestProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The line that it printed.
    pub ready: String,
}

impl TestProcess {
    /// Starts a command and waits for its first line; `None`, with a note, if the program is not installed.
    pub fn start(command: &mut Command) -> Option<TestProcess> {
        let spawned = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                eprintln!("SKIPPED: cannot start {:?}: {error}", command.get_program());
                return None;
            }
        };
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it was piped"));
        let mut process = TestProcess { child, input, output, ready: String::new() };
        process.ready = process.line();
        if process.ready.is_empty() {
            eprintln!("SKIPPED: {:?} ended immediately", command.get_program());
            return None;
        }
        Some(process)
    }

    /// A Python program: `ready(text)` prints the first line, `wait()` returns when the test closes the input,
    /// and `child(parent)` ends after its parent, even if the parent is killed.
    pub fn python(program: &str) -> Option<TestProcess> {
        TestProcess::start(&mut python_command(program))
    }

    /// Its process ID.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("its output can be read");
        line.trim().to_owned()
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        writeln!(input, "{line}").expect("it reads its input");
    }

    /// Closes its input, waits for its end and returns the rest of its output.
    pub fn end(mut self) -> String {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output can be read");
        self.child.wait().expect("it can be waited for");
        rest
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        drop(self.input.take());
        // Workers of a server would remain if only the server was killed.
        if let Ok(None) = self.child.try_wait() {
            let pid = rustix::process::Pid::from_child(&self.child);
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// The command of a Python program, see [`TestProcess::python`].
pub fn python_command(program: &str) -> Command {
    let prelude = "import os, socket, sys, time\n\
                   def ready(text): print(text, flush=True)\n\
                   def wait(): return sys.stdin.readline()\n\
                   def child(parent):\n\
                   \x20   while os.getppid() == parent: time.sleep(0.1)\n\
                   \x20   os._exit(0)\n\
                   def listen(host='127.0.0.1', port=0):\n\
                   \x20   s = socket.socket()\n\
                   \x20   s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n\
                   \x20   s.bind((host, port)); s.listen(16)\n\
                   \x20   return s\n";
    let mut command = Command::new("python3");
    command.args(["-c", &format!("{prelude}{program}")]);
    command
}
