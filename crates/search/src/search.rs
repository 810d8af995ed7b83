//! The search: which trial is next, and when it ends.

use serde::{Deserialize, Serialize};

use crate::answer::{SearchReport, recommended, report};
use crate::checks::{Checked, contradiction, far_trial, trial_above_failures};
use crate::end::SearchEnd;
use crate::estimate::{Estimate, is_precise, stated_load};
use crate::history::{History, VOIDS_IN_ROW};
use crate::placement::{missing_full_trial, search_trial, supporting_trial, within};
use crate::repeats::{confirmation_run, from_above_trial, planned};
use crate::settings::{SearchSettings, SettingsError};
use crate::trial::{FinishedTrial, NextTrial, SearchStep, TrialOutcome, TrialPurpose, VoidCause};

/// Largest number of trials, so that the time for each step is bounded.
pub const TRIALS_MAX: usize = 500;

/// Largest number of void trials.
const VOIDS_MAX: usize = 30;

/// Trials in a row that may be spoiled on the host.
const SPOILED_IN_ROW: usize = 5;

/// The lengths of full trials that remain when the answer needs its support.
const LAST_TRIALS: f64 = 2.0;

/// Loads far from the half-pass load are tried when its standard deviation is below this value, if the time of so many full trials
/// remains.
const CHECKED_SD: f64 = 0.1;
const CHECKED_TRIALS: f64 = 5.0;

/// Trials of full length before the search ends at an end of the range.
const TRIALS_AT_END: usize = 3;

/// The delivered load may differ from the wanted one by this share.
const DELIVERED_WITHIN: f64 = 0.1;

/// The search for the largest load that keeps the thresholds.
///
/// The state is serializable. A search that is read back continues with the same step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "StoredSearch", try_from = "StoredSearch")]
pub struct Search {
    history: History,
    pending: Option<NextTrial>,
    /// Set when the search itself is over; confirmation runs and trials from above follow.
    end: Option<SearchEnd>,
    is_finished: bool,
}

/// An outcome that the search cannot take.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ReportError {
    /// No trial is pending.
    #[error("no trial is pending; ask for the next step first")]
    NoTrial,
    /// The load is not that of the pending trial.
    #[error(
        "the load {load} differs by more than 10 % from the load {wanted} of the trial; report it as void"
    )]
    OtherLoad {
        /// The reported load.
        load: f64,
        /// The load of the trial.
        wanted: f64,
    },
}

impl Search {
    /// A search without trials.
    ///
    /// # Errors
    /// A setting is out of its limits.
    pub fn new(settings: SearchSettings) -> Result<Search, SettingsError> {
        let history = History { settings: settings.checked()?, trials: Vec::new(), resumed_at: 0 };
        Ok(Search { history, pending: None, end: None, is_finished: false })
    }

    /// The next step. It remains the same until its outcome is reported.
    pub fn next_step(&mut self) -> SearchStep {
        if !self.is_finished && self.pending.is_none() {
            self.pending = self.next_trial();
            self.is_finished = self.pending.is_none();
        }
        match self.pending {
            Some(trial) => SearchStep::Trial(trial),
            None => SearchStep::Finished(self.end.unwrap_or(SearchEnd::BudgetSpent)),
        }
    }

    /// Takes the outcome of the pending trial, and the load that was delivered. The outcome has to be void if less was delivered
    /// than the caller tolerates.
    ///
    /// # Errors
    /// No trial is pending, or the loads differ by more than 10 % although the outcome is not void.
    pub fn report(&mut self, load: f64, outcome: TrialOutcome) -> Result<(), ReportError> {
        self.report_measured(load, outcome, None)
    }

    /// Takes the outcome as [`Search::report`] does, with the relative distance of the measured value from the limit: positive if the
    /// trial failed, and the largest one of all thresholds. Measured values make the answer much more precise.
    ///
    /// # Errors
    /// Those of [`Search::report`].
    pub fn report_measured(
        &mut self,
        load: f64,
        outcome: TrialOutcome,
        margin: Option<f64>,
    ) -> Result<(), ReportError> {
        let trial = self.pending.ok_or(ReportError::NoTrial)?;
        let is_void = matches!(outcome, TrialOutcome::Void(_));
        let is_near = (load / trial.load - 1.0).abs() <= DELIVERED_WITHIN;
        if !is_void && !is_near {
            return Err(ReportError::OtherLoad { load, wanted: trial.load });
        }
        self.history.trials.push(FinishedTrial { trial, outcome, margin });
        self.pending = None;
        Ok(())
    }

