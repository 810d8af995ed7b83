//! Decides whether a trial is valid: whether its load was delivered, and its generator and host were undisturbed.

use busyhour_analysis::{Caveat, GeneratorState, Summary, generator_mark};
use busyhour_experiment::{FAILED_SHARE, TrialOutcome};

/// Smallest share of the planned time that a load must last.
const LENGTH_SHARE_MIN: f64 = 0.9;

/// A load that lasts longer than this multiple of the planned time, and this number of seconds more, is another load.
const LENGTH_SHARE_MAX: f64 = 1.5;
const LENGTH_MORE_S: f64 = 30.0;

/// A schedule may end with a gap in which fewer arrivals than this are expected: more are missing by chance in 1 of 20,000 runs.
const GAP_ARRIVALS_MAX: f64 = 10.0;

/// Largest share of arrivals that may be discarded.
const DROPPED_SHARE_MAX: f64 = 0.01;

/// The reasons why a run is not valid evidence about the system under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunFault {
    /// The load is not the planned one, for example because it ended early.
    WrongLoad(String),
    /// The planned load was not delivered.
    NotDelivered(String),
    /// The generator may have been the bottleneck, without a disturbance of the host.
    Bottleneck(String),
    /// The generator or the host was disturbed.
    Disturbed(String),
}

impl RunFault {
    /// The reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            RunFault::WrongLoad(reason)
            | RunFault::NotDelivered(reason)
            | RunFault::Bottleneck(reason)
            | RunFault::Disturbed(reason) => reason,
        }
    }
}

/// The faults of a run that ended by itself, from its summary; empty for a valid run. `length_s` is the planned time of load.
#[must_use]
pub fn run_faults(summary: &Summary, length_s: f64) -> Vec<RunFault> {
    if let Some(reason) = wrong_load(summary, length_s) {
        return vec![RunFault::WrongLoad(reason)];
    }
    let not_delivered = not_delivered(summary).map(RunFault::NotDelivered);
    not_delivered.into_iter().chain(disturbed(summary)).collect()
}

/// The outcome of the run of a trial.
pub(crate) fn judge(summary: &Summary, length_s: f64) -> TrialOutcome {
    let faults = run_faults(summary, length_s);
    if let [RunFault::WrongLoad(reason)] = &faults[..] {
        return TrialOutcome::Failed { reason: reason.clone() };
    }
    let reasons: Vec<&str> = faults.iter().map(RunFault::reason).collect();
    match reasons.is_empty() {
        true => TrialOutcome::Finished,
        false => TrialOutcome::Spoiled { reason: reasons.join("; ") },
    }
}

/// Why the load is not that of the experiment.
fn wrong_load(summary: &Summary, length_s: f64) -> Option<String> {
    let Some(duration_s) = summary.run.duration_s else {
        return Some("the run was cut off".to_owned());
    };
    if summary.total.samples == 0 {
        return Some("no request ended".to_owned());
    }
    // A schedule has its length by itself; a run that lasts longer waits for the responses of an overloaded system.
    let has_schedule = summary.run.arrivals.is_some();
    let is_long =
        !has_schedule && duration_s > LENGTH_SHARE_MAX * length_s && duration_s > length_s + LENGTH_MORE_S;
    let is_short = duration_s < LENGTH_SHARE_MIN * length_s && !ends_with_gap(summary, duration_s, length_s);
    (is_short || is_long).then(|| {
        format!(
            "the load lasted {duration_s:.1} s instead of {length_s} s; a plan without a schedule must end after ${{__P(duration)}} seconds"
        )
    })
}

/// Whether the run may have ended early because the schedule had no more arrivals by chance.
fn ends_with_gap(summary: &Summary, duration_s: f64, length_s: f64) -> bool {
    summary.run.arrivals.is_some_and(|counts| {
        let expected = counts.scheduled as f64 * (1.0 - duration_s / length_s);
        expected < GAP_ARRIVALS_MAX
    })
}

/// Why the planned load was not delivered.
fn not_delivered(summary: &Summary) -> Option<String> {
    if let Some(counts) = &summary.run.arrivals
        && counts.dropped as f64 > DROPPED_SHARE_MAX * counts.scheduled as f64
    {
        return Some(format!(
            "load not delivered: {} of {} arrivals were discarded, because no user was free",
            counts.dropped, counts.scheduled
        ));
    }
    summary.caveats.iter().find_map(|reported| match &reported.caveat {
        Caveat::Plan { kind, .. } if kind == "missed-starts" || kind == "backed-off" => {
            Some(format!("load not delivered: {}", reported.message))
        }
        Caveat::StoppedEarly { .. }
        | Caveat::StoppedByError { .. }
        | Caveat::RunOutcomeMissing
        | Caveat::RecordEndsEarly { .. }
        | Caveat::RecorderFailed { .. }
        | Caveat::RecordTailMissing
        | Caveat::ArrivalsWaiting { .. } => Some(format!("load not delivered: {}", reported.message)),
        _ => None,
    })
}

/// Why the generator or the host disturbed the trial.
fn disturbed(summary: &Summary) -> Option<RunFault> {
    let mark = generator_mark(summary);
    match mark.state {
        GeneratorState::Unusable | GeneratorState::Doubtful => {
            let reason = format!("generator {}: {}", mark.words, mark.reasons.join("; "));
            let has =
                |wanted: fn(&Caveat) -> bool| summary.caveats.iter().any(|reported| wanted(&reported.caveat));
            let is_busy = has(|caveat| matches!(caveat, Caveat::GeneratorBusy { .. }));
            let is_host =
                has(|caveat| matches!(caveat, Caveat::CpuStolen { .. } | Caveat::CpuThrottled { .. }));
            Some(match is_busy && !is_host {
                true => RunFault::Bottleneck(reason),
                false => RunFault::Disturbed(reason),
            })
        }
        GeneratorState::WaitedForUsers | GeneratorState::Fine | GeneratorState::Unknown => None,
    }
}

