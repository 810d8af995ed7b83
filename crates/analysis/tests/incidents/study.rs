//! The error rates of the search for incidents: how many runs without a fault have an incident, and how many faults are found.
//!
//! By default each kind of run is simulated a few times. For the table of `docs/reports.md`, each is simulated 200 times:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test -p busyhour-analysis --test incidents study -- --nocapture
//! ```

use std::io::Write as _;

use busyhour_analysis::{Caveat, Summary, steady_part};

use crate::kinds::{CLEAN, FAULTY};
use crate::recorded::summary_of;
use crate::simulate::{Fault, Kind, Run, simulate};

/// Number of simulated runs of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(3)
}

/// Whether an incident covers the faulty part: their intersection is more than half of their union.
fn is_found(run: &Run, summary: &Summary) -> bool {
    let (from_s, to_s) = run.fault_s;
    summary.incidents.iter().any(|incident| {
        let end_s = incident.to_s.unwrap_or(run.length_s);
        let common = end_s.min(to_s) - incident.from_s.max(from_s);
        common > 0.5 * (end_s.max(to_s) - incident.from_s.min(from_s))
    })
}

fn is_unsteady(summary: &Summary) -> bool {
    summary.caveats.iter().any(|reported| matches!(reported.caveat, Caveat::Unsteady(_)))
}

/// The findings in the runs of one kind.
#[derive(Default)]
struct Outcome {
    incidents: u64,
    found: u64,
    unsteady: u64,
}

fn outcome(kind: &Kind) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in 0..seeds() {
        let run = simulate(kind, seed);
        let summary = summary_of(&run);
        outcome.incidents += u64::from(!summary.incidents.is_empty());
        outcome.found += u64::from(is_found(&run, &summary));
        outcome.unsteady += u64::from(is_unsteady(&summary));
    }
    outcome
}

/// Prints a line of the table.
fn show(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}

fn percent(count: u64) -> f64 {
    count as f64 * 100.0 / seeds() as f64
}

#[test]
fn at_most_two_per_cent_of_clean_runs_have_an_incident() {
    show("| runs without a fault | with an incident | with a caveat |\n|---|---:|---:|");
    let mut with_incident = 0;
    for kind in CLEAN {
        let Outcome { incidents, unsteady, .. } = outcome(&kind);
        show(&format!("| {} | {:.1} % | {:.1} % |", kind.name, percent(incidents), percent(unsteady)));
        with_incident += incidents;
    }
    let runs = seeds() * CLEAN.len() as u64;
    assert!(with_incident as f64 <= 0.02 * runs as f64, "{with_incident} of {runs}");
}

#[test]
fn nine_of_ten_faults_are_found() {
    show("| fault | found |\n|---|---:|");
    let (mut missed, mut runs) = (0, 0);
    for kind in FAULTY {
        let outcome = outcome(&kind);
        // A fault of the whole run raises a caveat and is not an incident.
        let found = match kind.fault {
            Fault::Drift(_) | Fault::PeriodicPause | Fault::SawTooth(_) => outcome.unsteady,
            _ => outcome.found,
        };
        show(&format!("| {} | {:.1} % |", kind.name, percent(found)));
        let allowed = if seeds() >= 50 { 0.9 } else { 0.5 };
        assert!(found as f64 >= allowed * seeds() as f64, "{}: {found} of {}", kind.name, seeds());
        missed += seeds() - found;
        runs += seeds();
    }
    assert!(missed as f64 <= 0.05 * runs as f64, "{missed} of {runs}");
}

#[test]
fn the_steady_part_contains_the_time_before_an_incident() {
    let lasting = FAULTY.iter().filter(|kind| {
        let is_damage = matches!(kind.fault, Fault::Slower(_) | Fault::Fails { .. });
        is_damage && kind.part.is_some_and(|(from, to)| from > 0.0 && to >= 1.0)
    });
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for kind in lasting {
        for seed in 0..seeds() {
            let run = simulate(kind, seed);
            let summary = summary_of(&run);
            let part = steady_part(&summary.series, &summary.incidents);
            let from_s = part.window_s.map_or(0.0, |(from_s, _)| from_s);
            runs += 1;
            if from_s > 0.5 * run.fault_s.0 || !part.reason.contains("not steady") {
                wrong.push(format!("{} {seed}: {}", kind.name, part.reason));
            }
        }
    }
    assert!(wrong.len() * 20 <= runs, "{} of {runs}: {}", wrong.len(), wrong.join("\n"));
}
