//! `samples.bhs`: every sample of a run with its intended and actual times in nanoseconds.
//!
//! `docs/samples-file.md` describes the format completely. In short:
//!
//! The file starts with the magic `BHSAMPLE` and the version of the format (`u32`, little endian). Segments follow.
//! Each has a head of 12 bytes (kind, length of the payload, and CRC-32 of kind, length and payload, each a
//! little-endian `u32`) and its payload:
//!
//! | kind | payload |
//! |---|---|
//! | 1 names | JSON: format of [`FileNames`] |
//! | 2 labels | number of the first label (varint), number of labels (varint), then the length (varint) and bytes of each label |
//! | 3 samples | number of the core (varint), then a batch as [`busyhour_sample::BatchReader`] reads it |
//! | 4 arrivals | number of the core (varint), then arrivals of an open workload, in the order of their starts or discards |
//! | 5 users | number of the core (varint), then for each second: number (varint), users started minus ended (signed varint) |
//!
//! The segment of a label precedes the first batch that uses the label. A truncated file is readable up to its last complete
//! segment.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use busyhour_sample::batch::{put, put_signed};
use busyhour_sample::{
    ArrivalRecord, BatchReader, DamagedBatch, Labels, RecorderEvent, RunNames, SAMPLES_VERSION, Sample,
    SampleFlags, UserChange,
};
use serde::{Deserialize, Serialize};

use crate::output_file::OutputFile;

/// The first bytes of a samples file.
pub const SAMPLES_MAGIC: &[u8; 8] = b"BHSAMPLE";

const KIND_NAMES: u32 = 1;
const KIND_LABELS: u32 = 2;
const KIND_SAMPLES: u32 = 3;
const KIND_ARRIVALS: u32 = 4;
const KIND_USERS: u32 = 5;

const HEAD: usize = 12;

/// Maximum length of a payload in bytes; a head with a greater length is treated as damaged.
const PAYLOAD_MAX: u32 = 1 << 30;

/// The names in a samples file, and the start of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileNames {
    /// Names of thread groups, variables and the host.
    #[serde(flatten)]
    pub names: RunNames,
    /// The run's start in ms since 1970.
    pub wall_anchor_ms: i64,
}

/// The samples file while it is written.
pub(crate) struct SamplesFile {
    file: OutputFile,
    labels: Labels,
    /// Number of labels in the file or its buffer.
    labels_written: usize,
    /// Number of labels that were written to the file.
    labels_durable: usize,
}

impl SamplesFile {
    pub(crate) fn create(path: &Path, names: &FileNames, labels: Labels) -> io::Result<SamplesFile> {
        let mut file = OutputFile::open(path, false)?;
        let out = file.unit();
        out.extend_from_slice(SAMPLES_MAGIC);
        out.extend_from_slice(&SAMPLES_VERSION.to_le_bytes());
        segment(out, KIND_NAMES, |out| {
            // Strings and numbers can always be serialized.
            out.extend_from_slice(&serde_json::to_vec(names).unwrap_or_default());
        });
        file.end_unit(0);
        if !file.flush() {
            let text = match file.event() {
                Some(RecorderEvent::LostOutput { error, .. }) => error,
                _ => String::from("not writable"),
            };
            return Err(io::Error::other(text));
        }
        Ok(SamplesFile { file, labels, labels_written: 0, labels_durable: 0 })
    }

    /// Appends a batch with `samples` samples.
    pub(crate) fn batch(&mut self, writer: usize, batch: &[u8], samples: u64) {
        if samples == 0 {
            return;
        }
        let known = self.labels.len();
        if known > self.labels_written {
            let names = self.labels.names_from(self.labels_written);
            let first = self.labels_written as u64;
            segment(self.file.unit(), KIND_LABELS, |out| {
                put(out, first);
                put(out, names.len() as u64);
                for name in &names {
                    put(out, name.len() as u64);
                    out.extend_from_slice(name.as_bytes());
                }
            });
            self.labels_written += names.len();
        }
        segment(self.file.unit(), KIND_SAMPLES, |out| {
            put(out, writer as u64);
            out.extend_from_slice(batch);
        });
        if !self.file.end_unit(samples) {
            self.labels_written = self.labels_durable;
        }
    }

    /// Appends packed arrivals.
    pub(crate) fn arrivals(&mut self, writer: usize, packed: &[u8]) {
        if packed.is_empty() {
            return;
        }
        segment(self.file.unit(), KIND_ARRIVALS, |out| {
            put(out, writer as u64);
            out.extend_from_slice(packed);
        });
        if !self.file.end_unit(0) {
            self.labels_written = self.labels_durable;
        }
    }

