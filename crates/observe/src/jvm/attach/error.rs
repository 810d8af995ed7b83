//! Why a command to a JVM fails.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::jvm::process::ProcessError;

/// Why a command cannot be sent to a JVM, or is not answered.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The process does not exist or may not be examined.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Commands need a running system.
    #[error("commands can only be sent to JVMs of the running system, not to a recorded one")]
    Recorded,
    /// The process is another program.
    #[error("process {pid} has loaded {what}; commands are only sent to HotSpot")]
    NotHotSpot {
        /// The process ID.
        pid: u32,
        /// What the process has loaded.
        what: &'static str,
    },
    /// The JVM only accepts its own user.
    #[error(
        "the JVM {pid} accepts commands only from root and from user {user} with group {group}; run as one of them"
    )]
    OtherUser {
        /// The process ID.
        pid: u32,
        /// ID of its user.
        user: u32,
        /// ID of its group.
        group: u32,
    },
    /// The JVM does not handle SIGQUIT, which would end it.
    #[error(
        "the JVM {pid} does not handle SIGQUIT, which would end it: it is still starting, or it runs with -Xrs and its socket in \
         /tmp was deleted; try again, or restart it without -Xrs"
    )]
    QuitNotHandled {
        /// The process ID.
        pid: u32,
    },
    /// The JVM was started with an option that turns the attach mechanism off.
    #[error("the JVM {pid} was started with -XX:+DisableAttachMechanism; start it without this option")]
    TurnedOff {
        /// The process ID.
        pid: u32,
    },
    /// The file that announces the request cannot be written.
    #[error("cannot create {name} in the working directory or /tmp of process {pid}")]
    Announce {
        /// The process ID.
        pid: u32,
        /// The name of the file.
        name: String,
        /// The cause of the failure in `/tmp`, which is tried last.
        source: io::Error,
    },
    /// The JVM cannot be signalled.
    #[error("cannot send SIGQUIT to process {pid}")]
    Signal {
        /// The process ID.
        pid: u32,
        /// The cause.
        source: io::Error,
    },
    /// The JVM ended.
    #[error("the JVM {pid} ended before it answered")]
    Ended {
        /// The process ID.
        pid: u32,
    },
    /// The JVM did not answer.
    #[error("the JVM did not answer within {timeout:?}: it is stopped or very busy")]
    Timeout {
        /// The limit.
        timeout: Duration,
    },
    /// The socket may be that of another user.
    #[error("{} belongs to user {owner}, but the JVM runs as user {user}; it is not trusted", path.display())]
    Untrusted {
        /// The socket.
        path: PathBuf,
        /// ID of its owner.
        owner: u32,
        /// ID of the JVM's user.
        user: u32,
    },
    /// The connection failed.
    #[error("cannot connect to {}", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The exchange failed.
    #[error("the connection to the JVM {pid} failed")]
    Exchange {
        /// The process ID.
        pid: u32,
        /// The cause.
        source: io::Error,
    },
    /// The JVM closed the connection.
    #[error(
        "the JVM {pid} closed the connection without an answer; JDK 8 does so for users other than its own, even for root"
    )]
    NoAnswer {
        /// The process ID.
        pid: u32,
    },
    /// The request is too long for the JVM, or contains a zero byte.
    #[error("the command has {bytes} bytes or contains a zero byte; this JVM accepts {limit} bytes of text")]
    Request {
        /// Length of the command in bytes.
        bytes: usize,
        /// The JVM's limit in bytes.
        limit: usize,
    },
    /// The answer is too long.
    #[error("the answer is longer than {limit} bytes")]
    AnswerTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The JVM refused the command.
    #[error("the JVM refused {command:?} with code {code}: {text}")]
    Refused {
        /// The command.
        command: String,
        /// The code of the answer; 101 for an unknown version of the protocol.
        code: i32,
        /// The JVM's message, shortened.
        text: String,
    },
    /// The answer is not what the command prints in JDK 8 to 25.
    #[error("the answer to {command} is not in the expected format: {detail}")]
    Answer {
        /// The command.
        command: &'static str,
        /// What is wrong, with the part of the answer.
        detail: String,
    },
    /// A timer cannot be created.
    #[error("cannot create a timer")]
    Timer(#[source] io::Error),
}
