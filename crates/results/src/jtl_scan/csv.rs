//! Reads the rows of a CSV log for statistics of arrivals.

use std::io::Read;

use busyhour_sample::LogRow;

use super::cell::Cell;
use super::cells;
use super::columns::Columns;
use super::csv_rows::{CsvRow, CsvRows};
use super::error::{BadRow, LogError, RowPlace};
use super::rows::{LogLabels, ScanState};
use super::stamps::Stamps;

/// Reads all rows and passes them to `see`.
pub(super) fn scan(
    input: impl Read,
    columns: &Columns,
    state: &mut ScanState,
    see: &mut impl FnMut(&LogRow, &LogLabels),
    progress: &mut dyn FnMut(u64),
) -> Result<(), LogError> {
    let mut rows = CsvRows::new(input, columns.delimiter, columns.named, columns.last);
    let mut stamps = Stamps::default();
    while let Some(row) = rows.next(progress)? {
        take(&row, columns, &mut stamps, state, see);
    }
    state.facts.cut_off = rows.cut_at().is_some();
    Ok(())
}

/// Reads one row and passes it to `see`.
#[inline]
fn take(
    row: &CsvRow<'_>,
    columns: &Columns,
    stamps: &mut Stamps,
    state: &mut ScanState,
    see: &mut impl FnMut(&LogRow, &LogLabels),
) {
    let (line, count) = (row.line, row.count);
    let cell = |at| row.cell(at);
    if count <= columns.last {
        if !is_names(cell(columns.stamp)) {
            const FEW: &str = "is the first cell of a row with too few columns";
            state.add_bad_row(|| BadRow::new(RowPlace::Line(line), "timeStamp", cell(0).bytes(), FEW));
        }
        return;
    }
    let stamp = cell(columns.stamp);
    let Some(start_ns) = stamps.ns(stamp) else {
        // Files to which several runs were appended may contain the column names several times.
        if !is_names(stamp) {
            const NO_TIME: &str = "is not a time in ms since 1970";
            state.add_bad_row(|| BadRow::new(RowPlace::Line(line), "timeStamp", stamp.bytes(), NO_TIME));
        }
        return;
    };
    let elapsed = cell(columns.elapsed);
    const NO_SPAN: &str = "is not a duration in ms";
    let Some(elapsed_ns) = elapsed.span_ns() else {
        state.add_bad_row(|| BadRow::new(RowPlace::Line(line), "elapsed", elapsed.bytes(), NO_SPAN));
        return;
    };
    let latency_ns = columns.latency.map(&cell).filter(|cell| !cell.is_empty());
    let latency_ns = match latency_ns.map(|cell| (cell, cell.span_ns())) {
        Some((cell, None)) => {
            state.add_bad_row(|| BadRow::new(RowPlace::Line(line), "Latency", cell.bytes(), NO_SPAN));
            return;
        }
        Some((_, known)) => known,
        None => None,
    };
    let bytes = columns.bytes.map(&cell).filter(|cell| !cell.is_empty());
    let bytes = match bytes.map(|cell| (cell, cell.number())) {
        Some((cell, None)) => {
            state.add_bad_row(|| {
                BadRow::new(RowPlace::Line(line), "bytes", cell.bytes(), "is not a number of bytes")
            });
            return;
        }
        Some((_, known)) => known,
        None => None,
    };
    let idle = columns.idle.filter(|_| columns.stamps_are_ends).map(&cell).unwrap_or_default().bytes();
    let Some(start_ns) = cells::start_ns(start_ns, elapsed_ns, idle, columns.stamps_are_ends) else {
        state.add_bad_row(|| BadRow::new(RowPlace::Line(line), "IdleTime", idle, NO_SPAN));
        return;
    };
    if columns.message.is_some_and(|at| cells::is_transaction(cell(at).bytes())) {
        state.facts.transactions += 1;
        return;
    }
    let count = columns.sample_count.and_then(|at| cell(at).number());
    state.facts.of_several += u64::from(count.is_some_and(|count| count > 1));
    state.facts.rows += 1;
    let thread = columns.thread.map(|at| cell(at).bytes());
    let row = LogRow {
        start_ns,
        elapsed_ns,
        latency_ns,
        late_ns: None,
        bytes,
        label: state.labels.intern(cell(columns.label).bytes()),
        group: None,
        thread: thread.and_then(cells::thread),
        user: thread.and_then(cells::user),
        success: columns.success.is_none_or(|at| cells::passed(cell(at).bytes())),
    };
    see(&row, &state.labels);
}

fn is_names(stamp: Cell<'_>) -> bool {
    stamp.bytes() == b"timeStamp"
}
