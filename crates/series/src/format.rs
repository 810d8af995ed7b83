//! Constants and types that the writer and the reader of a series file share.

use busyhour_sample::Nanos;
use serde::{Deserialize, Serialize};

use crate::metric::MetricKind;

/// The first bytes of a series file.
pub const SERIES_MAGIC: &[u8; 8] = b"BHSERIES";

/// Version of the format that this program writes, and the only one that it reads.
pub const SERIES_VERSION: u32 = 1;

/// Name of the file in a run directory.
pub const SERIES_FILE_NAME: &str = "series.bho";

/// Maximum number of series of a watch, unless the caller sets another limit.
pub const SERIES_MAX: usize = 1_000;

/// Maximum number of series, and of sources, that a reader accepts in a file.
pub const DECLARED_SERIES_MAX: usize = 65_536;

/// Maximum number of labels of a series; further ones are omitted.
pub const LABELS_MAX: usize = 16;

/// Maximum length in bytes of a name, a help text, and the name or value of a label; longer ones are shortened.
pub const LABEL_BYTES_MAX: usize = 256;

/// Maximum length in bytes of a reason and of the text of a mark; longer ones are shortened.
pub const REASON_BYTES_MAX: usize = 2_048;

/// Maximum number of marks of one reading; further ones are only counted.
pub const MARKS_PER_READING_MAX: usize = 1_000;

/// Maximum length of the payload of a frame in bytes; a frame that states a greater length is damaged.
pub const FRAME_BYTES_MAX: usize = 1 << 24;

/// Length of the head of a frame in bytes.
pub(super) const HEAD: usize = 8;

pub(super) const KIND_START: u8 = 1;
pub(super) const KIND_SOURCE: u8 = 2;
pub(super) const KIND_SERIES: u8 = 3;
pub(super) const KIND_VALUES: u8 = 4;
pub(super) const KIND_UNAVAILABLE: u8 = 5;
pub(super) const KIND_MARK: u8 = 6;
pub(super) const KIND_STATE: u8 = 7;

/// The first frame of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStart {
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Name of the machine that recorded the series.
    pub hostname: String,
    /// The program and its version.
    pub program: String,
}

/// The declaration of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesInfo {
    /// Number of the source.
    pub source: u32,
    /// Name of the metric.
    pub name: String,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// One sentence about the metric.
    pub help: String,
    /// Names and values of labels.
    pub labels: Vec<(String, String)>,
}

/// The reason why a metric has no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnavailableInfo {
    /// Number of the source.
    pub source: u32,
    /// When this was noticed, in ns since the start of the run.
    pub time: Nanos,
    /// Name of the metric.
    pub metric: String,
    /// Why it has no values.
    pub reason: String,
}

/// A change of the state of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// Number of the source.
    pub source: u32,
    /// When, in ns since the start of the run.
    pub time: Nanos,
    /// The new state.
    pub state: crate::state::SourceState,
}

/// The longest prefix of a text with at most `bytes_max` bytes.
pub fn shorten(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shortened_between_characters() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcd", 3), "abc");
        assert_eq!(shorten("aßb", 2), "a");
        assert_eq!(shorten("ß", 1), "");
    }
}
