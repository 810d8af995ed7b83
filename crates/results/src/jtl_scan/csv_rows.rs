//! Splits a CSV file into rows and cells.

use std::io::{self, Read};

use super::cell::Cell;
use super::error::LogError;
use super::marks::{BLOCK, BlockMarks, Marks};
use crate::jtl_cells::{Cells, split};

/// Number of bytes that are read at once.
const PART: usize = 1 << 20;

/// Maximum length of a row in bytes, including quoted line ends.
const ROW_MAX: usize = 16 << 20;

/// Maximum number of lines of a truncated last row that ends within quotes. More lines indicate a stray quote.
const CUT_LINES_MAX: u64 = 100;

/// Finds complete lines in a file that is read in parts.
struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Start of the unread part of the buffer.
    from: usize,
    to: usize,
    read: u64,
    ended: bool,
    /// Number of lines from an unclosed quote to the end of the file.
    open_lines: u64,
}

impl<R: Read> Lines<R> {
    fn new(input: R) -> Lines<R> {
        Lines { input, buffer: vec![0; PART], from: 0, to: 0, read: 0, ended: false, open_lines: 0 }
    }

    /// Reads more bytes into the buffer; returns false at the end of the file.
    fn more(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.from > 0 {
            self.buffer.copy_within(self.from..self.to, 0);
            self.to -= self.from;
            self.from = 0;
        }
        if self.to == self.buffer.len() {
            self.buffer.resize(self.to * 2, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.to..]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(read) => {
                    self.to += read;
                    self.read += read as u64;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The length of the first row without its line feed, its number of lines, and whether it contains a quote. A line feed
    /// within quotes is part of a cell. `None` if the file ends within the row, or if the row exceeds `ROW_MAX`.
    fn row(&mut self, progress: &mut dyn FnMut(u64)) -> io::Result<Option<(usize, u64, bool)>> {
        let (mut searched, mut lines, mut quotes) = (0, 1, 0usize);
        loop {
            let rest = &self.buffer[self.from + searched..self.to];
            match memchr::memchr2(b'\n', b'"', rest) {
                Some(at) if rest[at] == b'"' => {
                    quotes += 1;
                    searched += at + 1;
                }
                Some(at) if quotes.is_multiple_of(2) => return Ok(Some((searched + at, lines, quotes > 0))),
                Some(at) => {
                    lines += 1;
                    searched += at + 1;
                }
                None => {
                    searched = self.to - self.from;
                    if searched > ROW_MAX || !self.more()? {
                        self.open_lines = if quotes.is_multiple_of(2) { 0 } else { lines };
                        return Ok(None);
                    }
                    progress(self.read);
                }
            }
        }
    }
}

/// An iterator over the rows of a CSV file.
pub(crate) struct CsvRows<R> {
    lines: Lines<R>,
    delimiter: u8,
    marks: Marks,
    /// Whether the first line contains the column names.
    named: bool,
    /// Index of the last cell that is needed.
    last: usize,
    /// Number of the first line of the next row.
    line: u64,
    /// For a row without quotes: the start of each cell, and the end of the last cell plus one.
    bounds: Vec<usize>,
    quoted: Cells,
    /// Number of bytes and lines of the row that was returned last.
    given: (usize, u64),
}

/// One row.
pub(crate) struct CsvRow<'r> {
    /// Number of its first line, from 1.
    pub(crate) line: u64,
    /// Number of cells, up to the last one that is needed.
    pub(crate) count: usize,
    /// The texts of its cells, each followed by one separator byte.
    text: &'r [u8],
    /// The start of each cell in `text`, and the end of the last cell plus one.
    bounds: &'r [usize],
}

impl<'r> CsvRow<'r> {
    /// Cell number `at`; empty if there is none.
    #[inline]
    pub(crate) fn cell(&self, at: usize) -> Cell<'r> {
        match (self.bounds.get(at), self.bounds.get(at.wrapping_add(1))) {
            (Some(from), Some(next)) => Cell::new(&self.text[..next - 1], next - 1 - from),
            _ => Cell::default(),
        }
    }
}

impl<R: Read> CsvRows<R> {
    /// An iterator over the rows of `input`, without the cells after index `last`.
    pub(crate) fn new(input: R, delimiter: u8, named: bool, last: usize) -> CsvRows<R> {
        CsvRows {
            lines: Lines::new(input),
            delimiter,
            marks: Marks::new(delimiter),
            named,
            last,
            line: 1,
            bounds: vec![0; last + 2],
            quoted: Cells::default(),
            given: (0, 0),
        }
    }

