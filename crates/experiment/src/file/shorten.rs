//! Applies and checks the short form of an experiment.

use busyhour_diagnostic::nearest_name;

use super::experiment::Experiment;
use super::factor::Factor;
use super::finding::{Finding, Step};

impl Experiment {
    /// The short form of the experiment; `None` if the file has none.
    #[must_use]
    pub fn shortened(&self) -> Option<Experiment> {
        let short = self.short.as_ref()?;
        let mut experiment = self.clone();
        let trials = &mut experiment.trials;
        if let Some(duration) = &short.duration {
            trials.duration = duration.clone();
        }
        trials.ramp_up = short.ramp_up.clone().or(trials.ramp_up.take());
        if short.repetitions.is_some() {
            trials.repetitions = short.repetitions;
            (trials.until, trials.min, trials.max) = (None, None, None);
        }
        for factor in &mut experiment.factors {
            if let Some(kept) = short.levels.get(&factor.name) {
                factor.levels.retain(|level| kept.contains(&level.name));
            }
        }
        Some(experiment)
    }
}

/// Checks the short form.
pub(super) fn check_short<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let Some(short) = &experiment.short else { return };
    let seconds = |duration: &Option<super::Duration>| duration.as_ref().map(super::Duration::seconds);
    let ramp_up_s = seconds(&short.ramp_up).or(seconds(&experiment.trials.ramp_up)).unwrap_or(0.0);
    let duration_s = seconds(&short.duration).unwrap_or_else(|| experiment.trials.duration.seconds());
    if ramp_up_s >= duration_s {
        let message = format!("the short form excludes {ramp_up_s} s of trials of {duration_s} s");
        found.push(
            Finding::error([Step::Key("short")], message)
                .hint("set `ramp-up` of [short] to a time below its `duration`"),
        );
    }
    if short.repetitions.is_some_and(|repetitions| repetitions < 2) {
        let message = "the short form needs at least 2 repetitions";
        found.push(Finding::error([Step::Key("short"), Step::Key("repetitions")], message));
    }
    for (name, kept) in &short.levels {
        let path = [Step::Key("short"), Step::Key("levels"), Step::Key(name.as_str())];
        let Some(factor) = experiment.factors.iter().find(|factor| factor.name == *name) else {
            let known = experiment.factors.iter().map(|factor| factor.name.as_str());
            let near = nearest_name(name, known).map(|near| format!("did you mean {near:?}?"));
            let finding = Finding::error(path, format!("there is no factor {name:?}"));
            found.push(near.into_iter().fold(finding, |finding, hint| finding.hint(hint)));
            continue;
        };
        check_levels(factor, kept, path, found);
    }
}

fn check_levels<'e>(
    factor: &'e Factor,
    kept: &'e [String],
    path: [Step<'e>; 3],
    found: &mut Vec<Finding<'e>>,
) {
    let is_level = |name: &&String| factor.levels.iter().any(|level| level.name == **name);
    if let Some(unknown) = kept.iter().find(|name| !is_level(name)) {
        let message = format!("the factor {:?} has no level {unknown:?}", factor.name);
        found.push(Finding::error(path, message));
        return;
    }
    let base = factor.base_index().and_then(|base| factor.levels.get(base));
    if let Some(base) = base.filter(|base| !kept.contains(&base.name)) {
        let message =
            format!("the short form lacks the base level {:?} of the factor {:?}", base.name, factor.name);
        found.push(Finding::error(path, message).hint("add it"));
    } else if kept.len() < 2 {
        let message = format!("the short form has fewer than two levels of the factor {:?}", factor.name);
        found.push(Finding::error(path, message).hint("add another level"));
    }
}
