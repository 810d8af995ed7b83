//! The errors of a neighbour.

use std::io;
use std::path::PathBuf;

use crate::cache_size::UnknownCacheSize;
use crate::cores::CoreListError;

/// The reason why a neighbour cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum NeighbourError {
    /// The cores cannot be used.
    #[error(transparent)]
    Cores(#[from] CoreListError),
    /// More memory is needed than is free.
    #[error(
        "{} of memory are needed, but {} are free ({source_of_free}), of which {} remain unused",
        size(*.needed), size(*.free), size(*.reserve)
    )]
    NotEnoughMemory {
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
        /// Bytes that always remain free.
        reserve: u64,
        /// Where the number of free bytes is from.
        source_of_free: String,
    },
    /// The free memory is not known.
    #[error("the free memory is unavailable: {} has no MemAvailable", .path.display())]
    MemoryUnknown {
        /// The file that should contain it.
        path: PathBuf,
        /// The error of reading it, if any.
        source: Option<io::Error>,
    },
    /// The system did not provide memory although it seemed free, for example because of `ulimit -v`.
    #[error("the system does not provide {} of memory", size(*.bytes))]
    Allocation {
        /// Bytes of the allocation.
        bytes: u64,
    },
    /// The size of the caches is not known.
    #[error(transparent)]
    CacheUnknown(#[from] UnknownCacheSize),
    /// A size is too small for the number of threads.
    #[error("{bytes} bytes are too little for {threads} thread{}: each needs at least {least} bytes", plural(*.threads))]
    TooSmall {
        /// The size.
        bytes: u64,
        /// Number of threads that share it.
        threads: usize,
        /// The least size for each.
        least: u64,
    },
    /// Arrays of STREAM that the caches could hold.
    #[error(
        "arrays of {} are smaller than the rule of STREAM allows: at least {}, four times the last-level caches of \
         the cores and at least a million elements",
        size(*.bytes), size(*.least)
    )]
    ArraysTooSmall {
        /// Bytes per array.
        bytes: u64,
        /// The least number of bytes per array.
        least: u64,
    },
    /// The directory for files is missing, or is another kind of file.
    #[error("{} is not a directory", .dir.display())]
    NotADirectory {
        /// The path.
        dir: PathBuf,
    },
    /// More disk space is needed than is free.
    #[error("{} are needed in {}, but {} are free", size(*.needed), .dir.display(), size(*.free))]
    NotEnoughSpace {
        /// The directory.
        dir: PathBuf,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A file or directory cannot be used.
    #[error("cannot {action} {}", .path.display())]
    File {
        /// What failed, such as `write`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// A socket on the loopback interface fails.
    #[error("cannot {action} on the loopback interface")]
    Socket {
        /// What failed, such as `send`.
        action: &'static str,
        /// The error.
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread {
        /// The error.
        source: io::Error,
    },
    /// The parent process ended before the neighbour started, or is not the expected one.
    #[error("the parent process has ended or is not the one given with --parent")]
    ParentEnded,
    /// The kernel does not report the end of the parent.
    #[error("cannot follow the parent process")]
    ParentSignal {
        /// The error.
        source: rustix::io::Errno,
    },
}

/// A size as text.
pub(crate) fn size(bytes: u64) -> String {
    match bytes as f64 / f64::from(1 << 20) {
        mebibytes if mebibytes >= 1_024.0 => format!("{:.2} GiB", mebibytes / 1_024.0),
        mebibytes => format!("{mebibytes:.1} MiB"),
    }
}

fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}
