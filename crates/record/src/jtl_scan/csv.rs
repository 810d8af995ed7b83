//! Reading the rows of a CSV log, as fast as they can be found.

use std::io::{self, Read};

use super::cells;
use super::columns::Columns;
use super::problem::{BadRow, LogError, RowPlace};
use super::rows::{LogLabels, LogRow, Seen};
use crate::jtl::{Cells, split};

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

/// Reads all rows.
pub(super) fn scan(
    input: impl Read,
    columns: &Columns,
    seen: &mut Seen,
    see: &mut impl FnMut(&LogRow, &LogLabels),
    progress: &mut dyn FnMut(u64),
) -> Result<(), LogError> {
    let mut lines = Lines::new(input);
    let mut line = 1;
    let mut ends: Vec<usize> = Vec::with_capacity(columns.last + 1);
    let mut quoted = Cells::default();
    let mut stamps = cells::Stamps::default();
    while let Some((len, more_lines, has_quotes)) = lines.row(progress)? {
        let row = trimmed(&lines.buffer[lines.from..lines.from + len], line);
        if line == 1 && columns.named || row.is_empty() {
            // Names, or nothing.
        } else if has_quotes {
            quoted.line.clear();
            quoted.line.extend_from_slice(row);
            split(&mut quoted, columns.delimiter);
            let cell = |at: usize| quoted.get(at).as_bytes();
            take(line, quoted.len(), cell, columns, &mut stamps, seen, see);
        } else {
            ends.clear();
            ends.extend(memchr::memchr_iter(columns.delimiter, row).take(columns.last + 1));
            let count = ends.len() + usize::from(ends.len() <= columns.last);
            let cell = |at: usize| {
                let from = if at == 0 { 0 } else { ends.get(at - 1).map_or(row.len(), |end| end + 1) };
                row.get(from..ends.get(at).copied().unwrap_or(row.len())).unwrap_or_default()
            };
            take(line, count, cell, columns, &mut stamps, seen, see);
        }
        line += more_lines;
        lines.from += len + 1;
    }
    if lines.open_lines > CUT_LINES_MAX || lines.to - lines.from > ROW_MAX {
        return Err(LogError::Quote { line });
    }
    // Every writer ends a row with a line feed: without one it was cut off.
    seen.facts.cut_off = lines.to > lines.from;
    Ok(())
}

/// A row without what some writers put around it.
fn trimmed(row: &[u8], line: u64) -> &[u8] {
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    if line == 1 { row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row) } else { row }
}

/// Makes a row of `count` cells.
#[inline]
fn take<'c>(
    line: u64,
    count: usize,
    cell: impl Fn(usize) -> &'c [u8],
    columns: &Columns,
    stamps: &mut cells::Stamps,
    seen: &mut Seen,
    see: &mut impl FnMut(&LogRow, &LogLabels),
) {
    if count <= columns.last {
        if !is_names(cell(columns.stamp)) {
            seen.bad(|| {
                BadRow::new(RowPlace::Line(line), "timeStamp", cell(0), "begins a row with too few columns")
            });
        }
        return;
    }
    let stamp = cell(columns.stamp);
    let Some(start_ns) = stamps.ns(stamp) else {
        // Runs that were appended to a file may repeat the names.
        if !is_names(stamp) {
            seen.bad(|| BadRow::new(RowPlace::Line(line), "timeStamp", stamp, "is no time in ms since 1970"));
        }
        return;
    };
    let elapsed = cell(columns.elapsed);
    let Some(elapsed_ns) = cells::span_ns(elapsed) else {
        seen.bad(|| BadRow::new(RowPlace::Line(line), "elapsed", elapsed, "is no length of time in ms"));
        return;
    };
    let latency_ns = columns.latency.map(&cell).filter(|cell| !cell.is_empty());
    let latency_ns = match latency_ns.map(|cell| (cell, cells::span_ns(cell))) {
        Some((cell, None)) => {
            seen.bad(|| BadRow::new(RowPlace::Line(line), "Latency", cell, "is no length of time in ms"));
            return;
        }
        Some((_, known)) => known,
        None => None,
    };
    let bytes = columns.bytes.map(&cell).filter(|cell| !cell.is_empty());
    let bytes = match bytes.map(|cell| (cell, cells::number(cell))) {
        Some((cell, None)) => {
            seen.bad(|| BadRow::new(RowPlace::Line(line), "bytes", cell, "is no number of bytes"));
            return;
        }
        Some((_, known)) => known,
        None => None,
    };
    let idle = columns.idle.filter(|_| columns.stamps_are_ends).map(&cell).unwrap_or_default();
    let Some(start_ns) = cells::start_ns(start_ns, elapsed_ns, idle, columns.stamps_are_ends) else {
        seen.bad(|| BadRow::new(RowPlace::Line(line), "IdleTime", idle, "is no length of time in ms"));
        return;
    };
    if columns.message.is_some_and(|at| cells::is_transaction(cell(at))) {
        seen.facts.transactions += 1;
        return;
    }
    let count = columns.sample_count.and_then(|at| cells::number(cell(at)));
    seen.facts.of_several += u64::from(count.is_some_and(|count| count > 1));
    seen.facts.rows += 1;
    let thread = columns.thread.map(&cell);
    let row = LogRow {
        start_ns,
        elapsed_ns,
        latency_ns,
        bytes,
        label: seen.labels.intern(cell(columns.label)),
        group: None,
        thread: thread.and_then(cells::thread),
        user: thread.and_then(cells::user),
        success: columns.success.is_none_or(|at| cells::passed(cell(at))),
    };
    see(&row, &seen.labels);
}

fn is_names(stamp: &[u8]) -> bool {
    stamp == b"timeStamp"
}