    /// Appends changes of the number of active users.
    pub(crate) fn users(&mut self, writer: usize, changes: &[UserChange]) {
        if changes.is_empty() {
            return;
        }
        segment(self.file.unit(), KIND_USERS, |out| {
            put(out, writer as u64);
            for UserChange { second, change } in changes {
                put(out, *second);
                put_signed(out, *change);
            }
        });
        if !self.file.end_unit(0) {
            self.labels_written = self.labels_durable;
        }
    }

    pub(crate) fn flush(&mut self) {
        if self.file.flush() {
            self.labels_durable = self.labels_written;
        } else {
            self.labels_written = self.labels_durable;
        }
    }

    pub(crate) const fn file(&self) -> &OutputFile {
        &self.file
    }
}

/// Appends a segment; `write` appends its payload.
fn segment(out: &mut Vec<u8>, kind: u32, write: impl FnOnce(&mut Vec<u8>)) {
    let from = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    write(out);
    let len = (out.len() - from - HEAD) as u32;
    out[from + 4..from + 8].copy_from_slice(&len.to_le_bytes());
    let crc = checksum(kind, &out[from + HEAD..]);
    out[from + 8..from + HEAD].copy_from_slice(&crc.to_le_bytes());
}

fn checksum(kind: u32, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&kind.to_le_bytes());
    hasher.update(&(payload.len() as u32).to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// The error if a samples file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SamplesError {
    /// An error of the operating system.
    #[error("cannot read the samples")]
    Io(#[from] io::Error),
    /// The file does not start with [`SAMPLES_MAGIC`].
    #[error("the file is not a record of samples")]
    Magic,
    /// The file has another format version.
    #[error("the samples have format version {0}; this program reads version {SAMPLES_VERSION}")]
    Version(u32),
    /// A segment has a correct checksum, but invalid contents.
    #[error("the samples are damaged")]
    Batch(#[from] DamagedBatch),
}

/// The result of reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SamplesEnd {
    /// Number of samples that were read.
    pub samples: u64,
    /// Offset of a truncated or damaged segment at which reading stopped; `None` if the file is complete.
    pub cut_at: Option<u64>,
}

/// Reads a file of samples, segment by segment, in bounded memory.
#[derive(Debug)]
pub struct SamplesReader<R> {
    input: R,
    at: u64,
    names: FileNames,
    labels: Labels,
    payload: Vec<u8>,
    wanted: Wanted,
    end: SamplesEnd,
    users: Vec<UserChange>,
}

/// The samples that are read, and the fields that are read of each sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    Numbers,
    Nothing,
}

impl SamplesReader<BufReader<File>> {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or has another format or version.
    pub fn open(path: &Path) -> Result<Self, SamplesError> {
        SamplesReader::new(BufReader::with_capacity(1 << 18, File::open(path)?))
    }
}

