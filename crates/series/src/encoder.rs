//! Encodes frames of a series file.

use busyhour_sample::Nanos;
use busyhour_sample::batch::{put, put_signed};

use super::format::{
    FRAME_BYTES_MAX, FileStart, HEAD, KIND_MARK, KIND_SERIES, KIND_SOURCE, KIND_START, KIND_STATE,
    KIND_UNAVAILABLE, KIND_VALUES, LABEL_BYTES_MAX, LABELS_MAX, REASON_BYTES_MAX, SERIES_MAGIC,
    SERIES_VERSION, shorten,
};
use crate::mark::Mark;
use crate::metric::{Metric, MetricKind};
use crate::state::SourceState;

/// Integers of larger magnitude are stored as floating-point numbers.
const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

/// Maximum number of bytes of a value: a tag of 10 bytes and a number of 10.
const VALUE_BYTES_MAX: usize = 20;

/// Maximum number of values in one frame. More values are split into several frames.
const VALUES_PER_FRAME: usize = FRAME_BYTES_MAX / VALUE_BYTES_MAX - 2;

/// Encodes the frames of one file, in their order. Each function appends bytes to `out`, which the caller writes to the file.
#[derive(Debug, Default)]
pub struct SeriesEncoder {
    /// Time of the previous frame that has one.
    time: u64,
    /// The previous integer of each series.
    integers: Vec<i64>,
    sources: u32,
}

impl SeriesEncoder {
    /// Appends the head of a file and its first frame.
    pub fn start(&mut self, out: &mut Vec<u8>, start: &FileStart) {
        out.extend_from_slice(SERIES_MAGIC);
        out.extend_from_slice(&SERIES_VERSION.to_le_bytes());
        frame(out, KIND_START, |out| {
            // Strings and numbers can always be serialized.
            out.extend_from_slice(&serde_json::to_vec(start).unwrap_or_default());
        });
    }

    /// Appends the declaration of the next source and returns its number.
    pub fn source(&mut self, out: &mut Vec<u8>, name: &str) -> u32 {
        frame(out, KIND_SOURCE, |out| {
            put(out, u64::from(self.sources));
            put_text(out, shorten(name, LABEL_BYTES_MAX));
        });
        self.sources += 1;
        self.sources - 1
    }

    /// Appends the declaration of the next series and returns its number.
    pub fn series(
        &mut self,
        out: &mut Vec<u8>,
        source: u32,
        metric: &Metric,
        labels: &[(&str, &str)],
    ) -> u32 {
        let number = u32::try_from(self.integers.len()).unwrap_or(u32::MAX);
        let labels = &labels[..labels.len().min(LABELS_MAX)];
        frame(out, KIND_SERIES, |out| {
            put(out, u64::from(number));
            put(out, u64::from(source));
            out.push(match metric.kind {
                MetricKind::Gauge => 0,
                MetricKind::Counter => 1,
            });
            put_text(out, shorten(&metric.name, LABEL_BYTES_MAX));
            put_text(out, shorten(&metric.help, LABEL_BYTES_MAX));
            put(out, labels.len() as u64);
            for (name, value) in labels {
                put_text(out, shorten(name, LABEL_BYTES_MAX));
                put_text(out, shorten(value, LABEL_BYTES_MAX));
            }
        });
        self.integers.push(0);
        number
    }

    /// Appends values. Each has a time in ns since the start of the run, the number of a declared series, and a finite value.
    /// Consecutive values with the same time share a frame. Values of series that are not declared are omitted.
    pub fn values(&mut self, out: &mut Vec<u8>, values: &[(Nanos, u32, f64)]) {
        for same_time in values.chunk_by(|one, other| one.0 == other.0) {
            for part in same_time.chunks(VALUES_PER_FRAME) {
                frame(out, KIND_VALUES, |out| {
                    self.put_time(out, part[0].0);
                    self.put_values(out, part);
                });
            }
        }
    }

    fn put_values(&mut self, out: &mut Vec<u8>, values: &[(Nanos, u32, f64)]) {
        let mut expected = 0;
        for (_, series, value) in values {
            let Some(previous) = self.integers.get_mut(*series as usize) else { continue };
            let distance = i64::from(*series) - expected;
            let tag = ((distance << 1) ^ (distance >> 63)) as u64;
            expected = i64::from(*series) + 1;
            if value.fract() == 0.0 && value.abs() <= INTEGER_MAX {
                let integer = *value as i64;
                put(out, tag << 1);
                put_signed(out, integer.wrapping_sub(*previous));
                *previous = integer;
            } else {
                put(out, tag << 1 | 1);
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    /// Appends the reason why a metric has no values.
    pub fn unavailable(&mut self, out: &mut Vec<u8>, source: u32, time: Nanos, metric: &str, reason: &str) {
        frame(out, KIND_UNAVAILABLE, |out| {
            self.put_time(out, time);
            put(out, u64::from(source));
            put_text(out, shorten(metric, LABEL_BYTES_MAX));
            put_text(out, shorten(reason, REASON_BYTES_MAX));
        });
    }

    /// Appends a mark.
    pub fn mark(&mut self, out: &mut Vec<u8>, source: u32, mark: &Mark) {
        frame(out, KIND_MARK, |out| {
            self.put_time(out, mark.from);
            put(out, u64::from(source));
            put_text(out, mark.kind.as_str());
            put(out, mark.to.0.saturating_sub(mark.from.0));
            put_text(out, shorten(&mark.text, REASON_BYTES_MAX));
        });
    }

    /// Appends a change of the state of a source.
    pub fn state(&mut self, out: &mut Vec<u8>, source: u32, time: Nanos, state: &SourceState) {
        let (number, reason) = match state {
            SourceState::Watching => (0, ""),
            SourceState::Failed(reason) => (1, reason.as_str()),
            SourceState::Ended(reason) => (2, reason.as_str()),
        };
        frame(out, KIND_STATE, |out| {
            self.put_time(out, time);
            put(out, u64::from(source));
            out.push(number);
            put_text(out, shorten(reason, REASON_BYTES_MAX));
        });
    }

    fn put_time(&mut self, out: &mut Vec<u8>, time: Nanos) {
        put_signed(out, time.0.wrapping_sub(self.time) as i64);
        self.time = time.0;
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Appends a frame with the payload that `write` appends.
fn frame(out: &mut Vec<u8>, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    out.push(kind);
    write(out);
    // Texts and the number of values are bounded, so that a payload is much shorter than 2³² bytes.
    let length = (out.len() - start - HEAD) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&out[start..start + 4]);
    crc.update(&out[start + HEAD..]);
    out[start + 4..start + HEAD].copy_from_slice(&crc.finalize().to_le_bytes());
}
