//! The error rates of the search for leaks: how often a class is suspected that does not leak, and which leaks are found.
//!
//! By default, each kind is simulated a few times only, so the test allows for chance. The bounds apply to 200 seeds and more:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test --release -p busyhour-leak --test study -- --nocapture
//! ```

mod study {
    pub mod classes;
    pub mod memory;
}

use std::io::Write as _;

use busyhour_leak::{LeakOutcome, LeakSettings, MemoryOutcome, MemorySize, memory_outcome};
use study::classes::{CLASS_KINDS, rounds_of};
use study::memory::{MEMORY_KINDS, series_of};

/// The number of simulated searches of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(5)
}

/// The stated growth is found in 80 % of the searches.
const MISLEADING_MAX: f64 = 0.2;

/// The numbers of outcomes of one kind.
#[derive(Default)]
struct Counts {
    leak: u64,
    none: u64,
    undecided: u64,
    /// Results "no leak" with a stated growth that is not above the true one, and suspects without the leaking class.
    misleading: u64,
}

impl Counts {
    /// Prints the shares, and returns why the share of leaks is out of its bounds. With few seeds, a share may miss its bound by
    /// chance. Chance exceeds four standard errors once in 30,000 cases.
    fn report(&self, name: &str, (low, high): (f64, f64)) -> Option<String> {
        let n = seeds() as f64;
        let percent = |count: u64| 100.0 * count as f64 / n;
        let line = format!(
            "| {name:58} | {:5.1} | {:5.1} | {:5.1} | {:5.1} |",
            percent(self.leak),
            percent(self.none),
            percent(self.undecided),
            percent(self.misleading)
        );
        writeln!(std::io::stdout().lock(), "{line}").unwrap();
        let slack = |share: f64| 4.0 * (share * (1.0 - share) / n).sqrt() + 1.0 / n;
        let share = self.leak as f64 / n;
        let is_outside = share < low - slack(low) || share > high + slack(high);
        let misleading = self.misleading as f64 / n;
        if misleading > MISLEADING_MAX + slack(MISLEADING_MAX) {
            return Some(format!("{name}: {misleading} of the results are misleading"));
        }
        is_outside.then(|| format!("{name}: {share} is not in {low} to {high}"))
    }
}

#[test]
fn leaking_classes_are_found_and_others_are_rarely_suspected() {
    let mut wrong = Vec::new();
    for kind in CLASS_KINDS {
        let mut counts = Counts::default();
        for seed in 0..seeds() {
            let report = rounds_of(kind, seed).search(&LeakSettings::default());
            let has_subject = report.suspects.iter().any(|suspect| suspect.class == "shop.Subject");
            match report.outcome {
                LeakOutcome::Leak if kind.bytes_per_request > 0.0 && !has_subject => counts.misleading += 1,
                LeakOutcome::Leak => counts.leak += 1,
                LeakOutcome::NoLeak { smallest_found_bytes_per_request: stated } => {
                    counts.none += 1;
                    counts.misleading += u64::from(stated <= kind.bytes_per_request);
                }
                LeakOutcome::CannotTell { .. } => counts.undecided += 1,
            }
        }
        wrong.extend(counts.report(kind.name, kind.leaks));
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn growing_processes_are_found_and_others_are_rarely_suspected() {
    let mut wrong = Vec::new();
    for kind in MEMORY_KINDS {
        let mut counts = Counts::default();
        for seed in 0..seeds() {
            let sizes: Vec<MemorySize> = series_of(kind, seed);
            match memory_outcome(&sizes) {
                MemoryOutcome::Leak(_) => counts.leak += 1,
                MemoryOutcome::NoLeak(_) => counts.none += 1,
                MemoryOutcome::CannotTell { .. } => counts.undecided += 1,
            }
        }
        wrong.extend(counts.report(kind.name, kind.leaks));
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