    /// Continues a search that has ended because trials were spoiled on the host. Returns whether it continues.
    pub fn resume(&mut self) -> bool {
        let spoiled = TrialOutcome::Void(VoidCause::HostSpoiled);
        let is_spoiled = self.is_finished
            && self.history.last_voids().last().is_some_and(|last| {
                last.outcome == spoiled && self.history.remaining_seconds() >= last.trial.load_seconds()
            });
        if is_spoiled {
            self.history.resumed_at = self.history.trials.len();
            self.is_finished = false;
            self.end = self.end.filter(|end| *end != SearchEnd::HostSpoiled);
        }
        is_spoiled
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &SearchSettings {
        &self.history.settings
    }

    /// The finished trials.
    #[must_use]
    pub fn trials(&self) -> &[FinishedTrial] {
        &self.history.trials
    }

    /// The result, or what is known so far.
    #[must_use]
    pub fn result(&self) -> SearchReport {
        report(&self.history, self.end.filter(|_| self.is_finished))
    }

    /// The probability that a trial of full length passes, at each of the loads: the mean over all possible pass curves.
    #[must_use]
    pub fn pass_probabilities(&self, loads: &[f64]) -> Vec<f64> {
        let estimate = Estimate::new(&self.history);
        let at = |load: &f64| estimate.pass_probability(load.ln());
        loads.iter().map(at).collect()
    }

    fn next_trial(&mut self) -> Option<NextTrial> {
        match self.after_voids() {
            AfterVoids::Repeat(trial) => return Some(trial),
            AfterVoids::End(end) => {
                self.end = self.end.or(Some(end));
                return None;
            }
            AfterVoids::Continue => {}
        }
        let estimate = Estimate::new(&self.history);
        if self.end.is_none() {
            match self.searching(&estimate) {
                Ok(trial) => return Some(trial),
                Err(end) => self.end = Some(end),
            }
        }
        self.repeating(&estimate)
    }

    /// Repeats a void trial a limited number of times.
    fn after_voids(&self) -> AfterVoids {
        let voids = self.history.last_voids();
        let Some(last) = voids.last() else { return AfterVoids::Continue };
        let not_delivered = last.outcome == TrialOutcome::Void(VoidCause::LoadNotDelivered);
        let end = if not_delivered { SearchEnd::NotDelivered } else { SearchEnd::HostSpoiled };
        if self.history.remaining_seconds() < last.trial.load_seconds() {
            return AfterVoids::End(SearchEnd::BudgetSpent);
        }
        if self.history.voids_since_resumed() >= VOIDS_MAX {
            return AfterVoids::End(end);
        }
        let same =
            voids.iter().rev().take_while(|void| void.trial == last.trial && void.outcome == last.outcome);
        let allowed = if not_delivered { VOIDS_IN_ROW } else { SPOILED_IN_ROW };
        if same.count() < allowed {
            return AfterVoids::Repeat(last.trial);
        }
        // The range now ends below a load that was not delivered.
        let has_other_load =
            self.history.generator_limit().is_some_and(|limit| limit >= self.history.settings.lowest);
        let is_search = matches!(last.trial.purpose, TrialPurpose::Search | TrialPurpose::Check);
        if not_delivered && has_other_load && is_search { AfterVoids::Continue } else { AfterVoids::End(end) }
    }

    /// The next trial that narrows the answer, or why there is none.
    fn searching(&self, estimate: &Estimate) -> Result<NextTrial, SearchEnd> {
        let history = &self.history;
        if history.trials.len() >= TRIALS_MAX {
            return Err(SearchEnd::TooManyTrials);
        }
        let half_pass = estimate.half_pass.median.exp();
        // Confirmation runs are at the lower end of the answer, where a quantile needs longer trials than at the half-pass load.
        let plan = planned(history, history.possible(stated_load(history, estimate)));
        // Runs at a load that is not known well confirm little: their time narrows the answer first.
        let is_precise = is_precise(history, estimate, 1.0);
        let kept_seconds = if is_precise { plan.seconds } else { plan.from_above_seconds };
        let remaining = history.remaining_seconds() - kept_seconds;
        let affordable = |trial: NextTrial| within(history, trial, remaining).ok_or(SearchEnd::BudgetSpent);
        match contradiction(history, estimate) {
            Checked::Falls => {}
            Checked::Repeat(trial) => return affordable(trial),
            Checked::NotMonotone => return Err(SearchEnd::NotMonotone),
        }
        if let Some(end) = self.end_of_range(estimate) {
            let above = (end == SearchEnd::FailsEverywhere && !history.has_outcome(true))
                .then(|| trial_above_failures(history))
                .flatten();
            return above.and_then(|trial| within(history, trial, remaining)).ok_or(end);
        }
        let full = history.settings.length.full_seconds_at(half_pass);
        let is_narrow = estimate.half_pass_sd() < CHECKED_SD && remaining >= CHECKED_TRIALS * full;
        if let Some(trial) = far_trial(history, half_pass).filter(|_| is_precise || is_narrow)
            && let Some(trial) = within(history, trial, remaining)
        {
            return Ok(trial);
        }
        if is_precise {
            return match missing_full_trial(history, estimate) {
                Some(trial) => affordable(trial),
                None => Err(SearchEnd::Precise),
            };
        }
        let is_last = |support: &NextTrial| {
            remaining >= support.seconds && remaining < support.seconds + (LAST_TRIALS - 1.0) * full
        };
        let support = supporting_trial(history, estimate, TrialPurpose::Search).filter(is_last);
        affordable(support.unwrap_or_else(|| search_trial(history, estimate)))
    }

    /// Whether the answer is outside the range.
    fn end_of_range(&self, estimate: &Estimate) -> Option<SearchEnd> {
        let history = &self.history;
        let answer = estimate.answer;
        let (passes, failures) = (history.full_trials(true).count(), history.full_trials(false).count());
        if answer.low >= history.highest().ln() && passes >= TRIALS_AT_END {
            return Some(SearchEnd::PassesEverywhere);
        }
        let is_below = answer.high < history.settings.lowest.ln();
        (is_below && failures >= 2 && passes + failures >= TRIALS_AT_END)
            .then_some(SearchEnd::FailsEverywhere)
    }

    /// Confirmation runs and trials from above. They need an answer.
    fn repeating(&self, estimate: &Estimate) -> Option<NextTrial> {
        let history = &self.history;
        let end = self.end?;
        if !matches!(end, SearchEnd::Precise | SearchEnd::BudgetSpent) || history.trials.len() >= TRIALS_MAX {
            return None;
        }
        let Some(answer) = recommended(history, estimate) else {
            return supporting_trial(history, estimate, TrialPurpose::Confirm)
                .filter(|trial| history.remaining_seconds() >= trial.seconds);
        };
        if !history.has_outcome(false) || answer < history.settings.lowest {
            return None;
        }
        let has_from_above = history.judged_for(TrialPurpose::FromAbove).next().is_some();
        let has_confirmations = history.judged_for(TrialPurpose::Confirm).next().is_some();
        let is_confirmable = has_confirmations || is_precise(history, estimate, 1.0);
        let confirm =
            (!has_from_above && is_confirmable).then(|| confirmation_run(history, answer)).flatten();
        confirm.or_else(|| from_above_trial(history, estimate, answer))
    }
}

/// The step after void trials.
enum AfterVoids {
    Continue,
    Repeat(NextTrial),
    End(SearchEnd),
}

/// The stored form of a search.
#[derive(Serialize, Deserialize)]
struct StoredSearch {
    settings: SearchSettings,
    trials: Vec<FinishedTrial>,
    #[serde(default)]
    resumed_at: usize,
    pending: Option<NextTrial>,
    end: Option<SearchEnd>,
    is_finished: bool,
}

impl From<Search> for StoredSearch {
    fn from(search: Search) -> StoredSearch {
        let Search { history: History { settings, trials, resumed_at }, pending, end, is_finished } = search;
        StoredSearch { settings, trials, resumed_at, pending, end, is_finished }
    }
}

/// A stored search with values that no search has.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
enum StoredSearchError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("the stored search has more than {TRIALS_MAX} trials")]
    TooManyTrials,
    #[error("a stored trial has a load or a length that is not positive")]
    Trial,
    #[error("the stored search continued after more trials than it has")]
    Resumed,
}

impl TryFrom<StoredSearch> for Search {
    type Error = StoredSearchError;

    fn try_from(stored: StoredSearch) -> Result<Search, StoredSearchError> {
        let StoredSearch { settings, trials, resumed_at, pending, end, is_finished } = stored;
        let settings = settings.checked()?;
        if trials.len() > TRIALS_MAX {
            return Err(StoredSearchError::TooManyTrials);
        }
        if resumed_at > trials.len() {
            return Err(StoredSearchError::Resumed);
        }
        let is_positive = |value: f64| value.is_finite() && value > 0.0;
        let is_valid = |trial: &NextTrial| {
            let overload = trial.overload.is_none_or(|one| is_positive(one.load) && is_positive(one.seconds));
            overload && is_positive(trial.load) && is_positive(trial.seconds)
        };
        let are_valid = trials.iter().all(|finished| is_valid(&finished.trial));
        if !are_valid || !pending.as_ref().is_none_or(is_valid) {
            return Err(StoredSearchError::Trial);
        }
        Ok(Search { history: History { settings, trials, resumed_at }, pending, end, is_finished })
    }
}
