//! The rows of a CSV file, as fast as they can be found.

use std::io::{self, Read};

use super::cell::Cell;
use super::marks::{BLOCK, BlockMarks, Marks};
use super::problem::LogError;
use crate::jtl_cells::{Cells, split};

/// Bytes that are read at once.
const PART: usize = 1 << 20;

/// Longest row, quoted line ends included.
const ROW_MAX: usize = 16 << 20;

/// A last row that was cut off within quotes has no more lines; otherwise it is a stray quote that swallows rows.
const CUT_LINES_MAX: u64 = 100;

/// Finds whole lines in a file that is read part by part.
struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What of the buffer is not used up.
    from: usize,
    to: usize,
    read: u64,
    ended: bool,
    /// Lines from a quote that is not closed to the end of the file.
    open_lines: u64,
}

impl<R: Read> Lines<R> {
    fn new(input: R) -> Lines<R> {
        Lines { input, buffer: vec![0; PART], from: 0, to: 0, read: 0, ended: false, open_lines: 0 }
    }

    /// Reads more behind what is there; false at the end of the file.
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

    /// The length of the row at the beginning without its line feed, how many lines it has, and whether a quote is in
    /// it: a line feed within quotes belongs to its cell. `None` when the file ends before, or `ROW_MAX` is passed.
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

/// The rows of a CSV file, one after the other.
pub(crate) struct CsvRows<R> {
    lines: Lines<R>,
    delimiter: u8,
    marks: Marks,
    /// Whether the first line names the columns.
    named: bool,
    /// The last cell that anybody looks at.
    last: usize,
    /// Number of the line at which the next row begins.
    line: u64,
    /// Where the cells of a row without quotes begin, and one behind the end of the last: one more than there are cells.
    bounds: Vec<usize>,
    quoted: Cells,
    /// Bytes and lines of the row that was given last.
    given: (usize, u64),
}

/// One row.
pub(crate) struct CsvRow<'r> {
    /// The line at which it begins, from 1.
    pub(crate) line: u64,
    /// How many cells it has, as far as anybody looks.
    pub(crate) count: usize,
    /// Its cells, one byte behind each.
    text: &'r [u8],
    /// Where they begin, and one behind the end of the last: one more than there are cells.
    bounds: &'r [usize],
}

impl<'r> CsvRow<'r> {
    /// Cell number `at`, empty where there is none.
    #[inline]
    pub(crate) fn cell(&self, at: usize) -> Cell<'r> {
        match (self.bounds.get(at), self.bounds.get(at.wrapping_add(1))) {
            (Some(from), Some(next)) => Cell::new(&self.text[..next - 1], next - 1 - from),
            _ => Cell::default(),
        }
    }
}

impl<R: Read> CsvRows<R> {
    /// Cells beyond number `last` are not looked for.
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

    /// The next row that is not empty; `None` at the end. `progress` is called now and then with the bytes read so far.
    ///
    /// # Errors
    /// The system's, and a quote that is not closed.
    #[inline]
    pub(crate) fn next(&mut self, progress: &mut dyn FnMut(u64)) -> Result<Option<CsvRow<'_>>, LogError> {
        let (bytes, lines) = std::mem::take(&mut self.given);
        self.lines.from += bytes;
        self.line += lines;
        // The first line may begin with a byte order mark, or name the columns: the slower way knows.
        if self.line > 1
            && let Some((len, cells)) = self.plain_row()
        {
            self.given = (len + 1, 1);
            let (text, line) = (&self.lines.buffer[self.lines.from..self.lines.from + len], self.line);
            return Ok(Some(CsvRow { line, count: cells, text, bounds: &self.bounds[..=cells] }));
        }
        self.any_row(progress)
    }

    /// The length of the row at the beginning without its line feed, and how many of its cells anybody looks at.
    /// `None` when it is empty, has quotes or a carriage return, or is not yet read to its end.
    #[inline]
    fn plain_row(&mut self) -> Option<(usize, usize)> {
        let rest = &self.lines.buffer[self.lines.from..self.lines.to];
        // One pass finds the cells and the end: cells are short, and a search for each would cost more than it finds.
        let mut cells = 0;
        for (block, from) in rest.as_chunks::<BLOCK>().0.iter().zip((0..).step_by(BLOCK)) {
            let BlockMarks { delimiters, stops } = self.marks.of(block);
            // Those before the first stop.
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

    /// The next row, whatever it looks like.
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
            // What some writers put around a row.
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

    /// The offset of a row within which the file ended: every writer ends a row with a line feed. To be asked at the end.
    pub(crate) const fn cut_at(&self) -> Option<u64> {
        let rest = self.lines.to - self.lines.from;
        if rest > 0 { Some(self.lines.read - rest as u64) } else { None }
    }
}
