//! Coverage of the intervals of fits. The following command prints the table of docs/capacity-models.md:
//! `ERROR_RATE_LOGS=400 cargo test -p busyhour-queueing --test coverage -- --nocapture table`.

mod common;

use std::io::Write as _;

use busyhour_queueing::fit::{CapacityFinding, CapacityFit, CapacityModel, FitSettings, UslCurve};
use common::{Coverage, measurements, random, scenarios, study};

const SEEDS: u64 = 200;

/// 95 % of the seeds, minus three standard errors of this share.
const COVERED_MIN: u64 = 181;

fn coverage(name: &str) -> Coverage {
    let scenario = scenarios().into_iter().find(|scenario| scenario.name == name).expect("a known scenario");
    study(&scenario, SEEDS)
}

fn assert_covers(found: &Coverage) {
    assert!(
        found.capacity >= COVERED_MIN && found.knee >= COVERED_MIN && found.curve >= COVERED_MIN,
        "{found:?}"
    );
}

#[test]
fn beyond_the_knee_the_interval_is_narrow_and_contains_the_capacity() {
    let found = coverage("1 server, known, no errors stated");
    assert_covers(&found);
    assert!(found.bounded == found.seeds && found.width < 0.06 && found.warned == 0, "{found:?}");
}

#[test]
fn intervals_include_the_uncertainty_of_the_number_of_servers() {
    let found = coverage("4 servers, no errors stated");
    assert_covers(&found);
    assert!(found.bounded == found.seeds && found.width < 0.08 && found.warned == 0, "{found:?}");
}

#[test]
fn below_the_knee_intervals_are_wide_with_a_finding() {
    let found = coverage("2 queues, below the knee");
    assert_covers(&found);
    assert!(found.warned >= COVERED_MIN, "{found:?}");
}

/// A fit of measurements that follow the Universal Scalability Law.
fn fit_of_usl(seed: u64) -> CapacityFit {
    let truth = CapacityModel::Usl(UslCurve { lambda_per_s: 0.99, sigma: 0.01, kappa: 2e-5 });
    let users = [10.0, 30.0, 60.0, 90.0, 120.0, 160.0, 200.0];
    let points = measurements(&truth, &users, true, &mut random(seed));
    CapacityFit::new(&points, &FitSettings::default(), &mut random(1)).expect("seven loads suffice")
}

#[test]
fn a_better_fit_of_the_scalability_law_is_reported() {
    for seed in 0..10 {
        let fit = fit_of_usl(seed);
        let is_reported = fit
            .findings
            .iter()
            .any(|reported| matches!(reported.finding, CapacityFinding::ScalabilityLawFitsBetter { .. }));
        assert!(is_reported, "{seed}: {:?}", fit.findings);
    }
}

/// Prints the table of the documentation; by default with two data sets per system.
#[test]
fn table() {
    let seeds = option_env!("ERROR_RATE_LOGS").and_then(|number| number.parse().ok()).unwrap_or(2);
    let mut out = std::io::stderr();
    writeln!(
        out,
        "| system | capacity | width | no upper end | knee | curve | warned |\n|---|---|---|---|---|---|---|"
    )
    .unwrap();
    for scenario in scenarios() {
        let found = study(&scenario, seeds);
        let percent = |count: u64| format!("{:.1} %", 100.0 * count as f64 / found.seeds as f64);
        writeln!(
            out,
            "| {} | {} | {:.1} % | {} | {} | {} | {} |",
            scenario.name,
            percent(found.capacity),
            100.0 * found.width,
            percent(found.seeds - found.bounded),
            percent(found.knee),
            percent(found.curve),
            percent(found.warned),
        )
        .unwrap();
        assert_eq!(found.seeds, seeds);
    }
}
