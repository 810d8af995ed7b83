//! The fields of a sample, in groups, and their packed form.
//!
//! [`Sample`], [`crate::Detail`] and the results of samplers and scripts contain the same groups. Only this file lists all
//! fields of a group or of [`Sample`], and its functions destructure them: if a function omits a new field, it does not
//! compile.

use std::ops::AddAssign;

use crate::batch::{BatchReader, DamagedBatch, Encoder, put, put_signed};
use crate::data_type::DataType;
use crate::nanos::Nanos;
use crate::sample_flags::SampleFlags;

/// Version of the file `samples.bhs`, which contains packed samples. Files with another version are rejected.
pub const SAMPLES_VERSION: u32 = 1;

/// A sample label, interned in [`crate::Labels`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// The times of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleTimes {
    /// The intended start. The response time counts from here.
    pub intended: Nanos,
    /// The actual start. The service time counts from here.
    pub start: Nanos,
    /// The end, before any post-processing.
    pub end: Nanos,
    /// Time to connect, TLS handshake included, in ns.
    pub connect_ns: u64,
    /// Time to the first byte, in ns.
    pub latency_ns: u64,
    /// Idle time in ns, such as timers within a transaction.
    pub idle_ns: u64,
}

impl SampleTimes {
    /// The times of a sample whose intended start is unknown: the actual start is used in its place.
    #[must_use]
    pub const fn of_one_clock(start: Nanos, end: Nanos) -> SampleTimes {
        SampleTimes { intended: start, start, end, connect_ns: 0, latency_ns: 0, idle_ns: 0 }
    }

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

    /// JMeter's `elapsed` in ms: end minus actual start, both truncated to whole milliseconds, minus the idle time.
    #[must_use]
    pub const fn elapsed_ms(&self) -> i64 {
        (self.end.0 / 1_000_000) as i64
            - (self.start.0 / 1_000_000) as i64
            - (self.idle_ns / 1_000_000) as i64
    }
}

/// The numbers of active users when a sample ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActiveUsers {
    /// Number of active users of its thread group.
    pub group: u32,
    /// Number of active users of all thread groups.
    pub all: u32,
}

/// The outcome of a sample. `T` is `&str` in a [`Sample`], and `String` in a result that owns its texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleOutcome<T> {
    /// Response code: `200`, or `Non HTTP response code: …`.
    pub code: T,
    /// Response message: `OK`, or `Non HTTP response message: …`.
    pub message: T,
    /// Whether the sample passed.
    pub success: bool,
}

impl<T> SampleOutcome<T> {
    /// An outcome with these values.
    pub const fn new(code: T, message: T, success: bool) -> SampleOutcome<T> {
        SampleOutcome { code, message, success }
    }
}

impl SampleOutcome<String> {
    /// The outcome with borrowed texts.
    #[must_use]
    pub fn as_str(&self) -> SampleOutcome<&str> {
        let SampleOutcome { code, message, success } = self;
        SampleOutcome { code, message, success: *success }
    }

    /// Clears the outcome and keeps the buffers of its texts, except for those of more than `capacity_max` bytes.
    pub fn reset(&mut self, capacity_max: usize) {
        let SampleOutcome { code, message, success } = self;
        reset_text(code, capacity_max);
        reset_text(message, capacity_max);
        *success = false;
    }
}

impl SampleOutcome<&str> {
    /// A copy of the outcome that owns its texts.
    #[must_use]
    pub fn to_strings(&self) -> SampleOutcome<String> {
        let SampleOutcome { code, message, success } = *self;
        SampleOutcome { code: code.to_owned(), message: message.to_owned(), success }
    }
}

/// Type and encoding of the response data. `T` is as in [`SampleOutcome`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleContent<T> {
    /// Whether the data are text or binary.
    pub data_type: DataType,
    /// Encoding of the data as given by the response, empty if unknown.
    pub encoding: T,
}

impl<T> SampleContent<T> {
    /// A content with these values.
    pub const fn new(data_type: DataType, encoding: T) -> SampleContent<T> {
        SampleContent { data_type, encoding }
    }
}

impl SampleContent<String> {
    /// The content with borrowed texts.
    #[must_use]
    pub fn as_str(&self) -> SampleContent<&str> {
        let SampleContent { data_type, encoding } = self;
        SampleContent { data_type: *data_type, encoding }
    }

    /// Clears the content; see [`SampleOutcome::reset`].
    pub fn reset(&mut self, capacity_max: usize) {
        let SampleContent { data_type, encoding } = self;
        *data_type = DataType::Unknown;
        reset_text(encoding, capacity_max);
    }
}

