//! Reads the file of an experiment.

use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints;
use busyhour_experiment::{Design, EXPERIMENT_BYTES_MAX, Experiment, ReadExperiment};
use busyhour_limits::files::read_input_text;

use crate::exit::{Exit, complain, say};

/// An experiment with its file.
pub(super) struct LoadedExperiment {
    pub(super) experiment: Experiment,
    pub(super) design: Design,
    pub(super) text: String,
    /// The name of the file for messages.
    pub(super) name: String,
    /// The directory of the file, to which paths in the file are relative.
    pub(super) base_dir: PathBuf,
}

/// Reads a file; prints errors and warnings.
pub(super) fn load(path: &Path, seed: Option<u64>) -> Result<LoadedExperiment, Exit> {
    let name = path.display().to_string();
    let unreadable = |error: &std::io::Error| {
        complain(Exit::Refused, &format!("cannot read {name}: {}", io_hints::with_hint(error)))
    };
    let text = read_input_text(path, EXPERIMENT_BYTES_MAX as u64 + 1).map_err(|error| unreadable(&error))?;
    let absolute = std::path::absolute(path).map_err(|error| unreadable(&error))?;
    let ReadExperiment { mut experiment, warnings } = Experiment::read(&text, &name).map_err(|found| {
        found.iter().for_each(|finding| say(&finding.to_string()));
        Exit::Refused
    })?;
    warnings.iter().for_each(|warning| say(&warning.to_string()));
    if let Some(seed) = seed {
        experiment.trials.seed = seed;
    }
    let design = experiment.design().map_err(|error| complain(Exit::Refused, &format!("{name}: {error}")))?;
    let base_dir = absolute.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    Ok(LoadedExperiment { experiment, design, text, name, base_dir })
}
