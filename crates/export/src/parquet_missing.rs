//! Replaces the export of Apache Parquet files in a program that was built without it: the export returns an error.

use std::io::{self, Write};

use busyhour_results::{RecordReading, ResultsInput};

use crate::ExportError;
use crate::exported_samples::ExportedSamples;

/// Returns an error, because this program cannot write Apache Parquet files.
///
/// # Errors
/// Always [`ExportError::NotBuilt`].
pub fn export_parquet<W: Write + Send>(
    _inputs: &[ResultsInput],
    _reading: &RecordReading,
    _create: impl FnOnce() -> io::Result<W>,
    _name: &str,
    _target: &str,
) -> Result<ExportedSamples, ExportError> {
    Err(ExportError::NotBuilt { format: "Parquet", feature: "parquet" })
}
