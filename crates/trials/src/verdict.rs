//! Decides whether a trial is valid: whether its load was delivered, and its generator and host were undisturbed.

use busyhour_analysis::{Caveat, GeneratorState, Summary, generator_mark};
use busyhour_experiment::TrialOutcome;

/// Smallest share of the planned time that a load must last.
const LENGTH_SHARE_MIN: f64 = 0.9;

/// A load that lasts longer than this multiple of the planned time, and this number of seconds more, is another load.
const LENGTH_SHARE_MAX: f64 = 1.5;
const LENGTH_MORE_S: f64 = 30.0;

/// Largest share of arrivals that may be discarded.
const DROPPED_SHARE_MAX: f64 = 0.01;

/// The outcome of a run that ended by itself, from its summary. `length_s` is the planned time of load.
pub(crate) fn judge(summary: &Summary, length_s: f64) -> TrialOutcome {
    if let Some(reason) = wrong_load(summary, length_s) {
        return TrialOutcome::Failed { reason };
    }
    let reasons: Vec<String> = not_delivered(summary).into_iter().chain(disturbed(summary)).collect();
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
    let is_long = duration_s > LENGTH_SHARE_MAX * length_s && duration_s > length_s + LENGTH_MORE_S;
    (duration_s < LENGTH_SHARE_MIN * length_s || is_long).then(|| {
        format!(
            "the load lasted {duration_s:.1} s instead of {length_s} s; a plan without a schedule must end after ${{__P(duration)}} seconds"
        )
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
fn disturbed(summary: &Summary) -> Option<String> {
    let mark = generator_mark(summary);
    match mark.state {
        GeneratorState::Unusable | GeneratorState::Doubtful => {
            Some(format!("generator {}: {}", mark.words, mark.reasons.join("; ")))
        }
        GeneratorState::WaitedForUsers | GeneratorState::Fine | GeneratorState::Unknown => None,
    }
}

/// The thresholds that failed or could not be evaluated.
pub(crate) fn failed_thresholds(summary: &Summary) -> Vec<String> {
    summary.thresholds.iter().filter(|result| result.fails_run).map(|result| result.text.clone()).collect()
}