/// The thresholds that failed or could not be evaluated.
pub(crate) fn failed_thresholds(summary: &Summary) -> Vec<String> {
    summary.thresholds.iter().filter(|result| result.fails_run).map(|result| result.text.clone()).collect()
}

/// A note if many requests of a valid trial failed.
pub(crate) fn failed_requests(summary: &Summary) -> Option<String> {
    let percent = summary.total.error_percent;
    (percent >= 100.0 * FAILED_SHARE).then(|| format!("{percent:.1} % of the requests failed"))
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::{ReportedCaveat, RunFacts};
    use busyhour_record::{Recorder, RecorderConfig};
    use busyhour_sample::ArrivalCounts;

    use super::*;

    /// The summary of a run of 60 s with 100 requests.
    fn summary() -> Summary {
        let (recorder, writers) = Recorder::start(RecorderConfig::default()).unwrap();
        drop(writers);
        let facts = RunFacts { duration_s: Some(60.2), ..RunFacts::default() };
        let mut summary = Summary::new(facts, &recorder.finish());
        summary.caveats.clear();
        summary.total.samples = 100;
        summary
    }

    fn with(caveat: Caveat) -> TrialOutcome {
        let mut summary = summary();
        summary.caveats.push(ReportedCaveat::from(caveat));
        judge(&summary, 60.0)
    }

    fn reason(outcome: &TrialOutcome) -> &str {
        match outcome {
            TrialOutcome::Failed { reason } | TrialOutcome::Spoiled { reason } => reason,
            TrialOutcome::Finished | TrialOutcome::Interrupted => "",
        }
    }

    #[test]
    fn an_undisturbed_trial_is_finished() {
        assert_eq!(judge(&summary(), 60.0), TrialOutcome::Finished);
        // The system under test is slow, which is a result.
        assert_eq!(with(Caveat::ManyErrors { percent: 20.0 }), TrialOutcome::Finished);
    }

    #[test]
    fn failed_requests_are_noted() {
        let mut failing = summary();
        assert_eq!(failed_requests(&failing), None);
        failing.total.error_percent = 12.5;
        assert_eq!(failed_requests(&failing).as_deref(), Some("12.5 % of the requests failed"));
    }

    #[test]
    fn another_load_fails_the_trial() {
        for length_s in [120.0, 10.0] {
            let outcome = judge(&summary(), length_s);
            assert!(matches!(outcome, TrialOutcome::Failed { .. }), "{outcome:?}");
            assert!(reason(&outcome).starts_with("the load lasted 60.2 s instead of"), "{outcome:?}");
        }
        let mut cut_off = summary();
        cut_off.run.duration_s = None;
        assert_eq!(reason(&judge(&cut_off, 60.0)), "the run was cut off");
        let mut empty = summary();
        empty.total.samples = 0;
        assert_eq!(reason(&judge(&empty, 60.0)), "no request ended");
    }

    #[test]
    fn a_schedule_may_wait_for_responses() {
        let mut slow = summary();
        slow.run.arrivals =
            Some(ArrivalCounts { scheduled: 100, begun: 100, dropped: 0, ..ArrivalCounts::default() });
        assert_eq!(judge(&slow, 10.0), TrialOutcome::Finished);
        assert_eq!(run_faults(&slow, 10.0), []);
        assert!(matches!(run_faults(&slow, 120.0)[..], [RunFault::WrongLoad(_)]));
        // The last of few arrivals was long before the end.
        slow.run.arrivals = Some(ArrivalCounts { scheduled: 8, begun: 8, ..ArrivalCounts::default() });
        assert_eq!(run_faults(&slow, 120.0), []);
    }

    #[test]
    fn load_that_was_not_delivered_spoils_the_trial() {
        let mut dropped = summary();
        let counts = ArrivalCounts { scheduled: 1_000, begun: 980, dropped: 20, ..ArrivalCounts::default() };
        dropped.run.arrivals = Some(counts);
        assert_eq!(
            judge(&dropped, 60.0),
            TrialOutcome::Spoiled {
                reason: "load not delivered: 20 of 1000 arrivals were discarded, because no user was free"
                    .into()
            }
        );
        dropped.run.arrivals = Some(ArrivalCounts { dropped: 5, ..counts });
        assert_eq!(judge(&dropped, 60.0), TrialOutcome::Finished);
        let plan = |kind: &str| Caveat::Plan { kind: kind.into(), note: "users waited".into(), hint: None };
        assert!(reason(&with(plan("backed-off"))).starts_with("load not delivered: "));
        assert_eq!(with(plan("another-note")), TrialOutcome::Finished);
    }

    #[test]
    fn a_disturbed_generator_or_host_spoils_the_trial() {
        for caveat in [
            Caveat::CpuStolen { percent: 12.0 },
            Caveat::CpuThrottled { percent: 7.0 },
            Caveat::GeneratorBusy { busy_percent: Some(99.0), busy_second_percent: None, cores: 1 },
            Caveat::SamplesLost { samples: 3 },
        ] {
            let is_busy = matches!(caveat, Caveat::GeneratorBusy { .. });
            let outcome = with(caveat.clone());
            let mut summary = summary();
            summary.caveats.push(ReportedCaveat::from(caveat));
            assert_eq!(matches!(run_faults(&summary, 60.0)[..], [RunFault::Bottleneck(_)]), is_busy);
            assert!(matches!(outcome, TrialOutcome::Spoiled { .. }), "{outcome:?}");
            assert!(reason(&outcome).starts_with("generator may have been the bottleneck: "), "{outcome:?}");
        }
    }
}
