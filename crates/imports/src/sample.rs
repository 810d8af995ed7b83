//! Samples of other tools.

use crate::error::BadLine;

/// A request as another tool recorded it. Texts are empty, and numbers 0, if the file does not contain them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedSample {
    /// Start in ns since 1970, or since the start of the run if the file contains no dates.
    pub start_ns: i64,
    /// Time from the start to the end in ns.
    pub duration_ns: u64,
    /// Time from the start to the first byte of the response in ns.
    pub latency_ns: u64,
    /// Time for opening a connection, in ns, if it is part of the duration.
    pub connect_ns: u64,
    /// Name of the request.
    pub label: String,
    /// The scenario, or another part of the test that has its own users.
    pub group: String,
    /// Response code.
    pub code: String,
    /// Error message.
    pub message: String,
    /// Address of the request.
    pub url: String,
    /// Whether the tool counts the request as successful.
    pub success: bool,
    /// Size of the response in bytes.
    pub received_bytes: u64,
    /// Size of the request in bytes.
    pub sent_bytes: u64,
    /// Number of active users at the end of the request; 0 if unknown.
    pub users: u32,
}

impl ImportedSample {
    /// Resets all fields and keeps the memory of the texts.
    pub(crate) fn clear(&mut self) {
        let ImportedSample { label, group, code, message, url, .. } = self;
        for text in [&mut *label, group, code, message, url] {
            text.clear();
        }
        let take = std::mem::take::<String>;
        *self = ImportedSample {
            label: take(label),
            group: take(group),
            code: take(code),
            message: take(message),
            url: take(url),
            ..ImportedSample::default()
        };
    }
}

/// The result of reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A sample was read.
    Sample,
    /// A line was skipped because it cannot be read.
    Bad(BadLine),
    /// The file ended. `cut_at` is the offset in bytes of a last record that is incomplete.
    End {
        /// The offset of the incomplete record; `None` if the file is complete.
        cut_at: Option<u64>,
    },
}

/// The contents of a file other than samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportNotes {
    /// Requests or iterations that, according to the file, the tool should have started but did not. The percentiles exclude them.
    pub dropped: u64,
}
