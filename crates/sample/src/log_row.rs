//! A row of a result file, with the columns that describe arrivals.

use std::num::NonZeroU64;

/// The row of a sampler, with the columns that describe arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRow {
    /// Actual start, in ns since 1970; a multiple of 1 ms in a JTL file.
    pub start_ns: i64,
    /// JMeter's `elapsed` in ns: from the actual start to the end, without idle time.
    pub elapsed_ns: u64,
    /// From the actual start to the first byte of the response, in ns; `None` if the log does not contain it.
    pub latency_ns: Option<u64>,
    /// Actual minus intended start in ns; `None` if the log does not contain intended starts.
    pub late_ns: Option<u64>,
    /// Number of bytes received; `None` if the log does not contain them.
    pub bytes: Option<u64>,
    /// Number of the label in the log's table of labels.
    pub label: u32,
    /// The thread group, as an index into [`crate::RunNames::groups`]; `None` if only its name is known.
    pub group: Option<u32>,
    /// Number of the thread: the number at the end of its name; `None` if the name does not end with one.
    pub thread: Option<u32>,
    /// Identifies the user (thread) within the log: a hash of the thread's name, or of group and thread number. `None` if the
    /// log does not contain them.
    pub user: Option<NonZeroU64>,
    /// Whether the sample was successful; true if the log has no such column.
    pub success: bool,
}
