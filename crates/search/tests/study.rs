//! The error of the search and of other methods, and the time under load that they need.
//!
//! By default, each kind is simulated a few times only, so the test allows for chance. The bounds apply to 200 seeds and more.
//! `BUSYHOUR_STUDY_SYSTEMS` selects the systems whose name contains a text:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test --release -p busyhour-search --test study -- --nocapture
//! ```

mod study {
    pub mod methods;
    pub mod rivals;
    pub mod situations;
    pub mod systems;
    pub mod tally;
}

use std::io::Write as _;

use study::methods::Case;
use study::situations::{SITUATIONS, run};
use study::systems::{SYSTEMS, System, pass_rate};
use study::tally::Tally;

/// The number of simulated searches of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(3)
}

/// The seeds. `BUSYHOUR_STUDY_FIRST_SEED` is the first one, so that a study is independent of the seeds that chose the constants.
fn seed_range() -> std::ops::Range<u64> {
    let first = option_env!("BUSYHOUR_STUDY_FIRST_SEED").and_then(|seed| seed.parse().ok()).unwrap_or(0);
    first..first + seeds()
}

/// The systems to simulate: all, or those whose name contains a text.
fn systems() -> impl Iterator<Item = &'static System> {
    let wanted = option_env!("BUSYHOUR_STUDY_SYSTEMS").unwrap_or_default();
    SYSTEMS.iter().filter(move |system| system.name.contains(wanted))
}

/// The share of searches whose answer may be too high.
const TOO_HIGH_MAX: f64 = 0.05;

/// Four standard errors of a share, and one search: chance exceeds them once in 30,000 cases.
fn slack(share: f64) -> f64 {
    let n = seeds() as f64;
    4.0 * (share * (1.0 - share) / n).sqrt() + 1.0 / n
}

fn print(line: &str) {
    writeln!(std::io::stdout().lock(), "{line}").unwrap();
}

/// Prints the rows of one system, and returns the bounds that are missed.
fn compare(system: &System, has_guess: bool) -> Vec<String> {
    let mut tallies: [Tally; 5] = Default::default();
    for seed in seed_range() {
        let mut case = Case::new(system, seed, has_guess);
        let bisection = case.bisection();
        let seconds = bisection.seconds;
        let results = [
            bisection,
            case.isotonic(),
            case.search_within(seconds / 2.0),
            case.search_within(seconds),
            case.search_by_default().0,
        ];
        tallies.iter_mut().zip(&results).for_each(|(tally, result)| tally.add(system, result));
    }
    let names = [
        "doubling, bisection",
        "isotonic",
        "search, half the time of bisection",
        "search, the time of bisection",
        "search, 5 %, confirmed",
    ];
    let guess = if has_guess { ", with a guess" } else { "" };
    print(&format!("| **{}{guess}** | | | | | | | | | |", system.name));
    for (at, (name, tally)) in names.iter().zip(&tallies).enumerate() {
        print(&tally.row(name, at >= 2));
    }
    let mut missed = Vec::new();
    // The error of few searches varies too much to compare.
    if seeds() >= 100 && !has_guess && tallies[2].half_pass_error() > tallies[0].half_pass_error() {
        missed.push(format!("{}{guess}: larger error than bisection in half the time", system.name));
    }
    for (name, tally) in names.iter().zip(&tallies).skip(2) {
        if tally.too_high() > TOO_HIGH_MAX + slack(TOO_HIGH_MAX) {
            missed.push(format!("{}{guess}, {name}: {} are too high", system.name, tally.too_high()));
        }
    }
    missed
}

#[test]
fn half_the_time_of_bisection_suffices_and_answers_are_rarely_too_high() {
    let missed: Vec<String> = systems().flat_map(|system| compare(system, false)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

/// The budgets in seconds of the measurements in the documentation.
const SMALL_BUDGETS: [f64; 3] = [140.0, 170.0, 600.0];

#[test]
fn small_budgets_lead_to_wide_intervals_that_contain_the_load() {
    let mut missed = Vec::new();
    for system in SYSTEMS.iter().filter(|system| system.name.contains("7 s")) {
        for budget in SMALL_BUDGETS {
            let mut tally = Tally::default();
            for seed in seed_range() {
                tally.add(system, &Case::new(system, seed, true).search_like_measured(budget));
            }
            print(&tally.row(&format!("{}, {budget:.0} s", system.name), true));
            if tally.too_high() > TOO_HIGH_MAX + slack(TOO_HIGH_MAX) {
                missed.push(format!("{}, {budget} s: {} are too high", system.name, tally.too_high()));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn answers_from_a_guess_are_rarely_too_high() {
    let missed: Vec<String> = systems().flat_map(|system| compare(system, true)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

/// The share of right results that is required.
const RIGHT_MIN: f64 = 0.9;

#[test]
fn situations_without_an_ordinary_answer_are_recognized() {
    let mut missed = Vec::new();
    for situation in SITUATIONS {
        let reports: Vec<_> = seed_range().map(|seed| run(situation, seed)).collect();
        let right = reports.iter().filter(|report| (situation.is_right)(report)).count() as f64;
        let share = right / reports.len() as f64;
        let minutes: f64 = reports.iter().map(|report| report.load_seconds / 60.0).sum();
        let (name, expected) = (situation.name, situation.right);
        print(&format!(
            "| {name} | {expected} | {:.1} | {:.1} |",
            100.0 * share,
            minutes / reports.len() as f64
        ));
        if share < RIGHT_MIN - slack(RIGHT_MIN) {
            missed.push(format!("{name}: {share} are right"));
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn stated_loads_pass_in_half_and_in_95_percent_of_the_trials() {
    let trials = 20 * seeds();
    for system in SYSTEMS.iter().filter(|system| system.answer < system.half_pass) {
        for (load, stated) in [(system.half_pass, 0.5), (system.answer, 0.95)] {
            let share = pass_rate(system, load, trials);
            let chance = 4.0 * (stated * (1.0 - stated) / trials as f64).sqrt() + 1.0 / trials as f64;
            assert!((share - stated).abs() < chance + 0.01, "{} at {load}: {share}", system.name);
        }
    }
}
