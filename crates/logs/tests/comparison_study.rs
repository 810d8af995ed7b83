//! Error rates of the comparison with a baseline: how often it reports a difference that does not exist, and how often it finds a
//! real one.
//!
//! Each comparison is of two simulated logs with 40 templates. By default, there are 20 comparisons of each kind. The table in
//! the documentation of the crate is the result of 200:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test -p busyhour-logs --test comparison_study -- --nocapture
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use busyhour_logs::{Exposure, FORMAT_VERSION, GroupCounts, Intervals, LogCounts, Series, compare};
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp, Geometric, Normal, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

const TEMPLATES: usize = 40;

fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(20)
}

/// How the entries of a template arrive.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    /// Independently.
    Poisson,
    /// In bursts of 20 entries on average, each within this number of seconds.
    Bursts { spread_s: f64 },
    /// With a rate whose logarithm is an autoregressive process with the standard deviation 1 and this correlation time.
    Modulated { correlation_s: f64 },
}

/// The seconds of the entries of a template with this mean rate per second.
fn entries(
    random: &mut Xoshiro256PlusPlus,
    arrivals: Arrivals,
    rate: f64,
    length_s: f64,
) -> BTreeMap<u32, u32> {
    let mut counts = BTreeMap::new();
    let mut add = |at: f64, count: u32| {
        if (0.0..length_s).contains(&at) && count > 0 {
            *counts.entry(at as u32).or_default() += count;
        }
    };
    match arrivals {
        Arrivals::Poisson => {
            let gaps = Exp::new(rate).unwrap();
            let mut at = gaps.sample(random);
            while at < length_s {
                add(at, 1);
                at += gaps.sample(random);
            }
        }
        Arrivals::Bursts { spread_s } => {
            let (gaps, sizes) = (Exp::new(rate / 20.0).unwrap(), Geometric::new(1.0 / 20.0).unwrap());
            // A burst that began before the run may extend into it.
            let mut at = gaps.sample(random) - spread_s;
            while at < length_s {
                for _ in 0..=sizes.sample(random) {
                    add(at + random.random::<f64>() * spread_s, 1);
                }
                at += gaps.sample(random);
            }
        }
        Arrivals::Modulated { correlation_s } => {
            let normal = Normal::new(0.0, 1.0).unwrap();
            let keep = (-1.0 / correlation_s).exp();
            let mut level: f64 = normal.sample(random);
            for second in 0..length_s as u32 {
                let mean = rate * (level - 0.5).exp();
                add(f64::from(second), Poisson::new(mean).unwrap().sample(random) as u32);
                level = keep * level + (1.0 - keep * keep).sqrt() * normal.sample(random);
            }
        }
    }
    counts
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
        over_time: Series { counts: counts.into_iter().collect() },
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
        ungrouped: 0,
        truncated_lines: 0,
        unreadable_lines: 0,
        interval_s: Intervals { totals: 1, templates: 1, traces: 1 },
        entries_over_time: Series::default(),
        matching_over_time: Series::default(),
        templates: groups.collect(),
        traces: Vec::new(),
    }
}

struct Kind {
    arrivals: Arrivals,
    lengths_s: (f64, f64),
}

impl Kind {
    /// Whether a run is shorter than ten bursts or correlation times. Such runs do not show how much the rate varies, and there
    /// are more than 5 % of false alarms; the documentation of the crate has the figures.
    fn is_too_short(&self) -> bool {
        let shortest_s = self.lengths_s.0.min(self.lengths_s.1);
        let fluctuation_s = match self.arrivals {
            Arrivals::Poisson => 0.0,
            Arrivals::Bursts { spread_s } => spread_s,
            Arrivals::Modulated { correlation_s } => correlation_s,
        };
        shortest_s < 10.0 * fluctuation_s
    }
}

/// The rate of a template in entries per second. Most templates are rare.
fn rate(number: usize) -> f64 {
    0.005 * 1.2_f64.powi(number as i32)
}

/// Compares two logs, the second with one rate multiplied by `factor`. Returns whether anything is reported as significant that
/// does not differ, and whether the template with that rate is.
fn outcome(kind: &Kind, seed: u64, factor: f64) -> (bool, bool) {
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
    let found = compare(&baseline, &run, Exposure::Seconds).unwrap().templates;
    let significant: Vec<&str> = found
        .new
        .iter()
        .chain(&found.risen)
        .filter(|one| one.is_significant)
        .map(|one| one.text.as_str())
        .collect();
    let name = "template at";
    (significant.iter().any(|text| *text != name || factor == 1.0), significant.contains(&name))
}

#[test]
fn few_comparisons_of_equal_logs_have_a_significant_difference() {
    let arrivals = [
        Arrivals::Poisson,
        Arrivals::Bursts { spread_s: 1.0 },
        Arrivals::Bursts { spread_s: 30.0 },
        Arrivals::Modulated { correlation_s: 5.0 },
        Arrivals::Modulated { correlation_s: 60.0 },
    ];
    let lengths = [(600.0, 600.0), (600.0, 3_600.0), (3_600.0, 600.0), (120.0, 120.0)];
    let mut table = String::from(
        "arrivals                             baseline s  run s  false alarms  found x3  found x10\n",
    );
    let seeds = seeds();
    let (mut all, mut alarms_of_all) = (0, 0);
    for kind in
        arrivals.iter().flat_map(|arrivals| lengths.map(|lengths_s| Kind { arrivals: *arrivals, lengths_s }))
    {
        let count = |factor: f64, of: fn((bool, bool)) -> bool| {
            (0..seeds).filter(|seed| of(outcome(&kind, 1_000 + seed, factor))).count() as u64
        };
        let alarms = count(1.0, |outcome| outcome.0);
        let (threefold, tenfold) = (count(3.0, |outcome| outcome.1), count(10.0, |outcome| outcome.1));
        let percent = |count: u64| 100.0 * count as f64 / seeds as f64;
        let _ = writeln!(
            table,
            "{:<36} {:>10} {:>6} {:>12.1}% {:>8.0}% {:>9.0}%",
            format!("{:?}", kind.arrivals),
            kind.lengths_s.0,
            kind.lengths_s.1,
            percent(alarms),
            percent(threefold),
            percent(tenfold)
        );
        if kind.is_too_short() {
            continue;
        }
        // At most 5 % of false alarms are allowed. A binomial count with this probability exceeds the bound in 1 of 10,000 cases.
        let bound = 0.05 * seeds as f64 + 3.7 * (0.05 * 0.95 * seeds as f64).sqrt() + 1.0;
        assert!((alarms as f64) <= bound, "{alarms} of {seeds} have false alarms\n{table}");
        all += seeds;
        alarms_of_all += alarms;
    }
    let _ = writeln!(table, "false alarms in runs that are long enough: {alarms_of_all} of {all}");
    std::io::stderr().write_all(table.as_bytes()).unwrap();
}
