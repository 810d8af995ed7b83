//! The settings of a broker, and its fixed limits.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of agents.
pub const BROKER_AGENTS_MAX: usize = 256;

/// Maximum number of requests that can wait for an agent.
pub const BROKER_QUEUE_MAX: usize = 10_000;

/// Maximum number of connections; further ones are closed after a response with code 503.
pub(super) const CONNECTIONS_MAX: usize = 4_096;

/// Maximum number of processes that answer requests at the same time, so that they do not fill the memory of the machine.
pub(super) const PROCESSES_MAX: usize = 256;

/// Maximum time without progress while a request is read, a response is sent, or a process is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The settings of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerOptions {
    /// Number of agents, at most [`BROKER_AGENTS_MAX`].
    pub agents: NonZeroUsize,
    /// Number of requests that can wait for an agent, at most [`BROKER_QUEUE_MAX`].
    pub queue: usize,
    /// The way in which requests get from connections to the queue.
    pub front: BrokerFront,
}

impl Default for BrokerOptions {
    fn default() -> Self {
        Self { agents: NonZeroUsize::MIN.saturating_add(9), queue: 100, front: BrokerFront::Threads }
    }
}

/// A front end of the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokerFront {
    /// The thread of a connection handles its requests.
    Threads,
    /// Each request is handled by a new process, as a web server does with CGI. Needs Unix.
    Processes(BrokerProgram),
}

impl BrokerFront {
    /// The name in the metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Processes(_) => "process",
        }
    }

    pub(super) fn has_processes(&self) -> bool {
        matches!(self, Self::Processes(_))
    }
}

/// A program that calls [`answer_cgi_request`](crate::answer_cgi_request).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerProgram {
    /// The path of the program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}
