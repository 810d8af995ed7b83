//! Simulated processes of the same machine: harmless ones, and neighbours.

use rand::Rng as _;
use rand_distr::{Distribution as _, Exp, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How a neighbour uses the CPU over time, from its start on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Always.
    Constant,
    /// In bursts: seconds active, and seconds of the whole cycle; both vary by half.
    Bursts(f64, f64),
    /// Rises to its full use within these seconds.
    Ramp(f64),
}

/// A neighbour.
#[derive(Clone, Debug)]
pub(crate) struct Neighbour {
    pub(crate) shape: Shape,
    pub(crate) start_s: f64,
    switch_s: f64,
    is_active: bool,
}

impl Neighbour {
    pub(crate) fn new(shape: Shape, start_s: f64) -> Neighbour {
        Neighbour { shape, start_s, switch_s: start_s, is_active: false }
    }

    /// Its activity in the second that begins at `at`, from 0 to 1.
    pub(crate) fn activity(&mut self, rng: &mut Xoshiro256PlusPlus, at: f64) -> f64 {
        if at < self.start_s {
            return 0.0;
        }
        match self.shape {
            Shape::Constant => 1.0,
            Shape::Ramp(length) => ((at - self.start_s + 1.0) / length).min(1.0),
            Shape::Bursts(active, cycle) => {
                while at >= self.switch_s {
                    self.is_active = !self.is_active;
                    let length = if self.is_active { active } else { cycle - active };
                    self.switch_s += length * rng.random_range(0.5..1.5);
                }
                f64::from(u8::from(self.is_active))
            }
        }
    }
}

/// A harmless process.
#[derive(Clone, Debug)]
pub(crate) enum Harmless {
    /// A small use that varies.
    Steady { cores: f64 },
    /// Started at fixed times: the interval, the first start and the length, in seconds.
    Cron { every_s: f64, after_s: f64, length_s: f64, cores: f64 },
    /// Runs at random times.
    Sporadic { per_hour: f64, length_s: f64, cores: f64, until: f64 },
    /// Follows the load of the system, such as a process that forwards its log.
    FollowsLoad { cores_per_request: f64 },
}

impl Harmless {
    /// Its use in a second, in cores.
    pub(crate) fn cores(&mut self, rng: &mut Xoshiro256PlusPlus, at: f64, rate: f64) -> f64 {
        let noise = LogNormal::new(0.0, 0.3).unwrap().sample(rng);
        match self {
            Harmless::Steady { cores } => *cores * noise,
            Harmless::Cron { every_s, after_s, length_s, cores } => {
                if (at - *after_s).rem_euclid(*every_s) < *length_s { *cores * noise } else { 0.0 }
            }
            Harmless::Sporadic { per_hour, length_s, cores, until } => {
                if rng.random_bool(*per_hour / 3_600.0) {
                    *until = at + Exp::new(1.0 / *length_s).unwrap().sample(rng);
                }
                if at < *until { *cores * noise } else { 0.0 }
            }
            Harmless::FollowsLoad { cores_per_request } => *cores_per_request * rate * noise,
        }
    }
}

/// The usual processes of a machine: `varied` processes of several kinds, about half of which run occasionally, and
/// `steady` processes.
pub(crate) fn machine(rng: &mut Xoshiro256PlusPlus, (varied, steady): (usize, usize)) -> Vec<Harmless> {
    let mut all = vec![
        Harmless::Cron { every_s: 60.0, after_s: 0.0, length_s: 3.0, cores: 0.5 },
        Harmless::Cron { every_s: 300.0, after_s: 20.0, length_s: 25.0, cores: 0.9 },
        Harmless::Cron { every_s: 600.0, after_s: 300.0, length_s: 45.0, cores: 1.0 },
        Harmless::FollowsLoad { cores_per_request: 0.001 },
        Harmless::FollowsLoad { cores_per_request: 0.0004 },
    ];
    while all.len() < varied {
        all.push(match all.len() % 4 {
            0 | 1 => Harmless::Steady { cores: rng.random_range(0.001..0.05) },
            2 => Harmless::Sporadic {
                per_hour: rng.random_range(1.0..6.0),
                length_s: rng.random_range(5.0..60.0),
                cores: rng.random_range(0.1..1.0),
                until: 0.0,
            },
            _ => Harmless::Cron {
                every_s: rng.random_range(120.0..1_800.0),
                after_s: rng.random_range(0.0..600.0),
                length_s: rng.random_range(2.0..40.0),
                cores: rng.random_range(0.1..1.0),
            },
        });
    }
    all.extend((0..steady).map(|_| Harmless::Steady { cores: rng.random_range(0.0001..0.01) }));
    all
}
