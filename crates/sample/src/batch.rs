//! The bytes of a batch: samples packed one after the other.
//!
//! Numbers are LEB128 varints and times are differences. A string that the batch already contains is stored as a
//! reference to its offset. A sample of a typical plan takes about 40 bytes. A batch can be read without other
//! batches: it is the payload of a segment of `samples.bhs`.

use crate::sample::{ActiveUsers, DataType, LabelId, Nanos, Sample, SampleFlags, SampleTimes};

/// Slots of the table of strings in the current batch. A collision costs bytes but is harmless otherwise.
const SEEN_SLOTS: usize = 512;

/// Strings longer than this are not looked up.
const SEEN_LEN_MAX: usize = 1024;

#[derive(Clone, Copy, Default)]
struct Seen {
    batch: u32,
    at: u32,
    len: u32,
}

/// Packs samples into a batch.
pub struct Encoder {
    batch: u32,
    start: u64,
    seen: Box<[Seen; SEEN_SLOTS]>,
    samples: u32,
    /// Consecutive URLs that the batch did not contain.
    urls_in_vain: u32,
    /// URLs contain a secret and are not recorded.
    pub omits_urls: bool,
}

impl Default for Encoder {
    fn default() -> Self {
        Encoder::new()
    }
}

impl Encoder {
    /// An encoder without a batch; start each batch with [`Encoder::restart`].
    pub fn new() -> Encoder {
        Encoder {
            batch: 1,
            start: 0,
            seen: Box::new([Seen::default(); SEEN_SLOTS]),
            samples: 0,
            urls_in_vain: 0,
            omits_urls: false,
        }
    }

    /// Starts a new batch.
    pub fn restart(&mut self) {
        self.start = 0;
        self.batch = self.batch.wrapping_add(1);
        if self.batch == 0 {
            self.batch = 1;
            self.seen.fill(Seen::default());
        }
    }

    /// The most bytes that `sample` can take.
    pub fn size_max(sample: &Sample<'_>) -> usize {
        let strings = sample.code.len()
            + sample.message.len()
            + sample.encoding.len()
            + sample.failure_message.len()
            + sample.url.len()
            + sample.variables.iter().map(|v| v.len() + 10).sum::<usize>();
        256 + strings
    }

    /// Appends `sample` to `out`.
    pub fn sample(&mut self, out: &mut Vec<u8>, sample: &Sample<'_>) {
        put(out, u64::from(sample.flags.0));
        put(out, u64::from(sample.label.0));
        put(out, u64::from(sample.group));
        put(out, u64::from(sample.user));
        put_signed(out, sample.times.start.0.wrapping_sub(self.start) as i64);
        self.start = sample.times.start.0;
        put_signed(out, sample.times.start.0.wrapping_sub(sample.times.intended.0) as i64);
        put_signed(out, sample.times.end.0.wrapping_sub(sample.times.start.0) as i64);
        put(out, sample.times.connect_ns);
        put(out, sample.times.latency_ns);
        put(out, sample.times.idle_ns);
        out.push(sample.data_type.bits() | u8::from(sample.success) << 2);
        put(out, sample.bytes);
        put(out, sample.sent_bytes);
        put(out, u64::from(sample.users.group));
        put(out, u64::from(sample.users.all));
        put(out, u64::from(sample.sample_count));
        put(out, u64::from(sample.error_count));
        put(out, u64::from(sample.listeners));
        self.text(out, sample.code);
        self.text(out, sample.message);
        self.text(out, sample.encoding);
        self.text(out, sample.failure_message);
        // If URLs differ from sample to sample, looking them up is mostly useless.
        self.samples = self.samples.wrapping_add(1);
        let url = if self.omits_urls { "" } else { sample.url };
        if self.urls_in_vain < NEW_URLS_MAX || self.samples.is_multiple_of(NEW_URLS_MAX) {
            let found = self.text(out, url);
            self.urls_in_vain = if found { 0 } else { self.urls_in_vain.saturating_add(1) };
        } else {
            literal(out, url.as_bytes());
        }
        put(out, sample.variables.len() as u64);
        for value in sample.variables {
            self.text(out, value);
        }
    }

    /// Appends a string and returns whether it is a reference. A literal is twice its length, then its bytes. A
    /// reference is twice the offset of the earlier literal's length, plus one.
    fn text(&mut self, out: &mut Vec<u8>, text: &str) -> bool {
        let bytes = text.as_bytes();
        if bytes.len() < 2 || bytes.len() > SEEN_LEN_MAX {
            literal(out, bytes);
            return false;
        }
        let slot = &mut self.seen[hash(bytes) as usize % SEEN_SLOTS];
        if slot.batch == self.batch && slot.len as usize == bytes.len() {
            let at = slot.at as usize;
            let literal = at + varint_len((bytes.len() as u64) << 1);
            if out.get(literal..literal + bytes.len()) == Some(bytes) {
                put(out, (at as u64) << 1 | 1);
                return true;
            }
        }
        *slot = Seen { batch: self.batch, at: out.len() as u32, len: bytes.len() as u32 };
        literal(out, bytes);
        false
    }
}

