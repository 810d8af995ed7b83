//! Lines of a text file, in bounded memory.

use std::io::{BufRead as _, BufReader, Read};

use crate::error::ImportError;

/// Maximum length of a line in bytes. Lines of vegeta contain the bodies of responses.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Number of bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// Maximum number of lines in one record of a CSV file. More lines indicate a stray quote.
const RECORD_LINES_MAX: u64 = 1_000;

/// Reads a text file line by line.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Number of the current line, from 1, and its offset in bytes.
    number: u64,
    offset: u64,
    /// Number of lines, and bytes, that were read.
    lines_read: u64,
    bytes_read: u64,
    /// Whether the current line ends with a line feed.
    is_whole: bool,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            line: Vec::new(),
            number: 0,
            offset: 0,
            lines_read: 0,
            bytes_read: 0,
            is_whole: true,
        }
    }

    /// Reads the next line. Returns false at the end of the file.
    pub(crate) fn next(&mut self) -> Result<bool, ImportError> {
        self.line.clear();
        self.offset = self.bytes_read;
        self.number = self.lines_read + 1;
        self.append_line()
    }

    /// Reads the next record of a CSV file: a line, and the following ones while a quote is open.
    pub(crate) fn next_record(&mut self) -> Result<bool, ImportError> {
        if !self.next()? {
            return Ok(false);
        }
        let mut from = 0;
        let mut is_quoted = false;
        loop {
            let quotes = memchr::memchr_iter(b'"', &self.line[from..]).count();
            is_quoted ^= quotes % 2 == 1;
            from = self.line.len();
            let is_long = self.lines_read - self.number >= RECORD_LINES_MAX;
            if !is_quoted || is_long || !self.append_line()? {
                return Ok(true);
            }
        }
    }

    fn append_line(&mut self) -> Result<bool, ImportError> {
        let room = (LINE_BYTES_MAX + 1).saturating_sub(self.line.len());
        let read = (&mut self.input).take(room as u64).read_until(b'\n', &mut self.line)?;
        self.bytes_read += read as u64;
        self.lines_read += u64::from(read > 0);
        if self.line.len() > LINE_BYTES_MAX {
            return Err(ImportError::LongLine { line: self.lines_read, limit_bytes: LINE_BYTES_MAX });
        }
        self.is_whole = self.line.ends_with(b"\n");
        Ok(read > 0)
    }

    /// The current line, without its end.
    pub(crate) fn text(&self) -> &[u8] {
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.offset == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line }
    }

    /// The number of the current line, from 1.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// The offset of the current line if it is the last one and has no end, so that it may be incomplete.
    pub(crate) fn cut_at(&self) -> Option<u64> {
        (!self.is_whole).then_some(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_an_incomplete_one_an_offset() {
        let mut lines = Lines::new(&b"\xef\xbb\xbfone\r\n\ntwo"[..]);
        let mut read = Vec::new();
        while lines.next().unwrap() {
            let text = String::from_utf8(lines.text().to_vec()).unwrap();
            read.push((lines.number(), text, lines.cut_at()));
        }
        let expected = [(1, "one".into(), None), (2, String::new(), None), (3, "two".into(), Some(9))];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_record_continues_while_a_quote_is_open() {
        let mut lines = Lines::new(&b"a,\"b\nc\"\"\n\",d\ne\n"[..]);
        assert!(lines.next_record().unwrap());
        assert_eq!((lines.text(), lines.number()), (&b"a,\"b\nc\"\"\n\",d"[..], 1));
        assert!(lines.next_record().unwrap());
        assert_eq!((lines.text(), lines.number()), (&b"e"[..], 4));
        assert!(!lines.next_record().unwrap());
    }

    #[test]
    fn a_line_that_is_too_long_is_an_error() {
        let mut lines = Lines::new(std::io::repeat(b'x'));
        assert!(matches!(lines.next(), Err(ImportError::LongLine { line: 1, .. })));
        // A stray quote ends a record after a limited number of lines.
        let text = format!("\"{}", "x\n".repeat(5_000));
        let mut lines = Lines::new(text.as_bytes());
        assert!(lines.next_record().unwrap());
        assert!(lines.text().len() < 4_000);
    }
}
