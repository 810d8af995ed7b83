//! Situations without an ordinary answer.

use busyhour_search::{
    LargestLoad, NextTrial, Search, SearchReport, SearchSettings, SearchStep, TrialOutcome, VoidCause,
};

use crate::study::systems::{Chance, FULL_SECONDS};

/// A situation: whether a trial passes, and which results are right.
pub struct Situation {
    pub name: &'static str,
    pub right: &'static str,
    pub lowest: f64,
    pub highest: f64,
    pub budget_trials: f64,
    pub outcome: fn(&mut Chance, &NextTrial) -> TrialOutcome,
    pub is_right: fn(&SearchReport) -> bool,
}

/// A curve of ± 4 % around a load.
fn curve(chance: &mut Chance, load: f64, half_pass: f64) -> bool {
    let share = chance.uniform();
    (load / half_pass).ln() + 0.04 / 2.197 * (share / (1.0 - share)).ln() <= 0.0
}

fn outcome(passed: bool) -> TrialOutcome {
    if passed {
        TrialOutcome::Passed
    } else {
        TrialOutcome::Failed { threshold: "p95".to_owned(), margin: None }
    }
}

/// The load that passes in 95 % of the trials of the curve around 400.
const ANSWER: f64 = 379.1;

/// A load is too high if it exceeds that one by more than the precision.
const TOLERATED: f64 = 1.05;

/// The load, or the lower end of its interval if that is too wide.
fn load_of(report: &SearchReport) -> Option<f64> {
    match report.largest_load {
        LargestLoad::Found { load } => Some(load),
        LargestLoad::Between { low, .. } => Some(low),
        _ => None,
    }
}

fn is_near(report: &SearchReport) -> bool {
    match report.largest_load {
        LargestLoad::Found { load } => load <= TOLERATED * ANSWER && load > 0.75 * ANSWER,
        LargestLoad::Between { low, high, .. } => low <= TOLERATED * ANSWER && high >= ANSWER,
        _ => false,
    }
}

fn hysteresis(report: &SearchReport, is_right: fn(f64, f64) -> bool) -> bool {
    report.hysteresis.is_some_and(|found| is_right(found.low, found.high))
}

const ORDINARY: Situation = Situation {
    name: "",
    right: "load found, not too high, at most 25 % too low",
    lowest: 5.0,
    highest: 2_000.0,
    budget_trials: 40.0,
    outcome: |chance, trial| outcome(curve(chance, trial.load, 400.0)),
    is_right: is_near,
};

/// All situations.
pub const SITUATIONS: &[Situation] = &[
    Situation { name: "curve ± 4 %", ..ORDINARY },
    Situation {
        name: "everything passes: half-pass load 30 % above the range",
        right: "at least the upper end",
        highest: 300.0,
        is_right: |report| report.largest_load == LargestLoad::AtLeast { load: 300.0 },
        ..ORDINARY
    },
    Situation {
        name: "nothing passes: half-pass load 30 % below the range",
        right: "no load",
        lowest: 520.0,
        is_right: |report| matches!(report.largest_load, LargestLoad::Unavailable { .. }),
        ..ORDINARY
    },
    Situation {
        name: "range far off: half-pass load a hundredth of its lower end",
        right: "no load",
        lowest: 40_000.0,
        highest: 4_000_000.0,
        is_right: |report| matches!(report.largest_load, LargestLoad::Unavailable { .. }),
        ..ORDINARY
    },
    Situation {
        name: "loads below 60 fail, too",
        right: "not monotone",
        outcome: |chance, trial| outcome(trial.load > 60.0 && curve(chance, trial.load, 400.0)),
        is_right: |report| report.monotone_p < 0.005,
        ..ORDINARY
    },
    Situation {
        name: "budget of 5 trials",
        right: "no load above the true one",
        budget_trials: 5.0,
        is_right: |report| load_of(report).is_none_or(|load| load <= TOLERATED * ANSWER),
        ..ORDINARY
    },
    Situation {
        name: "5 % of the trials below the half-pass load fail by chance",
        right: "load found below the half-pass load",
        outcome: |chance, trial| outcome(chance.uniform() > 0.05 && curve(chance, trial.load, 400.0)),
        is_right: |report| load_of(report).is_some_and(|load| load <= 400.0),
        ..ORDINARY
    },
    Situation {
        name: "a fifth of the trials is spoiled",
        outcome: |chance, trial| {
            if chance.uniform() < 0.2 {
                TrialOutcome::Void(VoidCause::HostSpoiled)
            } else {
                outcome(curve(chance, trial.load, 400.0))
            }
        },
        ..ORDINARY
    },
    Situation {
        name: "no hysteresis",
        right: "the interval contains 0",
        is_right: |report| hysteresis(report, |low, high| low <= 0.0 && high >= 0.0),
        ..ORDINARY
    },
    Situation {
        name: "half-pass load from above 20 % lower",
        right: "the interval is below 0 and contains −20 %",
        outcome: |chance, trial| {
            let half_pass = if trial.overload.is_some() { 320.0 } else { 400.0 };
            outcome(curve(chance, trial.load, half_pass))
        },
        is_right: |report| hysteresis(report, |low, high| low <= -0.2 && (-0.2..0.0).contains(&high)),
        ..ORDINARY
    },
];

/// One search in a situation.
pub fn run(situation: &Situation, seed: u64) -> SearchReport {
    let mut chance = Chance::new(seed);
    let length =
        busyhour_search::TrialLength { full_seconds: FULL_SECONDS, shortest_seconds: 8.0, tested: None };
    let settings = SearchSettings::new(
        busyhour_search::LoadKind::Rate,
        situation.lowest * (1.0 + 0.2 * chance.uniform()),
        situation.highest,
        length,
    );
    let budget_seconds = situation.budget_trials * FULL_SECONDS;
    let mut search = Search::new(SearchSettings { budget_seconds, ..settings }).unwrap();
    while let SearchStep::Trial(trial) = search.next_step() {
        search.report(trial.load, (situation.outcome)(&mut chance, &trial)).unwrap();
    }
    search.result()
}
