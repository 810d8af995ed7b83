//! The work of a neighbour.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::cache::CachePattern;
use crate::network::NetworkProtocol;
use crate::stop::EndReason;
use crate::stream::StreamResult;

/// The work that a neighbour did, and how it ended.
#[derive(Clone, Debug)]
pub struct NeighbourSummary {
    /// The time from the start of the work to the end of the last thread.
    pub elapsed: Duration,
    /// Why it ended.
    pub ended_by: EndReason,
    /// The time in which the threads were to work, as the mean of all threads. It includes waits for the disk.
    pub busy: Duration,
    /// CPU time of all threads together.
    pub cpu: Duration,
    /// Number of operations; [`WorkDetail::operation`] names the kind of operation.
    pub operations: u64,
    /// Bytes that were moved, for neighbours that move data.
    pub bytes: Option<u64>,
    /// Figures of this kind of neighbour.
    pub detail: WorkDetail,
}

/// Figures of one kind of neighbour.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum WorkDetail {
    /// STREAM.
    Stream(StreamResult),
    /// Integer work.
    Cpu {},
    /// Cache lines.
    Cache {
        /// Bytes of the buffers of all threads.
        buffer_bytes: u64,
        /// How they were accessed.
        pattern: CachePattern,
    },
    /// Memory.
    Memory {
        /// Bytes that were requested.
        requested_bytes: u64,
        /// Bytes that were allocated at the end.
        allocated_bytes: u64,
        /// Whether it stopped growing because too little memory was free.
        is_scarce: bool,
    },
    /// Files.
    Disk {
        /// Their directory.
        dir: PathBuf,
        /// Bytes of the files of all threads.
        file_bytes: u64,
        /// Bytes per write.
        block_bytes: u64,
        /// Whether the directory is in memory, so that no disk was written to.
        is_in_memory: bool,
    },
    /// Loopback.
    Network {
        /// The protocol.
        protocol: NetworkProtocol,
        /// Bytes that were sent; those that were received are the bytes of the summary.
        sent_bytes: u64,
    },
}

impl WorkDetail {
    /// The kind of operation.
    pub fn operation(&self) -> &'static str {
        match self {
            Self::Stream(_) => "kernels",
            Self::Cpu {} => "xorshift numbers",
            Self::Cache { .. } => "cache lines",
            Self::Memory { .. } => "page writes",
            Self::Disk { .. } => "writes with fsync",
            Self::Network { protocol: NetworkProtocol::Tcp, .. } => "writes",
            Self::Network { protocol: NetworkProtocol::Udp, .. } => "datagrams",
        }
    }
}
