//! Searches in systems whose pass rate is known.

use busyhour_search::{
    CurveShape, LargestLoad, LoadGuess, LoadKind, NextTrial, NoLoad, ReportError, Search, SearchEnd,
    SearchReport, SearchSettings, SearchStep, SettingsError, TRIALS_MAX, TestedQuantile, TrialLength,
    TrialOutcome, TrialPurpose, VoidCause,
};

/// Trials of a minute, from 10 seconds on.
fn settings(kind: LoadKind, lowest: f64, highest: f64) -> SearchSettings {
    let length = TrialLength { full_seconds: 60.0, shortest_seconds: 10.0, tested: None };
    SearchSettings::new(kind, lowest, highest, length)
}

fn users(lowest: f64, highest: f64) -> Search {
    Search::new(settings(LoadKind::Users, lowest, highest)).unwrap()
}

fn failed() -> TrialOutcome {
    TrialOutcome::Failed { threshold: "p95 < 300 ms".to_owned(), margin: Some(0.2) }
}

fn passes(passes: bool) -> TrialOutcome {
    if passes { TrialOutcome::Passed } else { failed() }
}

/// Runs a search to its end.
fn run(search: &mut Search, mut outcome: impl FnMut(&NextTrial) -> TrialOutcome) -> SearchReport {
    loop {
        match search.next_step() {
            SearchStep::Trial(trial) => search.report(trial.load, outcome(&trial)).unwrap(),
            SearchStep::Finished(end) => {
                let report = search.result();
                assert_eq!(report.end, Some(end));
                assert!(report.load_seconds <= search.settings().budget_seconds, "{report:?}");
                return report;
            }
        }
        assert!(search.trials().len() <= TRIALS_MAX);
    }
}

/// Passes up to a load.
fn cliff(largest: f64) -> impl FnMut(&NextTrial) -> TrialOutcome {
    move |trial| passes(trial.load <= largest)
}

fn found(report: &SearchReport) -> f64 {
    match report.largest_load {
        LargestLoad::Found { load } => load,
        _ => panic!("no load was found: {report:?}"),
    }
}

/// The lower end of an interval that is wider than the precision, which contains a load.
fn low_end(report: &SearchReport, contained: f64) -> f64 {
    match report.largest_load {
        LargestLoad::Between { low, high, estimate } => {
            assert!(low <= estimate && estimate <= high && high >= contained, "{report:?}");
            low
        }
        _ => panic!("the interval is not wide: {report:?}"),
    }
}

fn loads(search: &Search, purpose: TrialPurpose) -> Vec<f64> {
    search
        .trials()
        .iter()
        .filter(|trial| trial.trial.purpose == purpose)
        .map(|trial| trial.trial.load)
        .collect()
}

#[test]
fn a_budget_that_is_too_small_is_not_a_failure() {
    let length = TrialLength { full_seconds: 60.0, shortest_seconds: 10.0, tested: None };
    let settings =
        SearchSettings { budget_seconds: 35.0, ..SearchSettings::new(LoadKind::Rate, 5.0, 50.0, length) };
    let report = run(&mut Search::new(settings).unwrap(), |_| TrialOutcome::Passed);
    assert!(report.trials > 0, "{report:?}");
    let LargestLoad::Unavailable { reason } = report.largest_load else { panic!("{report:?}") };
    assert_eq!(reason, NoLoad::SmallBudget, "{report:?}");
    assert!(reason.reason().contains("no trial failed"), "{}", reason.reason());
    let report = run(&mut Search::new(settings).unwrap(), |_| failed());
    let reason = NoLoad::NothingPassed;
    assert_eq!(report.largest_load, LargestLoad::Unavailable { reason }, "{report:?}");
}

#[test]
fn a_cliff_is_found_with_the_required_precision_anywhere_in_the_range() {
    for largest in [11.0, 12.0, 29.0, 100.0, 345.0, 1_024.0, 1_900.0] {
        let mut search = users(10.0, 2_000.0);
        let report = run(&mut search, cliff(largest));
        let load = found(&report);
        assert!(load <= largest && load >= (0.9 * largest).floor(), "{largest}: {report:?}");
        assert_eq!(load.fract(), 0.0);
        assert_eq!(report.end, Some(SearchEnd::Precise));
        assert!(report.half_pass.high.unwrap() >= largest, "{report:?}");
        let confirmation = report.confirmation.unwrap();
        assert_eq!((confirmation.passed, confirmation.failed, confirmation.load), (5, 0, load));
        assert!((confirmation.pass_probability_at_least.unwrap() - 0.549).abs() < 1e-3);
    }
}

