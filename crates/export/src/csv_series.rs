//! Writes observed series as CSV.

use std::fmt::Write as _;
use std::io::{Read, Write};

use busyhour_diagnostic::printable;

use crate::ExportError;
use crate::exported_series::{ExportedSeries, SeriesRow, SeriesSelection, for_each_value};

/// The columns.
const HEAD: [&str; 7] = ["time_ms", "run_s", "source", "metric", "labels", "kind", "value"];

/// Writes a line per value of a series file, in the order of the file and in memory proportional to the number of series. `target` is the
/// name of the output in messages.
///
/// `time_ms` is in ms since 1970, `run_s` in seconds since the start of the run; values of counters are totals.
///
/// # Errors
/// The series file cannot be read, or the output cannot be written.
pub fn export_series_csv(
    input: impl Read,
    selection: &SeriesSelection,
    output: impl Write,
    target: &str,
) -> Result<ExportedSeries, ExportError> {
    let wrong = |error: csv::Error| ExportError::Io { target: target.to_owned(), source: error.into() };
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(HEAD).map_err(wrong)?;
    let (mut time_ms, mut run_s, mut value) = (String::new(), String::new(), String::new());
    let exported = for_each_value(input, selection, |row: &SeriesRow<'_>| {
        for text in [&mut time_ms, &mut run_s, &mut value] {
            text.clear();
        }
        let ns = row.time.0;
        // Writing to a string does not fail.
        if let Some(anchor_ms) = row.wall_anchor_ms {
            let _ = write!(time_ms, "{}", anchor_ms.saturating_add_unsigned(ns / 1_000_000));
        }
        let _ = write!(run_s, "{}.{:06}", ns / 1_000_000_000, ns / 1_000 % 1_000_000);
        let _ = write!(value, "{}", row.value);
        let series = row.series;
        let cells = [&series.source, &series.metric, &series.labels].map(|text| printable(text));
        let [source, metric, labels] = &cells;
        writer.write_record([&time_ms, &run_s, source, metric, labels, series.kind, &value]).map_err(wrong)
    })?;
    writer.flush().map_err(|source| ExportError::Io { target: target.to_owned(), source })?;
    Ok(exported)
}
