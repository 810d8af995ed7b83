//! Simulated sizes of a process.

use busyhour_leak::MemorySize;
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const MIB: f64 = 1024.0 * 1024.0;

/// Variation around a level.
pub struct Variation {
    random: Xoshiro256PlusPlus,
    level: f64,
    /// A share from 0 to 1 that stays the same.
    pub fixed: f64,
}

impl Variation {
    /// Independent, with standard deviation 1.
    pub fn independent(&mut self) -> f64 {
        (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// With standard deviation 1 and a correlation of 0.9 between neighbours.
    pub fn slow(&mut self) -> f64 {
        self.level = 0.9 * self.level + 0.19_f64.sqrt() * self.independent();
        self.level
    }
}

/// A kind of process.
pub struct MemoryKind {
    pub name: &'static str,
    pub points: usize,
    /// MiB at a share of the time.
    pub mib: fn(&mut Variation, f64) -> f64,
    /// Bounds of the share of series that are reported as leaks.
    pub leaks: (f64, f64),
}

/// All kinds of the study.
pub const MEMORY_KINDS: &[MemoryKind] = &[
    MemoryKind {
        name: "constant, independent variation of 2 %",
        points: 600,
        mib: |variation, _| 200.0 + 4.0 * variation.independent(),
        leaks: (0.0, 0.01),
    },
    MemoryKind {
        name: "constant, correlated variation of 2 %",
        points: 600,
        mib: |variation, _| 200.0 + 4.0 * variation.slow(),
        leaks: (0.0, 0.02),
    },
    MemoryKind {
        name: "constant, correlated variation of 10 %, 40 values",
        points: 40,
        mib: |variation, _| 200.0 + 20.0 * variation.slow(),
        leaks: (0.0, 0.02),
    },
    MemoryKind {
        name: "sawtooth",
        points: 600,
        mib: |variation, share| {
            200.0 + 60.0 * ((share * (3.0 + 9.0 * variation.fixed)).fract()) + variation.independent()
        },
        leaks: (0.0, 0.02),
    },
    MemoryKind {
        name: "step",
        points: 600,
        mib: |variation, share| {
            let is_later = share > 0.3 + 0.5 * variation.fixed;
            (if is_later { 260.0 } else { 200.0 }) + 2.0 * variation.independent()
        },
        leaks: (0.0, 0.02),
    },
    MemoryKind {
        name: "warm-up of a quarter of the time",
        points: 600,
        mib: |variation, share| 300.0 - 150.0 * (-share * 4.0).exp() + 2.0 * variation.independent(),
        leaks: (0.0, 0.05),
    },
    MemoryKind {
        name: "cache that fills until 40 % to 60 % of the time",
        points: 600,
        mib: |variation, share| {
            200.0 + 150.0 * share.min(0.4 + 0.2 * variation.fixed) + 2.0 * variation.independent()
        },
        leaks: (0.0, 0.05),
    },
    MemoryKind {
        name: "leak of 10 %, independent variation of 2 %",
        points: 600,
        mib: |variation, share| 200.0 + 20.0 * share + 4.0 * variation.independent(),
        leaks: (0.5, 1.0),
    },
    MemoryKind {
        name: "leak of 30 %, correlated variation of 2 %",
        points: 600,
        mib: |variation, share| 200.0 + 60.0 * share + 4.0 * variation.slow(),
        leaks: (0.8, 1.0),
    },
    MemoryKind {
        name: "leak of 30 %, independent variation of 2 %, 40 values",
        points: 40,
        mib: |variation, share| 200.0 + 60.0 * share + 4.0 * variation.independent(),
        leaks: (0.5, 1.0),
    },
];

/// One simulated series, with one value per second.
pub fn series_of(kind: &MemoryKind, seed: u64) -> Vec<MemorySize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let fixed = random.random();
    let mut variation = Variation { random, level: 0.0, fixed };
    (0..kind.points)
        .map(|at| {
            let mib = (kind.mib)(&mut variation, at as f64 / (kind.points - 1) as f64);
            MemorySize { at: at as f64, bytes: mib * MIB }
        })
        .collect()
}
