//! The processes of a run whose stacks are recorded.

use std::io;
use std::path::Path;
use std::sync::Arc;

use busyhour_observe::Probe;
use busyhour_program::clock::Clock;
use busyhour_record::RunPart;

use crate::source_spec::SourceSpec;
use crate::stack_file::StackFile;
use crate::stack_probe::{StackProbe, StackReader};

/// The file of stacks of a run; it does not exist if no stacks are recorded.
#[derive(Debug, Default)]
pub(crate) struct StackSources {
    file: Option<Arc<StackFile>>,
}

impl StackSources {
    /// Creates the file, and a probe for each process.
    ///
    /// # Errors
    /// The file exists or cannot be created.
    pub(crate) fn create(
        run_dir: &Path,
        clock: &Clock,
        readers: Vec<Box<dyn StackReader>>,
    ) -> io::Result<(StackSources, Vec<Box<dyn Probe>>)> {
        if readers.is_empty() {
            return Ok((StackSources::default(), Vec::new()));
        }
        let file = Arc::new(StackFile::create(run_dir)?);
        let probes = readers
            .into_iter()
            .zip(clock.wall_start_ms()..)
            .map(|(reader, seed)| Box::new(StackProbe::new(reader, file.clone(), seed)) as Box<dyn Probe>);
        let probes = probes.collect();
        Ok((StackSources { file: Some(file) }, probes))
    }

    /// The files of the run directory that are written for these sources.
    pub(crate) fn parts(sources: &[SourceSpec]) -> Vec<RunPart> {
        let is_stacks = |source: &SourceSpec| matches!(source, SourceSpec::Stacks(_));
        if sources.iter().any(is_stacks) { vec![StackFile::part()] } else { Vec::new() }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.finish())
    }
}
