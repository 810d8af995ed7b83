//! Executes a search, and continues an interrupted one.

use std::path::{Path, PathBuf};

use busyhour_analysis::thresholds::Criterion;
use busyhour_search::{
    Evidence, GuessFacts, NextTrial, Search, SearchEnd, SearchReport, SearchStep, TrialRecord,
};
use busyhour_trials::{ExecuteError, LineFile, StopRequest};

use crate::error::LoadSearchError;
use crate::journal::{JOURNAL_VERSION, Preparation, SearchContent, SearchLine};
use crate::light::{LightStep, next_light, prepared};
use crate::plan::LoadSearchPlan;
use crate::trial::{TrialEnd, TrialOrder};

/// The search ends after this number of failed trials in succession.
const FAILED_IN_SUCCESSION_MAX: u32 = 3;

/// What to execute.
#[derive(Debug, Clone)]
pub struct LoadSearchRequest<'r> {
    /// What to search.
    pub plan: &'r LoadSearchPlan,
    /// The directory for journal and trials, as an absolute path.
    pub dir: &'r Path,
    /// The program `busyhour`.
    pub busyhour: PathBuf,
}

/// A trial that begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeginningTrial {
    /// Its number.
    pub number: u32,
    /// The trial.
    pub trial: NextTrial,
    /// Whether it is a light trial before the search.
    pub is_light: bool,
}

/// Receives the events of a search.
pub trait LoadSearchObserver {
    /// A trial begins. `left_s` is the time under load that the budget still allows, `so_far` the answer so far.
    fn begun(&mut self, begun: &BeginningTrial, left_s: f64, so_far: Option<&SearchReport>);
    /// The trial ended.
    fn ended(&mut self, record: &TrialRecord);
    /// The trial could not be executed, and is repeated.
    fn failed(&mut self, number: u32, reason: &str);
    /// The light trials have ended, with this guess.
    fn prepared(&mut self, guess: &Evidence<GuessFacts>);
}

/// How the execution of a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadSearchEnd {
    /// The search has ended.
    Completed(SearchEnd),
    /// A stop was requested.
    Stopped,
}

/// Executes the trials of a search until it ends.
///
/// # Errors
/// The directory cannot be used or belongs to another search, or trials fail in succession.
pub fn execute_search(
    request: &LoadSearchRequest<'_>,
    stop: &StopRequest,
    observer: &mut dyn LoadSearchObserver,
) -> Result<LoadSearchEnd, LoadSearchError> {
    let criteria = request.plan.criteria()?;
    let length = request.plan.length(None);
    request.plan.settings(length, request.plan.budget_s).check()?;
    let trials = request.dir.join("trials");
    std::fs::create_dir_all(&trials)
        .map_err(|source| ExecuteError::File { path: trials.display().to_string(), source })?;
    let (journal, content) = SearchContent::open(request.dir)?;
    let mut execution = Execution { request, criteria, journal, content, failed: 0 };
    execution.begin()?;
    if !execution.run_light(stop, observer)? {
        return Ok(LoadSearchEnd::Stopped);
    }
    execution.run_search(stop, observer)
}

/// A search with the outcomes of all trials of a journal.
pub(crate) fn replayed(content: &SearchContent) -> Result<Option<Search>, LoadSearchError> {
    content.check_version()?;
    let Some(preparation) = &content.preparation else { return Ok(None) };
    let mut search = Search::new(preparation.settings)?;
    let mut resumed = content.resumed.iter().peekable();
    for (at, record) in content.records.iter().enumerate().filter(|(_, record)| record.purpose.is_some()) {
        while resumed.next_if(|resumed| **resumed <= at).is_some() {
            search.next_step();
            search.resume();
        }
        let other = LoadSearchError::OtherTrials { number: record.number };
        let SearchStep::Trial(trial) = search.next_step() else { return Err(other) };
        // Other processors may round logarithms differently.
        let is_same = Some(trial.purpose) == record.purpose && (trial.load / record.load - 1.0).abs() < 1e-6;
        if !is_same {
            return Err(other);
        }
        search.report_measured(trial.load, record.outcome.clone(), largest_margin(record))?;
    }
    for _ in resumed {
        search.next_step();
        search.resume();
    }
    Ok(Some(search))
}

