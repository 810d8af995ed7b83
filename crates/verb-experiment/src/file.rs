//! Reads the file of an experiment.

use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints;
use busyhour_experiment::{Design, EXPERIMENT_BYTES_MAX, Experiment, ReadExperiment};
use busyhour_limits::files::read_input_text;
use busyhour_terminal::exit::{Exit, complain, hinted, say};
use busyhour_trials::LeftOut;

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

/// The part of a file that is executed.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    /// The seed, instead of that of the file.
    pub(super) seed: Option<u64>,
    pub(super) is_short: bool,
    /// Levels that are left out, by the names of their factors.
    pub(super) left_out: LeftOut,
}

/// Reads a file; prints errors and warnings.
pub(super) fn load(path: &Path, selection: &Selection) -> Result<LoadedExperiment, Exit> {
    let name = path.display().to_string();
    let unreadable = |error: &std::io::Error| {
        complain(Exit::Refused, &format!("cannot read {name}: {}", io_hints::with_hint(error)))
    };
    let text = read_input_text(path, EXPERIMENT_BYTES_MAX as u64 + 1).map_err(|error| unreadable(&error))?;
    let absolute = std::path::absolute(path).map_err(|error| unreadable(&error))?;
    let ReadExperiment { experiment, warnings } = Experiment::read(&text, &name).map_err(|found| {
        found.iter().for_each(|finding| say(&finding.to_string()));
        Exit::Refused
    })?;
    warnings.iter().for_each(|warning| say(&warning.to_string()));
    let base_dir = absolute.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    select(experiment, selection)
        .map(|(experiment, design)| LoadedExperiment {
            experiment,
            design,
            text,
            name: name.clone(),
            base_dir,
        })
        .map_err(|message| complain(Exit::Refused, &format!("{name}: {message}")))
}

/// The selected part of an experiment, and its design.
fn select(mut experiment: Experiment, selection: &Selection) -> Result<(Experiment, Design), String> {
    if selection.is_short {
        experiment = experiment.shortened().ok_or_else(|| {
            hinted(
                "the experiment has no short form".to_owned(),
                "add [short] to the file, for example with `duration` and `repetitions`",
            )
        })?;
    }
    if let Some(seed) = selection.seed {
        experiment.trials.seed = seed;
    }
    for factor in &mut experiment.factors {
        let Some(names) = selection.left_out.get(&factor.name) else { continue };
        factor.levels.retain(|level| !names.contains(&level.name));
    }
    // A factor with one level has no effect.
    experiment
        .factors
        .retain(|factor| factor.levels.len() != 1 || !selection.left_out.contains_key(&factor.name));
    let design = experiment.design().map_err(|error| error.to_string())?;
    Ok((experiment, design))
}

/// The levels whose treatments are among the given ones.
pub(super) fn levels_with(experiment: &Experiment, treatments: &[&str]) -> LeftOut {
    let mut found = LeftOut::new();
    for factor in &experiment.factors {
        let levels = factor
            .levels
            .iter()
            .filter(|level| level.treatments.iter().any(|name| treatments.contains(&name.as_str())));
        let names: Vec<String> = levels.map(|level| level.name.clone()).collect();
        if !names.is_empty() {
            found.insert(factor.name.clone(), names);
        }
    }
    found
}