#[test]
fn trials_are_short_at_first_and_have_the_full_length_at_the_end() {
    let mut search = users(10.0, 2_000.0);
    run(&mut search, cliff(345.0));
    let seconds: Vec<f64> = search
        .trials()
        .iter()
        .filter(|trial| trial.trial.purpose == TrialPurpose::Search)
        .map(|trial| trial.trial.seconds)
        .collect();
    assert!(seconds[..5].iter().all(|seconds| *seconds == 10.0), "{seconds:?}");
    assert_eq!(seconds.last(), Some(&60.0));
    // A p99 at 10 requests per second: 299 requests for a verdict, 10,000 for a trial of full length.
    let tested = TestedQuantile { quantile: 0.99, requests_per_second_per_load: 0.1 };
    let slow = settings(LoadKind::Users, 100.0, 101.0);
    let length = TrialLength { tested: Some(tested), ..slow.length };
    let mut search = Search::new(SearchSettings { length, budget_seconds: 20_000.0, ..slow }).unwrap();
    let SearchStep::Trial(trial) = search.next_step() else { panic!("no trial") };
    assert_eq!(trial.seconds, 30.0);
}

#[test]
fn a_guess_saves_trials_and_a_wrong_one_costs_few() {
    let trials = |guess: Option<f64>| {
        let guess = guess.map(|load| LoadGuess { load, relative_error: 0.1 });
        let mut search =
            Search::new(SearchSettings { guess, ..settings(LoadKind::Rate, 1.0, 10_000.0) }).unwrap();
        let report = run(&mut search, cliff(345.0));
        let load = found(&report);
        assert!(load <= 345.0 && load > 300.0, "{report:?}");
        loads(&search, TrialPurpose::Search).len()
    };
    let [without, good, wrong] = [None, Some(350.0), Some(20.0)].map(trials);
    assert!(good < without && wrong < without + 12, "{good} {without} {wrong}");
}

#[test]
fn the_ends_of_the_range_are_answers_of_their_own() {
    let report = run(&mut users(10.0, 200.0), cliff(1_000.0));
    assert_eq!(report.end, Some(SearchEnd::PassesEverywhere));
    assert_eq!(report.largest_load, LargestLoad::AtLeast { load: 200.0 });
    assert_eq!((report.interval.high, report.width), (None, None));

    let report = run(&mut users(100.0, 2_000.0), cliff(7.0));
    assert_eq!(report.end, Some(SearchEnd::FailsEverywhere));
    assert_eq!(report.largest_load, LargestLoad::Unavailable { reason: NoLoad::NothingPassed });
    assert_eq!(report.interval.low, None);
    assert_eq!(report.failed_thresholds[0].smallest_load, 100.0);
    assert_eq!(report.failed_thresholds[0].margin, Some(0.2));
}

#[test]
fn pass_rates_that_rise_with_the_load_have_no_answer() {
    // A cold cache: loads below 120 fail. The check at the lower end of the range finds it.
    let report = run(&mut users(10.0, 2_000.0), |trial| passes(trial.load >= 120.0 && trial.load <= 345.0));
    assert_eq!(report.end, Some(SearchEnd::NotMonotone), "{report:?}");
    assert_eq!(report.largest_load, LargestLoad::Unavailable { reason: NoLoad::NotMonotone });
    assert!(report.monotone_p < 0.005);
}

#[test]
fn one_wrong_outcome_is_repeated_and_overruled() {
    let mut is_first = true;
    let mut search = users(10.0, 2_000.0);
    let report = run(&mut search, |trial| {
        let is_spoiled = is_first;
        is_first = false;
        passes(trial.load <= 345.0 && !is_spoiled)
    });
    let load = found(&report);
    assert!(load <= 345.0 && load > 270.0, "{report:?}");
    assert!(!loads(&search, TrialPurpose::Check).is_empty());
}

