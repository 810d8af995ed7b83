//! Simulated entries, shared by the studies of error rates.

use std::collections::BTreeMap;

use rand::Rng as _;
use rand_distr::{Distribution as _, Exp, Geometric, Normal, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How the entries of a template arrive.
#[derive(Clone, Copy, Debug)]
pub enum Arrivals {
    /// Independently.
    Poisson,
    /// In bursts of 20 entries on average, each within this number of seconds.
    Bursts { spread_s: f64 },
    /// With a rate whose logarithm is an autoregressive process with the standard deviation 1 and this correlation time.
    Modulated { correlation_s: f64 },
}

/// The seconds of the entries of a template with this mean rate per second.
pub fn entries(
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
