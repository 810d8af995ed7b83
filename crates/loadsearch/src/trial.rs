//! One trial: executes its runs, and judges them.

use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::{Criterion, ThresholdResult};
use busyhour_results::{ResultsInput, ResultsOptions, ResultsPart, judge_results};
use busyhour_search::{LoadKind, NextTrial, TrialMeasures, TrialOutcome, TrialThreshold, VoidCause};
use busyhour_trials::{RunFault, RunProcess, RunProcessEnd, StopRequest, run_faults};

use crate::arguments::trial_runs;
use crate::plan::{LoadSearchPlan, LoadTarget};

/// The number of users may be less than the wanted one by this share.
const USERS_WITHIN: f64 = 0.02;

/// The unit of times in results of thresholds.
const MILLISECONDS: &str = "ms";

/// How the trial of a search ended.
#[derive(Debug)]
pub(crate) enum TrialEnd {
    /// It ended by itself.
    Judged(JudgedTrial),
    /// A stop was requested.
    Stopped,
    /// It could not be executed, or its load is not the planned one.
    Failed(String),
}

/// A trial with its outcome.
#[derive(Debug)]
pub(crate) struct JudgedTrial {
    pub(crate) outcome: TrialOutcome,
    pub(crate) void_reason: Option<String>,
    pub(crate) measures: TrialMeasures,
}

/// What is needed to execute a trial.
pub(crate) struct TrialOrder<'t> {
    pub(crate) plan: &'t LoadSearchPlan,
    pub(crate) criteria: &'t [Criterion],
    pub(crate) busyhour: &'t Path,
    pub(crate) trial: NextTrial,
    pub(crate) number: u32,
    pub(crate) dir: PathBuf,
}

impl TrialOrder<'_> {
    /// Executes the trial.
    pub(crate) fn execute(&self, stop: &StopRequest) -> TrialEnd {
        let runs = trial_runs(self.plan, &self.trial, self.number);
        let length_s = self.trial.load_seconds();
        let failed = |error: std::io::Error| TrialEnd::Failed(format!("the run cannot be started: {error}"));
        let process =
            |arguments, dir, length_s| RunProcess { busyhour: self.busyhour, arguments, dir, length_s };
        let overload_dir = self.dir.join("overload");
        let overload = match runs.overload {
            None => None,
            Some(arguments) => {
                let seconds = self.trial.overload.map_or(0.0, |overload| overload.seconds);
                match process(arguments, &overload_dir, seconds).start() {
                    Ok(active) => Some(active),
                    Err(error) => return failed(error),
                }
            }
        };
        let judged = match process(runs.judged, &self.dir, length_s).start() {
            Ok(active) => active,
            Err(error) => return failed(error),
        };
        let ended = judged.wait(stop);
        let overload = overload.map(|active| active.wait(stop));
        match (ended, overload) {
            (RunProcessEnd::Stopped, _) | (_, Some(RunProcessEnd::Stopped)) => TrialEnd::Stopped,
            (RunProcessEnd::Failed(reason), _) | (_, Some(RunProcessEnd::Failed(reason))) => {
                TrialEnd::Failed(reason)
            }
            (RunProcessEnd::Ended(summary), overload) => {
                let overload = overload.and_then(|end| match end {
                    RunProcessEnd::Ended(summary) => Some(summary),
                    RunProcessEnd::Stopped | RunProcessEnd::Failed(_) => None,
                });
                self.judge(&summary, overload.as_deref())
            }
        }
    }

    fn judge(&self, summary: &Summary, overload: Option<&Summary>) -> TrialEnd {
        let mut faults = run_faults(summary, self.trial.load_seconds());
        if let Some((overload, facts)) = overload.zip(self.trial.overload) {
            faults.extend(run_faults(overload, facts.seconds));
        }
        if let Some(wrong) = faults.iter().find(|fault| matches!(fault, RunFault::WrongLoad(_))) {
            return TrialEnd::Failed(wrong.reason().to_owned());
        }
        if let Some(reason) = self.wrong_users(summary) {
            return TrialEnd::Failed(reason);
        }
        let judged = match self.trial.overload {
            None => Ok(summary.clone()),
            Some(overload) => self.after_overload(overload.seconds),
        };
        match judged {
            Ok(judged) => TrialEnd::Judged(judged_trial(&judged, &faults)),
            Err(reason) => TrialEnd::Failed(reason),
        }
    }

    /// The summary of the part of the run after the overload, with the thresholds of this part.
    fn after_overload(&self, from_s: f64) -> Result<Summary, String> {
        let part = ResultsPart::Window(from_s, from_s + self.trial.seconds);
        let options = ResultsOptions { part, ..ResultsOptions::default() };
        let inputs = vec![ResultsInput::path(&self.dir)];
        judge_results(inputs, &options, self.criteria.to_vec(), &mut |_, _| {})
            .map_err(|error| error.to_string())
    }

    /// Why the number of users is not that of the trial.
    fn wrong_users(&self, summary: &Summary) -> Option<String> {
        let LoadTarget::Plan { path, .. } = &self.plan.target else { return None };
        if self.plan.kind != LoadKind::Users {
            return None;
        }
        let (wanted, found) = (self.trial.load, f64::from(summary.users_max));
        ((found - wanted).abs() > (USERS_WITHIN * wanted).max(0.5)).then(|| {
            format!(
                "{path} had {found} users instead of {wanted}; it must take the number of users from the property \
                 `{0}`, such as ${{__P({0})}} in its thread group",
                self.plan.users_property
            )
        })
    }
}

