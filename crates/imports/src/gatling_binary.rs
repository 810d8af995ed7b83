//! Gatling's binary `simulation.log` from version 3.13 on. Numbers are big-endian; times are ms since the start of the run.
//!
//! A string has its length in bytes, its bytes and a byte for their encoding: 0 for Latin-1, 1 for UTF-16 in the order of the
//! machine that wrote the file. An empty string is only the length 0. Names that recur are written once, with a positive number;
//! later, only the negative number is written.

use std::io::{BufReader, ErrorKind, Read};

use crate::error::ImportError;
use crate::sample::{ImportedSample, Step};

/// Maximum length of a string in bytes. Error messages contain parts of responses.
const STRING_BYTES_MAX: usize = 1 << 20;

/// Maximum number of different cached strings, and of their bytes in total.
const STRINGS_MAX: usize = 1_000_000;
const STRING_BYTES_TOTAL_MAX: usize = 256 << 20;

/// Maximum number of scenarios, of assertions, and of groups around a request.
const SCENARIOS_MAX: usize = 100_000;
const ASSERTIONS_MAX: usize = 100_000;
const GROUPS_MAX: usize = 1_000;

/// Number of bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 18;

pub(crate) struct GatlingBinary<R> {
    input: Input<R>,
    start_ms: i64,
    users: u32,
    has_begun: bool,
    /// Offset of the current record in bytes.
    at: u64,
}

/// Reads the fields of records.
struct Input<R> {
    input: BufReader<R>,
    read: u64,
    strings: Vec<String>,
    string_bytes: usize,
}

/// Why a record cannot be read.
enum Failure {
    Io(std::io::Error),
    /// The file ends within the record.
    Cut,
    Damaged(&'static str),
}

impl<R: Read> Input<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Failure> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => Failure::Cut,
            _ => Failure::Io(error),
        })?;
        self.read += bytes.len() as u64;
        Ok(())
    }

    fn int(&mut self) -> Result<i32, Failure> {
        self.bytes().map(i32::from_be_bytes)
    }

    fn long(&mut self) -> Result<i64, Failure> {
        self.bytes().map(i64::from_be_bytes)
    }

    fn flag(&mut self) -> Result<bool, Failure> {
        match self.bytes()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Failure::Damaged("a status is neither 0 nor 1")),
        }
    }

    fn count(&mut self, max: usize) -> Result<usize, Failure> {
        let count = usize::try_from(self.int()?).ok().filter(|count| *count <= max);
        count.ok_or(Failure::Damaged("a count or length is negative or too large"))
    }

    fn string(&mut self) -> Result<String, Failure> {
        let length = self.count(STRING_BYTES_MAX)?;
        if length == 0 {
            return Ok(String::new());
        }
        let mut bytes = vec![0; length];
        self.fill(&mut bytes)?;
        match self.bytes()? {
            [0] => Ok(bytes.iter().map(|byte| char::from(*byte)).collect()),
            [1] => Ok(utf16(&bytes)),
            _ => Err(Failure::Damaged("the encoding of a string is unknown")),
        }
    }

    /// The position of a cached string.
    fn cached(&mut self) -> Result<usize, Failure> {
        const UNKNOWN: Failure = Failure::Damaged("the number of a name is unknown");
        let number = self.int()?;
        let at = (number.unsigned_abs() as usize).checked_sub(1).ok_or(UNKNOWN)?;
        if number < 0 {
            return if at < self.strings.len() { Ok(at) } else { Err(UNKNOWN) };
        }
        let text = self.string()?;
        self.string_bytes += text.len();
        if at != self.strings.len() {
            return Err(UNKNOWN);
        }
        if at >= STRINGS_MAX || self.string_bytes > STRING_BYTES_TOTAL_MAX {
            return Err(Failure::Damaged("there are too many different names and messages"));
        }
        self.strings.push(text);
        Ok(at)
    }

    /// Reads the groups around a request, and appends their names to `label`.
    fn groups(&mut self, label: Option<&mut String>) -> Result<(), Failure> {
        let mut label = label;
        for _ in 0..self.count(GROUPS_MAX)? {
            let at = self.cached()?;
            if let Some(label) = label.as_deref_mut() {
                label.push_str(&self.strings[at]);
                label.push_str(" / ");
            }
        }
        Ok(())
    }
}

