//! Programs of other projects that tests start. A test whose program is missing is skipped with a note.

use std::process::{Command, Stdio};

use crate::program::Room;

/// Prints why a test is skipped.
pub(crate) fn skip(why: &str) {
    #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
    {
        eprintln!("SKIPPED: {why}");
    }
}

/// Whether a command succeeds; prints a note if the program is missing or fails.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => true,
        Ok(status) => {
            skip(&format!("{program} {} ended with {status}", arguments.join(" ")));
            false
        }
        Err(error) => {
            skip(&format!("{program} cannot be started: {error}"));
            false
        }
    }
}

/// Compiles a Java program into the directory; returns whether there is a JDK.
pub(crate) fn compile_java(room: &Room, class: &str, source: &str) -> bool {
    if !(works("java", &["-version"]) && works("javac", &["-version"])) {
        return false;
    }
    let file = room.file(&format!("{class}.java"), source);
    let status = Command::new("javac").arg("-d").arg(room.path()).arg(file).status().unwrap();
    assert!(status.success(), "{class}.java is compiled");
    true
}

/// The command of a compiled Java program.
pub(crate) fn java(room: &Room, class: &str) -> Command {
    let mut command = Command::new("java");
    command.arg("-Xmx64m").arg("-cp").arg(room.path()).arg(class);
    command
}
