//! The error rates of the verdict on leaks: how often a leak is reported where there is none, and which leaks are
//! found.
//!
//! By default, each kind of log is simulated a few times only, so the test allows for chance. The bounds apply to 200 logs and more:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test -p busyhour-gclog --test leak_study -- --nocapture
//! ```

use std::fmt::Write as _;
use std::io::Write as _;

use busyhour_gclog::{GcLogReader, LeakVerdict, leak_verdict};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of simulated logs of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(5)
}

/// The live memory of a simulated program, MiB, at a share of the time.
type Live = fn(share: f64, variation: &mut Variation) -> f64;

/// The random part of the live memory.
struct Variation {
    random: Xoshiro256PlusPlus,
    level: f64,
    phase: f64,
    period: f64,
}

impl Variation {
    /// Independent, with a mean of 0 and a standard deviation of 1 (sum of twelve uniform numbers).
    fn independent(&mut self) -> f64 {
        (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Correlated from collection to collection: an autoregressive series with coefficient 0.8.
    fn slow(&mut self) -> f64 {
        self.level = 0.8 * self.level + 0.6 * self.independent();
        self.level
    }

    /// A sawtooth from 0 to 1. The log contains 1.5 to 12 of its teeth.
    fn sawtooth(&self, share: f64) -> f64 {
        (share / self.period + self.phase).fract()
    }
}

struct Kind {
    name: &'static str,
    collections: usize,
    live: Live,
    /// The smallest and largest share of leaks among the verdicts, for 200 seeds.
    leaks: (f64, f64),
}

const KINDS: &[Kind] = &[
    Kind {
        name: "plateau, independent variation of 3 %",
        collections: 80,
        live: |_, variation| 200.0 + 6.0 * variation.independent(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "plateau, slow variation of 3 %",
        collections: 80,
        live: |_, variation| 200.0 + 6.0 * variation.slow(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "plateau, slow variation of 15 %",
        collections: 300,
        live: |_, variation| 200.0 + 30.0 * variation.slow(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "plateau, 24 collections",
        collections: 24,
        live: |_, variation| 200.0 + 6.0 * variation.independent(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "sawtooth of 30 %, 1.5 to 12 teeth",
        collections: 120,
        live: |share, variation| 200.0 + 60.0 * variation.sawtooth(share) + 4.0 * variation.independent(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "warm-up of a tenth of the time",
        collections: 100,
        live: |share, variation| 200.0 - 120.0 * (-share * 10.0).exp() + 3.0 * variation.independent(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "warm-up of a quarter of the time",
        collections: 100,
        live: |share, variation| 200.0 - 120.0 * (-share * 4.0).exp() + 3.0 * variation.independent(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "warm-up of half of the time",
        collections: 100,
        live: |share, variation| 200.0 - 120.0 * (-share * 2.0).exp() + 3.0 * variation.independent(),
        leaks: (0.0, 0.05),
    },
    Kind {
        name: "step up at two thirds of the time",
        collections: 100,
        live: |share, variation| (if share < 0.66 { 150.0 } else { 200.0 }) + 4.0 * variation.independent(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "step up at half of the time",
        collections: 100,
        live: |share, variation| (if share < 0.5 { 150.0 } else { 200.0 }) + 4.0 * variation.independent(),
        leaks: (0.0, 0.01),
    },
    Kind {
        name: "cache that fills until two thirds of the time",
        collections: 100,
        live: |share, variation| 150.0 + 90.0 * share.min(0.66) + 3.0 * variation.independent(),
        leaks: (0.0, 0.05),
    },
    Kind {
        name: "short drift: 20 collections, 20 %",
        collections: 20,
        live: |share, variation| 200.0 + 40.0 * share + 2.0 * variation.independent(),
        leaks: (0.0, 0.0),
    },
    Kind {
        name: "leak of 10 %, variation of 3 %",
        collections: 100,
        live: |share, variation| 200.0 + 20.0 * share + 6.0 * variation.independent(),
        leaks: (0.2, 1.0),
    },
    Kind {
        name: "leak of 20 %, variation of 3 %",
        collections: 100,
        live: |share, variation| 200.0 + 40.0 * share + 6.0 * variation.independent(),
        leaks: (0.8, 1.0),
    },
    Kind {
        name: "leak of 20 %, variation of 1 %",
        collections: 48,
        live: |share, variation| 200.0 + 40.0 * share + 2.0 * variation.independent(),
        leaks: (0.8, 1.0),
    },
    Kind {
        name: "leak of 100 %, variation of 5 %",
        collections: 300,
        live: |share, variation| 200.0 + 200.0 * share + 10.0 * variation.slow(),
        leaks: (0.8, 1.0),
    },
];

/// A log of G1 in which each marking cycle is followed by young and mixed collections.
fn log(kind: &Kind, seed: u64) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (phase, period) = (random.random(), 1.0 / random.random_range(1.5..12.0));
    let mut variation = Variation { random, level: 0.0, phase, period };
    let mut text = String::from("[0.005s][info][gc] Using G1\n");
    let mut time_s = 1.0;
    let mut id = 0;
    let mut line = |time_s: &mut f64, name: &str, before: f64, after: f64| {
        let _ = writeln!(
            text,
            "[{time_s:.3}s][info][gc] GC({id}) {name} (G1 Evacuation Pause) {before:.0}M->{after:.0}M(1024M) 5.000ms"
        );
        *time_s += 10.0;
        id += 1;
    };
    for at in 0..kind.collections {
        let live = (kind.live)(at as f64 / (kind.collections - 1) as f64, &mut variation);
        // Old garbage accumulates, as it does in a healthy program.
        for young in 0..6 {
            let used = live + 20.0 * f64::from(young);
            line(&mut time_s, "Pause Young (Normal)", used + 100.0, used);
        }
        line(&mut time_s, "Pause Young (Mixed)", live + 200.0, live + 30.0);
        line(&mut time_s, "Pause Young (Mixed)", live + 100.0, live);
    }
    text
}

fn verdict(text: &str) -> LeakVerdict {
    let mut reader = GcLogReader::new();
    text.lines().for_each(|line| reader.line(line));
    leak_verdict(&reader.finish())
}

#[test]
fn leaks_are_found_and_logs_without_a_leak_raise_few_false_alarms() {
    let mut out = std::io::stdout().lock();
    let mut wrong = Vec::new();
    for kind in KINDS {
        let (mut leaks, mut none) = (0_u64, 0_u64);
        let mut reasons = std::collections::BTreeMap::<String, u64>::new();
        for seed in 0..seeds() {
            match verdict(&log(kind, seed)) {
                LeakVerdict::Leak(_) => leaks += 1,
                LeakVerdict::NoLeak(_) => none += 1,
                LeakVerdict::Undecided { reason, .. } => {
                    *reasons.entry(format!("{reason:?}")).or_default() += 1
                }
            }
        }
        let n = seeds() as f64;
        writeln!(
            out,
            "{:48} leak {:5.1} %, no leak {:5.1} %, undecided {:?}",
            kind.name,
            100.0 * leaks as f64 / n,
            100.0 * none as f64 / n,
            reasons
        )
        .unwrap();
        // With few seeds, a share may miss its bound by chance. Chance exceeds four standard errors once in 30,000 cases.
        let (low, high) = kind.leaks;
        let slack = |share: f64| 4.0 * (share * (1.0 - share) / n).sqrt() + 1.0 / n;
        let share = leaks as f64 / n;
        if share < low - slack(low) || share > high + slack(high) {
            wrong.push(format!("{}: {share} is not in {low} to {high}", kind.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