/// The largest relative distance of a measured value from the limit of its threshold. `None` if a threshold failed without a measured value:
/// then the others do not say how far the trial is from passing.
fn largest_margin(record: &TrialRecord) -> Option<f64> {
    let thresholds = &record.measures.as_ref()?.thresholds;
    if thresholds.iter().any(|threshold| threshold.failed && threshold.margin.is_none()) {
        return None;
    }
    thresholds.iter().filter_map(|threshold| threshold.margin).reduce(f64::max)
}

struct Execution<'e> {
    request: &'e LoadSearchRequest<'e>,
    criteria: Vec<Criterion>,
    journal: LineFile,
    content: SearchContent,
    /// Number of failed trials since the last one that did not fail.
    failed: u32,
}

impl Execution<'_> {
    fn write(&mut self, line: SearchLine) -> Result<(), LoadSearchError> {
        self.journal.append(&line)?;
        self.content.add(line);
        Ok(())
    }

    /// Checks that the directory belongs to this search.
    fn begin(&mut self) -> Result<(), LoadSearchError> {
        self.content.check_version()?;
        let plan = self.request.plan;
        match &self.content.plan {
            None => self.write(SearchLine::Search { version: JOURNAL_VERSION, plan: Box::new(plan.clone()) }),
            Some(known) => match differences(known, plan) {
                found if found.is_empty() => Ok(()),
                found => Err(LoadSearchError::OtherSearch {
                    dir: self.request.dir.display().to_string(),
                    differences: found.join(", "),
                }),
            },
        }
    }

    /// Executes the light trials. Returns false if a stop was requested.
    fn run_light(
        &mut self,
        stop: &StopRequest,
        observer: &mut dyn LoadSearchObserver,
    ) -> Result<bool, LoadSearchError> {
        let plan = self.request.plan;
        let mut is_first = true;
        while self.content.preparation.is_none() {
            let continues = std::mem::take(&mut is_first);
            let light: Vec<&TrialRecord> = self.content.light().collect();
            let counted: Vec<&TrialRecord> = self.content.counted_light().collect();
            match next_light(plan, &counted) {
                LightStep::Trial(trial) => {
                    let spent_s: f64 = light.iter().map(|record| record.seconds).sum();
                    let left_s = plan.budget_s - spent_s;
                    if !self.run_trial(trial, true, (left_s, None), stop, observer)? {
                        return Ok(false);
                    }
                }
                // An earlier execution ended here.
                LightStep::Invalid(_) if continues => self.write(SearchLine::Resumed)?,
                LightStep::Invalid(reason) => {
                    return Err(LoadSearchError::NoValidTrial { load: plan.lowest, reason });
                }
                LightStep::Enough => {
                    let (settings, guess) = prepared(plan, &light);
                    if settings.budget_seconds <= 0.0 {
                        let full_s = settings.length.full_seconds_at(plan.lowest);
                        return Err(LoadSearchError::SmallBudget { budget_s: plan.budget_s, full_s });
                    }
                    observer.prepared(&guess);
                    self.write(SearchLine::Prepared(Preparation { settings, guess }))?;
                }
            }
        }
        Ok(true)
    }

    fn run_search(
        &mut self,
        stop: &StopRequest,
        observer: &mut dyn LoadSearchObserver,
    ) -> Result<LoadSearchEnd, LoadSearchError> {
        let Some(mut search) = replayed(&self.content)? else { return Ok(LoadSearchEnd::Stopped) };
        search.next_step();
        if search.resume() {
            self.write(SearchLine::Resumed)?;
        }
        loop {
            let trial = match search.next_step() {
                SearchStep::Trial(trial) => trial,
                SearchStep::Finished(end) => return Ok(LoadSearchEnd::Completed(end)),
            };
            let so_far = search.result();
            let left_s = search.settings().budget_seconds - so_far.load_seconds;
            if !self.run_trial(trial, false, (left_s, Some(&so_far)), stop, observer)? {
                return Ok(LoadSearchEnd::Stopped);
            }
            let Some(record) = self.content.records.last() else { continue };
            search.report_measured(trial.load, record.outcome.clone(), largest_margin(record))?;
        }
    }

    /// Executes a trial until it has an outcome. Returns false if a stop was requested.
    fn run_trial(
        &mut self,
        trial: NextTrial,
        is_light: bool,
        (left_s, so_far): (f64, Option<&SearchReport>),
        stop: &StopRequest,
        observer: &mut dyn LoadSearchObserver,
    ) -> Result<bool, LoadSearchError> {
        loop {
            if stop.is_requested() {
                return Ok(false);
            }
            let number = self.content.last_number + 1;
            let dir = format!("trials/{number:03}");
            self.write(SearchLine::Begun { number })?;
            let begun = BeginningTrial { number, trial, is_light };
            observer.begun(&begun, left_s, so_far);
            let order = TrialOrder {
                plan: self.request.plan,
                criteria: &self.criteria,
                busyhour: &self.request.busyhour,
                trial,
                number,
                dir: self.request.dir.join(&dir),
            };
            let end = order.execute(stop);
            match end {
                TrialEnd::Stopped => return Ok(false),
                TrialEnd::Failed(reason) => {
                    self.write(SearchLine::Failed { number, reason: reason.clone() })?;
                    observer.failed(number, &reason);
                    self.failed += 1;
                    if self.failed >= FAILED_IN_SUCCESSION_MAX {
                        let dir = self.request.dir.join(&dir).display().to_string();
                        return Err(LoadSearchError::Failing { count: self.failed, reason, dir });
                    }
                }
                TrialEnd::Judged(judged) => {
                    self.failed = 0;
                    let record = TrialRecord {
                        number,
                        purpose: (!is_light).then_some(trial.purpose),
                        load: trial.load,
                        seconds: trial.seconds,
                        overload: trial.overload,
                        outcome: judged.outcome,
                        void_reason: judged.void_reason,
                        measures: Some(judged.measures),
                        dir,
                    };
                    self.write(SearchLine::Trial(Box::new(record.clone())))?;
                    observer.ended(&record);
                    return Ok(true);
                }
            }
        }
    }
}

