//! Replaces the export of series as Apache Parquet files in a program that was built without it: the export returns an error.

use std::io::{self, Read, Write};

use crate::ExportError;
use crate::exported_series::{ExportedSeries, SeriesSelection};

/// Returns an error, because this program cannot write Apache Parquet files.
///
/// # Errors
/// Always [`ExportError::NotBuilt`].
pub fn export_series_parquet<W: Write + Send>(
    _input: impl Read,
    _selection: &SeriesSelection,
    _create: impl FnOnce() -> io::Result<W>,
    _run: &str,
    _target: &str,
) -> Result<ExportedSeries, ExportError> {
    Err(ExportError::NotBuilt { format: "Parquet", feature: "parquet" })
}
