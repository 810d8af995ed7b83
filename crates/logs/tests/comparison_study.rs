//! Error rates of the comparison with a baseline: how often it reports a difference that does not exist, and how often it finds a
//! real one.
//!
//! Each comparison is of two simulated logs with 40 templates. By default, there are 20 comparisons of each kind. The table in
//! the documentation of the crate is the result of 200:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test -p busyhour-logs --test comparison_study -- --nocapture
//! ```

mod simulated_log;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use busyhour_logs::{CountSeries, Exposure, FORMAT_VERSION, GroupCounts, Intervals, LogCounts, compare};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use simulated_log::{Arrivals, entries};

const TEMPLATES: usize = 40;

fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(20)
}

fn log(length_s: f64, templates: Vec<BTreeMap<u32, u32>>) -> LogCounts {
    let letter = |number: usize| (b'a' + number as u8) as char;
    let word = |number: usize| format!("template {}{}", letter(number / 26), letter(number % 26));
    let groups = templates.into_iter().enumerate().filter(|(_, counts)| !counts.is_empty());
    let groups = groups.map(|(number, counts)| GroupCounts {
        text: word(number),
        severity: None,
        logger: None,
        count: counts.values().map(|count| u64::from(*count)).sum(),
        example: String::new(),
        over_time: CountSeries { counts: counts.into_iter().collect() },
    });
    LogCounts {
        format: FORMAT_VERSION,
        query: String::new(),
        start_unix_ns: 0,
        length_s: Some(length_s),
        lines: 0,
        entries: 0,
        matching: 0,
        outside: 0,
        without_time: BTreeMap::new(),
        by_arrival: 0,
        ungrouped: 0,
        truncated_lines: 0,
        unreadable_lines: 0,
        interval_s: Intervals { totals: 1, templates: 1, traces: 1 },
        entries_over_time: CountSeries::default(),
        matching_over_time: CountSeries::default(),
        rules: Vec::new(),
        templates: groups.collect(),
        traces: Vec::new(),
    }
}

struct Kind {
    arrivals: Arrivals,
    lengths_s: (f64, f64),
}

/// The rate of a template in entries per second. Most templates are rare.
fn rate(number: usize) -> f64 {
    0.005 * 1.2_f64.powi(number as i32)
}

/// The result of a comparison.
struct Outcome {
    /// Whether anything is reported as significant that does not differ.
    is_false_alarm: bool,
    /// Whether the template whose rate differs is reported as significant.
    is_found: bool,
    /// Whether the logs are too short to judge.
    is_too_short: bool,
}

fn outcome(kind: &Kind, seed: u64, factor: f64) -> Outcome {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    // The twentieth template has 0.16 entries per second, 96 in ten minutes.
    let changed = 19;
    let mut simulate = |length_s: f64, is_run: bool| {
        let templates = (0..TEMPLATES).map(|number| {
            let factor = if is_run && number == changed { factor } else { 1.0 };
            entries(&mut random, kind.arrivals, rate(number) * factor, length_s)
        });
        log(length_s, templates.collect())
    };
    let (baseline, run) = (simulate(kind.lengths_s.0, false), simulate(kind.lengths_s.1, true));
    let comparison = compare(&baseline, &run, Exposure::RunLength).unwrap();
    let found = &comparison.templates;
    let significant: Vec<&str> = found
        .new
        .iter()
        .chain(&found.risen)
        .filter(|one| one.is_significant)
        .map(|one| one.text.as_str())
        .collect();
    let name = "template at";
    Outcome {
        is_false_alarm: significant.iter().any(|text| *text != name || factor == 1.0),
        is_found: significant.contains(&name),
        is_too_short: comparison.too_short.is_some(),
    }
}

#[test]
fn few_comparisons_of_equal_logs_have_a_significant_difference() {
    let arrivals = [
        Arrivals::Poisson,
        Arrivals::Bursts { spread_s: 1.0 },
        Arrivals::Bursts { spread_s: 30.0 },
        Arrivals::Modulated { correlation_s: 5.0 },
        Arrivals::Modulated { correlation_s: 60.0 },
        Arrivals::Modulated { correlation_s: 300.0 },
    ];
    let lengths = [(600.0, 600.0), (600.0, 3_600.0), (3_600.0, 600.0), (120.0, 120.0)];
    let mut table = String::from(
        "arrivals                             baseline s  run s  false alarms  too short  found x3  found x10\n",
    );
    let seeds = seeds();
    let mut failed = Vec::new();
    for kind in
        arrivals.iter().flat_map(|arrivals| lengths.map(|lengths_s| Kind { arrivals: *arrivals, lengths_s }))
    {
        let count = |factor: f64, of: fn(&Outcome) -> bool| {
            (0..seeds).filter(|seed| of(&outcome(&kind, 1_000 + seed, factor))).count() as u64
        };
        let equal: Vec<Outcome> = (0..seeds).map(|seed| outcome(&kind, 1_000 + seed, 1.0)).collect();
        let alarms = equal.iter().filter(|outcome| outcome.is_false_alarm).count() as u64;
        let too_short = equal.iter().filter(|outcome| outcome.is_too_short).count() as u64;
        let (threefold, tenfold) = (count(3.0, |one| one.is_found), count(10.0, |one| one.is_found));
        let percent = |count: u64| 100.0 * count as f64 / seeds as f64;
        let _ = writeln!(
            table,
            "{:<36} {:>10} {:>6} {:>12.1}% {:>9.1}% {:>8.0}% {:>9.0}%",
            format!("{:?}", kind.arrivals),
            kind.lengths_s.0,
            kind.lengths_s.1,
            percent(alarms),
            percent(too_short),
            percent(threefold),
            percent(tenfold)
        );
        // At most 5 % of false alarms are allowed. A binomial count with this probability exceeds the bound in 1 of 10,000 cases.
        let bound = 0.05 * seeds as f64 + 3.7 * (0.05 * 0.95 * seeds as f64).sqrt() + 1.0;
        if alarms as f64 > bound {
            failed.push(format!("{:?} {:?}", kind.arrivals, kind.lengths_s));
        }
    }
    std::io::stderr().write_all(table.as_bytes()).unwrap();
    assert!(failed.is_empty(), "more false alarms than 5 %: {failed:?}\n{table}");
}