/// Decodes UTF-16 in the byte order that gives more letters of common scripts: the high bytes of most texts are small.
fn utf16(bytes: &[u8]) -> String {
    let pairs = || bytes.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
    let little = pairs().filter(|[first, second]| second < first).count();
    let big = pairs().filter(|[first, second]| first < second).count();
    let unit = |pair: [u8; 2]| if big > little { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
    char::decode_utf16(pairs().map(unit)).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

impl<R: Read> GatlingBinary<R> {
    pub(crate) fn new(input: R) -> GatlingBinary<R> {
        let input = BufReader::with_capacity(BUFFER_BYTES, input);
        GatlingBinary {
            input: Input { input, read: 0, strings: Vec::new(), string_bytes: 0 },
            start_ms: 0,
            users: 0,
            has_begun: false,
            at: 0,
        }
    }

    /// Reads until the next request. A damaged record ends the file, because the next one cannot be found.
    pub(crate) fn read(&mut self, sample: &mut ImportedSample) -> Result<Step, ImportError> {
        loop {
            self.at = self.input.read;
            let kind = match self.input.bytes::<1>() {
                Ok([kind]) => kind,
                Err(Failure::Cut) => return Ok(Step::End { cut_at: None }),
                Err(failure) => return Err(self.error(failure)),
            };
            match self.record(kind, sample) {
                Ok(true) => return Ok(Step::Sample),
                Ok(false) => {}
                Err(Failure::Cut) => return Ok(Step::End { cut_at: Some(self.at) }),
                Err(failure) => return Err(self.error(failure)),
            }
        }
    }

    fn error(&self, failure: Failure) -> ImportError {
        match failure {
            Failure::Io(error) => ImportError::Io(error),
            Failure::Cut => ImportError::Damaged { at: self.at, problem: "the file ends here" },
            Failure::Damaged(problem) => ImportError::Damaged { at: self.at, problem },
        }
    }

    /// Reads a record. Returns whether it is a request, which is then stored in `sample`.
    fn record(&mut self, kind: u8, sample: &mut ImportedSample) -> Result<bool, Failure> {
        let input = &mut self.input;
        match kind {
            0 => self.run()?,
            _ if !self.has_begun => return Err(Failure::Damaged("the first record is not that of a run")),
            1 => {
                self.request(sample)?;
                return Ok(true);
            }
            2 => {
                input.int()?;
                let is_start = input.flag()?;
                input.int()?;
                self.users =
                    if is_start { self.users.saturating_add(1) } else { self.users.saturating_sub(1) };
            }
            3 => {
                input.groups(None)?;
                let _: [u8; 12] = input.bytes()?;
                input.flag()?;
            }
            4 => {
                input.cached()?;
                input.int()?;
            }
            _ => return Err(Failure::Damaged("the kind of a record is unknown")),
        }
        Ok(false)
    }

    fn run(&mut self) -> Result<(), Failure> {
        let input = &mut self.input;
        input.string()?;
        input.string()?;
        self.start_ms = input.long()?;
        input.string()?;
        for _ in 0..input.count(SCENARIOS_MAX)? {
            input.string()?;
        }
        for _ in 0..input.count(ASSERTIONS_MAX)? {
            let length = input.count(STRING_BYTES_MAX)?;
            let mut assertion = vec![0; length];
            input.fill(&mut assertion)?;
        }
        self.has_begun = true;
        Ok(())
    }

    fn request(&mut self, sample: &mut ImportedSample) -> Result<(), Failure> {
        sample.clear();
        let input = &mut self.input;
        input.groups(Some(&mut sample.label))?;
        let name = input.cached()?;
        sample.label.push_str(&input.strings[name]);
        let (start_ms, end_ms) = (input.int()?, input.int()?);
        sample.success = input.flag()?;
        let message = input.cached()?;
        sample.message.push_str(&input.strings[message]);
        let duration_ms = u64::try_from(i64::from(end_ms) - i64::from(start_ms));
        let duration_ms = duration_ms.map_err(|_| Failure::Damaged("a request ends before its start"))?;
        sample.duration_ns = duration_ms * 1_000_000;
        sample.start_ns = self.start_ms.saturating_add(i64::from(start_ms)).saturating_mul(1_000_000);
        sample.users = self.users;
        Ok(())
    }
}

/// Whether a file starts with the record of a run: a version such as `3.13.5`, and the name of a class.
pub(crate) fn is_head(head: &[u8]) -> bool {
    let Some([0, 0, 0, 0, length]) = head.first_chunk() else { return false };
    let Some(version) = head.get(5..5 + usize::from(*length)) else { return false };
    let is_version = version.first().is_some_and(u8::is_ascii_digit) && version.contains(&b'.');
    is_version && version.iter().all(u8::is_ascii_graphic) && head.get(5 + version.len()) == Some(&0)
}
