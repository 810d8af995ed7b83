//! How often the explanation accuses wrongly, and how often it names the cause.
//!
//! By default each kind of run is simulated a few times. For the tables of `docs/explanations.md`, each is simulated 200 times:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test --release -p busyhour-explain --test study -- --nocapture
//! ```

mod background;
mod kinds;
mod run;

use std::io::Write as _;

use busyhour_analysis::explanation::Cause;

use crate::kinds::{CLEAN, FAULTS, FAULTY, FaultShape, Kind, SHAPES};
use crate::run::explanation_of;

/// Number of simulated runs of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(3)
}

/// Prints a line of a table.
fn show(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}

fn percent(count: u64) -> f64 {
    count as f64 * 100.0 / seeds() as f64
}

/// How often each cause is named in the runs of a kind, most frequent first.
fn named(kind: &Kind) -> Vec<(Cause, u64)> {
    let mut counts: Vec<(Cause, u64)> = Vec::new();
    for seed in 0..seeds() {
        let cause = explanation_of(kind, seed).cause;
        match counts.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, count)) => *count += 1,
            None => counts.push((cause, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

fn count(named: &[(Cause, u64)], cause: Cause) -> u64 {
    named.iter().find(|(known, _)| *known == cause).map_or(0, |(_, count)| *count)
}

fn others(named: &[(Cause, u64)], but: Cause) -> String {
    let others = named.iter().filter(|(cause, _)| *cause != but && *cause != Cause::None);
    others.map(|(cause, count)| format!("{} {count}", cause.id())).collect::<Vec<_>>().join(", ")
}

#[test]
fn one_run_in_twenty_without_a_cause_is_accused_at_most() {
    show("| run without a fault | with a claim | claimed |\n|---|---:|---|");
    let (mut claims, mut runs) = (0, 0);
    for kind in CLEAN {
        let named = named(kind);
        let wrong = seeds() - count(&named, Cause::None);
        show(&format!("| {} | {:.1} % | {} |", kind.name, percent(wrong), others(&named, Cause::None)));
        claims += wrong;
        runs += seeds();
    }
    show(&format!("| all | {:.2} % | |", claims as f64 * 100.0 / runs as f64));
    assert!(claims as f64 <= 0.05 * runs as f64 + 2.0, "{claims} of {runs}");
}

/// Counts of what was named in the runs with faults.
#[derive(Default)]
struct Named {
    right: u64,
    wrong: u64,
    runs: u64,
    others: Vec<String>,
}

impl Named {
    fn add(&mut self, kind: &Kind, cause: Cause, shape: FaultShape) {
        let named = named(&kind.with_fault(cause, shape));
        let (found, none) = (count(&named, cause), count(&named, Cause::None));
        self.right += found;
        self.wrong += seeds() - found - none;
        self.runs += seeds();
        self.others.extend(Some(others(&named, cause)).filter(|others| !others.is_empty()));
    }

    fn cells(&self) -> String {
        let percent = |count: u64| count as f64 * 100.0 / self.runs as f64;
        format!("{:.1} % | {:.1} % | {}", percent(self.right), percent(self.wrong), self.others.join(", "))
    }
}

#[test]
fn nine_causes_of_ten_are_named() {
    show("| run | shape | named | another | others |\n|---|---|---:|---:|---|");
    let (mut right, mut wrong, mut runs) = (0, 0, 0);
    for kind in FAULTY {
        for shape in SHAPES {
            let mut all = Named::default();
            for cause in FAULTS.iter().filter(|cause| shape.is_possible(**cause)) {
                all.add(kind, *cause, *shape);
            }
            show(&format!("| {} | {} | {} |", kind.name, shape.name(), all.cells()));
            (right, wrong, runs) = (right + all.right, wrong + all.wrong, runs + all.runs);
        }
    }
    let percent = |count: u64| count as f64 * 100.0 / runs as f64;
    show(&format!("| all | | {:.1} % | {:.1} % | |", percent(right), percent(wrong)));
    assert!(right as f64 >= 0.8 * runs as f64, "{right} of {runs}");
    assert!(wrong as f64 <= 0.05 * runs as f64 + 2.0, "{wrong} of {runs}");
}