/// The outcome of a trial from its summary and its faults.
fn judged_trial(summary: &Summary, faults: &[RunFault]) -> JudgedTrial {
    let thresholds: Vec<TrialThreshold> = summary.thresholds.iter().map(threshold).collect();
    let reasons: Vec<&str> = faults.iter().map(RunFault::reason).collect();
    let void_reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    let outcome = match void_cause(faults) {
        Some(cause) => TrialOutcome::Void(cause),
        None => outcome_of(&thresholds),
    };
    let total = &summary.total;
    let measures = TrialMeasures {
        requests: total.samples,
        throughput_per_s: total.rate_per_s,
        response_s: total.response.mean / 1e3,
        error_share: total.error_percent / 100.0,
        thresholds,
    };
    JudgedTrial { outcome, void_reason, measures }
}

/// A disturbed host may also be the reason for load that was not delivered, so it comes first.
fn void_cause(faults: &[RunFault]) -> Option<VoidCause> {
    let is_disturbed = faults.iter().any(|fault| matches!(fault, RunFault::Disturbed(_)));
    match faults {
        [] => None,
        _ if is_disturbed => Some(VoidCause::HostSpoiled),
        _ => Some(VoidCause::LoadNotDelivered),
    }
}

fn outcome_of(thresholds: &[TrialThreshold]) -> TrialOutcome {
    let margin = |threshold: &&TrialThreshold| threshold.margin.unwrap_or(f64::INFINITY);
    let failed = thresholds.iter().filter(|threshold| threshold.failed);
    match failed.max_by(|one, two| margin(one).total_cmp(&margin(two))) {
        Some(worst) => TrialOutcome::Failed { threshold: worst.text.clone(), margin: worst.margin },
        None => TrialOutcome::Passed,
    }
}

fn threshold(result: &ThresholdResult) -> TrialThreshold {
    let distance = result.observed.map(|observed| (observed - result.limit).abs() / result.limit.abs());
    let sign = if result.passed == Some(true) { -1.0 } else { 1.0 };
    TrialThreshold {
        text: result.name.clone().unwrap_or_else(|| result.text.clone()),
        failed: result.fails_run,
        observed: result.observed_text.clone(),
        margin: distance.filter(|distance| distance.is_finite()).map(|distance| sign * distance),
        is_time: result.unit == MILLISECONDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(text: &str, failed: bool, margin: Option<f64>) -> TrialThreshold {
        TrialThreshold { text: text.to_owned(), failed, observed: None, margin, is_time: true }
    }

    #[test]
    fn the_threshold_that_failed_by_the_most_is_named() {
        let passed = threshold("errors < 1%", false, Some(-1.0));
        assert_eq!(outcome_of(std::slice::from_ref(&passed)), TrialOutcome::Passed);
        let failed = [passed, threshold("p95 < 1s", true, Some(0.1)), threshold("p99 < 1s", true, Some(0.4))];
        let TrialOutcome::Failed { threshold, margin } = outcome_of(&failed) else { unreachable!() };
        assert_eq!((threshold.as_str(), margin), ("p99 < 1s", Some(0.4)));
    }

    #[test]
    fn a_disturbed_host_comes_before_load_that_was_not_delivered() {
        let text = String::new;
        let [late, busy, steal] =
            [RunFault::NotDelivered(text()), RunFault::Bottleneck(text()), RunFault::Disturbed(text())];
        assert_eq!(void_cause(&[]), None);
        assert_eq!(void_cause(&[late.clone(), busy]), Some(VoidCause::LoadNotDelivered));
        assert_eq!(void_cause(&[late, steal]), Some(VoidCause::HostSpoiled));
    }
}
