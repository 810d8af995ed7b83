//! Reads a series file frame by frame.

use std::io::{self, Read};

use busyhour_sample::Nanos;

use super::format::{
    DECLARED_SERIES_MAX, FRAME_BYTES_MAX, FileStart, HEAD, KIND_MARK, KIND_SERIES, KIND_SOURCE, KIND_START,
    KIND_STATE, KIND_UNAVAILABLE, KIND_VALUES, LABELS_MAX, SERIES_MAGIC, SERIES_VERSION, SeriesInfo,
    StateChange, UnavailableInfo,
};
use crate::mark::{Mark, MarkKind};
use crate::metric::MetricKind;
use crate::state::SourceState;

/// Why a series file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SeriesFileError {
    /// The file cannot be read.
    #[error("cannot read the series file")]
    Io(#[from] io::Error),
    /// It is another kind of file.
    #[error("not a series file: it does not start with BHSERIES")]
    NotSeries,
    /// It was written by another version of the program.
    #[error("version {0} of the series format is not supported; this program reads version {SERIES_VERSION}")]
    Version(u32),
    /// A frame has a correct checksum but its content contradicts the format.
    #[error("the frame at byte {at} of the series file contradicts the format: {what}")]
    Content {
        /// Offset of the frame in the file.
        at: u64,
        /// A description of the damage.
        what: &'static str,
    },
}

/// An incomplete or damaged frame at which reading ended. Everything before it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedEnd {
    /// Offset of the frame in the file.
    pub at: u64,
    /// Whether the file ends within the frame, as after a crash. Otherwise its checksum or its length is wrong.
    pub is_torn: bool,
}

/// The content of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesEvent<'r> {
    /// The first frame.
    Start(FileStart),
    /// A source; its number is its position among the sources.
    Source(String),
    /// A series; its number is its position among the series.
    Series(SeriesInfo),
    /// Values of several series at the same time.
    Values {
        /// Time in ns since the start of the run.
        time: Nanos,
        /// Numbers of series and their values.
        values: &'r [(u32, f64)],
    },
    /// The reason why a metric has no values.
    Unavailable(UnavailableInfo),
    /// A mark.
    Mark {
        /// Number of the source.
        source: u32,
        /// The mark.
        mark: Mark,
    },
    /// A change of the state of a source.
    State(StateChange),
}

/// Reads a series file frame by frame in bounded memory. Wrap files in a [`std::io::BufReader`].
#[derive(Debug)]
pub struct SeriesReader<R> {
    input: R,
    /// Offset of the next frame.
    at: u64,
    payload: Vec<u8>,
    time: u64,
    integers: Vec<i64>,
    sources: u32,
    values: Vec<(u32, f64)>,
    damaged_end: Option<DamagedEnd>,
    is_done: bool,
}

impl<R: Read> SeriesReader<R> {
    /// Reads the head of the file.
    ///
    /// # Errors
    /// The input cannot be read, or is not a series file of a supported version.
    pub fn new(mut input: R) -> Result<SeriesReader<R>, SeriesFileError> {
        let mut head = [0; 12];
        if read_full(&mut input, &mut head)? < head.len() || head[..8] != SERIES_MAGIC[..] {
            return Err(SeriesFileError::NotSeries);
        }
        let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        if version != SERIES_VERSION {
            return Err(SeriesFileError::Version(version));
        }
        Ok(SeriesReader {
            input,
            at: 12,
            payload: Vec::new(),
            time: 0,
            integers: Vec::new(),
            sources: 0,
            values: Vec::new(),
            damaged_end: None,
            is_done: false,
        })
    }

