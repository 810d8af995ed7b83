//! The error for a cells emulator that cannot start or run.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// The oldest version of Java that can compile the emulator.
pub(super) const JAVA_VERSION_MIN: u32 = 11;

/// The reason why a cells emulator does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CellsError {
    /// There is no Java compiler. A runtime environment without `javac` is not sufficient.
    #[error("the Java compiler cannot be started: {}", .javac.display())]
    NoJdk {
        /// The path of `javac` that was tried.
        javac: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// `javac` does not print the properties of its JDK.
    #[error("the Java compiler does not print its version: {}\n{output}", .javac.display())]
    UnknownJdk {
        /// The path of `javac`.
        javac: PathBuf,
        /// The last lines of its output.
        output: String,
    },
    /// The JDK is too old.
    #[error("the JDK in {} has version {version}; version {JAVA_VERSION_MIN} or later is needed", .home.display())]
    OldJdk {
        /// Its directory.
        home: PathBuf,
        /// Its version: 8 for 1.8.
        version: u32,
    },
    /// The compiler rejects the source of the emulator.
    #[error("the JDK in {} cannot compile the cells emulator:\n{output}", .home.display())]
    Compile {
        /// The directory of the JDK.
        home: PathBuf,
        /// The last lines of the compiler's output.
        output: String,
    },
    /// A file or directory of the emulator cannot be written.
    #[error("cannot write {}", .path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The Java process, or a thread that reads its output, cannot be started.
    #[error("Java cannot be started")]
    Spawn(#[source] io::Error),
    /// The emulator cannot listen on its port.
    #[error("cannot listen on 127.0.0.1:{port}: {message}")]
    Port {
        /// The port.
        port: u16,
        /// The error message of Java.
        message: String,
    },
    /// The emulator rejects its configurations, for example because of an exception class that does not exist.
    #[error("{0}")]
    Refused(String),
    /// The Java process ended before it listened on its port, for example because of an unknown option.
    #[error("the Java process ended before it was ready ({status}):\n{output}")]
    NotReady {
        /// Exit status of the process.
        status: ExitStatus,
        /// The last lines of its output.
        output: String,
    },
    /// The emulator did not listen on its port in time.
    #[error("the Java process was not ready after {seconds} s:\n{output}")]
    TooSlow {
        /// The time limit, in seconds.
        seconds: u64,
        /// The last lines of its output.
        output: String,
    },
    /// The heap was full.
    #[error("the Java process ran out of memory")]
    OutOfMemory,
    /// The Java process ended while the emulator was serving requests.
    #[error("the Java process ended ({status}):\n{output}")]
    Ended {
        /// Exit status of the process.
        status: ExitStatus,
        /// The last lines of its output.
        output: String,
    },
}
