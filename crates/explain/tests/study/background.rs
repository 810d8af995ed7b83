//! The values of the sources in a run: the usual values, and the additional values of a fault.

use busyhour_analysis::explanation::Cause;
use busyhour_explain::{Signal, SignalPiece, SignalShape};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random values with a fixed seed.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The usual values of a source, and the addition by a fault.
struct Usual {
    cause: Cause,
    source: &'static str,
    name: &'static str,
    /// The mean value.
    level: f64,
    /// Share of the value that follows the load.
    with_load: f64,
    /// Correlation of the noise from second to second, and its standard deviation as a share of the level.
    correlation: f64,
    noise: f64,
    /// Bursts: mean distance in s, length in s, and height.
    bursts: Option<(f64, f64, f64)>,
    /// The addition by a fault.
    fault: f64,
    relevant: f64,
    is_waiting: bool,
}

const USUAL: &[Usual] = &[
    usual(Cause::Steal, "os", (0.01, 0.0), (0.8, 1.0), Some((20.0, 1.0, 0.15)), (0.5, 0.05), false),
    usual(Cause::CpuQuota, "cgroup:shop", (0.0, 0.0), (0.0, 0.0), Some((40.0, 0.5, 0.05)), (3.0, 0.02), true),
    usual(Cause::CpuNeighbour, "os", (0.15, 0.3), (0.9, 0.4), Some((45.0, 3.0, 0.8)), (1.5, 0.3), false),
    usual(Cause::MemoryPressure, "os", (0.0, 0.0), (0.0, 0.0), Some((60.0, 1.0, 0.04)), (0.4, 0.02), false),
    usual(Cause::NetworkLoss, "os", (0.1, 0.5), (0.5, 1.0), Some((30.0, 1.0, 2.0)), (12.0, 1.0), false),
    usual(Cause::DatabaseLock, "postgres", (0.05, 1.0), (0.5, 1.0), Some((40.0, 1.0, 1.0)), (6.0, 0.3), true),
    usual(Cause::SlowDependency, "process:7", (0.5, 1.0), (0.7, 0.4), None, (8.0, 0.5), true),
    usual(Cause::Disk, "os", (0.03, 0.5), (0.7, 0.6), Some((30.0, 3.0, 0.3)), (0.6, 0.05), false),
    usual(Cause::PoolExhausted, "os", (0.0, 0.0), (0.0, 0.0), Some((50.0, 0.3, 2.0)), (20.0, 1.0), true),
    usual(Cause::LockContention, "jvm:7", (80.0, 1.0), (0.8, 0.4), None, (1_500.0, 50.0), false),
    usual(Cause::DatabaseWork, "postgres", (0.8, 1.0), (0.8, 0.4), Some((60.0, 4.0, 1.5)), (8.0, 1.0), true),
    usual(Cause::MemoryBandwidth, "perf:7", (1.2, 0.1), (0.9, 0.1), None, (1.5, 0.5), false),
    usual(
        Cause::Errors,
        "log:server.log",
        (0.2, 0.3),
        (0.3, 1.0),
        Some((40.0, 1.0, 3.0)),
        (15.0, 0.5),
        false,
    ),
    usual(
        Cause::CpuSaturation,
        "process:7",
        (0.08, 1.0),
        (0.8, 0.5),
        Some((35.0, 1.0, 0.3)),
        (6.0, 0.05),
        true,
    ),
];

const fn usual(
    cause: Cause,
    source: &'static str,
    (level, with_load): (f64, f64),
    (correlation, noise): (f64, f64),
    bursts: Option<(f64, f64, f64)>,
    (fault, relevant): (f64, f64),
    is_waiting: bool,
) -> Usual {
    Usual {
        cause,
        source,
        name: cause.title(),
        level,
        with_load,
        correlation,
        noise,
        bursts,
        fault,
        relevant,
        is_waiting,
    }
}

/// The share of a fault's strength that another source shows, too.
fn consequence(fault: Cause, shown: Cause) -> f64 {
    match (fault, shown) {
        _ if fault == shown => 1.0,
        (Cause::Steal | Cause::CpuQuota | Cause::CpuNeighbour, Cause::CpuSaturation) => 0.8,
        (Cause::MemoryPressure, Cause::Disk) | (Cause::DatabaseLock, Cause::PoolExhausted) => 0.5,
        (Cause::SlowDependency | Cause::GcPauses, Cause::PoolExhausted) => 0.3,
        (Cause::DatabaseLock | Cause::Disk, Cause::DatabaseWork) => 0.4,
        _ => 0.0,
    }
}

/// The signals of all sources. `load` is the rate of requests in each slice of `slice_s` as a share of its mean; `faulty` is the
/// share of each slice in which the fault was present.
pub fn signals(
    random: &mut Random,
    (load, faulty, slice_s): (&[f64], &[f64], f64),
    reading_s: f64,
    fault: Option<Cause>,
) -> Vec<Signal> {
    USUAL
        .iter()
        .map(|usual| {
            let share = fault.map_or(0.0, |fault| consequence(fault, usual.cause));
            let bursts = bursts(random, usual.bursts, load.len(), slice_s);
            let per_reading = (reading_s / slice_s).round() as usize;
            let mut noise = 0.0;
            let correlation = usual.correlation.powf(reading_s);
            let mut pieces = Vec::new();
            for (at, slices) in load.chunks(per_reading).enumerate() {
                let first = at * per_reading;
                let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
                noise = correlation * noise + (1.0 - correlation * correlation).sqrt() * random.normal();
                let load = mean(slices) * usual.with_load + 1.0 - usual.with_load;
                let base = usual.level * load * (1.0 + usual.noise * noise).max(0.0);
                let part = first..first + slices.len();
                let extra = mean(&faulty[part.clone()]) * share * usual.fault * (1.0 + 0.2 * random.normal());
                let value = (base + mean(&bursts[part.clone()]) + extra).max(0.0);
                let ns = |slice: usize| (slice as f64 * slice_s * 1e9).round() as u64;
                pieces.push(SignalPiece { from: ns(part.start), to: ns(part.end), value });
            }
            Signal {
                cause: usual.cause,
                source: usual.source.to_owned(),
                name: usual.name.to_owned(),
                shape: SignalShape::Levels,
                relevant: usual.relevant,
                is_waiting: usual.is_waiting,
                pieces,
                in_use: Vec::new(),
            }
        })
        .collect()
}

fn bursts(random: &mut Random, bursts: Option<(f64, f64, f64)>, slices: usize, slice_s: f64) -> Vec<f64> {
    let mut values = vec![0.0; slices];
    let Some((distance_s, length_s, height)) = bursts else { return values };
    let mut at_s = random.exponential(distance_s);
    while at_s < slices as f64 * slice_s {
        let height = height * (0.5 + random.uniform());
        let first = (at_s / slice_s) as usize;
        let last = (first + (length_s / slice_s) as usize).min(slices);
        values[first..last].fill(height);
        at_s += length_s + random.exponential(distance_s);
    }
    values
}
