//! Files of other tools that contain percentiles and no samples.

use std::fs::File;
use std::io::{Cursor, Read as _};
use std::path::Path;

use busyhour_imports::{AggregateResult, Detected, read_aggregate};

use crate::jtl_scan::{HEAD_MAX, LogError};
use crate::unpack::unpacked;

/// Reads the file at `path` if it contains percentiles and no samples; `None` for all other files, for directories, and for pipes,
/// which could not be read again.
///
/// # Errors
/// The file contains percentiles, but cannot be read.
pub fn read_percentiles(path: &Path) -> Result<Option<AggregateResult>, LogError> {
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let (mut input, _, _) = unpacked(Box::new(File::open(path)?))?;
    let mut head = Vec::new();
    (&mut input).take(HEAD_MAX).read_to_end(&mut head)?;
    match busyhour_imports::detect(&head) {
        Some(Detected::Aggregate(format)) => {
            Ok(Some(read_aggregate(format, Cursor::new(head).chain(input))?))
        }
        Some(Detected::Samples(_) | Detected::Unsupported(_)) | None => Ok(None),
    }
}