#[test]
fn a_spent_budget_ends_the_search_with_a_wider_interval() {
    let budget = |seconds: f64| {
        let settings = SearchSettings {
            precision: 0.005,
            budget_seconds: seconds,
            ..settings(LoadKind::Rate, 10.0, 2_000.0)
        };
        run(&mut Search::new(settings).unwrap(), cliff(345.0))
    };
    let ratio = |report: &SearchReport| report.interval.high.unwrap() / report.interval.low.unwrap();
    let (short, long) = (budget(300.0), budget(500.0));
    assert_eq!((short.end, long.end), (Some(SearchEnd::BudgetSpent), Some(SearchEnd::BudgetSpent)));
    assert!(ratio(&short) > ratio(&long), "{short:?} {long:?}");
    assert!(low_end(&short, 345.0) <= 345.0 && low_end(&long, 345.0) <= 345.0);
    // Too little for a trial of full length.
    let tiny = budget(45.0);
    assert_eq!(tiny.largest_load, LargestLoad::Unavailable { reason: NoLoad::NothingPassed });
    assert_eq!((tiny.confirmation, tiny.hysteresis), (None, None));
}

#[test]
fn void_trials_are_counted_and_repeated() {
    let mut search = users(10.0, 2_000.0);
    let mut count = 0;
    let report = run(&mut search, |trial| {
        count += 1;
        if count % 4 == 0 { TrialOutcome::Void(VoidCause::HostSpoiled) } else { passes(trial.load <= 345.0) }
    });
    assert!(found(&report) <= 345.0 && report.void_host_spoiled > 5, "{report:?}");
    for pair in search.trials().windows(2) {
        if matches!(pair[0].outcome, TrialOutcome::Void(_)) {
            assert_eq!(pair[0].trial, pair[1].trial);
        }
    }
    let mut search = users(10.0, 2_000.0);
    let report = run(&mut search, |_| TrialOutcome::Void(VoidCause::HostSpoiled));
    assert_eq!((report.end, report.void_host_spoiled), (Some(SearchEnd::HostSpoiled), 5));
    // Run again on a quiet machine, also after the state was stored.
    search = serde_json::from_str(&serde_json::to_string(&search).unwrap()).unwrap();
    assert!(search.resume());
    let report = run(&mut search, cliff(345.0));
    assert!(found(&report) <= 345.0 && report.void_host_spoiled == 5, "{report:?}");
    assert!(!search.resume());
}

#[test]
fn loads_that_the_generator_does_not_deliver_limit_the_range() {
    let limited = |largest: f64| {
        run(&mut users(10.0, 2_000.0), move |trial| match trial.load {
            load if load > 500.0 => TrialOutcome::Void(VoidCause::LoadNotDelivered),
            load => passes(load <= largest),
        })
    };
    let below = limited(345.0);
    assert!(found(&below) <= 345.0, "{below:?}");
    let above = limited(3_000.0);
    assert!(above.generator_limit.is_some_and(|limit| limit <= 500.0), "{above:?}");
    let LargestLoad::AtLeast { load } = above.largest_load else { panic!("{above:?}") };
    assert!(load <= 500.0 && load > 100.0, "{above:?}");
    let report = run(&mut users(10.0, 11.0), |_| TrialOutcome::Void(VoidCause::LoadNotDelivered));
    assert_eq!(report.end, Some(SearchEnd::NotDelivered));
}

#[test]
fn hysteresis_is_measured_from_above() {
    let with_fall = |fall: f64| {
        run(&mut users(10.0, 2_000.0), move |trial| {
            let largest = if trial.overload.is_some() { 345.0 * (1.0 - fall) } else { 345.0 };
            passes(trial.load <= largest)
        })
    };
    let none = with_fall(0.0).hysteresis.unwrap();
    assert!(none.low < 0.0 && none.high > -0.01 && none.difference.abs() < 0.02, "{none:?}");
    let lower = with_fall(0.2).hysteresis.unwrap();
    assert!(lower.low < -0.2 && lower.high > -0.2 && lower.high < -0.1, "{lower:?}");
    // The budget allows 5 of the 6.
    assert_eq!(lower.trials, 5);
}

#[test]
fn cliffs_and_gradual_curves_are_told_apart() {
    let shape = |report: &SearchReport| report.width.unwrap().shape;
    assert_eq!(shape(&run(&mut users(10.0, 2_000.0), cliff(345.0))), CurveShape::Cliff);
    // Outcomes in a fixed order with the pass rates of a curve of ± 20 %.
    let mut count = 0_u32;
    let slow = SearchSettings {
        precision: 0.02,
        budget_seconds: 6_000.0,
        ..settings(LoadKind::Users, 10.0, 2_000.0)
    };
    let gradual = run(&mut Search::new(slow).unwrap(), |trial| {
        count += 1;
        let share = f64::from(count) * 0.618_034 % 1.0;
        passes(1.0 / (1.0 + ((trial.load / 345.0).ln() / 0.09).exp()) > share)
    });
    assert_eq!(shape(&gradual), CurveShape::Gradual, "{gradual:?}");
    // 95 % of the trials pass at 345 · exp(−0.09 · ln 19) = 264.7.
    assert!(low_end(&gradual, 264.7) < 264.7);
}

