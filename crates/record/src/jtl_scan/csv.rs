//! Reading the rows of a CSV log, as fast as they can be found.

use std::io::{self, Read};

use super::cells;
use super::columns::Columns;
use super::problem::{BadRow, LogError};
use super::rows::{LogLabels, LogRow, Seen};
use crate::jtl::{Cells, split};

/// Bytes that are read at once.
const PART: usize = 1 << 20;

/// Longest row, quoted line ends included.
const ROW_MAX: usize = 16 << 20;

/// Finds whole lines in a file that is read part by part.
struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What of the buffer is not used up.
    from: usize,
    to: usize,
    read: u64,
    ended: bool,
}

impl<R: Read> Lines<R> {
    fn new(input: R) -> Lines<R> {
        Lines { input, buffer: vec![0; PART], from: 0, to: 0, read: 0, ended: false }
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

    /// The length of the line that begins `skip` bytes behind the beginning, counted from the beginning and without
    /// its line feed; `None` when the file ends before a line feed, or `ROW_MAX` is passed.
    fn line(&mut self, skip: usize, progress: &mut dyn FnMut(u64)) -> io::Result<Option<usize>> {
        let mut searched = skip;
        loop {
            let rest = &self.buffer[self.from + searched..self.to];
            if let Some(at) = memchr::memchr(b'\n', rest) {
                return Ok(Some(searched + at));
            }
            searched = self.to - self.from;
            if searched > ROW_MAX || !self.more()? {
                return Ok(None);
            }
            progress(self.read);
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
    let mut line = 0;
    let mut ends: Vec<usize> = Vec::with_capacity(columns.last + 1);
    let mut quoted = Cells::default();
    loop {
        line += 1;
        let begin = line;
        let Some(mut len) = lines.line(0, progress)? else { break };
        let row = &lines.buffer[lines.from..lines.from + len];
        let quotes = memchr::memchr_iter(b'"', row).count();
        if line == 1 && columns.named {
            lines.from += len + 1;
            continue;
        }
        if quotes > 0 {
            let mut open = !quotes.is_multiple_of(2);
            while open {
                // A line feed within quotes belongs to the cell.
                line += 1;
                let Some(longer) = lines.line(len + 1, progress)? else {
                    return Err(LogError::Quote { line: begin });
                };
                let added = &lines.buffer[lines.from + len + 1..lines.from + longer];
                open = memchr::memchr_iter(b'"', added).count().is_multiple_of(2);
                len = longer;
            }
            quoted.line.clear();
            quoted.line.extend_from_slice(trimmed(&lines.buffer[lines.from..lines.from + len], begin));
            split(&mut quoted, columns.delimiter);
            let cell = |at: usize| quoted.get(at).as_bytes();
            take(begin, quoted.len(), cell, columns, seen, see);
        } else {
            let row = trimmed(row, begin);
            if !row.is_empty() {
                ends.clear();
                ends.extend(memchr::memchr_iter(columns.delimiter, row).take(columns.last + 1));
                let count = ends.len() + usize::from(ends.len() <= columns.last);
                let cell = |at: usize| {
                    let from = if at == 0 { 0 } else { ends.get(at - 1).map_or(row.len(), |end| end + 1) };
                    row.get(from..ends.get(at).copied().unwrap_or(row.len())).unwrap_or_default()
                };
                take(begin, count, cell, columns, seen, see);
            }
        }
        lines.from += len + 1;
    }
    if lines.to - lines.from > ROW_MAX {
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
    seen: &mut Seen,
    see: &mut impl FnMut(&LogRow, &LogLabels),
) {
    if count <= columns.last {
        if !is_names(cell(columns.stamp)) {
            seen.bad(|| BadRow::new(line, "timeStamp", cell(0), "begins a row with too few columns"));
        }
        return;
    }
    let stamp = cell(columns.stamp);
    let Some(start_ns) = cells::stamp_ns(stamp) else {
        // Runs that were appended to a file may repeat the names.
        if !is_names(stamp) {
            seen.bad(|| BadRow::new(line, "timeStamp", stamp, "is no time in ms since 1970"));
        }
        return;
    };
    let elapsed = cell(columns.elapsed);
    let Some(elapsed_ns) = cells::span_ns(elapsed) else {
        seen.bad(|| BadRow::new(line, "elapsed", elapsed, "is no length of time in ms"));
        return;
    };
    let latency_ns = columns.latency.map(&cell).filter(|cell| !cell.is_empty());
    let latency_ns = match latency_ns.map(|cell| (cell, cells::span_ns(cell))) {
        Some((cell, None)) => {
            seen.bad(|| BadRow::new(line, "Latency", cell, "is no length of time in ms"));
            return;
        }
        Some((_, known)) => known,
        None => None,
    };
    let bytes = columns.bytes.map(&cell).filter(|cell| !cell.is_empty());
    let bytes = match bytes.map(|cell| (cell, cells::number(cell))) {
        Some((cell, None)) => {
            seen.bad(|| BadRow::new(line, "bytes", cell, "is no number of bytes"));
            return;
        }
        Some((_, known)) => known,
        None => None,
    };
    if columns.message.is_some_and(|at| cells::is_transaction(cell(at))) {
        seen.facts.transactions += 1;
        return;
    }
    seen.facts.rows += 1;
    let row = LogRow {
        start_ns,
        elapsed_ns,
        latency_ns,
        bytes,
        label: seen.labels.intern(cell(columns.label)),
        group: None,
        thread: columns.thread.and_then(|at| cells::thread(cell(at))),
        success: columns.success.is_none_or(|at| cells::passed(cell(at))),
    };
    see(&row, &seen.labels);
}

fn is_names(stamp: &[u8]) -> bool {
    stamp == b"timeStamp"
}
