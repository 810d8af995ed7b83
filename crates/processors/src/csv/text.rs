//! Reads lines and rows of a text file in chunks.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use encoding_rs::Encoding;

/// Size of a chunk in bytes. It is small because each user may have a separate file.
const CHUNK_BYTES: usize = 16 * 1024;

/// An encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Latin1,
    Ascii,
    /// Java's `UTF-16`: the byte order mark selects the byte order; without a mark it is big-endian.
    Utf16,
    Other(&'static Encoding),
}

impl Charset {
    /// The encoding with a name in Java. An empty name is UTF-8.
    pub(crate) fn from_java_name(name: &str) -> Option<Self> {
        let name = name.trim();
        let is = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        if is(&["", "UTF-8", "UTF8"]) {
            Some(Self::Other(encoding_rs::UTF_8))
        } else if is(&["ISO-8859-1", "ISO8859_1", "ISO8859-1", "latin1"]) {
            Some(Self::Latin1)
        } else if is(&["US-ASCII", "ASCII"]) {
            Some(Self::Ascii)
        } else if is(&["UTF-16", "UTF16"]) {
            Some(Self::Utf16)
        } else {
            Encoding::for_label(name.as_bytes())
                .filter(|known| *known != encoding_rs::REPLACEMENT)
                .map(Self::Other)
        }
    }
}

enum Decoder {
    /// Each byte is a character. Bytes from this value on are invalid.
    Bytes(u16),
    Other(encoding_rs::Decoder),
}

/// A reader of a text file. It buffers a chunk of the file, or a line if that is longer.
pub(crate) struct TextReader {
    file: File,
    decoder: Decoder,
    chunk: Box<[u8]>,
    /// Decoded text; the part before `at` has been used.
    text: String,
    at: usize,
    has_ended: bool,
}

/// The fields of a row, concatenated in one text.
#[derive(Debug, Default)]
pub(crate) struct Row {
    text: String,
    /// End of each field in `text`.
    ends: Vec<usize>,
}

impl Row {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let field = &self.text[start..end];
            start = end;
            field
        })
    }

    fn push(&mut self, field: &str) {
        self.text.push_str(field);
        self.end_field();
    }

    fn end_field(&mut self) {
        self.ends.push(self.text.len());
    }

    /// The text of the field that is being read.
    fn current_field(&self) -> &str {
        &self.text[self.ends.last().copied().unwrap_or(0)..]
    }

    /// Splits a line at a delimiter like JMeter does for data without quotes: an empty line has no fields.
    pub(crate) fn split_line(&mut self, line: &str, delimiter: &str) {
        self.clear();
        if line.is_empty() {
            return;
        }
        for field in line.split(delimiter) {
            self.push(field);
        }
    }
}

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader").field("file", &self.file).finish_non_exhaustive()
    }
}