impl SampleContent<&str> {
    /// A copy of the content that owns its texts.
    #[must_use]
    pub fn to_strings(&self) -> SampleContent<String> {
        let SampleContent { data_type, encoding } = *self;
        SampleContent { data_type, encoding: encoding.to_owned() }
    }
}

/// Clears `text`. Keeps its buffer unless the buffer has more than `capacity_max` bytes, so that one large text does not occupy
/// memory in each user.
pub fn reset_text(text: &mut String, capacity_max: usize) {
    text.clear();
    if text.capacity() > capacity_max {
        *text = String::new();
    }
}

/// The numbers of bytes of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleSizes {
    /// Number of received header bytes, if they were counted separately from the body. Rows of files contain only the sum; see
    /// [`SampleSizes::of_row`].
    pub header_bytes: u64,
    /// Number of received body bytes, as on the wire.
    pub body_bytes: u64,
    /// Number of bytes sent.
    pub sent_bytes: u64,
}

impl SampleSizes {
    /// Sizes in bytes: received headers, received body, sent.
    #[must_use]
    pub const fn new(header_bytes: u64, body_bytes: u64, sent_bytes: u64) -> SampleSizes {
        SampleSizes { header_bytes, body_bytes, sent_bytes }
    }

    /// The sizes in a row of a file: all bytes received, including headers, and bytes sent. All received bytes are counted as
    /// body bytes.
    #[must_use]
    pub const fn of_row(bytes: u64, sent_bytes: u64) -> SampleSizes {
        SampleSizes::new(0, bytes, sent_bytes)
    }

    /// Bytes received: headers and body.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.header_bytes.saturating_add(self.body_bytes)
    }
}

