//! Simulated systems under test, with the loads that pass in half and in 95 % of the trials of full length.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The full length of trials in seconds.
pub const FULL_SECONDS: f64 = 60.0;

/// The random choices of a simulation.
pub struct Chance {
    random: Xoshiro256PlusPlus,
    /// The state of the machine, which changes slowly from trial to trial: normal, with a correlation of 0.7 between successive trials.
    machine: f64,
}

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance { random: Xoshiro256PlusPlus::seed_from_u64(seed), machine: 0.0 }
    }

    /// A number between 0 and 1, both excluded.
    pub fn uniform(&mut self) -> f64 {
        self.random.random::<f64>().mul_add(1.0 - 1e-12, 5e-13)
    }

    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// The state of the machine in the next trial.
    fn next_machine(&mut self) -> f64 {
        self.machine = 0.7 * self.machine + (1.0 - 0.7_f64 * 0.7).sqrt() * self.normal();
        self.machine
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
    /// The full length of trials in seconds.
    pub full_seconds: f64,
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

/// What a threshold limits.
#[derive(Clone, Copy)]
enum Statistic {
    Mean,
    Quantile(f64),
}

/// A queue with Poisson arrivals that starts empty.
struct Queue {
    servers: usize,
    /// Requests per second that it serves.
    capacity: f64,
    statistic: Statistic,
    /// The limit, in mean service times.
    limit: f64,
    service: fn(&mut Chance) -> f64,
}

const FOUR: Queue = Queue {
    servers: 4,
    capacity: 200.0,
    statistic: Statistic::Quantile(0.95),
    limit: 5.0,
    service: Chance::exponential,
};

/// That of `busyhour lab server shop --backend "16 x exponential(50ms)"`, with a limit of 200 ms.
const SIXTEEN: Queue = Queue { servers: 16, capacity: 320.0, limit: 4.0, ..FOUR };

impl Queue {
    /// The excess in a trial.
    fn excess(&self, chance: &mut Chance, rate: f64, seconds: f64) -> f64 {
        let mean = self.servers as f64 / self.capacity;
        let mut free_at = vec![0.0_f64; self.servers];
        let mut times = Vec::with_capacity((rate * seconds) as usize + 10);
        let mut now = chance.exponential() / rate;
        while now < seconds {
            let first = free_at.iter_mut().reduce(|one, two| if *two < *one { two } else { one }).unwrap();
            *first = first.max(now) + mean * (self.service)(chance);
            times.push(*first - now);
            now += chance.exponential() / rate;
        }
        if times.is_empty() {
            return -1.0;
        }
        let measured = match self.statistic {
            Statistic::Mean => times.iter().sum::<f64>() / times.len() as f64,
            Statistic::Quantile(share) => {
                let at = (share * times.len() as f64) as usize;
                *times.select_nth_unstable_by(at, f64::total_cmp).1
            }
        };
        (measured / (self.limit * mean)).ln()
    }
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
        full_seconds: FULL_SECONDS,
        half_pass: HALF_PASS,
        answer: HALF_PASS * 0.973_555,
    },
    System {
        name: "curve ± 7 %",
        excess: |chance, load, seconds| logistic(chance, load, by_length(0.07, seconds)),
        full_seconds: FULL_SECONDS,
        half_pass: HALF_PASS,
        answer: HALF_PASS * 0.910_464,
    },
    System {
        name: "curve ± 7 %, trials of any length",
        excess: |chance, load, _| logistic(chance, load, 0.07),
        full_seconds: FULL_SECONDS,
        half_pass: HALF_PASS,
        answer: HALF_PASS * 0.910_464,
    },
    System {
        name: "cliff",
        excess: |_, load, _| (load / HALF_PASS).ln(),
        full_seconds: FULL_SECONDS,
        half_pass: HALF_PASS,
        answer: HALF_PASS,
    },
    System {
        name: "curve ± 4 % with heavy tails",
        excess: |chance, load, _| heavy_curve(chance, load),
        full_seconds: FULL_SECONDS,
        half_pass: HALF_PASS,
        // P(t < 2.920) = 0.95.
        answer: HALF_PASS * 0.939_946,
    },
    System {
        name: "M/M/4, p95",
        excess: |chance, rate, seconds| FOUR.excess(chance, rate, seconds),
        full_seconds: FULL_SECONDS,
        half_pass: 163.8,
        answer: 155.3,
    },
    System {
        name: "M/G/4, lognormal, p95",
        excess: |chance, rate, seconds| {
            Queue { service: heavy_service, ..FOUR }.excess(chance, rate, seconds)
        },
        full_seconds: FULL_SECONDS,
        half_pass: 107.9,
        answer: 83.3,
    },
    System {
        name: "M/M/1, mean",
        excess: |chance, rate, seconds| {
            Queue { servers: 1, statistic: Statistic::Mean, ..FOUR }.excess(chance, rate, seconds)
        },
        full_seconds: FULL_SECONDS,
        half_pass: 160.4,
        answer: 154.2,
    },
    System {
        name: "M/D/4, p99",
        excess: |chance, rate, seconds| {
            let statistic = Statistic::Quantile(0.99);
            Queue { statistic, limit: 3.0, service: |_| 1.0, ..FOUR }.excess(chance, rate, seconds)
        },
        full_seconds: FULL_SECONDS,
        half_pass: 153.5,
        answer: 144.3,
    },
    System {
        name: "M/M/16, p95",
        excess: |chance, rate, seconds| SIXTEEN.excess(chance, rate, seconds),
        full_seconds: FULL_SECONDS,
        half_pass: 297.6,
        answer: 287.0,
    },
    System {
        name: "M/M/16, p95, short trials (7 s)",
        excess: |chance, rate, seconds| SIXTEEN.excess(chance, rate, seconds),
        full_seconds: 7.0,
        half_pass: 306.6,
        answer: 282.6,
    },
    System {
        name: "M/M/16, p95, long trials (5 min)",
        excess: |chance, rate, seconds| SIXTEEN.excess(chance, rate, seconds),
        full_seconds: 300.0,
        half_pass: 295.7,
        answer: 290.7,
    },
    System {
        name: "M/M/4, p95, correlated noise of the machine",
        excess: |chance, rate, seconds| {
            let slower = (0.03 * chance.next_machine()).exp();
            Queue { capacity: 200.0 / slower, ..FOUR }.excess(chance, rate, seconds) + slower.ln()
        },
        full_seconds: FULL_SECONDS,
        half_pass: 164.1,
        answer: 149.8,
    },
    System {
        name: "cliff, p95 jumps",
        excess: |chance, load, _| {
            let jump = if load <= HALF_PASS { -1.2 } else { 1.6 };
            jump + 0.05 * chance.normal()
        },
        full_seconds: FULL_SECONDS,
        half_pass: HALF_PASS,
        answer: HALF_PASS,
    },
    System {
        name: "errors above a limit",
        excess: |chance, load, _| {
            let served = HALF_PASS * (0.01 * chance.normal()).exp();
            ((1.0 - served / load).max(0.0) / 0.01).ln()
        },
        full_seconds: FULL_SECONDS,
        half_pass: 403.9,
        answer: 397.3,
    },
    System {
        name: "gradual error rate",
        excess: |chance, load, seconds| {
            let errors = 0.01 * load * seconds * (load / HALF_PASS).powi(6);
            let sampled = (errors + errors.sqrt() * chance.normal()).max(0.0) / errors;
            6.0 * (load / HALF_PASS).ln() + sampled.ln() + 0.15 * chance.normal()
        },
        full_seconds: FULL_SECONDS,
        half_pass: 400.0,
        answer: 382.9,
    },
];

/// The share of trials of full length that pass.
pub fn pass_rate(system: &System, load: f64, trials: u64) -> f64 {
    let mut chance = Chance::new(7);
    let passes = (0..trials).filter(|_| (system.excess)(&mut chance, load, system.full_seconds) <= 0.0);
    passes.count() as f64 / trials as f64
}
