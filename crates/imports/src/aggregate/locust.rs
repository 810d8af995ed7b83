//! Locust's `--csv`: the table at the end (`_stats.csv`) and the history (`_stats_history.csv`).
//!
//! Locust rounds times before it counts them: to whole ms below 100 ms, to 10 ms below 1 s, to 100 ms below 10 s. The percentiles
//! of a history cover the run so far; with `--csv-full-history`, they cover about the last 10 s.

use std::io::Read;

use crate::aggregate_result::{AggregateResult, AggregateRow, MovingWindow, PercentileMethod, ROWS_MAX};
use crate::csv_cells::split;
use crate::error::{BadLine, ImportError};
use crate::lines::Lines;

/// The start of the first line of the table, and of the history.
pub(crate) const STATS_HEAD: &[u8] = b"Type,Name,Request Count,Failure Count,";
pub(crate) const HISTORY_HEAD: &[u8] = b"Timestamp,User Count,Type,Name,Requests/s,Failures/s,";

/// The name of the row with all requests.
const TOTAL: &str = "Aggregated";

/// Length in s of the window of `--csv-full-history`.
const WINDOW_S: f64 = 10.0;

/// Number of significant digits to which times are rounded.
const DIGITS: u32 = 2;

/// Positions of the columns.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    /// The percentiles, with their positions.
    percentiles: Vec<(f64, usize)>,
}

impl Columns {
    fn of(line: &[u8]) -> Columns {
        let names: Vec<String> =
            split(line).iter().map(|cell| String::from_utf8_lossy(&cell.text).into_owned()).collect();
        let percentile = |(at, name): (usize, &String)| Some((name.strip_suffix('%')?.parse().ok()?, at));
        let percentiles = names.iter().enumerate().filter_map(percentile).collect();
        Columns { names, percentiles }
    }
}

/// The cells of a row.
struct Row<'l> {
    columns: &'l Columns,
    cells: Vec<String>,
}

impl Row<'_> {
    fn text(&self, name: &str) -> &str {
        let at = self.columns.names.iter().position(|known| known == name);
        at.and_then(|at| self.cells.get(at)).map_or("", String::as_str)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name).trim().parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn percentiles(&self) -> impl Iterator<Item = (f64, f64)> {
        self.columns
            .percentiles
            .iter()
            .filter_map(|(percentile, at)| Some((*percentile, self.cells.get(*at)?.trim().parse().ok()?)))
    }
}

/// Reads all rows and calls `see` with each of them.
fn each_row(
    input: &mut impl Read,
    mut see: impl FnMut(&Row<'_>, u64) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let mut columns = Columns::default();
    while lines.next_record()? {
        let line = lines.text();
        if lines.number() == 1 {
            columns = Columns::of(line);
        } else if !line.is_empty() {
            let cells = split(line);
            if cells.len() < columns.names.len() {
                match lines.cut_at() {
                    // Locust overwrites the file while it runs, so a copy may end within a row.
                    Some(_) => return Ok(()),
                    None => {
                        return Err(
                            BadLine::new(lines.number(), 0, "row", line, "has too few columns").into()
                        );
                    }
                }
            }
            let cells = cells.iter().map(|cell| String::from_utf8_lossy(&cell.text).into_owned()).collect();
            see(&Row { columns: &columns, cells }, lines.number())?;
        }
    }
    Ok(())
}

pub(super) fn read_stats(input: &mut impl Read) -> Result<AggregateResult, ImportError> {
    let mut result = AggregateResult::default();
    let mut total = None;
    each_row(input, |row, number| {
        let count = |name: &'static str| {
            let count = row.number(name).filter(|count| *count >= 0.0);
            count.ok_or_else(|| BadLine::new(number, 0, name, row.text(name).as_bytes(), "is not a number"))
        };
        let name = [row.text("Type"), row.text("Name")];
        let mut found = AggregateRow {
            name: name.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "),
            requests: Some(count("Request Count")? as u64),
            failures: Some(count("Failure Count")? as u64),
            rate_per_s: row.number("Requests/s"),
            mean_ms: row.number("Average Response Time"),
            min_ms: row.number("Min Response Time"),
            max_ms: row.number("Max Response Time"),
            ..AggregateRow::default()
        };
        found.set_percentiles(row.percentiles());
        if row.text("Name") == TOTAL && row.text("Type").is_empty() {
            total = Some(found);
        } else if result.rows.len() < ROWS_MAX {
            result.rows.push(found);
        } else {
            result.more_rows += 1;
        }
        Ok(())
    })?;
    result.rows.splice(0..0, total);
    result.method.rounded_digits = Some(DIGITS);
    Ok(result)
}

pub(super) fn read_history(input: &mut impl Read) -> Result<AggregateResult, ImportError> {
    let mut last = None;
    let mut is_full = false;
    let mut window = MovingWindow { window_s: WINDOW_S, ..MovingWindow::default() };
    each_row(input, |row, _| {
        if row.text("Name") != TOTAL || !row.text("Type").is_empty() {
            // Only a full history has rows for single requests.
            is_full = true;
            return Ok(());
        }
        let mut found = AggregateRow {
            name: TOTAL.into(),
            requests: row.number("Total Request Count").map(|count| count as u64),
            failures: row.number("Total Failure Count").map(|count| count as u64),
            rate_per_s: row.number("Requests/s"),
            mean_ms: row.number("Total Average Response Time"),
            min_ms: row.number("Total Min Response Time"),
            max_ms: row.number("Total Max Response Time"),
            ..AggregateRow::default()
        };
        found.set_percentiles(row.percentiles());
        // Before the first window ends, all percentiles are 0.
        if found.percentile(100.0).is_some_and(|ms| ms > 0.0) {
            for (range, percentile) in [(&mut window.p95_ms, 95.0), (&mut window.p99_ms, 99.0)] {
                if let Some(ms) = found.percentile(percentile) {
                    let (least, largest) = range.unwrap_or((ms, ms));
                    *range = Some((least.min(ms), largest.max(ms)));
                }
            }
        }
        last = Some(found);
        Ok(())
    })?;
    if let Some(last) = last.as_mut().filter(|_| is_full) {
        last.name = format!("last {WINDOW_S} s of {TOTAL}");
    }
    let method = PercentileMethod {
        window: is_full.then_some(window),
        rounded_digits: Some(DIGITS),
        ..PercentileMethod::default()
    };
    Ok(AggregateResult { rows: last.into_iter().collect(), method, ..AggregateResult::default() })
}