impl AddAssign for SampleSizes {
    fn add_assign(&mut self, rhs: SampleSizes) {
        let SampleSizes { header_bytes, body_bytes, sent_bytes } = rhs;
        self.header_bytes = self.header_bytes.saturating_add(header_bytes);
        self.body_bytes = self.body_bytes.saturating_add(body_bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(sent_bytes);
    }
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
    /// The outcome.
    pub outcome: SampleOutcome<&'a str>,
    /// Type and encoding of the response data.
    pub content: SampleContent<&'a str>,
    /// The first failed assertion's message; empty if no assertion failed.
    pub failure_message: &'a str,
    /// The sizes. A batch contains only their sums; see [`SampleSizes::of_row`].
    pub sizes: SampleSizes,
    /// The numbers of active users when it ended.
    pub users: ActiveUsers,
    /// The URL; see [`SampleFlags::NO_URL`].
    pub url: &'a str,
    /// Number of samples that this row represents, usually 1.
    pub sample_count: u32,
    /// Number of these samples that failed.
    pub error_count: u32,
    /// Flags that determine where the sample is counted and written.
    pub flags: SampleFlags,
    /// Number of the set of listeners that receive the sample: an index into `RecorderConfig::listener_sets` (crate
    /// `busyhour-record`); 0 is always the empty set.
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

    /// A copy of the sample that owns its texts.
    #[must_use]
    pub fn to_owned_sample(&self) -> OwnedSample {
        let Sample {
            label,
            group,
            user,
            times,
            outcome,
            content,
            failure_message,
            sizes,
            users,
            url,
            sample_count,
            error_count,
            flags,
            listeners,
            variables,
        } = *self;
        OwnedSample {
            // This lists every field instead of using `..*self`, because the result would then have the lifetime of the texts.
            numbers: Sample {
                label,
                group,
                user,
                times,
                outcome: SampleOutcome::default(),
                content: SampleContent::default(),
                failure_message: "",
                sizes,
                users,
                url: "",
                sample_count,
                error_count,
                flags,
                listeners,
                variables: &[],
            },
            outcome: outcome.to_strings(),
            content: content.to_strings(),
            failure_message: failure_message.to_owned(),
            url: url.to_owned(),
            variables: variables.iter().map(|&value| value.to_owned()).collect(),
        }
    }
}

/// A sample that owns its texts.
#[derive(Debug, Clone)]
pub struct OwnedSample {
    /// The sample with empty texts.
    numbers: Sample<'static>,
    outcome: SampleOutcome<String>,
    content: SampleContent<String>,
    failure_message: String,
    url: String,
    variables: Vec<String>,
}

impl OwnedSample {
    /// Calls `use_it` with the sample and returns its result.
    pub fn with<R>(&self, use_it: impl FnOnce(&Sample<'_>) -> R) -> R {
        let OwnedSample { numbers, outcome, content, failure_message, url, variables } = self;
        let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
        use_it(&Sample {
            outcome: outcome.as_str(),
            content: content.as_str(),
            failure_message,
            url,
            variables: &variables,
            ..*numbers
        })
    }
}

impl Default for Sample<'_> {
    fn default() -> Self {
        Sample {
            label: LabelId(0),
            group: 0,
            user: 1,
            times: SampleTimes::default(),
            outcome: SampleOutcome::new("", "", true),
            content: SampleContent::default(),
            failure_message: "",
            sizes: SampleSizes::default(),
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

impl Encoder {
    /// Maximum number of bytes of `sample` in a batch.
    pub fn size_max(sample: &Sample<'_>) -> usize {
        let SampleOutcome { code, message, success: _ } = sample.outcome;
        let SampleContent { data_type: _, encoding } = sample.content;
        let texts = [code, message, encoding, sample.failure_message, sample.url];
        let strings = texts.iter().map(|text| text.len()).sum::<usize>()
            + sample.variables.iter().map(|v| v.len() + 10).sum::<usize>();
        256 + strings
    }

    /// Appends `sample` to `out`. docs/samples-file.md describes the format.
    pub fn sample(&mut self, out: &mut Vec<u8>, sample: &Sample<'_>) {
        let Sample {
            label,
            group,
            user,
            times,
            outcome,
            content,
            failure_message,
            sizes,
            users,
            url,
            sample_count,
            error_count,
            flags,
            listeners,
            variables,
        } = sample;
        let SampleTimes { intended, start, end, connect_ns, latency_ns, idle_ns } = times;
        let SampleOutcome { code, message, success } = outcome;
        let SampleContent { data_type, encoding } = content;
        let SampleSizes { header_bytes: _, body_bytes: _, sent_bytes } = sizes;
        put(out, u64::from(flags.0));
        put(out, u64::from(label.0));
        put(out, u64::from(*group));
        put(out, u64::from(*user));
        put_signed(out, self.start_difference(start.0));
        put_signed(out, start.0.wrapping_sub(intended.0) as i64);
        put_signed(out, end.0.wrapping_sub(start.0) as i64);
        put(out, *connect_ns);
        put(out, *latency_ns);
        put(out, *idle_ns);
        out.push(data_type.bits() | u8::from(*success) << 2);
        put(out, sizes.bytes());
        put(out, *sent_bytes);
        put(out, u64::from(users.group));
        put(out, u64::from(users.all));
        put(out, u64::from(*sample_count));
        put(out, u64::from(*error_count));
        put(out, u64::from(*listeners));
        self.text(out, code);
        self.text(out, message);
        self.text(out, encoding);
        self.text(out, failure_message);
        self.url(out, url);
        put(out, variables.len() as u64);
        for value in *variables {
            self.text(out, value);
        }
    }
}

impl BatchReader<'_> {
    /// The next sample; `None` at the end.
    ///
    /// # Errors
    /// The bytes are not a batch.
    #[allow(clippy::should_implement_trait, reason = "the sample borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<Sample<'_>>, DamagedBatch> {
        if self.is_empty() {
            return Ok(None);
        }
        let flags = SampleFlags(self.number()?);
        let label = LabelId(self.number()?);
        let group = self.number()?;
        let user = self.number()?;
        let start_ns = self.start()?;
        let start = Nanos(start_ns);
        let intended = Nanos(start_ns.wrapping_sub(self.signed()? as u64));
        let end = Nanos(start_ns.wrapping_add(self.signed()? as u64));
        let connect_ns = self.varint()?;
        let latency_ns = self.varint()?;
        let idle_ns = self.varint()?;
        let state = self.byte()?;
        let (data_type, success) = (DataType::from_bits(state & 3), state & 4 != 0);
        let bytes = self.varint()?;
        let sizes = SampleSizes::of_row(bytes, self.varint()?);
        let users = ActiveUsers { group: self.number()?, all: self.number()? };
        let sample_count = self.number()?;
        let error_count = self.number()?;
        let listeners = self.number()?;
        let (code, message) = (self.text()?, self.text()?);
        let encoding = self.text()?;
        let failure_message = self.text()?;
        let url = self.text()?;
        Ok(Some(Sample {
            label,
            group,
            user,
            times: SampleTimes { intended, start, end, connect_ns, latency_ns, idle_ns },
            outcome: SampleOutcome { code, message, success },
            content: SampleContent { data_type, encoding },
            failure_message,
            sizes,
            users,
            url,
            sample_count,
            error_count,
            flags,
            listeners,
            variables: self.texts()?,
        }))
    }
}

#[cfg(test)]
mod tests;
