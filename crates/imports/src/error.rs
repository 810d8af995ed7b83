//! Errors in files, with their position.

/// Maximum number of characters of a value that an error message contains.
const TEXT_CHARS_MAX: usize = 40;

/// A line, or a record of a binary file, that cannot be read. It is skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {field} {text:?} {problem}")]
pub struct BadLine {
    /// Line, from 1. In a binary file, the number of the record.
    pub line: u64,
    /// Position in the line in bytes, from 1.
    pub column: u64,
    /// Name of the field.
    pub field: &'static str,
    /// Its contents, truncated.
    pub text: String,
    /// The problem with the field, such as `is not a duration`.
    pub problem: &'static str,
}

impl BadLine {
    pub(crate) fn new(
        line: u64,
        column: usize,
        field: &'static str,
        text: &[u8],
        problem: &'static str,
    ) -> BadLine {
        // A character has at most four bytes.
        let text = &text[..text.len().min(4 * TEXT_CHARS_MAX)];
        let text = String::from_utf8_lossy(text).chars().take(TEXT_CHARS_MAX).collect();
        BadLine { line, column: column as u64 + 1, field, text, problem }
    }
}

/// A file cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// An error of the operating system.
    #[error("cannot read the file")]
    Io(#[from] std::io::Error),
    /// A line is too long.
    #[error("line {line} is longer than {} MiB", limit_bytes >> 20)]
    LongLine {
        /// The line, from 1.
        line: u64,
        /// The limit in bytes.
        limit_bytes: usize,
    },
    /// A binary file is damaged.
    #[error("byte {at}: {problem}")]
    Damaged {
        /// Offset of the damaged record in bytes.
        at: u64,
        /// The problem.
        problem: &'static str,
    },
    /// A file with percentiles is larger than any that the tool writes.
    #[error("the file is larger than {} MiB, but contains only percentiles", limit_bytes >> 20)]
    LargeAggregate {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// A file with percentiles is not valid JSON, or lacks a field.
    #[error("line {}, column {}: not the expected JSON", .0.line(), .0.column())]
    Json(#[source] serde_json::Error),
    /// A line of a file with percentiles cannot be read.
    #[error(transparent)]
    Line(#[from] BadLine),
    /// A file with percentiles contains none.
    #[error("the file contains no percentiles")]
    NoPercentiles,
}
