//! The progress of an experiment, as lines on standard error.

use std::path::Path;

use busyhour_experiment::{Trial, TrialOutcome};
use busyhour_report::numbers::{duration, rate};
use busyhour_terminal::exit::{note, say};
use busyhour_trials::{EndedTrial, ExperimentProgress, TrialObserver};

/// Prints a line per trial.
pub(super) struct ProgressLines {
    /// The first response, and its unit.
    pub(super) response: Option<(String, &'static str)>,
}

impl TrialObserver for ProgressLines {
    fn begun(&mut self, trial: Trial, case: &str, progress: &ExperimentProgress) {
        let number = progress.total.saturating_sub(progress.open) + 1;
        note(&format!("trial {number} of {}: {} {case}", progress.total, trial.id));
    }

    fn ended(&mut self, ended: &EndedTrial, case: &str, dir: &Path, progress: &ExperimentProgress) {
        let id = ended.entry.trial;
        let left = match progress.left {
            Some(left) if progress.open > 0 => {
                format!("; {} open, about {} left", progress.open, duration(left.shortest_s))
            }
            _ => String::new(),
        };
        let value = self.response.as_ref().and_then(|(name, unit)| {
            let value = ended.values.get(name).copied().flatten()?;
            Some(format!(", {name} {} {unit}", rate(value)).trim_end().to_owned())
        });
        match &ended.entry.outcome {
            TrialOutcome::Finished => {
                note(&format!(
                    "  finished in {}{}{left}",
                    duration(ended.seconds),
                    value.unwrap_or_default()
                ));
            }
            TrialOutcome::Spoiled { reason } => {
                say(&format!(
                    "warning: the trial {id} ({case}) is spoiled: {reason}\n  its files: {}{left}",
                    dir.display()
                ));
            }
            TrialOutcome::Failed { reason } => {
                say(&format!(
                    "warning: the trial {id} ({case}) failed: {reason}\n  its files: {}{left}",
                    dir.display()
                ));
            }
            TrialOutcome::Interrupted => say(&format!("the trial {id} ({case}) was interrupted")),
        }
        ended.notes.iter().for_each(|text| say(&format!("note: the trial {id}: {text}")));
    }

    fn notice(&mut self, text: &str) {
        say(text);
    }
}
