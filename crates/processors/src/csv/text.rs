//! Lines and rows of a text file, read in pieces.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use encoding_rs::Encoding;

/// Bytes read at once: few, as each user may have its own file.
const PIECE_BYTES: usize = 16 * 1024;

/// An encoding a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Latin1,
    Ascii,
    /// Java's `UTF-16`: the byte order mark decides, without one the most significant byte comes first.
    Utf16,
    Other(&'static Encoding),
}

impl Charset {
    /// The encoding of Java's name; nothing means UTF-8.
    pub(crate) fn named(name: &str) -> Option<Self> {
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
    /// Bytes are characters; those from this one on are unknown.
    Bytes(u16),
    Other(encoding_rs::Decoder),
}

/// A text file being read; holds a piece of it at a time, or a line when that is longer.
pub(crate) struct TextReader {
    file: File,
    decoder: Decoder,
    piece: Box<[u8]>,
    text: String,
    at: usize,
    ended: bool,
}

/// Fields of a row, one after another in a text.
#[derive(Debug, Default)]
pub(crate) struct Row {
    text: String,
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

    fn field_so_far(&self) -> &str {
        &self.text[self.ends.last().copied().unwrap_or(0)..]
    }

    /// Cuts a line at a delimiter the way JMeter does without quotes: an empty line has no field at all.
    pub(crate) fn cut(&mut self, line: &str, delimiter: &str) {
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
    /// Opens a file; a byte order mark is not part of the text.
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
        let piece = vec![0; PIECE_BYTES].into_boxed_slice();
        Ok(Self { file, decoder, piece, text: String::new(), at: 0, ended: false })
    }

    /// Reads the next piece behind what has not been used yet.
    fn fill(&mut self) -> io::Result<()> {
        self.text.drain(..self.at);
        self.at = 0;
        let read = loop {
            match self.file.read(&mut self.piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.ended = read == 0;
        let bytes = &self.piece[..read];
        match &mut self.decoder {
            Decoder::Bytes(unknown_from) => {
                let character = |&byte: &u8| {
                    if u16::from(byte) < *unknown_from {
                        char::from(byte)
                    } else {
                        char::REPLACEMENT_CHARACTER
                    }
                };
                self.text.extend(bytes.iter().map(character));
            }
            Decoder::Other(decoder) => {
                let more = decoder.max_utf8_buffer_length(read).unwrap_or(PIECE_BYTES * 3 + 16);
                self.text.reserve(more);
                let _ = decoder.decode_to_string(bytes, &mut self.text, self.ended);
            }
        }
        Ok(())
    }

    /// Reads a line without its end (`\n`, `\r`, `\r\n`) into `line`; `false` at the end of the file.
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
            if self.ended {
                line.push_str(rest);
                let any = !rest.is_empty();
                self.at = self.text.len();
                return Ok(any);
            }
            searched = rest.len();
            self.fill()?;
        }
    }

    /// The next character, which stays.
    pub(crate) fn peek(&mut self) -> io::Result<Option<char>> {
        loop {
            if let Some(next) = self.text[self.at..].chars().next() {
                return Ok(Some(next));
            }
            if self.ended {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Reads a row whose fields may be quoted; empty at the end of the file.
    ///
    /// # Errors
    /// With JMeter's words for quotes in the wrong place.
    pub(crate) fn read_row(&mut self, delimiter: char, row: &mut Row) -> io::Result<()> {
        row.read(self, delimiter)
    }
}

/// Where characters come from.
trait Characters {
    /// The next character, which stays.
    fn peek(&mut self) -> io::Result<Option<char>>;
    /// The next character.
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

    /// Reads a row the way JMeter does: a quote within a field without quotes is an error, two within quotes are one.
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
        let mut pushed = false;
        let bad = |why: &str, row: &Row, quote: &str| {
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("{why}:[{}{quote}]", row.field_so_far())))
        };
        while let Some(next) = source.next()? {
            pushed = false;
            let ends = next == delimiter || next == '\n' || next == '\r';
            match (&state, next) {
                (State::Initial, '"') => state = State::Quoted,
                (State::Initial | State::Plain | State::EmbeddedQuote, _) if ends => {
                    pushed = true;
                    state = State::Initial;
                }
                (State::Initial, _) => {
                    row.text.push(next);
                    state = State::Plain;
                }
                (State::Plain, '"') => return bad("Cannot have quote-char in plain field", row, "\""),
                (State::Quoted, '"') => state = State::EmbeddedQuote,
                (State::EmbeddedQuote, '"') => {
                    row.text.push('"');
                    state = State::Quoted;
                }
                (State::EmbeddedQuote, _) => {
                    return bad("Cannot have single quote-char in quoted field", row, "\"");
                }
                (State::Plain | State::Quoted, _) => row.text.push(next),
            }
            if pushed {
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
            let so_far = row.field_so_far();
            let why = format!("Missing trailing quote-char in quoted field:[\"{so_far}]");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if !row.field_so_far().is_empty() || pushed || state == State::EmbeddedQuote {
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
        TextReader::open(file.path(), Charset::named(charset).expect("known")).expect("opened")
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
        let long = "x".repeat(PIECE_BYTES - 1);
        assert_eq!(lines(format!("{long}\r\ny").as_bytes(), ""), [long.as_str(), "y"]);
    }

    #[test]
    fn encodings() {
        assert_eq!(lines(b"\xef\xbb\xbf\xc3\xa9\n", ""), ["é"]);
        assert_eq!(lines(b"\xe9\x80\n", "ISO-8859-1"), ["é\u{80}"]);
        assert_eq!(lines(b"\xe9\x80\n", "windows-1252"), ["é€"]);
        assert_eq!(lines(b"\xff\xfea\0\n\0", "UTF-16"), ["a"]);
        assert_eq!(lines(b"\0a\0\n", "UTF-16"), ["a"]);
        assert!(Charset::named("x-nonsense").is_none());
    }

    #[test]
    fn rows_with_quotes() {
        assert_eq!(rows("a,\"b \"\"x\"\", c\",d\n\"\",\n1,2"), ["a|b \"x\", c|d", "|", "1|2"]);
        assert_eq!(rows("\"two\nlines\",x\r\ny,z\r\n"), ["two\nlines|x", "y|z"]);
        assert_eq!(rows("a\"b,c"), ["Cannot have quote-char in plain field:[a\"]"]);
        assert_eq!(rows("\"a\"b"), ["Cannot have single quote-char in quoted field:[a\"]"]);
        assert_eq!(rows("\"a"), ["Missing trailing quote-char in quoted field:[\"a]"]);
        assert_eq!(rows("a,"), ["a|"]);
    }

    #[test]
    fn cutting_without_quotes() {
        let cut = |line: &str, delimiter: &str| {
            let mut row = Row::default();
            row.cut(line, delimiter);
            row.fields().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(cut("a,b,,c", ","), ["a", "b", "", "c"]);
        assert_eq!(cut(",a,", ","), ["", "a", ""]);
        assert_eq!(cut("a}}b", "}}"), ["a", "b"]);
        assert!(cut("", ",").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn lines_are_those_of_the_text(parts in proptest::collection::vec("[a-zé]{0,5}", 1..20)) {
            let text = parts.join("\n") + "\n";
            proptest::prop_assert_eq!(lines(text.as_bytes(), ""), parts);
        }
    }
}
