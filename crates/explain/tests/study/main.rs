//! How often the explanation names a wrong cause, and how often it names the right one.
//!
//! By default each kind of run is simulated a few times. For the tables of `docs/explanations.md`, each is simulated 200 times:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test --release -p busyhour-explain --test study -- --nocapture
//! ```

mod background;
mod kinds;
mod pool;
mod run;

use std::io::Write as _;

use busyhour_analysis::explanation::Cause;

use crate::kinds::{CLEAN, FAULTS, FAULTY, Kind, SHAPES};
use crate::pool::POOL_KINDS;
use crate::run::explanation_of;

/// Number of simulated runs of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(3)
}

/// Minimum number of runs of each kind with a fault.
const FAULTS_MIN: u64 = 7;

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
fn at_most_one_run_in_twenty_without_a_cause_has_a_claim() {
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

/// Counts of the causes that were named in runs with faults.
#[derive(Clone, Default)]
struct Named {
    right: u64,
    wrong: u64,
    runs: u64,
    others: Vec<&'static str>,
}

impl Named {
    fn add(&mut self, cause: Cause, named: Cause) {
        self.runs += 1;
        if named == cause {
            self.right += 1;
        } else if named != Cause::None {
            self.wrong += 1;
            self.others.push(named.id());
        }
    }

    fn cells(&self) -> String {
        let percent = |count: u64| count as f64 * 100.0 / self.runs as f64;
        let mut others = self.others.clone();
        others.sort_unstable();
        let others: Vec<String> =
            others.chunk_by(|a, b| a == b).map(|same| format!("{} {}", same[0], same.len())).collect();
        format!("{:.1} % | {:.1} % | {} |", percent(self.right), percent(self.wrong), others.join(", "))
    }
}

/// The causes take turns, so that each row has all of them.
#[test]
fn nine_causes_of_ten_are_named() {
    let (mut all, mut of_causes) = (Named::default(), vec![Named::default(); FAULTS.len()]);
    show("| run | cause present in | named | another | others |\n|---|---|---:|---:|---|");
    for kind in FAULTY {
        for shape in SHAPES {
            let possible: Vec<usize> =
                (0..FAULTS.len()).filter(|at| shape.is_possible(FAULTS[*at])).collect();
            let mut row = Named::default();
            for seed in 0..seeds().max(FAULTS_MIN) {
                let at = possible[seed as usize % possible.len()];
                let named = explanation_of(&kind.with_fault(FAULTS[at], *shape), seed).cause;
                for counts in [&mut row, &mut all, &mut of_causes[at]] {
                    counts.add(FAULTS[at], named);
                }
            }
            show(&format!("| {} | {} | {}", kind.name, shape.name(), row.cells()));
        }
    }
    show("\n| cause | named | another | others |\n|---|---:|---:|---|");
    for (cause, counts) in FAULTS.iter().zip(&of_causes).filter(|(_, counts)| counts.runs > 0) {
        show(&format!("| {} | {}", cause.id(), counts.cells()));
    }
    show(&format!("| all | {}", all.cells()));
    assert!(all.right as f64 >= 0.8 * all.runs as f64, "{} of {}", all.right, all.runs);
    assert!(all.wrong as f64 <= 0.05 * all.runs as f64 + 2.0, "{} of {}", all.wrong, all.runs);
}

/// Requests wait for a connection of the pool because the sessions behind it wait for a lock, or because the pool is too small.
#[test]
fn locks_behind_a_pool_are_distinguished_from_a_small_pool() {
    show("| run with a pool | cause | named | another | others |\n|---|---|---:|---:|---|");
    for kind in POOL_KINDS {
        let mut counts = Named::default();
        for seed in 0..seeds().max(FAULTS_MIN) {
            let named = pool::explanation_of(kind, seed).cause;
            assert!(named == kind.cause || named != Cause::DatabaseLock, "{}: {named:?}", kind.name);
            counts.add(kind.cause, named);
        }
        show(&format!("| {} | {} | {}", kind.name, kind.cause.id(), counts.cells()));
        assert!(
            counts.right as f64 >= kind.named_min * counts.runs as f64,
            "{}: {} of {}",
            kind.name,
            counts.right,
            counts.runs
        );
    }
}
