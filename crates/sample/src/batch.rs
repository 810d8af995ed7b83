//! The bytes of a batch: samples packed one after the other. [`crate::Sample`] lists their fields in order.
//!
//! Numbers are LEB128 varints and times are differences. A string that the batch already contains is stored as a
//! reference to its offset. A sample of a typical plan takes about 40 bytes. A batch can be read without other
//! batches: it is the payload of a segment of `samples.bhs`.

/// Number of slots in the table of strings in the current batch. A collision only makes the batch larger.
const SEEN_SLOTS: usize = 512;

/// Maximum length in bytes of strings that are looked up in the table.
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
    /// Number of consecutive URLs that the batch did not yet contain.
    urls_in_vain: u32,
    /// Whether URLs are not recorded because they contain a secret.
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

    /// The difference of `start` from the previous start of the batch.
    pub(crate) fn start_difference(&mut self, start: u64) -> i64 {
        start.wrapping_sub(std::mem::replace(&mut self.start, start)) as i64
    }

    /// Appends a URL. If URLs differ from sample to sample, most of them are not looked up.
    pub(crate) fn url(&mut self, out: &mut Vec<u8>, url: &str) {
        self.samples = self.samples.wrapping_add(1);
        let url = if self.omits_urls { "" } else { url };
        if self.urls_in_vain < NEW_URLS_MAX || self.samples.is_multiple_of(NEW_URLS_MAX) {
            let found = self.text(out, url);
            self.urls_in_vain = if found { 0 } else { self.urls_in_vain.saturating_add(1) };
        } else {
            literal(out, url.as_bytes());
        }
    }

    /// Appends a string, as a literal or as a reference to an earlier literal; returns whether it is a reference. A literal is
    /// encoded as twice its length, followed by its bytes. A reference is encoded as twice the offset at which the literal's
    /// length is stored, plus one.
    pub(crate) fn text(&mut self, out: &mut Vec<u8>, text: &str) -> bool {
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

/// Number of consecutive new URLs after which only one URL in this many is looked up.
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
pub struct DamagedBatch {
    /// Offset of the error in the batch, in bytes.
    pub at: usize,
}

/// Unpacks a batch, sample by sample.
#[derive(Debug)]
pub struct BatchReader<'b> {
    bytes: &'b [u8],
    at: usize,
    start: u64,
    variables: Vec<&'b str>,
    /// Whether strings are skipped; all strings of a sample are then empty.
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

    /// Reads the difference of a start from the previous one and returns the start.
    pub(crate) fn start(&mut self) -> Result<u64, DamagedBatch> {
        self.start = self.start.wrapping_add(self.signed()? as u64);
        Ok(self.start)
    }

    /// Reads the number of texts, then the texts.
    pub(crate) fn texts(&mut self) -> Result<&[&'b str], DamagedBatch> {
        let count = self.varint()?;
        self.variables.clear();
        for _ in 0..count {
            let text = self.text()?;
            self.variables.push(text);
        }
        Ok(&self.variables)
    }

    /// Reads a number that precedes the samples.
    pub fn head(&mut self) -> Result<u64, DamagedBatch> {
        let value = self.varint()?;
        self.bytes = self.bytes.get(self.at..).unwrap_or_default();
        self.at = 0;
        Ok(value)
    }

    /// Reads a length and a string.
    pub fn bytes_text(&mut self) -> Result<&'b str, DamagedBatch> {
        let len = usize::try_from(self.varint()?).map_err(|_| self.corrupt())?;
        self.literal(len)
    }

    /// Whether everything has been read.
    pub const fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The error for the current position.
    pub fn corrupt(&self) -> DamagedBatch {
        DamagedBatch { at: self.at }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DamagedBatch> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.corrupt())?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, DamagedBatch> {
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
    pub fn number<T: TryFrom<u64>>(&mut self) -> Result<T, DamagedBatch> {
        let value = self.varint()?;
        T::try_from(value).map_err(|_| self.corrupt())
    }

    /// Reads a zigzag varint.
    ///
    /// # Errors
    /// The bytes end.
    pub fn signed(&mut self) -> Result<i64, DamagedBatch> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(crate) fn text(&mut self) -> Result<&'b str, DamagedBatch> {
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

    fn literal(&mut self, len: usize) -> Result<&'b str, DamagedBatch> {
        let end = self.at.checked_add(len).ok_or_else(|| self.corrupt())?;
        let bytes = self.bytes.get(self.at..end).ok_or_else(|| self.corrupt())?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.corrupt())?;
        self.at = end;
        Ok(text)
    }
}