impl TextReader {
    /// Opens a file. A byte order mark is not part of the text.
    pub(crate) fn open(path: &Path, charset: Charset) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let mut head = [0; 3];
        let mut length = 0;
        while length < head.len() {
            match file.read(&mut head[length..])? {
                0 => break,
                read => length += read,
            }
        }
        let head = &head[..length];
        let (skip, charset) = match charset {
            Charset::Utf16 if head.starts_with(&[0xff, 0xfe]) => (2, Charset::Other(encoding_rs::UTF_16LE)),
            Charset::Utf16 if head.starts_with(&[0xfe, 0xff]) => (2, Charset::Other(encoding_rs::UTF_16BE)),
            Charset::Utf16 => (0, Charset::Other(encoding_rs::UTF_16BE)),
            other if head == [0xef, 0xbb, 0xbf] => (3, other),
            other => (0, other),
        };
        file.seek(SeekFrom::Start(skip))?;
        let decoder = match charset {
            Charset::Latin1 | Charset::Utf16 => Decoder::Bytes(0x100),
            Charset::Ascii => Decoder::Bytes(0x80),
            Charset::Other(encoding) => Decoder::Other(encoding.new_decoder_without_bom_handling()),
        };
        let chunk = vec![0; CHUNK_BYTES].into_boxed_slice();
        Ok(Self { file, decoder, chunk, text: String::new(), at: 0, has_ended: false })
    }

    /// Drops the used text and appends the next chunk.
    fn fill(&mut self) -> io::Result<()> {
        self.text.drain(..self.at);
        self.at = 0;
        let read = loop {
            match self.file.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.has_ended = read == 0;
        let bytes = &self.chunk[..read];
        match &mut self.decoder {
            Decoder::Bytes(invalid_from) => {
                let character = |&byte: &u8| {
                    if u16::from(byte) < *invalid_from {
                        char::from(byte)
                    } else {
                        char::REPLACEMENT_CHARACTER
                    }
                };
                self.text.extend(bytes.iter().map(character));
            }
            Decoder::Other(decoder) => {
                let additional = decoder.max_utf8_buffer_length(read).unwrap_or(CHUNK_BYTES * 3 + 16);
                self.text.reserve(additional);
                let _ = decoder.decode_to_string(bytes, &mut self.text, self.has_ended);
            }
        }
        Ok(())
    }

    /// Reads a line without its terminator (`\n`, `\r` or `\r\n`) into `line`. Returns `false` at the end of the file.
    pub(crate) fn read_line(&mut self, line: &mut String) -> io::Result<bool> {
        line.clear();
        let mut searched = 0;
        loop {
            let rest = &self.text[self.at..];
            let found = rest.as_bytes()[searched..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            if let Some(offset) = found.map(|offset| searched + offset) {
                line.push_str(&rest[..offset]);
                let is_return = rest.as_bytes()[offset] == b'\r';
                self.at += offset + 1;
                if is_return && self.peek()? == Some('\n') {
                    self.at += 1;
                }
                return Ok(true);
            }
            if self.has_ended {
                line.push_str(rest);
                let has_text = !rest.is_empty();
                self.at = self.text.len();
                return Ok(has_text);
            }
            searched = rest.len();
            self.fill()?;
        }
    }

    /// Returns the next character without consuming it.
    pub(crate) fn peek(&mut self) -> io::Result<Option<char>> {
        loop {
            if let Some(next) = self.text[self.at..].chars().next() {
                return Ok(Some(next));
            }
            if self.has_ended {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Reads a row whose fields may be quoted. The row is empty at the end of the file.
    ///
    /// # Errors
    /// A quote is in an invalid position (with JMeter's message), or the file cannot be read.
    pub(crate) fn read_row(&mut self, delimiter: char, row: &mut Row) -> io::Result<()> {
        row.read(self, delimiter)
    }
}

/// A source of characters: a file or a text.
trait Characters {
    /// Returns the next character without consuming it.
    fn peek(&mut self) -> io::Result<Option<char>>;
    /// Returns and consumes the next character.
    fn next(&mut self) -> io::Result<Option<char>>;
}

impl Characters for TextReader {
    fn peek(&mut self) -> io::Result<Option<char>> {
        TextReader::peek(self)
    }

    fn next(&mut self) -> io::Result<Option<char>> {
        let next = self.peek()?;
        self.at += next.map_or(0, char::len_utf8);
        Ok(next)
    }
}

impl Characters for &str {
    fn peek(&mut self) -> io::Result<Option<char>> {
        Ok(self.chars().next())
    }

    fn next(&mut self) -> io::Result<Option<char>> {
        let mut characters = self.chars();
        let next = characters.next();
        *self = characters.as_str();
        Ok(next)
    }
}

impl Row {
    /// Splits a text whose fields may be quoted.
    pub(crate) fn read_text(&mut self, mut text: &str, delimiter: char) -> io::Result<()> {
        self.read(&mut text, delimiter)
    }

    /// Reads a row like JMeter: a quote in an unquoted field is an error, and two quotes in a quoted field are one quote.
    fn read(&mut self, source: &mut impl Characters, delimiter: char) -> io::Result<()> {
        let row = self;
        #[derive(PartialEq)]
        enum State {
            Initial,
            Plain,
            Quoted,
            EmbeddedQuote,
        }
        row.clear();
        let mut state = State::Initial;
        let mut field_ended = false;
        let invalid = |why: &str, row: &Row, quote: &str| {
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("{why}:[{}{quote}]", row.current_field())))
        };
        while let Some(next) = source.next()? {
            field_ended = false;
            let ends = next == delimiter || next == '\n' || next == '\r';
            match (&state, next) {
                (State::Initial, '"') => state = State::Quoted,
                (State::Initial | State::Plain | State::EmbeddedQuote, _) if ends => {
                    field_ended = true;
                    state = State::Initial;
                }
                (State::Initial, _) => {
                    row.text.push(next);
                    state = State::Plain;
                }
                (State::Plain, '"') => return invalid("Cannot have quote-char in plain field", row, "\""),
                (State::Quoted, '"') => state = State::EmbeddedQuote,
                (State::EmbeddedQuote, '"') => {
                    row.text.push('"');
                    state = State::Quoted;
                }
                (State::EmbeddedQuote, _) => {
                    return invalid("Cannot have single quote-char in quoted field", row, "\"");
                }
                (State::Plain | State::Quoted, _) => row.text.push(next),
            }
            if field_ended {
                row.end_field();
                if next == '\r' && source.peek()? == Some('\n') {
                    source.next()?;
                }
            }
            if matches!(next, '\n' | '\r') && state != State::Quoted {
                return Ok(());
            }
        }
        if state == State::Quoted {
            let field = row.current_field();
            let why = format!("Missing trailing quote-char in quoted field:[\"{field}]");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if !row.current_field().is_empty() || field_ended || state == State::EmbeddedQuote {
            row.end_field();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn reader(bytes: &[u8], charset: &str) -> TextReader {
        let mut file = tempfile::NamedTempFile::new().expect("temporary file");
        file.write_all(bytes).expect("written");
        TextReader::open(file.path(), Charset::from_java_name(charset).expect("known")).expect("opened")
    }

    fn lines(bytes: &[u8], charset: &str) -> Vec<String> {
        let mut reader = reader(bytes, charset);
        let mut line = String::new();
        let mut lines = Vec::new();
        while reader.read_line(&mut line).expect("read") {
            lines.push(line.clone());
        }
        lines
    }

    fn rows(text: &str) -> Vec<String> {
        let mut reader = reader(text.as_bytes(), "");
        let mut rows = Vec::new();
        let mut row = Row::default();
        loop {
            match reader.read_row(',', &mut row) {
                Ok(()) if row.len() == 0 => return rows,
                Ok(()) => rows.push(row.fields().collect::<Vec<_>>().join("|")),
                Err(error) => {
                    rows.push(error.to_string());
                    return rows;
                }
            }
        }
    }

    #[test]
    fn lines_end_as_in_java() {
        assert_eq!(lines(b"a\nb\r\nc\rd\n\ne", ""), ["a", "b", "c", "d", "", "e"]);
        assert_eq!(lines(b"a\n", ""), ["a"]);
        assert!(lines(b"", "").is_empty());
        let long = "x".repeat(CHUNK_BYTES - 1);
        assert_eq!(lines(format!("{long}\r\ny").as_bytes(), ""), [long.as_str(), "y"]);
    }

    #[test]
    fn encodings_are_decoded() {
        assert_eq!(lines(b"\xef\xbb\xbf\xc3\xa9\n", ""), ["é"]);
        assert_eq!(lines(b"\xe9\x80\n", "ISO-8859-1"), ["é\u{80}"]);
        assert_eq!(lines(b"\xe9\x80\n", "windows-1252"), ["é€"]);
        assert_eq!(lines(b"\xff\xfea\0\n\0", "UTF-16"), ["a"]);
        assert_eq!(lines(b"\0a\0\n", "UTF-16"), ["a"]);
        assert!(Charset::from_java_name("x-nonsense").is_none());
    }

    #[test]
    fn rows_with_quotes_are_parsed() {
        assert_eq!(rows("a,\"b \"\"x\"\", c\",d\n\"\",\n1,2"), ["a|b \"x\", c|d", "|", "1|2"]);
        assert_eq!(rows("\"two\nlines\",x\r\ny,z\r\n"), ["two\nlines|x", "y|z"]);
        assert_eq!(rows("a\"b,c"), ["Cannot have quote-char in plain field:[a\"]"]);
        assert_eq!(rows("\"a\"b"), ["Cannot have single quote-char in quoted field:[a\"]"]);
        assert_eq!(rows("\"a"), ["Missing trailing quote-char in quoted field:[\"a]"]);
        assert_eq!(rows("a,"), ["a|"]);
    }

    #[test]
    fn lines_without_quotes_are_split() {
        let split = |line: &str, delimiter: &str| {
            let mut row = Row::default();
            row.split_line(line, delimiter);
            row.fields().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(split("a,b,,c", ","), ["a", "b", "", "c"]);
        assert_eq!(split(",a,", ","), ["", "a", ""]);
        assert_eq!(split("a}}b", "}}"), ["a", "b"]);
        assert!(split("", ",").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn lines_are_read_back(parts in proptest::collection::vec("[a-zé]{0,5}", 1..20)) {
            let text = parts.join("\n") + "\n";
            proptest::prop_assert_eq!(lines(text.as_bytes(), ""), parts);
        }
    }
}