    /// The next frame; `None` at the end of the file or at a damaged frame ([`Self::damaged_end`]). Frames of unknown kinds are
    /// skipped.
    ///
    /// # Errors
    /// The input cannot be read, or a frame contradicts the format.
    pub fn next_event(&mut self) -> Result<Option<SeriesEvent<'_>>, SeriesFileError> {
        loop {
            let at = self.at;
            if self.is_done || !self.read_frame()? {
                self.is_done = true;
                return Ok(None);
            }
            let payload = std::mem::take(&mut self.payload);
            let decoded = self.decode(&payload);
            self.payload = payload;
            match decoded.map_err(|what| SeriesFileError::Content { at, what })? {
                Decoded::Event(event) => return Ok(Some(event)),
                Decoded::Values(time) => {
                    return Ok(Some(SeriesEvent::Values { time, values: &self.values }));
                }
                Decoded::Unknown => {}
            }
        }
    }

    /// The damaged frame at which reading ended; `None` if the file is complete or reading has not ended.
    #[must_use]
    pub fn damaged_end(&self) -> Option<DamagedEnd> {
        self.damaged_end
    }

    /// Reads the next frame into `payload`; false at the end.
    fn read_frame(&mut self) -> Result<bool, SeriesFileError> {
        let mut head = [0; HEAD];
        let read = read_full(&mut self.input, &mut head)?;
        if read == 0 {
            return Ok(false);
        }
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let crc = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let end = |reader: &mut Self, is_torn| {
            reader.damaged_end = Some(DamagedEnd { at: reader.at, is_torn });
            Ok(false)
        };
        if read < HEAD {
            return end(self, true);
        }
        if length == 0 || length > FRAME_BYTES_MAX {
            return end(self, false);
        }
        self.payload.clear();
        // `take` reads at most to the end of the file, so that a damaged length does not allocate too much memory.
        let got = (&mut self.input).take(length as u64).read_to_end(&mut self.payload)?;
        if got < length {
            return end(self, true);
        }
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&head[..4]);
        hasher.update(&self.payload);
        if hasher.finalize() != crc {
            return end(self, false);
        }
        self.at += (HEAD + length) as u64;
        Ok(true)
    }

    fn decode(&mut self, payload: &[u8]) -> Result<Decoded, &'static str> {
        let mut cursor = Cursor { bytes: payload };
        let event = match cursor.byte()? {
            KIND_START => SeriesEvent::Start(
                serde_json::from_slice(cursor.bytes)
                    .map_err(|_| "the first frame is not the expected JSON")?,
            ),
            KIND_SOURCE => {
                if cursor.varint()? != u64::from(self.sources) || self.sources as usize == DECLARED_SERIES_MAX
                {
                    return Err("a source has an unexpected number");
                }
                self.sources += 1;
                SeriesEvent::Source(cursor.text()?)
            }
            KIND_SERIES => SeriesEvent::Series(self.decode_series(&mut cursor)?),
            KIND_VALUES => {
                let time = self.decode_time(&mut cursor)?;
                self.decode_values(&mut cursor)?;
                return Ok(Decoded::Values(time));
            }
            KIND_UNAVAILABLE => SeriesEvent::Unavailable(UnavailableInfo {
                time: self.decode_time(&mut cursor)?,
                source: self.decode_source(&mut cursor)?,
                metric: cursor.text()?,
                reason: cursor.text()?,
            }),
            KIND_MARK => self.decode_mark(&mut cursor)?,
            KIND_STATE => self.decode_state(&mut cursor)?,
            _ => return Ok(Decoded::Unknown),
        };
        Ok(Decoded::Event(event))
    }

    fn decode_time(&mut self, cursor: &mut Cursor<'_>) -> Result<Nanos, &'static str> {
        self.time = self.time.wrapping_add(cursor.signed()? as u64);
        Ok(Nanos(self.time))
    }

    fn decode_source(&self, cursor: &mut Cursor<'_>) -> Result<u32, &'static str> {
        let source = u32::try_from(cursor.varint()?).ok().filter(|source| *source < self.sources);
        source.ok_or("a source is used before its declaration")
    }

    fn decode_series(&mut self, cursor: &mut Cursor<'_>) -> Result<SeriesInfo, &'static str> {
        if cursor.varint()? != self.integers.len() as u64 {
            return Err("a series has an unexpected number");
        }
        if self.integers.len() == DECLARED_SERIES_MAX {
            return Err("too many series");
        }
        let source = self.decode_source(cursor)?;
        let kind = match cursor.byte()? {
            0 => MetricKind::Gauge,
            1 => MetricKind::Counter,
            _ => return Err("a series has an unknown kind"),
        };
        let (name, help) = (cursor.text()?, cursor.text()?);
        let count = cursor.varint()?;
        if count > LABELS_MAX as u64 {
            return Err("a series has too many labels");
        }
        let labels =
            (0..count).map(|_| Ok((cursor.text()?, cursor.text()?))).collect::<Result<_, &'static str>>()?;
        self.integers.push(0);
        Ok(SeriesInfo { source, name, kind, help, labels })
    }

    fn decode_values(&mut self, cursor: &mut Cursor<'_>) -> Result<(), &'static str> {
        self.values.clear();
        let mut expected = 0i64;
        while !cursor.bytes.is_empty() {
            let tag = cursor.varint()?;
            let series =
                expected.checked_add(unzigzag(tag >> 1)).and_then(|series| u32::try_from(series).ok());
            let previous = series.and_then(|series| self.integers.get_mut(series as usize));
            let (Some(series), Some(previous)) = (series, previous) else {
                return Err("a series is used before its declaration");
            };
            expected = i64::from(series) + 1;
            let value = if tag & 1 == 0 {
                *previous = previous.wrapping_add(cursor.signed()?);
                *previous as f64
            } else {
                f64::from_le_bytes(cursor.array()?)
            };
            // A writer omits values that are not finite.
            if value.is_finite() {
                self.values.push((series, value));
            }
        }
        Ok(())
    }

    fn decode_mark(&mut self, cursor: &mut Cursor<'_>) -> Result<SeriesEvent<'static>, &'static str> {
        let from = self.decode_time(cursor)?;
        let source = self.decode_source(cursor)?;
        let kind = MarkKind::from_name(&cursor.text()?);
        let to = Nanos(from.0.saturating_add(cursor.varint()?));
        Ok(SeriesEvent::Mark { source, mark: Mark { kind, from, to, text: cursor.text()? } })
    }

    fn decode_state(&mut self, cursor: &mut Cursor<'_>) -> Result<SeriesEvent<'static>, &'static str> {
        let time = self.decode_time(cursor)?;
        let source = self.decode_source(cursor)?;
        let number = cursor.byte()?;
        let reason = cursor.text()?;
        let state = match number {
            0 => SourceState::Watching,
            1 => SourceState::Failed(reason),
            2 => SourceState::Ended(reason),
            _ => return Err("a source has an unknown state"),
        };
        Ok(SeriesEvent::State(StateChange { source, time, state }))
    }
}

enum Decoded {
    Event(SeriesEvent<'static>),
    Values(Nanos),
    Unknown,
}

/// The rest of a payload.
struct Cursor<'p> {
    bytes: &'p [u8],
}

impl Cursor<'_> {
    fn byte(&mut self) -> Result<u8, &'static str> {
        let (first, rest) = self.bytes.split_first().ok_or("it ends too early")?;
        self.bytes = rest;
        Ok(*first)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (first, rest) = self.bytes.split_first_chunk::<N>().ok_or("it ends too early")?;
        self.bytes = rest;
        Ok(*first)
    }

    fn varint(&mut self) -> Result<u64, &'static str> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number is too long")
    }

    fn signed(&mut self) -> Result<i64, &'static str> {
        Ok(unzigzag(self.varint()?))
    }

    fn text(&mut self) -> Result<String, &'static str> {
        let length = usize::try_from(self.varint()?).map_err(|_| "it ends too early")?;
        let (text, rest) = self.bytes.split_at_checked(length).ok_or("it ends too early")?;
        self.bytes = rest;
        String::from_utf8(text.to_vec()).map_err(|_| "a text is not UTF-8")
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads until the buffer is full or the input ends; returns the number of bytes.
fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
