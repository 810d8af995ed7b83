//! The progress of a search, as lines on standard error.

use busyhour_loadsearch::{BeginningTrial, LoadSearchObserver};
use busyhour_report::load_text;
use busyhour_report::numbers::duration;
use busyhour_search::{
    Evidence, GuessFacts, LoadKind, SearchReport, TrialOutcome, TrialPurpose, TrialRecord, VoidCause,
};
use busyhour_terminal::exit::{note, say};

/// Prints two lines per trial.
pub(super) struct FindProgress {
    pub(super) kind: LoadKind,
}

impl LoadSearchObserver for FindProgress {
    fn begun(&mut self, begun: &BeginningTrial, left_s: f64, so_far: Option<&SearchReport>) {
        let purpose = match (begun.is_light, begun.trial.purpose) {
            (true, _) => "light trial",
            (false, TrialPurpose::Search) => "search",
            (false, TrialPurpose::Check) => "check",
            (false, TrialPurpose::Confirm) => "confirmation run",
            (false, TrialPurpose::FromAbove) => "from above",
        };
        let overload = begun.trial.overload.map_or_else(String::new, |overload| {
            format!(" after {} at {}", duration(overload.seconds), load_text(self.kind, overload.load))
        });
        let end = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |load| load_text(self.kind, load));
        let interval = so_far.map_or_else(String::new, |report| {
            format!("; largest load so far {} to {}", end(report.interval.low), end(report.interval.high))
        });
        note(&format!(
            "trial {}: {} for {}{overload} ({purpose}){interval}; at most {} left under load",
            begun.number,
            load_text(self.kind, begun.trial.load),
            duration(begun.trial.seconds),
            duration(left_s.max(0.0))
        ));
    }

    fn ended(&mut self, record: &TrialRecord) {
        let observed = |failed_only: bool| {
            let thresholds = record.measures.iter().flat_map(|measures| &measures.thresholds);
            let shown = thresholds.filter(|threshold| threshold.failed || !failed_only).map(|threshold| {
                format!("{}: {}", threshold.text, threshold.observed.as_deref().unwrap_or("nothing measured"))
            });
            shown.collect::<Vec<_>>().join("; ")
        };
        let void = |why: &str| {
            let reason = record.void_reason.as_deref().unwrap_or("unknown");
            say(&format!("  void, {why}: {reason}"));
        };
        match record.outcome {
            TrialOutcome::Passed => note(&format!("  passed; {}", observed(false))),
            TrialOutcome::Failed { .. } => note(&format!("  failed; {}", observed(true))),
            TrialOutcome::Void(VoidCause::LoadNotDelivered) => void("the load was not delivered"),
            TrialOutcome::Void(VoidCause::HostSpoiled) => void("the host or the generator was disturbed"),
        }
    }

    fn failed(&mut self, number: u32, reason: &str) {
        say(&format!("warning: trial {number} failed and is repeated: {reason}"));
    }

    fn prepared(&mut self, guess: &Evidence<GuessFacts>) {
        match guess {
            Evidence::Found(facts) => note(&format!(
                "the search starts at {}, from {}",
                load_text(self.kind, facts.guess.load),
                facts.sentence
            )),
            Evidence::Unavailable(reason) => note(&format!("the search starts without a guess: {reason}")),
        }
    }
}
