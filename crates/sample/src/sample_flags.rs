//! Flags of a sample, and the kind that they imply.

use serde::{Deserialize, Serialize};

/// Flags that determine where a sample is counted and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SampleFlags(pub u16);

impl SampleFlags {
    /// No flags: an ordinary sample.
    pub const NONE: SampleFlags = SampleFlags(0);
    /// The sample of a transaction controller itself.
    pub const TRANSACTION: SampleFlags = SampleFlags(1);
    /// A sub-result: a result within another one that is not a request of the plan, such as a redirect or an embedded
    /// resource. It is not in the totals. The same core must record it directly after its parent (depth first), in
    /// JMeter's order.
    pub const SUB_RESULT: SampleFlags = SampleFlags(1 << 1);
    /// A sample before the measured part of the run: written to files, but not included in the totals.
    pub const WARMUP: SampleFlags = SampleFlags(1 << 2);
    /// The sampler's URL is unset. The `URL` column then contains `null`, as in JMeter.
    pub const NO_URL: SampleFlags = SampleFlags(1 << 3);
    /// A request within the sample of a transaction controller in parent mode. It is a sub-result in files, but a request in
    /// the totals.
    pub const TRANSACTION_CHILD: SampleFlags = SampleFlags(1 << 4);
    /// A sample within a transaction in parent mode, written only to the files of listeners. It is not in the main log, and the
    /// totals contain it as part of its transaction's sample. Readers of `samples.bhs` skip it.
    pub const LISTENERS_ONLY: SampleFlags = SampleFlags(1 << 5);
    /// A [`crate::Detail`] is sent with the sample, for files that contain more than a row. `samples.bhs` does not contain the
    /// detail.
    pub const DETAILED: SampleFlags = SampleFlags(1 << 6);
    /// The `threadName` column is empty, as for deeply nested results in JMeter.
    pub const NO_THREAD: SampleFlags = SampleFlags(1 << 7);

    /// Whether all of `other`'s flags are set.
    #[must_use]
    pub const fn contains(self, other: SampleFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags without those of `other`.
    #[must_use]
    pub const fn without(self, other: SampleFlags) -> SampleFlags {
        SampleFlags(self.0 & !other.0)
    }

    /// The union of both sets of flags.
    #[must_use]
    pub const fn with(self, other: SampleFlags) -> SampleFlags {
        SampleFlags(self.0 | other.0)
    }
}

impl std::ops::BitOr for SampleFlags {
    type Output = SampleFlags;
    fn bitor(self, rhs: SampleFlags) -> SampleFlags {
        self.with(rhs)
    }
}

/// The kind of a sample. Tables have separate rows for the kinds of one label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleKind {
    /// The sample of a sampler itself.
    Request,
    /// The sample of a transaction controller; not included in the total, as in JMeter's summary.
    Transaction,
    /// A sub-result; not included in the total.
    SubResult,
}

impl SampleKind {
    /// The kind of a sample with these flags.
    #[must_use]
    pub const fn of(flags: SampleFlags) -> SampleKind {
        if flags.contains(SampleFlags::SUB_RESULT) {
            SampleKind::SubResult
        } else if flags.contains(SampleFlags::TRANSACTION) {
            SampleKind::Transaction
        } else {
            SampleKind::Request
        }
    }
}
