//! The errors of hubs, agents and controllers.

use std::io;
use std::path::PathBuf;

use busyhour_launch::LaunchError;

/// An error of a distributed run.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A file cannot be read or written.
    #[error("cannot use {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The text after `--on` or `--join` is neither an address, nor an invitation, nor a file with one.
    #[error("{0}")]
    Invitation(String),
    /// The NATS server cannot be reached or refuses the connection.
    #[error("cannot connect to {url}: {cause}")]
    Connect {
        /// The address.
        url: String,
        /// The cause.
        cause: String,
    },
    /// A message cannot be sent, or is not answered.
    #[error("{what}: {cause}")]
    Message {
        /// The purpose of the message.
        what: String,
        /// The cause.
        cause: String,
    },
    /// The hub cannot be started.
    #[error("{0}")]
    Hub(String),
    /// The agents that a run needs are not available.
    #[error("{0}")]
    Agents(String),
    /// The rows of CSV files cannot be dealt as requested.
    #[error("{0}")]
    Rows(String),
    /// An agent refuses the run.
    #[error("the agent {agent} refuses the run: {reason}")]
    Refused {
        /// The name of the agent.
        agent: String,
        /// Its reason.
        reason: String,
    },
    /// A run cannot be taken over.
    #[error("cannot take over the run in {dir}: {reason}")]
    Attach {
        /// The run directory.
        dir: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The run was stopped before it began.
    #[error("stopped before the run began")]
    Stopped,
    /// The load cannot be divided.
    #[error("the load cannot be divided")]
    Share(#[from] busyhour_arrivals::ShareError),
    /// A run cannot be prepared.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A runtime or thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

impl ClusterError {
    /// The error for a file.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ClusterError {
        let path = path.into();
        move |source| ClusterError::File { path, source }
    }

    /// The error for a message.
    pub(crate) fn message(what: impl Into<String>, cause: impl std::fmt::Display) -> ClusterError {
        ClusterError::Message { what: what.into(), cause: cause.to_string() }
    }

    /// Advice for the user; empty if there is none.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            ClusterError::Connect { .. } => {
                "start a hub with `busyhour cluster hub`, or check the address and the invitation"
            }
            ClusterError::Agents(_) => "list agents with `busyhour cluster list`",
            _ => "",
        }
    }
}