impl<R: Read> SamplesReader<R> {
    /// Reads from `input`.
    ///
    /// # Errors
    /// The input cannot be read, or has another format or version.
    pub fn new(input: R) -> Result<SamplesReader<R>, SamplesError> {
        let mut reader = SamplesReader {
            input,
            at: 0,
            names: FileNames::default(),
            labels: Labels::new(),
            payload: Vec::new(),
            wanted: Wanted::All,
            end: SamplesEnd::default(),
            users: Vec::new(),
        };
        let mut head = [0; 12];
        reader.input.read_exact(&mut head).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => SamplesError::Magic,
            _ => SamplesError::Io(error),
        })?;
        if &head[..8] != SAMPLES_MAGIC {
            return Err(SamplesError::Magic);
        }
        let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        if version != SAMPLES_VERSION {
            return Err(SamplesError::Version(version));
        }
        reader.at = head.len() as u64;
        if reader.segment()? == Some(KIND_NAMES) {
            reader.names = serde_json::from_slice(&reader.payload).map_err(|_| SamplesError::Magic)?;
        } else {
            return Err(SamplesError::Magic);
        }
        Ok(reader)
    }

    /// Skips strings; all strings of a sample are then empty.
    #[must_use]
    pub fn without_texts(mut self) -> Self {
        self.wanted = Wanted::Numbers;
        self
    }

    /// Skips samples and reads only arrivals.
    #[must_use]
    pub fn without_samples(mut self) -> Self {
        self.wanted = Wanted::Nothing;
        self
    }

    /// The names in the file.
    pub const fn names(&self) -> &FileNames {
        &self.names
    }

    /// The labels read so far.
    pub const fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Calls `see` with the core's number and each sample, up to the end of the readable part.
    ///
    /// # Errors
    /// An error of the operating system. A truncated or damaged file is not an error; see [`SamplesEnd::cut_at`].
    pub fn read(
        self,
        see: impl FnMut(usize, &Sample<'_>),
    ) -> Result<(SamplesEnd, FileNames, Labels), SamplesError> {
        self.read_with_arrivals(see, |_, _| {})
    }

    /// Reads like [`Self::read`], and also calls `see_arrival` with the core's number and each arrival of an open workload. The
    /// arrivals of one core are in the order in which they were started or discarded. Blocks of arrivals of different cores
    /// alternate.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn read_with_arrivals(
        mut self,
        mut see: impl FnMut(usize, &Sample<'_>),
        mut see_arrival: impl FnMut(usize, &ArrivalRecord),
    ) -> Result<(SamplesEnd, FileNames, Labels), SamplesError> {
        while self.next_segment(&mut see, &mut see_arrival)? {}
        Ok((self.end, self.names, self.labels))
    }

    /// Reads the next segment and calls the functions as [`Self::read_with_arrivals`] does. Returns false at the end
    /// of the readable part.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn next_segment(
        &mut self,
        see: &mut impl FnMut(usize, &Sample<'_>),
        see_arrival: &mut impl FnMut(usize, &ArrivalRecord),
    ) -> Result<bool, SamplesError> {
        let from = self.at;
        match self.segment()? {
            Some(KIND_LABELS) => {
                if labels(&self.payload, &self.labels).is_none() {
                    self.end.cut_at = Some(from);
                    return Ok(false);
                }
            }
            Some(KIND_SAMPLES) if self.wanted == Wanted::Nothing => {}
            Some(KIND_SAMPLES) => {
                let mut batch = BatchReader::new(&self.payload);
                let writer = batch.head()? as usize;
                if self.wanted == Wanted::Numbers {
                    batch = batch.without_texts();
                }
                while let Some(sample) = batch.next()? {
                    if sample.flags.contains(SampleFlags::LISTENERS_ONLY) {
                        continue;
                    }
                    self.end.samples += 1;
                    see(writer, &sample);
                }
            }
            Some(KIND_ARRIVALS) => {
                let mut packed = BatchReader::new(&self.payload);
                let writer = packed.head()? as usize;
                busyhour_sample::unpack_arrivals(packed, |arrival| see_arrival(writer, arrival))?;
            }
            Some(KIND_USERS) => {
                let mut packed = BatchReader::new(&self.payload);
                packed.head()?;
                while !packed.is_empty() {
                    let (second, change) = (packed.number()?, packed.signed()?);
                    self.users.push(UserChange { second, change });
                }
            }
            // Segments of unknown kinds, from later minor versions, are skipped.
            Some(_) => {}
            None => {
                if self.at != from || !self.payload.is_empty() {
                    self.end.cut_at = Some(from);
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The changes of the number of active users that were read since the last call. Older files contain none.
    pub fn take_user_changes(&mut self) -> Vec<UserChange> {
        std::mem::take(&mut self.users)
    }

    /// The current result of reading.
    pub const fn end(&self) -> SamplesEnd {
        self.end
    }

    /// Reads the payload of the next segment and returns its kind; `None` at the end. Also returns `None` for a truncated or
    /// damaged segment; then `payload` is not empty or `at` has changed.
    fn segment(&mut self) -> Result<Option<u32>, SamplesError> {
        self.payload.clear();
        let mut head = [0; HEAD];
        let mut got = 0;
        while got < HEAD {
            match self.input.read(&mut head[got..]) {
                Ok(0) => {
                    self.at += got as u64;
                    return Ok(None);
                }
                Ok(n) => got += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (kind, len, crc) = (word(0), word(4), word(8));
        self.at += HEAD as u64;
        if len > PAYLOAD_MAX {
            return Ok(None);
        }
        let read = (&mut self.input).take(u64::from(len)).read_to_end(&mut self.payload)?;
        self.at += read as u64;
        if read != len as usize || checksum(kind, &self.payload) != crc {
            return Ok(None);
        }
        Ok(Some(kind))
    }
}

/// Adds the labels of a segment to `table`; `None` if the segment is damaged.
fn labels(payload: &[u8], table: &Labels) -> Option<()> {
    let mut rest = BatchReader::new(payload);
    let first = rest.head().ok()?;
    let count = rest.head().ok()?;
    for at in 0..count {
        let name = rest.bytes_text().ok()?;
        // If a segment was written twice (after a full disk), its labels are already in the table.
        if table.intern(name).0 as u64 != first + at {
            return None;
        }
    }
    Some(())
}