#[test]
fn an_interrupted_search_continues_with_the_same_trials() {
    let mut whole = users(10.0, 2_000.0);
    let report = run(&mut whole, cliff(345.0));
    let mut search = users(10.0, 2_000.0);
    let mut steps = 0;
    loop {
        // Stored before and after each step is chosen.
        search = serde_json::from_str(&serde_json::to_string(&search).unwrap()).unwrap();
        let step = search.next_step();
        search = serde_json::from_str(&serde_json::to_string(&search).unwrap()).unwrap();
        assert_eq!(search.next_step(), step);
        let SearchStep::Trial(trial) = step else { break };
        search.report(trial.load, passes(trial.load <= 345.0)).unwrap();
        steps += 1;
    }
    assert_eq!((search.trials(), steps), (whole.trials(), whole.trials().len()));
    assert_eq!(search.result(), report);
}

#[test]
fn impossible_settings_and_reports_are_refused() {
    let with =
        |lowest: f64, highest: f64| Search::new(settings(LoadKind::Users, lowest, highest)).unwrap_err();
    assert!(matches!(with(0.0, 10.0), SettingsError::Range { .. }));
    assert!(matches!(with(10.2, 10.8), SettingsError::Range { .. }));
    assert_eq!(with(1.0, 1e7), SettingsError::RangeTooWide);
    let precision = SearchSettings { precision: 0.0, ..settings(LoadKind::Users, 1.0, 10.0) };
    assert_eq!(Search::new(precision), Err(SettingsError::Precision(0.0)));

    let mut search = users(10.0, 2_000.0);
    assert_eq!(search.report(10.0, TrialOutcome::Passed), Err(ReportError::NoTrial));
    let SearchStep::Trial(trial) = search.next_step() else { panic!("no trial") };
    let other = search.report(2.0 * trial.load, TrialOutcome::Passed);
    assert_eq!(other, Err(ReportError::OtherLoad { load: 2.0 * trial.load, wanted: trial.load }));
    search.report(0.95 * trial.load, TrialOutcome::Passed).unwrap();
    assert_eq!(search.trials()[0].trial, trial);

    let stored = serde_json::to_string(&search).unwrap();
    assert!(serde_json::from_str::<Search>(&stored.replace("\"lowest\":10.0", "\"lowest\":-1.0")).is_err());
}

/// The next value of a multiplicative generator, from 0 to 1.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as f64 / 2.0_f64.powi(31)
}

#[test]
fn any_outcomes_end_within_the_range_and_the_budget() {
    let ranges = [
        (LoadKind::Users, 1.0, 3.0),
        (LoadKind::Users, 1.0, 100_000.0),
        (LoadKind::Rate, 0.01, 0.02),
        (LoadKind::Rate, 5.0, 900.0),
    ];
    for seed in 0..40 {
        let mut state = seed;
        let (kind, lowest, highest) = ranges[seed as usize % ranges.len()];
        let tested =
            (seed % 3 == 0).then_some(TestedQuantile { quantile: 0.95, requests_per_second_per_load: 0.5 });
        let guess = (seed % 2 == 0).then_some(LoadGuess { load: 0.2 * highest, relative_error: 0.3 });
        let length = TrialLength { full_seconds: 60.0, shortest_seconds: 6.5, tested };
        let mut search = Search::new(SearchSettings {
            guess,
            budget_seconds: 1_500.0,
            ..SearchSettings::new(kind, lowest, highest, length)
        })
        .unwrap();
        let (passing, void) = (random(&mut state), 0.2 * random(&mut state));
        run(&mut search, |trial| {
            assert!((lowest..=highest).contains(&trial.load), "{trial:?}");
            assert!(trial.overload.is_none_or(|overload| overload.load <= highest), "{trial:?}");
            if random(&mut state) < void {
                return TrialOutcome::Void(VoidCause::LoadNotDelivered);
            }
            passes(random(&mut state) < passing)
        });
        if let LargestLoad::Found { load } | LargestLoad::AtLeast { load } = search.result().largest_load {
            assert!((lowest..=highest).contains(&load));
        }
    }
}