/// The names of the settings that differ.
fn differences(one: &LoadSearchPlan, two: &LoadSearchPlan) -> Vec<&'static str> {
    let range = one.lowest != two.lowest || one.highest != two.highest || one.kind != two.kind;
    let lengths = one.full_s != two.full_s || one.shortest_s != two.shortest_s;
    let repeats = one.confirmations != two.confirmations || one.trials_from_above != two.trials_from_above;
    let properties =
        one.users_property != two.users_property || one.duration_property != two.duration_property;
    let all = [
        ("the plan or URL", one.target != two.target),
        ("the range of loads", range),
        ("the thresholds", one.thresholds != two.thresholds),
        ("the precision", one.precision != two.precision),
        ("the budget", one.budget_s != two.budget_s),
        ("the lengths of trials", lengths),
        ("the number of confirmation runs or trials from above", repeats),
        ("the seed", one.seed != two.seed),
        ("the options of runs", one.options != two.options || properties),
    ];
    all.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn the_largest_margin_needs_a_value_of_each_failed_threshold() {
        let threshold = |failed: bool, margin: Option<f64>| busyhour_search::TrialThreshold {
            text: String::new(),
            failed,
            observed: None,
            margin,
            is_time: true,
        };
        let margin = |thresholds: Vec<busyhour_search::TrialThreshold>| {
            largest_margin(&TrialRecord {
                number: 1,
                purpose: None,
                load: 1.0,
                seconds: 1.0,
                overload: None,
                outcome: busyhour_search::TrialOutcome::Passed,
                void_reason: None,
                measures: Some(busyhour_search::TrialMeasures {
                    requests: 1,
                    throughput_per_s: 1.0,
                    response_s: 1.0,
                    error_share: 0.0,
                    thresholds,
                }),
                dir: String::new(),
            })
        };
        assert_eq!(margin(vec![threshold(false, Some(-1.0)), threshold(false, Some(-0.2))]), Some(-0.2));
        assert_eq!(margin(vec![threshold(true, None), threshold(false, Some(-0.2))]), None);
        assert_eq!(margin(Vec::new()), None);
    }

    #[test]
    fn differences_are_named() {
        let one = plan(&["p95 < 100ms"]);
        assert!(differences(&one, &one.clone()).is_empty());
        let other = LoadSearchPlan { budget_s: 1.0, seed: 8, ..one.clone() };
        assert_eq!(differences(&one, &other), ["the budget", "the seed"]);
    }
}
