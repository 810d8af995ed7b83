//! `neighbours.json`: the neighbours that harmed the observed system.

use std::path::Path;

use busyhour_detection::{NEIGHBOURS_FILE_NAME, NEIGHBOURS_VERSION, Neighbours};
use busyhour_record::{RunDir, RunDirError, RunPart};

use crate::source_spec::SourceSpec;

/// Receives the sentence about a neighbour when it is found.
pub type NeighbourSink = Box<dyn FnMut(&str) + Send>;

/// The neighbours that have been found so far.
pub(crate) type NeighboursSoFar = Box<dyn Fn() -> Neighbours + Send>;

/// The part of the run directory, if one of the sources may be on this machine.
pub(crate) fn part(sources: &[SourceSpec]) -> Option<RunPart> {
    let is_local =
        |source: &SourceSpec| matches!(source, SourceSpec::Auto | SourceSpec::Os | SourceSpec::Process(_));
    sources.iter().any(is_local).then(|| RunPart::new("neighbours", NEIGHBOURS_FILE_NAME, NEIGHBOURS_VERSION))
}

/// Writes the neighbours into the run directory, and replaces the file that was written before.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(run_dir: &Path, neighbours: &Neighbours) -> Result<(), RunDirError> {
    // The content can always be serialized.
    let text = serde_json::to_string_pretty(neighbours).unwrap_or_default();
    RunDir::write_whole(&run_dir.join(NEIGHBOURS_FILE_NAME), text.as_bytes())
}