/// After this many consecutive new URLs, the URL of only one sample in this many is looked up.
const NEW_URLS_MAX: u32 = 16;

fn literal(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, (bytes.len() as u64) << 1);
    out.extend_from_slice(bytes);
}

/// A fast, unkeyed hash (multiply and rotate, as in FxHash); it only has to spread strings over the slots.
fn hash(bytes: &[u8]) -> u64 {
    const SEED: u64 = 0x517c_c1b7_2722_0a95;
    let mut state = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        state = (state.rotate_left(5) ^ word).wrapping_mul(SEED);
    }
    for byte in chunks.remainder() {
        state = (state.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(SEED);
    }
    state >> 32
}

const fn varint_len(value: u64) -> usize {
    let bits = 64 - value.leading_zeros() as usize;
    if bits == 0 { 1 } else { bits.div_ceil(7) }
}

/// Appends an unsigned LEB128 varint.
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed number as a zigzag varint.
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// The bytes are not a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("damaged batch of samples at byte {at}")]
pub struct CorruptBatch {
    /// Offset in the batch.
    pub at: usize,
}

/// Unpacks a batch, sample by sample.
#[derive(Debug)]
pub struct BatchReader<'b> {
    bytes: &'b [u8],
    at: usize,
    start: u64,
    variables: Vec<&'b str>,
    /// Skips strings; all strings of a sample are empty.
    without_texts: bool,
}

