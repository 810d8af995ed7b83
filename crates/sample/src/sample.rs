//! Samples, as the engine records them.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of the run.
    pub const ZERO: Nanos = Nanos(0);
    /// The largest time: about 584 years.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// `secs` seconds after the start.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs.saturating_mul(1_000_000_000))
    }

    /// `ms` milliseconds after the start.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Nanos {
        Nanos(ms.saturating_mul(1_000_000))
    }

    /// The nanoseconds from `earlier` to `self`; 0 if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Nanos) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The number of the second that contains this time.
    #[must_use]
    pub const fn second(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// Seconds since the start.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The duration since the start.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl From<Duration> for Nanos {
    fn from(value: Duration) -> Self {
        Nanos(u64::try_from(value.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Add<Duration> for Nanos {
    type Output = Nanos;
    fn add(self, rhs: Duration) -> Nanos {
        Nanos(self.0.saturating_add(Nanos::from(rhs).0))
    }
}

/// Adds nanoseconds, saturating.
impl Add<u64> for Nanos {
    type Output = Nanos;
    fn add(self, rhs: u64) -> Nanos {
        Nanos(self.0.saturating_add(rhs))
    }
}

/// Subtracts nanoseconds, stopping at the start of the run.
impl Sub<u64> for Nanos {
    type Output = Nanos;
    fn sub(self, rhs: u64) -> Nanos {
        Nanos(self.0.saturating_sub(rhs))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", self.as_secs_f64())
    }
}

/// A sample label, interned in [`crate::Labels`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// JMeter's data type of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DataType {
    /// Unknown: an empty column.
    #[default]
    Unknown,
    /// `text`
    Text,
    /// `bin`
    Binary,
}

impl DataType {
    /// The text in the `dataType` column.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DataType::Unknown => "",
            DataType::Text => "text",
            DataType::Binary => "bin",
        }
    }

    pub(crate) const fn from_bits(bits: u8) -> DataType {
        match bits {
            1 => DataType::Text,
            2 => DataType::Binary,
            _ => DataType::Unknown,
        }
    }

    pub(crate) const fn bits(self) -> u8 {
        match self {
            DataType::Unknown => 0,
            DataType::Text => 1,
            DataType::Binary => 2,
        }
    }
}

/// Flags that determine where a sample is counted and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SampleFlags(pub u16);

impl SampleFlags {
    /// An ordinary sample.
    pub const NONE: SampleFlags = SampleFlags(0);
    /// The own sample of a transaction controller.
    pub const TRANSACTION: SampleFlags = SampleFlags(1);
    /// A sub-result: a result within another one that is not a request of the plan, such as a redirect or an embedded
    /// resource. It is not in the totals. The same core must record it directly after its parent (depth first), in
    /// JMeter's order.
    pub const SUB_RESULT: SampleFlags = SampleFlags(1 << 1);
    /// Before the measured part of the run: written to files, but not in the totals.
    pub const WARMUP: SampleFlags = SampleFlags(1 << 2);
    /// The sampler's URL is unset: the `URL` column reads `null`, as JMeter prints it.
    pub const NO_URL: SampleFlags = SampleFlags(1 << 3);
    /// A request within the sample of a transaction controller in parent mode. Files treat it as a sub-result, the
    /// totals as a request.
    pub const TRANSACTION_CHILD: SampleFlags = SampleFlags(1 << 4);
    /// A row only for files of listeners, within a transaction in parent mode. It is not in the main log, and the
    /// totals contain it as part of its transaction's sample. Readers of the record skip it.
    pub const LISTENERS_ONLY: SampleFlags = SampleFlags(1 << 5);
    /// A [`crate::Detail`] is sent with the sample, for files that show more than a row. The record does not contain
    /// it.
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

/// The times of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleTimes {
    /// The intended start. The response time counts from here.
    pub intended: Nanos,
    /// The actual start. The service time counts from here.
    pub start: Nanos,
    /// When it ended, before any post-processing.
    pub end: Nanos,
    /// Time to connect, TLS handshake included, in ns.
    pub connect_ns: u64,
    /// Time to the first byte, in ns.
    pub latency_ns: u64,
    /// Idle time: timers within a transaction, in ns.
    pub idle_ns: u64,
}

impl SampleTimes {
    /// Service time in ns: end − actual start − idle time.
    #[must_use]
    pub const fn service_ns(&self) -> u64 {
        self.end.since(self.start).saturating_sub(self.idle_ns)
    }

    /// Response time in ns: end − intended start − idle time.
    #[must_use]
    pub const fn response_ns(&self) -> u64 {
        self.end.since(self.intended).saturating_sub(self.idle_ns)
    }

    /// JMeter's `elapsed` in ms: the difference of two times that are truncated to whole milliseconds, less the idle
    /// time.
    #[must_use]
    pub const fn elapsed_ms(&self) -> i64 {
        (self.end.0 / 1_000_000) as i64
            - (self.start.0 / 1_000_000) as i64
            - (self.idle_ns / 1_000_000) as i64
    }
}

/// The active users when a sample ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActiveUsers {
    /// Users of its thread group.
    pub group: u32,
    /// Users of all thread groups.
    pub all: u32,
}

