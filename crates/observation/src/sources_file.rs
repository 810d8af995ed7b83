//! `sources.json`: the line of each source, for reports.

use std::path::Path;

use busyhour_record::{RunDir, RunDirError, RunPart};
use serde::Serialize;

use crate::source_line::{LineState, SourceLine};

/// The name of the file in the run directory.
pub(crate) const SOURCES_FILE_NAME: &str = "sources.json";

/// Version of the format.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct SourcesFile<'l> {
    version: u32,
    sources: Vec<Source<'l>>,
}

#[derive(Serialize)]
struct Source<'l> {
    name: &'l str,
    about: &'l str,
    /// `watched`, `limited` or `not-watched`.
    state: &'static str,
    /// The part that is missing, or the reason why the source is not watched.
    reason: &'l str,
    advice: &'l str,
}

impl<'l> Source<'l> {
    fn of(line: &'l SourceLine) -> Source<'l> {
        let (state, reason, advice) = match &line.state {
            LineState::Observed => ("watched", "", ""),
            LineState::Limited { missing, advice } => ("limited", missing.as_str(), advice.as_str()),
            LineState::NotObserved { reason, advice } => ("not-watched", reason.as_str(), advice.as_str()),
        };
        Source { name: &line.name, about: &line.about, state, reason, advice }
    }
}

/// The part of the run directory.
pub(crate) fn part() -> RunPart {
    RunPart::new("sources", SOURCES_FILE_NAME, VERSION)
}

/// Writes the lines of all sources into the run directory, and replaces the file that was written before.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(run_dir: &Path, lines: &[SourceLine]) -> Result<(), RunDirError> {
    let file = SourcesFile { version: VERSION, sources: lines.iter().map(Source::of).collect() };
    // Texts can always be serialized.
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    RunDir::write_whole(&run_dir.join(SOURCES_FILE_NAME), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_with_their_reasons() {
        let dir = tempfile::tempdir().unwrap();
        let lines = [
            SourceLine::watched("process:7", "java (JVM), target localhost:80"),
            SourceLine::not_watched("perf", "there are no counters", "use a machine that has them"),
        ];
        write(dir.path(), &lines).unwrap();
        let text = std::fs::read_to_string(dir.path().join(SOURCES_FILE_NAME)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["version"], 1);
        assert_eq!(value["sources"][0]["state"], "watched");
        assert_eq!(value["sources"][1]["state"], "not-watched");
        assert_eq!(value["sources"][1]["advice"], "use a machine that has them");
    }
}
