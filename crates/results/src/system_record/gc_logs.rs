//! The garbage-collection logs of a run.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use busyhour_gclog::{GC_FILE_NAME, GcFile, GcSource};

/// Logs that are shown.
const LOGS_MAX: usize = 8;

/// Maximum size of a file that is read, in bytes. A log needs about 1 MiB.
const FILE_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Reads `gc.json` of a run directory; an empty list if there is none.
///
/// # Errors
/// A description of why the file cannot be read.
pub(super) fn read(run_dir: &Path, file: Option<&str>) -> Result<Vec<GcSource>, String> {
    let path = run_dir.join(file.unwrap_or(GC_FILE_NAME));
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let mut json = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut json));
    read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    if json.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("{} has more than {FILE_BYTES_MAX} bytes", path.display()));
    }
    let mut sources = GcFile::from_json(&json).map_err(|error| error.to_string())?.sources;
    sources.truncate(LOGS_MAX);
    Ok(sources)
}
