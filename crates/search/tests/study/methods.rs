//! One search of each method in a simulated system.

use busyhour_search::{
    LargestLoad, LoadGuess, LoadKind, Search, SearchReport, SearchSettings, SearchStep, TestedQuantile,
    TrialLength, TrialOutcome,
};

use crate::study::rivals::{Found, bisection, smooth_isotonic};
use crate::study::systems::{Chance, System};

/// The standard error of guesses, as logarithm.
const GUESS_ERROR: f64 = 0.2;

/// Ratio of the ends of the range.
const RANGE: f64 = 500.0;

/// What a method found.
pub struct Result {
    /// The load that passes in half of the trials, if the method estimates it.
    pub half_pass: Option<f64>,
    /// The load that the method recommends.
    pub load: Option<f64>,
    /// The load from which the method claims that trials fail at most in 5 %: the recommended one, or the lower end of the interval if
    /// it is too wide.
    pub stated: Option<f64>,
    /// Whether the method states a load rather than an interval.
    pub is_precise: bool,
    /// The interval of the load that passes in 95 % of the trials.
    pub interval: Option<(f64, f64)>,
    pub seconds: f64,
    pub trials: u32,
}

/// A search of one seed: the same range and guess for all methods.
pub struct Case<'a> {
    pub system: &'a System,
    pub lowest: f64,
    pub guess: Option<f64>,
    pub chance: Chance,
}

impl Case<'_> {
    pub fn new(system: &System, seed: u64, has_guess: bool) -> Case<'_> {
        let mut chance = Chance::new(seed);
        // From 1 to 16, so that doubling meets the half-pass load anywhere.
        let lowest = (4.0 * chance.uniform()).exp2();
        let guess = has_guess.then(|| system.half_pass * (GUESS_ERROR * chance.normal()).exp());
        Case { system, lowest, guess, chance }
    }

    /// The load from which others double: half of the guess, or the lower end of the range.
    fn start(&self) -> f64 {
        self.guess.map_or(self.lowest, |guess| guess / 2.0)
    }

    pub fn bisection(&mut self) -> Result {
        let (start, system, chance) = (self.start(), self.system, &mut self.chance);
        of_rival(&bisection(start, &mut |load| (system.excess)(chance, load, system.full_seconds)), system)
    }

    pub fn isotonic(&mut self) -> Result {
        let (start, system, chance) = (self.start(), self.system, &mut self.chance);
        of_rival(
            &smooth_isotonic(start, &mut |load| (system.excess)(chance, load, system.full_seconds)),
            system,
        )
    }

    /// The search without confirmation runs and trials from above, until a budget is spent.
    pub fn search_within(&mut self, budget_seconds: f64) -> Result {
        let settings = self.settings();
        let precision = 0.05;
        of_report(&self.run(SearchSettings {
            budget_seconds,
            precision,
            confirmations: 0,
            trials_from_above: 0,
            ..settings
        }))
    }

    /// The search with the options of the measurement in the documentation: trials of 2,000 requests or 5 s, and a small budget.
    pub fn search_like_measured(&mut self, budget_seconds: f64) -> Result {
        let tested = Some(TestedQuantile { quantile: 0.95, requests_per_second_per_load: 1.0 });
        let length = TrialLength { full_seconds: 5.0, shortest_seconds: 2.5, tested };
        let guess = self.guess.map(|load| LoadGuess { load, relative_error: GUESS_ERROR });
        let settings = SearchSettings::new(LoadKind::Rate, 20.0, 800.0, length);
        of_report(&self.run(SearchSettings { guess, budget_seconds, trials_from_above: 0, ..settings }))
    }

    /// The search with a precision of 5 %, at most 40 times the full length, and confirmation runs.
    pub fn search_by_default(&mut self) -> (Result, SearchReport) {
        let settings = self.settings();
        let report = self.run(SearchSettings { trials_from_above: 0, ..settings });
        (of_report(&report), report)
    }

    pub fn settings(&self) -> SearchSettings {
        let full_seconds = self.system.full_seconds;
        let length = TrialLength { full_seconds, shortest_seconds: full_seconds / 7.5, tested: None };
        let guess = self.guess.map(|load| LoadGuess { load, relative_error: GUESS_ERROR });
        let settings = SearchSettings::new(LoadKind::Rate, self.lowest, RANGE * self.lowest, length);
        SearchSettings { guess, ..settings }
    }

    pub fn run(&mut self, settings: SearchSettings) -> SearchReport {
        let mut search = Search::new(settings).unwrap();
        while let SearchStep::Trial(trial) = search.next_step() {
            let excess = (self.system.excess)(&mut self.chance, trial.load, trial.seconds);
            let outcome = if excess <= 0.0 {
                TrialOutcome::Passed
            } else {
                TrialOutcome::Failed { threshold: "p95".to_owned(), margin: Some(excess.exp_m1()) }
            };
            search.report_measured(trial.load, outcome, Some(excess.exp_m1())).unwrap();
        }
        search.result()
    }
}

fn of_rival(found: &Found, system: &System) -> Result {
    let seconds = f64::from(found.trials) * system.full_seconds;
    Result {
        half_pass: found.load,
        load: found.load,
        stated: found.load,
        is_precise: true,
        interval: None,
        seconds,
        trials: found.trials,
    }
}

fn of_report(report: &SearchReport) -> Result {
    let load = match report.largest_load {
        LargestLoad::Found { load } | LargestLoad::AtLeast { load } => Some(load),
        LargestLoad::Between { estimate, .. } => Some(estimate),
        LargestLoad::Unavailable { .. } => None,
    };
    let stated = match report.largest_load {
        LargestLoad::Found { load } | LargestLoad::AtLeast { load } => Some(load),
        LargestLoad::Between { low, .. } => Some(low),
        LargestLoad::Unavailable { .. } => None,
    };
    Result {
        half_pass: report.half_pass.median,
        load,
        stated,
        is_precise: matches!(report.largest_load, LargestLoad::Found { .. }),
        interval: report.interval.low.zip(report.interval.high),
        seconds: report.load_seconds,
        trials: report.trials,
    }
}