impl<'b> BatchReader<'b> {
    /// Reads the samples of `bytes`.
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> BatchReader<'b> {
        BatchReader { bytes, at: 0, start: 0, variables: Vec::new(), without_texts: false }
    }

    /// Skips strings; all strings of a sample are then empty.
    #[must_use]
    pub fn without_texts(mut self) -> BatchReader<'b> {
        self.without_texts = true;
        self
    }

    /// The next sample, `None` at the end.
    ///
    /// # Errors
    /// The bytes are not a batch.
    #[allow(clippy::should_implement_trait, reason = "the sample borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<Sample<'_>>, CorruptBatch> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let flags = SampleFlags(self.number()?);
        let label = LabelId(self.number()?);
        let group = self.number()?;
        let user = self.number()?;
        self.start = self.start.wrapping_add(self.signed()? as u64);
        let start = Nanos(self.start);
        let intended = Nanos(self.start.wrapping_sub(self.signed()? as u64));
        let end = Nanos(self.start.wrapping_add(self.signed()? as u64));
        let connect_ns = self.varint()?;
        let latency_ns = self.varint()?;
        let idle_ns = self.varint()?;
        let bits = self.byte()?;
        let bytes = self.varint()?;
        let sent_bytes = self.varint()?;
        let users_group = self.number()?;
        let users_all = self.number()?;
        let sample_count = self.number()?;
        let error_count = self.number()?;
        let listeners = self.number()?;
        let code = self.text()?;
        let message = self.text()?;
        let encoding = self.text()?;
        let failure_message = self.text()?;
        let url = self.text()?;
        let count = self.varint()?;
        self.variables.clear();
        for _ in 0..count {
            let value = self.text()?;
            self.variables.push(value);
        }
        Ok(Some(Sample {
            label,
            times: SampleTimes { intended, start, end, connect_ns, latency_ns, idle_ns },
            users: ActiveUsers { group: users_group, all: users_all },
            group,
            user,
            code,
            message,
            data_type: DataType::from_bits(bits & 3),
            encoding,
            success: bits & 4 != 0,
            failure_message,
            bytes,
            sent_bytes,
            url,
            sample_count,
            error_count,
            flags,
            listeners,
            variables: &self.variables,
        }))
    }

    /// Reads a number that precedes the samples.
    pub fn head(&mut self) -> Result<u64, CorruptBatch> {
        let value = self.varint()?;
        self.bytes = self.bytes.get(self.at..).unwrap_or_default();
        self.at = 0;
        Ok(value)
    }

    /// Reads a length and a string.
    pub fn bytes_text(&mut self) -> Result<&'b str, CorruptBatch> {
        let len = usize::try_from(self.varint()?).map_err(|_| self.corrupt())?;
        self.literal(len)
    }

    /// Whether everything has been read.
    pub const fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The error for the current position.
    pub fn corrupt(&self) -> CorruptBatch {
        CorruptBatch { at: self.at }
    }

    fn byte(&mut self) -> Result<u8, CorruptBatch> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.corrupt())?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, CorruptBatch> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.corrupt())
    }

    /// Reads a varint.
    ///
    /// # Errors
    /// The bytes end, or the number is too large for its type.
    pub fn number<T: TryFrom<u64>>(&mut self) -> Result<T, CorruptBatch> {
        let value = self.varint()?;
        T::try_from(value).map_err(|_| self.corrupt())
    }

    /// Reads a zigzag varint.
    ///
    /// # Errors
    /// The bytes end.
    pub fn signed(&mut self) -> Result<i64, CorruptBatch> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn text(&mut self) -> Result<&'b str, CorruptBatch> {
        let head = self.varint()?;
        let value = usize::try_from(head >> 1).map_err(|_| self.corrupt())?;
        if self.without_texts {
            let skipped = if head & 1 == 0 { value } else { 0 };
            self.at = self
                .at
                .checked_add(skipped)
                .filter(|at| *at <= self.bytes.len())
                .ok_or_else(|| self.corrupt())?;
            return Ok("");
        }
        if head & 1 == 0 {
            return self.literal(value);
        }
        let back = self.at;
        if value >= back {
            return Err(self.corrupt());
        }
        self.at = value;
        let head = self.varint()?;
        if head & 1 == 1 {
            return Err(self.corrupt());
        }
        let len = usize::try_from(head >> 1).map_err(|_| self.corrupt())?;
        let text = self.literal(len)?;
        self.at = back;
        Ok(text)
    }

    fn literal(&mut self, len: usize) -> Result<&'b str, CorruptBatch> {
        let end = self.at.checked_add(len).ok_or_else(|| self.corrupt())?;
        let bytes = self.bytes.get(self.at..end).ok_or_else(|| self.corrupt())?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.corrupt())?;
        self.at = end;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The owned parts of a sample.
    type Parts = ((u16, u32, u32, u32), [u64; 9], [u32; 5], Vec<String>, Vec<String>);

    fn parts() -> impl Strategy<Value = Parts> {
        let text = prop_oneof![Just(String::from("OK")), Just("200".into()), "\\PC{0,40}", "[a-c]{1100}"];
        (
            any::<(u16, u32, u32, u32)>(),
            any::<[u64; 9]>(),
            any::<[u32; 5]>(),
            prop::collection::vec(text.clone(), 5),
            prop::collection::vec(text, 0..3),
        )
    }

    fn sample<'p>(parts: &'p Parts, variables: &'p [&'p str]) -> Sample<'p> {
        let ((flags, label, group, user), n, m, texts, _) = parts;
        Sample {
            flags: SampleFlags(*flags),
            times: SampleTimes {
                intended: Nanos(n[0]),
                start: Nanos(n[1]),
                end: Nanos(n[2]),
                connect_ns: n[3],
                latency_ns: n[4],
                idle_ns: n[5],
            },
            users: ActiveUsers { group: m[0], all: m[1] },
            label: LabelId(*label),
            group: *group,
            user: *user,
            bytes: n[6],
            sent_bytes: n[7],
            data_type: DataType::from_bits(n[8] as u8 % 3),
            success: n[8] & 8 != 0,
            sample_count: m[2],
            error_count: m[3],
            listeners: m[4],
            code: &texts[0],
            message: &texts[1],
            encoding: &texts[2],
            failure_message: &texts[3],
            url: &texts[4],
            variables,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn packing_and_unpacking_gives_the_same(all in prop::collection::vec(parts(), 0..12)) {
            let variables: Vec<Vec<&str>> =
                all.iter().map(|parts| parts.4.iter().map(String::as_str).collect()).collect();
            let samples: Vec<Sample<'_>> = all.iter().zip(&variables).map(|(p, v)| sample(p, v)).collect();
            let mut encoder = Encoder::new();
            let mut bytes = Vec::new();
            for sample in &samples {
                let before = bytes.len();
                encoder.sample(&mut bytes, sample);
                prop_assert!(bytes.len() - before <= Encoder::size_max(sample));
            }
            let mut reader = BatchReader::new(&bytes);
            let mut brief = BatchReader::new(&bytes).without_texts();
            for sample in &samples {
                prop_assert_eq!(reader.next().unwrap(), Some(*sample));
                let numbers = brief.next().unwrap().unwrap();
                prop_assert!(numbers.url.is_empty() && numbers.variables.iter().all(|value| value.is_empty()));
                let Sample { code, message, encoding, failure_message, url, variables, .. } = *sample;
                prop_assert_eq!(Sample { code, message, encoding, failure_message, url, variables, ..numbers }, *sample);
            }
            prop_assert_eq!(reader.next().unwrap(), None);
            prop_assert_eq!(brief.next().unwrap(), None);
        }

        #[test]
        fn random_bytes_give_an_error_or_valid_values(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = BatchReader::new(&bytes);
            while let Ok(Some(_)) = reader.next() {}
            let mut brief = BatchReader::new(&bytes).without_texts();
            while let Ok(Some(_)) = brief.next() {}
        }
    }
}