/// One sample. Strings are borrowed: recording copies them into a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The label.
    pub label: LabelId,
    /// Index into [`crate::RunNames::groups`].
    pub group: u32,
    /// Number of the thread within its group, from 1.
    pub user: u32,
    /// Its times.
    pub times: SampleTimes,
    /// Response code.
    pub code: &'a str,
    /// Response message.
    pub message: &'a str,
    /// Text or binary.
    pub data_type: DataType,
    /// Encoding of the response, empty when unknown.
    pub encoding: &'a str,
    /// Whether the sample passed.
    pub success: bool,
    /// The first failed assertion's message, or empty.
    pub failure_message: &'a str,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// The active users when it ended.
    pub users: ActiveUsers,
    /// The URL; see [`SampleFlags::NO_URL`].
    pub url: &'a str,
    /// Number of samples that this row represents, usually 1.
    pub sample_count: u32,
    /// How many of them failed.
    pub error_count: u32,
    /// Where the sample is counted and written.
    pub flags: SampleFlags,
    /// Index into [`crate::RecorderConfig::listener_sets`]; 0 is always the empty set.
    pub listeners: u32,
    /// Values of `sample_variables`, in the order of [`crate::RunNames::variables`].
    pub variables: &'a [&'a str],
}

impl Sample<'_> {
    /// Service time in ns; see [`SampleTimes::service_ns`].
    #[must_use]
    pub const fn service_ns(&self) -> u64 {
        self.times.service_ns()
    }

    /// Response time in ns; see [`SampleTimes::response_ns`].
    #[must_use]
    pub const fn response_ns(&self) -> u64 {
        self.times.response_ns()
    }

    /// JMeter's `elapsed` in ms; see [`SampleTimes::elapsed_ms`].
    #[must_use]
    pub const fn elapsed_ms(&self) -> i64 {
        self.times.elapsed_ms()
    }
}

impl Default for Sample<'_> {
    fn default() -> Self {
        Sample {
            label: LabelId(0),
            group: 0,
            user: 1,
            times: SampleTimes::default(),
            code: "",
            message: "",
            data_type: DataType::Unknown,
            encoding: "",
            success: true,
            failure_message: "",
            bytes: 0,
            sent_bytes: 0,
            users: ActiveUsers::default(),
            url: "",
            sample_count: 1,
            error_count: 0,
            flags: SampleFlags::NONE,
            listeners: 0,
            variables: &[],
        }
    }
}

/// The kind of a sample. Tables have separate rows for the kinds of one label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleKind {
    /// A sampler's own sample.
    Request,
    /// The sample of a transaction controller: not in the total, as in JMeter's summary.
    Transaction,
    /// A sub-result: not in the total.
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
