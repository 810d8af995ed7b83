//! The error rates of marks of bursts: how many marks per hour a log without a change has, and how often a change is found.
//!
//! By default, 20 runs of each kind are simulated. The table in `docs/logs.md` is the result of 200 runs:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test --release -p busyhour-logs --test burst_study -- --nocapture
//! ```

mod simulated_log;

use std::fmt::Write as _;
use std::io::Write as _;

use busyhour_logs::{BurstDetector, LogBurst};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use simulated_log::{Arrivals, entries};

fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(20)
}

/// The change in a run.
#[derive(Clone, Copy)]
enum Change {
    Nothing,
    /// 50 entries within 5 s.
    Burst,
    /// Ten times the rate for a minute.
    Tenfold,
}

/// The second at which the change begins.
const CHANGED_S: u32 = 700;

fn bursts(arrivals: Arrivals, rate: f64, length_s: u32, seed: u64, change: Change) -> Vec<LogBurst> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut counts = entries(&mut random, arrivals, rate, f64::from(length_s));
    match change {
        Change::Nothing => {}
        Change::Burst => (0..5).for_each(|at| *counts.entry(CHANGED_S + at).or_default() += 10),
        Change::Tenfold => {
            for (second, count) in entries(&mut random, arrivals, 9.0 * rate, 60.0) {
                *counts.entry(CHANGED_S + second).or_default() += count;
            }
        }
    }
    let mut detector = BurstDetector::new(0);
    let count = |second| counts.get(&second).copied().unwrap_or(0);
    let mut found: Vec<LogBurst> = (0..length_s).filter_map(|second| detector.add(count(second))).collect();
    found.extend(detector.finish());
    found
}

/// Whether a burst overlaps the change.
fn is_found(bursts: &[LogBurst]) -> bool {
    bursts.iter().any(|burst| burst.from_s < CHANGED_S + 60 && burst.to_s > CHANGED_S)
}

#[test]
fn logs_without_a_change_have_few_marks() {
    let arrivals = [
        Arrivals::Poisson,
        Arrivals::Bursts { spread_s: 1.0 },
        Arrivals::Bursts { spread_s: 30.0 },
        Arrivals::Modulated { correlation_s: 5.0 },
        Arrivals::Modulated { correlation_s: 60.0 },
    ];
    let mut table = String::from(
        "arrivals                            rate/s  marks/h (1 h)  runs of 10 min with a mark  50 in 5 s  tenfold\n",
    );
    let seeds = seeds();
    for (arrivals, rate) in
        arrivals.iter().flat_map(|arrivals| [0.02, 0.2, 5.0].map(|rate| (*arrivals, rate)))
    {
        let mut marks = 0;
        let (mut short_with_mark, mut burst, mut tenfold) = (0_u64, 0_u64, 0_u64);
        for seed in 5_000..5_000 + seeds {
            marks += bursts(arrivals, rate, 3_600, seed, Change::Nothing).len() as u64;
            short_with_mark += u64::from(!bursts(arrivals, rate, 600, seed, Change::Nothing).is_empty());
            burst += u64::from(is_found(&bursts(arrivals, rate, 1_000, seed, Change::Burst)));
            tenfold += u64::from(is_found(&bursts(arrivals, rate, 1_000, seed, Change::Tenfold)));
        }
        let percent = |count: u64| 100.0 * count as f64 / seeds as f64;
        let per_hour = marks as f64 / seeds as f64;
        let _ = writeln!(
            table,
            "{:<36} {rate:>5} {per_hour:>14.2} {:>26.1}% {:>9.0}% {:>7.0}%",
            format!("{arrivals:?}"),
            percent(short_with_mark),
            percent(burst),
            percent(tenfold)
        );
        // Whatever the distribution is, a window is the largest of the last 15 minutes about four times per hour.
        assert!(per_hour <= 4.0, "{table}");
    }
    std::io::stderr().write_all(table.as_bytes()).unwrap();
}
