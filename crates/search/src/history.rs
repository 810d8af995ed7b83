//! The finished trials of a search, and conclusions from them that require no model.

use crate::from_above::FromAbove;
use crate::margins::{Measured, excess_of};
use crate::posterior::{Observation, Prior};
use crate::settings::SearchSettings;
use crate::trial::{FinishedTrial, NextTrial, TrialOutcome, TrialPurpose, VoidCause};

/// Number of consecutive trials at a load that was not delivered, after which this load is not tried again.
pub(crate) const VOIDS_IN_ROW: usize = 3;

/// A trial with at least this share of the full length counts as one of full length.
const FULL_SHARE: f64 = 0.9;

/// The half-pass load is searched up to this factor beyond both ends of the range.
const BEYOND: f64 = 4.0;

/// The settings of a search and its finished trials.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct History {
    pub settings: SearchSettings,
    pub trials: Vec<FinishedTrial>,
    /// The number of trials when the search was continued after spoiled ones. Earlier void trials do not end it again.
    pub resumed_at: usize,
}

impl History {
    /// The prior distribution of the half-pass load.
    pub(crate) fn prior(&self) -> Prior {
        let (low, high) = ((self.settings.lowest / BEYOND).ln(), (self.settings.highest * BEYOND).ln());
        let guess =
            self.settings.guess.map(|guess| (guess.load.ln().clamp(low, high), guess.relative_error.ln_1p()));
        Prior { low, high, guess }
    }

    /// Trials with an outcome and without a preceding overload.
    pub(crate) fn judged(&self) -> impl DoubleEndedIterator<Item = (&FinishedTrial, bool)> {
        self.trials
            .iter()
            .filter(|finished| finished.trial.purpose != TrialPurpose::FromAbove)
            .filter_map(|finished| finished.passed().map(|passed| (finished, passed)))
    }

    /// Trials with an outcome and a purpose.
    pub(crate) fn judged_for(
        &self,
        purpose: TrialPurpose,
    ) -> impl DoubleEndedIterator<Item = (&FinishedTrial, bool)> {
        self.trials
            .iter()
            .filter(move |finished| finished.trial.purpose == purpose)
            .filter_map(|finished| finished.passed().map(|passed| (finished, passed)))
    }

    pub(crate) fn observations(&self) -> Vec<Observation> {
        self.judged()
            .map(|(finished, passed)| Observation {
                x: finished.trial.load.ln(),
                share: self.share(finished),
                passed,
            })
            .collect()
    }

    /// The measured values of trials without a preceding overload.
    pub(crate) fn measured(&self) -> Vec<Measured> {
        self.judged()
            .map(|(finished, _)| Measured {
                x: finished.trial.load.ln(),
                share: self.share(finished),
                excess: finished.margin.and_then(excess_of),
            })
            .collect()
    }

    pub(crate) fn outcomes_from_above(&self) -> Vec<FromAbove> {
        self.judged_for(TrialPurpose::FromAbove)
            .map(|(finished, passed)| FromAbove { x: finished.trial.load.ln(), passed })
            .collect()
    }

    /// The length of a trial as a share of the full length.
    pub(crate) fn share(&self, finished: &FinishedTrial) -> f64 {
        (finished.trial.seconds / self.settings.length.full_seconds_at(finished.trial.load)).min(1.0)
    }

    /// Trials of full length with this outcome.
    pub(crate) fn full_trials(&self, wanted: bool) -> impl Iterator<Item = &FinishedTrial> {
        self.judged()
            .filter(move |(finished, passed)| *passed == wanted && self.share(finished) >= FULL_SHARE)
            .map(|(finished, _)| finished)
    }

    /// The largest load at which a trial of full length passed. No answer is above it.
    pub(crate) fn largest_passed(&self) -> Option<f64> {
        self.full_trials(true).map(|finished| finished.trial.load).reduce(f64::max)
    }

    pub(crate) fn has_outcome(&self, wanted: bool) -> bool {
        self.judged().any(|(_, passed)| passed == wanted)
    }

    /// Seconds under load so far.
    pub(crate) fn spent_seconds(&self) -> f64 {
        self.trials.iter().map(|finished| finished.trial.load_seconds()).sum()
    }

    /// Seconds under load that the budget still allows.
    pub(crate) fn remaining_seconds(&self) -> f64 {
        self.settings.budget_seconds - self.spent_seconds()
    }

    pub(crate) fn is_void(finished: &FinishedTrial) -> bool {
        matches!(finished.outcome, TrialOutcome::Void(_))
    }

    pub(crate) fn void_trials(&self, cause: VoidCause) -> usize {
        self.trials.iter().filter(|finished| finished.outcome == TrialOutcome::Void(cause)).count()
    }

    /// The void trials at the end of the history, without those before the search was continued.
    pub(crate) fn last_voids(&self) -> &[FinishedTrial] {
        let first =
            self.trials.iter().rposition(|finished| !History::is_void(finished)).map_or(0, |at| at + 1);
        &self.trials[first.max(self.resumed_at)..]
    }

    /// The number of void trials since the search was continued.
    pub(crate) fn voids_since_resumed(&self) -> usize {
        self.trials[self.resumed_at..].iter().filter(|finished| History::is_void(finished)).count()
    }

    /// The largest load that is still tried after others were not delivered: the geometric mean of the smallest load that was
    /// not delivered and of the largest load that was (or of the lower end of the range). `None` if all loads were delivered.
    pub(crate) fn generator_limit(&self) -> Option<f64> {
        let mut limit: Option<f64> = None;
        let mut delivered = self.settings.lowest;
        let is_not_delivered =
            |finished: &FinishedTrial| finished.outcome == TrialOutcome::Void(VoidCause::LoadNotDelivered);
        let same = |one: &FinishedTrial, two: &FinishedTrial| {
            is_not_delivered(one) == is_not_delivered(two) && one.trial == two.trial
        };
        for trials in self.trials.chunk_by(same) {
            let load = trials[0].trial.load;
            if !is_not_delivered(&trials[0]) {
                delivered = delivered.max(load);
            } else if trials.len() >= VOIDS_IN_ROW {
                let below =
                    if load <= self.settings.lowest { 0.0 } else { (load * delivered.min(load)).sqrt() };
                let below = self.settings.kind.round_down(below);
                limit = Some(limit.map_or(below, |limit| limit.min(below)));
            }
        }
        limit
    }

    /// The largest load to try.
    pub(crate) fn highest(&self) -> f64 {
        self.generator_limit().map_or(self.settings.highest, |limit| limit.min(self.settings.highest))
    }

    /// The nearest load that can be tried.
    pub(crate) fn possible(&self, load: f64) -> f64 {
        self.settings.kind.round(load).min(self.highest()).max(self.settings.lowest)
    }

    /// A trial without a preceding overload, with a length between the shortest and the full one, in whole seconds if possible.
    pub(crate) fn trial(&self, load: f64, share: f64, purpose: TrialPurpose) -> NextTrial {
        let (shortest, full) =
            (self.settings.length.shortest_seconds_at(load), self.settings.length.full_seconds_at(load));
        let seconds = (share * full).max(shortest).ceil().min(full);
        NextTrial { load, seconds, overload: None, purpose }
    }
}
