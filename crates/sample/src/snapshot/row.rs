//! The samples of one label in one second.

use serde::{Deserialize, Serialize};

use super::time_counts::TimeCounts;
use crate::sample_flags::SampleKind;

/// Maximum number of response codes in one row; also the maximum number of kinds of failure.
pub const CODES_MAX: usize = 100;

/// The response code under which samples with codes beyond [`CODES_MAX`] are counted.
pub const OTHER_CODES: &str = "(other codes)";

/// The samples of one label that ended in one second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRow {
    /// The label.
    pub label: String,
    /// Whether they are requests or transactions.
    pub kind: SampleKind,
    /// Number of samples (a row of a result file can represent more than one).
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Number of bytes received.
    pub bytes: u64,
    /// Number of bytes sent.
    pub sent_bytes: u64,
    /// Service times (end − actual start).
    pub service: OutcomeTimes,
    /// Response times (end − intended start).
    pub response: OutcomeTimes,
    /// Sum of the times to the first byte, in ns.
    pub latency_sum_ns: u64,
    /// Sum of the times to connect, in ns.
    pub connect_sum_ns: u64,
    /// Number of samples by response code.
    pub codes: Vec<CodeCount>,
    /// Number of failed samples by response code and message.
    pub failures: Vec<FailureCount>,
}

/// Service times or response times, of successful and of failed samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeTimes {
    /// Times of successful samples.
    pub passed: TimeCounts,
    /// Times of failed samples.
    pub failed: TimeCounts,
}

impl OutcomeTimes {
    /// Times of successful and failed samples together.
    #[must_use]
    pub fn all(&self) -> TimeCounts {
        let mut all = self.passed.clone();
        all.merge(&self.failed);
        all
    }

    /// Adds the times of `other`.
    pub fn merge(&mut self, other: &OutcomeTimes) {
        self.passed.merge(&other.passed);
        self.failed.merge(&other.failed);
    }
}

/// The samples of one response code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeCount {
    /// The response code; [`OTHER_CODES`] for codes beyond the limit.
    pub code: String,
    /// Number of samples.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
}

/// The failed samples of one response code and message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCount {
    /// The response code; [`OTHER_CODES`] for codes beyond the limit.
    pub code: String,
    /// The first failed assertion's message, or the response message when no assertion failed.
    pub message: String,
    /// Whether `message` is that of a failed assertion.
    pub assertion: bool,
    /// Number of failed samples.
    pub errors: u64,
}

impl SnapshotRow {
    /// A row without samples.
    #[must_use]
    pub fn new(label: impl Into<String>, kind: SampleKind) -> SnapshotRow {
        SnapshotRow {
            label: label.into(),
            kind,
            samples: 0,
            errors: 0,
            bytes: 0,
            sent_bytes: 0,
            service: OutcomeTimes::default(),
            response: OutcomeTimes::default(),
            latency_sum_ns: 0,
            connect_sum_ns: 0,
            codes: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Adds the counts of `other`. Label and kind do not change.
    pub fn merge(&mut self, other: &SnapshotRow) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.sent_bytes += other.sent_bytes;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.latency_sum_ns = self.latency_sum_ns.saturating_add(other.latency_sum_ns);
        self.connect_sum_ns = self.connect_sum_ns.saturating_add(other.connect_sum_ns);
        for code in &other.codes {
            self.count_code(&code.code, code.samples, code.errors);
        }
        for failure in &other.failures {
            self.count_failure(failure);
        }
    }

    pub(crate) fn count_code(&mut self, code: &str, samples: u64, errors: u64) {
        let known = self.codes.iter().position(|known| known.code == code);
        let at = known.unwrap_or_else(|| {
            let full = self.codes.len() >= CODES_MAX;
            let other = || self.codes.iter().position(|known| known.code == OTHER_CODES);
            if full && let Some(other) = other() {
                return other;
            }
            let code = if full { OTHER_CODES } else { code }.to_owned();
            self.codes.push(CodeCount { code, samples: 0, errors: 0 });
            self.codes.len() - 1
        });
        self.codes[at].samples += samples;
        self.codes[at].errors += errors;
    }

    pub(crate) fn count_failure(&mut self, failure: &FailureCount) {
        let same = |known: &FailureCount, wanted: &FailureCount| {
            known.code == wanted.code
                && known.message == wanted.message
                && known.assertion == wanted.assertion
        };
        let (code, message) = (OTHER_CODES.to_owned(), String::new());
        let other = FailureCount { code, message, assertion: false, errors: 0 };
        let full = self.failures.len() >= CODES_MAX;
        let known = self.failures.iter().position(|known| same(known, failure));
        let known = known.or_else(|| self.failures.iter().position(|known| full && same(known, &other)));
        let at = known.unwrap_or_else(|| {
            self.failures.push(if full { other } else { FailureCount { errors: 0, ..failure.clone() } });
            self.failures.len() - 1
        });
        self.failures[at].errors += failure.errors;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_beyond_the_limit_are_counted_together() {
        let mut row = SnapshotRow::new("home", SampleKind::Request);
        for code in 0..CODES_MAX + 20 {
            row.count_code(&code.to_string(), 1, 1);
            row.count_code("0", 1, 0);
        }
        assert_eq!(row.codes.len(), CODES_MAX + 1);
        assert_eq!((row.codes[0].samples, row.codes[0].errors), (CODES_MAX as u64 + 21, 1));
        let other = row.codes.last().unwrap();
        assert_eq!((other.code.as_str(), other.samples), (OTHER_CODES, 20));
    }
}