    /// The next row that is not empty; `None` at the end. Calls `progress` at intervals with the number of bytes read.
    ///
    /// # Errors
    /// The file cannot be read, or a quote is not closed.
    #[inline]
    pub(crate) fn next(&mut self, progress: &mut dyn FnMut(u64)) -> Result<Option<CsvRow<'_>>, LogError> {
        let (bytes, lines) = std::mem::take(&mut self.given);
        self.lines.from += bytes;
        self.line += lines;
        // Only `any_row` handles a byte order mark and column names in the first line.
        if self.line > 1
            && let Some((len, cells)) = self.plain_row()
        {
            self.given = (len + 1, 1);
            let (text, line) = (&self.lines.buffer[self.lines.from..self.lines.from + len], self.line);
            return Ok(Some(CsvRow { line, count: cells, text, bounds: &self.bounds[..=cells] }));
        }
        self.any_row(progress)
    }

    /// The length of the first row without its line feed, and its number of cells up to the last one that is needed. `None` if
    /// the row is empty, contains quotes or a carriage return, or has not been read completely.
    #[inline]
    fn plain_row(&mut self) -> Option<(usize, usize)> {
        let rest = &self.lines.buffer[self.lines.from..self.lines.to];
        // One pass finds both the cells and the end of the row, because a separate search for each short cell would be slower.
        let mut cells = 0;
        for (block, from) in rest.as_chunks::<BLOCK>().0.iter().zip((0..).step_by(BLOCK)) {
            let BlockMarks { delimiters, stops } = self.marks.of(block);
            // Keeps only the delimiters before the first stop.
            let mut delimiters = delimiters & !stops & stops.wrapping_sub(1);
            while delimiters != 0 {
                cells += 1;
                if let Some(bound) = self.bounds.get_mut(cells) {
                    *bound = from + delimiters.trailing_zeros() as usize + 1;
                }
                delimiters &= delimiters - 1;
            }
            if stops == 0 {
                continue;
            }
            let at = from + stops.trailing_zeros() as usize;
            if rest[at] != b'\n' || at == 0 || rest[at - 1] == b'\r' {
                return None;
            }
            cells += 1;
            if let Some(bound) = self.bounds.get_mut(cells) {
                *bound = at + 1;
            }
            return Some((at, cells.min(self.last + 1)));
        }
        None
    }

    /// The next row, which may contain quotes, a carriage return or a byte order mark.
    fn any_row(&mut self, progress: &mut dyn FnMut(u64)) -> Result<Option<CsvRow<'_>>, LogError> {
        let (from, to, has_quotes) = loop {
            let (bytes, lines) = std::mem::take(&mut self.given);
            self.lines.from += bytes;
            self.line += lines;
            let Some((len, lines, has_quotes)) = self.lines.row(progress)? else {
                return self.end().map(|()| None);
            };
            self.given = (len + 1, lines);
            let mut from = self.lines.from;
            let mut to = from + len;
            // Some programs write a carriage return or a byte order mark.
            if self.lines.buffer[from..to].ends_with(b"\r") {
                to -= 1;
            }
            if self.line == 1 && self.lines.buffer[from..to].starts_with(b"\xef\xbb\xbf") {
                from += 3;
            }
            if !(self.line == 1 && self.named || from == to) {
                break (from, to, has_quotes);
            }
        };
        let (row, line) = (&self.lines.buffer[from..to], self.line);
        if has_quotes {
            self.quoted.line.clear();
            self.quoted.line.extend_from_slice(row);
            split(&mut self.quoted, self.delimiter);
            let count = self.quoted.len();
            let (text, bounds) = (self.quoted.text(), self.quoted.bounds());
            return Ok(Some(CsvRow { line, count, text, bounds }));
        }
        let mut count = 0;
        for end in memchr::memchr_iter(self.delimiter, row).chain([row.len()]).take(self.last + 1) {
            count += 1;
            self.bounds[count] = end + 1;
        }
        Ok(Some(CsvRow { line, count, text: row, bounds: &self.bounds[..=count] }))
    }

    fn end(&self) -> Result<(), LogError> {
        if self.lines.open_lines > CUT_LINES_MAX || self.lines.to - self.lines.from > ROW_MAX {
            return Err(LogError::Quote { line: self.line });
        }
        Ok(())
    }

    /// The offset of a truncated last row at the end of the file; `None` if the last row is complete. Every program ends rows
    /// with a line feed.
    pub(crate) const fn cut_at(&self) -> Option<u64> {
        let rest = self.lines.to - self.lines.from;
        if rest > 0 { Some(self.lines.read - rest as u64) } else { None }
    }
}
