//! Simulated systems under test, with the loads that pass in half and in 95 % of the trials of full length.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The full length of trials in seconds.
pub const FULL_SECONDS: f64 = 60.0;

/// The random choices of a simulation.
pub struct Chance(Xoshiro256PlusPlus);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number between 0 and 1, both excluded.
    pub fn uniform(&mut self) -> f64 {
        self.0.random::<f64>().mul_add(1.0 - 1e-12, 5e-13)
    }

    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn logistic(&mut self) -> f64 {
        let share = self.uniform();
        (share / (1.0 - share)).ln()
    }
}

/// A kind of system.
#[derive(Clone, Copy)]
pub struct System {
    pub name: &'static str,
    /// The logarithm of the tested quantity divided by its limit, at a load, in a trial of this length.
    pub excess: fn(&mut Chance, f64, f64) -> f64,
    /// The load that passes in half of the trials of full length.
    pub half_pass: f64,
    /// The load that passes in 95 % of them.
    pub answer: f64,
}

const HALF_PASS: f64 = 400.0;

/// Distance of the loads with 10 % and 90 % from the half-pass load of a logistic curve, in widths. That of 95 % is 2.944.
const TENTH: f64 = 2.197_224_577_336_219;

/// The excess with a logistic pass curve, whose loads with 10 % and 90 % differ from the half-pass load by `half_width`.
fn logistic(chance: &mut Chance, load: f64, half_width: f64) -> f64 {
    (load / HALF_PASS).ln() + half_width / TENTH * chance.logistic()
}

/// Sampling errors: the width falls with the root of the length.
fn by_length(half_width: f64, seconds: f64) -> f64 {
    half_width * (FULL_SECONDS / seconds).sqrt()
}

/// Servers of the queues, and requests per second that they serve.
const SERVERS: usize = 4;
const CAPACITY: f64 = 200.0;

/// The limit on the p95 of the response times, in mean service times.
const LIMIT: f64 = 5.0;

/// The excess of the p95 of a queue with Poisson arrivals that starts empty. Mean service times are scaled to the capacity.
fn queue(chance: &mut Chance, rate: f64, seconds: f64, service: fn(&mut Chance) -> f64) -> f64 {
    let mean = SERVERS as f64 / CAPACITY;
    let mut free_at = [0.0_f64; SERVERS];
    let mut times = Vec::with_capacity((rate * seconds) as usize + 10);
    let mut now = chance.exponential() / rate;
    while now < seconds {
        let first = free_at.iter_mut().reduce(|one, two| if *two < *one { two } else { one }).unwrap();
        *first = first.max(now) + mean * service(chance);
        times.push(*first - now);
        now += chance.exponential() / rate;
    }
    if times.is_empty() {
        return -1.0;
    }
    let at = (0.95 * times.len() as f64) as usize;
    let (_, p95, _) = times.select_nth_unstable_by(at, f64::total_cmp);
    (*p95 / (LIMIT * mean)).ln()
}

/// Lognormal with mean 1 and a coefficient of variation of 2.9.
fn heavy_service(chance: &mut Chance) -> f64 {
    (1.5 * chance.normal() - 1.125).exp()
}

/// The excess of a curve with the tails of Student's t with 2 degrees of freedom, whose quantile function is simple.
fn heavy_curve(chance: &mut Chance, load: f64) -> f64 {
    let share = chance.uniform();
    let t = (2.0 * share - 1.0) / (2.0 * share * (1.0 - share)).sqrt();
    // P(t < 1.886) = 0.9.
    (load / HALF_PASS).ln() + 0.04 / 1.885_618 * t
}

/// All kinds of systems.
pub const SYSTEMS: &[System] = &[
    System {
        name: "curve ± 2 %",
        excess: |chance, load, seconds| logistic(chance, load, by_length(0.02, seconds)),
        half_pass: HALF_PASS,
        answer: HALF_PASS * 0.973_555,
    },
    System {
        name: "curve ± 7 %",
        excess: |chance, load, seconds| logistic(chance, load, by_length(0.07, seconds)),
        half_pass: HALF_PASS,
        answer: HALF_PASS * 0.910_464,
    },
    System {
        name: "curve ± 7 %, trials of any length",
        excess: |chance, load, _| logistic(chance, load, 0.07),
        half_pass: HALF_PASS,
        answer: HALF_PASS * 0.910_464,
    },
    System {
        name: "cliff",
        excess: |_, load, _| (load / HALF_PASS).ln(),
        half_pass: HALF_PASS,
        answer: HALF_PASS,
    },
    System {
        name: "curve ± 4 % with heavy tails",
        excess: |chance, load, _| heavy_curve(chance, load),
        half_pass: HALF_PASS,
        // P(t < 2.920) = 0.95.
        answer: HALF_PASS * 0.939_946,
    },
    System {
        name: "M/M/4, p95",
        excess: |chance, rate, seconds| queue(chance, rate, seconds, Chance::exponential),
        half_pass: 163.8,
        answer: 155.3,
    },
    System {
        name: "M/G/4, lognormal, p95",
        excess: |chance, rate, seconds| queue(chance, rate, seconds, heavy_service),
        half_pass: 107.9,
        answer: 83.3,
    },
];

/// The share of trials of full length that pass.
pub fn pass_rate(system: &System, load: f64, trials: u64) -> f64 {
    let mut chance = Chance::new(7);
    let passes = (0..trials).filter(|_| (system.excess)(&mut chance, load, FULL_SECONDS) <= 0.0);
    passes.count() as f64 / trials as f64
}
