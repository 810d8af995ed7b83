//! `gc.json`: the figures of the garbage-collection logs of a run, as a file of the run directory.

use serde::{Deserialize, Serialize};

use crate::summary::GcSummary;

/// Name of the file in a run directory.
pub const GC_FILE_NAME: &str = "gc.json";

/// Kind of the part in the manifest of a run.
pub const GC_PART_KIND: &str = "gc";

/// Version of the file's format.
pub const GC_FILE_VERSION: u32 = 1;

/// The content of the file: the figures of each log within the run, as `busyhour observe gc --json` prints them.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct GcFile {
    /// [`GC_FILE_VERSION`].
    pub version: u32,
    /// The logs in the order in which the user named them.
    pub sources: Vec<GcSource>,
}

/// A garbage-collection log of a run.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct GcSource {
    /// The name of the source, as in the series file: `gc:gc.log`.
    pub name: String,
    /// Time of second 0 of the log's clock, in seconds since the start of the run; `None` if it is unknown. The series of the
    /// summary have times on the log's clock.
    pub origin_s: Option<f64>,
    /// Maximum error of `origin_s` in seconds; `None` if it comes from wall times.
    pub uncertainty_s: Option<f64>,
    /// The figures.
    pub summary: GcSummary,
}

/// Why the content of a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GcFileError {
    /// It is not in the format.
    #[error("{GC_FILE_NAME} is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// It has a version that this program does not read.
    #[error("{GC_FILE_NAME} has version {found}; this program reads version {GC_FILE_VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
}

impl GcFile {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// It is damaged, or of another version.
    pub fn from_json(json: &[u8]) -> Result<GcFile, GcFileError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = serde_json::from_slice(json)?;
        match version {
            GC_FILE_VERSION => Ok(serde_json::from_slice(json)?),
            found => Err(GcFileError::Version { found }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::GcLogReader;

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut reader = GcLogReader::new();
        for at in 0..200 {
            let kind =
                if at % 9 == 0 { "Full (System.gc())" } else { "Young (Normal) (G1 Evacuation Pause)" };
            reader.line(&format!(
                "[{at}.104s][info][gc] GC({at}) Pause {kind} 60M->{}M(96M) 4.086ms",
                1 + at / 9
            ));
        }
        reader.line("[300.1s][info][gc] GC(999) Pause Young (Nor");
        let log = reader.finish();
        let empty = GcSummary::of(&GcLogReader::new().finish());
        for summary in [GcSummary::of(&log), empty] {
            let source =
                GcSource { name: "gc:gc.log".into(), origin_s: Some(-1.5), uncertainty_s: None, summary };
            let file = GcFile { version: GC_FILE_VERSION, sources: vec![source] };
            let json = serde_json::to_vec(&file).unwrap();
            let read = GcFile::from_json(&json).unwrap();
            assert_eq!(serde_json::to_vec(&read).unwrap(), json);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let error = |json: &str| GcFile::from_json(json.as_bytes()).unwrap_err().to_string();
        assert!(error("{\"version\":7,\"sources\":1}").contains("version 7"));
        assert!(error("{\"version\":1,\"sources\":[{}]}").contains("damaged"));
        assert!(error("").contains("damaged"));
    }
}
