//! Writes observed series as an Apache Parquet file.

use std::io::{self, Read, Write};

use crate::ExportError;
use crate::exported_series::{ExportedSeries, SeriesRow, SeriesSelection, for_each_value};
use crate::parquet_columns::{Cell, ColumnSpec, Content, GROUP_ROWS, ParquetTable, cause};

/// The columns: name, content, and whether values may be unknown.
const COLUMNS: [(&str, Content, bool); 7] = [
    ("read_at", Content::Instant, true),
    ("run_ns", Content::Number, false),
    ("source", Content::Text, false),
    ("metric", Content::Text, false),
    ("labels", Content::Text, false),
    ("kind", Content::Text, false),
    ("value", Content::Real, false),
];

/// Writes a row per value of a series file, in the order of the file. `create` opens the output; `run` is the name of the run in its
/// metadata, `target` the name of the output in messages. Memory is bounded by a row group and the number of series.
///
/// # Errors
/// The series file cannot be read, or the output cannot be written.
pub fn export_series_parquet<W: Write + Send>(
    input: impl Read,
    selection: &SeriesSelection,
    create: impl FnOnce() -> io::Result<W>,
    run: &str,
    target: &str,
) -> Result<ExportedSeries, ExportError> {
    let wrong = |error| ExportError::Io { target: target.to_owned(), source: cause(error) };
    let output = create().map_err(|source| ExportError::Io { target: target.to_owned(), source })?;
    let columns =
        COLUMNS.map(|(name, content, optional)| -> ColumnSpec { (name.to_owned(), content, optional) });
    let mut table = ParquetTable::new(output, "value", &columns, run, GROUP_ROWS).map_err(wrong)?;
    let exported = for_each_value(input, selection, |row: &SeriesRow<'_>| {
        let start_ns = row.wall_anchor_ms.map(|ms| ms.saturating_mul(1_000_000));
        let cells = [
            Cell::Instant(start_ns.map(|start| start.saturating_add_unsigned(row.time.0))),
            Cell::Number(Some(row.time.0)),
            Cell::Text(Some(&row.series.source)),
            Cell::Text(Some(&row.series.metric)),
            Cell::Text(Some(&row.series.labels)),
            Cell::Text(Some(row.series.kind)),
            Cell::Real(row.value),
        ];
        table.row(cells).map_err(wrong)
    })?;
    table.finish().map_err(wrong)?;
    Ok(exported)
}
