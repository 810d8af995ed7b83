//! A simulated system under test on one CPU: requests in a queue, with the time that a neighbour takes from them.

use rand::Rng as _;
use rand_distr::{Distribution as _, Exp, LogNormal, Normal, Pareto, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The share of requests that meet a neighbour's time slice while it is active.
const MET: f64 = 0.5;

/// The system's properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemKind {
    /// Requests per second.
    pub(crate) rate: f64,
    /// Mean CPU time of a request in s.
    pub(crate) service_s: f64,
    /// CPU times and other times have a heavy tail.
    pub(crate) has_heavy_tail: bool,
    /// The rate varies like over a day, which is compressed to an hour.
    pub(crate) is_diurnal: bool,
    /// Slow times per hour without an observed cause, of 10 to 60 s.
    pub(crate) own_bursts_per_hour: f64,
    /// Times of overload by the system's own load per hour, of 30 to 120 s.
    pub(crate) overloads_per_hour: f64,
    /// Times per hour in which the quota throttles the system.
    pub(crate) throttles_per_hour: f64,
    /// Each minute, the system does housekeeping for 4 s, which needs CPU time.
    pub(crate) has_housekeeping: bool,
    /// The level of the harm wanders: the correlation of neighbouring seconds.
    pub(crate) wander: f64,
}

/// A usual system.
pub(crate) const SYSTEM: SystemKind = SystemKind {
    rate: 60.0,
    service_s: 0.004,
    has_heavy_tail: false,
    is_diurnal: false,
    own_bursts_per_hour: 0.0,
    overloads_per_hour: 0.0,
    throttles_per_hour: 0.0,
    has_housekeeping: false,
    wander: 0.0,
};

/// One second of the system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Second {
    pub(crate) rate: f64,
    pub(crate) cores: f64,
    pub(crate) wait: f64,
    pub(crate) is_at_own_limit: bool,
}

/// A system that is being simulated.
pub(crate) struct System {
    kind: SystemKind,
    /// Mean additional wait in s of a request that meets a fully active neighbour.
    harm_s: f64,
    free_at: f64,
    wander: f64,
    burst_until: f64,
    overload_until: f64,
    throttle_until: f64,
    /// Response times of the second, if they are wanted.
    pub(crate) responses: Option<Vec<f64>>,
}

impl System {
    pub(crate) fn new(kind: SystemKind, harm_s: f64) -> System {
        System {
            kind,
            harm_s,
            free_at: 0.0,
            wander: 0.0,
            burst_until: 0.0,
            overload_until: 0.0,
            throttle_until: 0.0,
            responses: None,
        }
    }

    fn begin(rng: &mut Xoshiro256PlusPlus, per_hour: f64, at: f64, (min, max): (f64, f64)) -> Option<f64> {
        (per_hour > 0.0 && rng.random_bool(per_hour / 3_600.0)).then(|| at + rng.random_range(min..max))
    }

    fn service(&self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        if self.kind.has_heavy_tail {
            // Index 1.8: infinite variance.
            let time = Pareto::new(self.kind.service_s * 0.8 / 1.8, 1.8).unwrap().sample(rng);
            time.min(1.0)
        } else {
            LogNormal::new(self.kind.service_s.ln() - 0.18, 0.6).unwrap().sample(rng)
        }
    }

    /// Simulates the second that begins at `at`; neighbours are active for `activity` of it (0 to 1).
    pub(crate) fn second(&mut self, rng: &mut Xoshiro256PlusPlus, at: f64, activity: f64) -> Second {
        let kind = self.kind;
        for (until, per_hour, length) in [
            (&mut self.burst_until, kind.own_bursts_per_hour, (10.0, 60.0)),
            (&mut self.overload_until, kind.overloads_per_hour, (30.0, 120.0)),
            (&mut self.throttle_until, kind.throttles_per_hour, (10.0, 60.0)),
        ] {
            *until = Self::begin(rng, per_hour, at, length).unwrap_or(*until);
        }
        let day =
            if kind.is_diurnal { 1.0 + 0.6 * (at / 3_600.0 * std::f64::consts::TAU).sin() } else { 1.0 };
        let overload = if at < self.overload_until { 1.2 / (kind.rate * kind.service_s * day) } else { 1.0 };
        let rate = kind.rate * day * overload;
        let (is_burst, is_throttled) = (at < self.burst_until, at < self.throttle_until);
        let is_busy = kind.has_housekeeping && at % 60.0 < 4.0;
        self.wander = kind.wander * self.wander
            + (1.0 - kind.wander * kind.wander).sqrt() * Normal::new(0.0, 1.0).unwrap().sample(rng);
        let count = Poisson::new(rate).unwrap().sample(rng) as usize;
        let mut starts: Vec<f64> = (0..count).map(|_| at + rng.random::<f64>()).collect();
        starts.sort_unstable_by(f64::total_cmp);
        let mut second = Second { rate, is_at_own_limit: is_throttled, ..Second::default() };
        for start in starts {
            let service = self.service(rng);
            let mut extra = 0.0;
            if activity > 0.0 && rng.random_bool((MET * activity).min(1.0)) {
                extra += Exp::new(1.0 / self.harm_s.max(1e-9)).unwrap().sample(rng);
            }
            if is_burst {
                extra += Exp::new(1.0 / (kind.service_s * 2.0)).unwrap().sample(rng);
            }
            if is_busy {
                extra += Exp::new(1.0 / kind.service_s).unwrap().sample(rng);
                second.cores += 0.5 / count as f64;
            }
            if is_throttled {
                extra += Exp::new(1.0 / 0.02).unwrap().sample(rng);
            }
            if kind.wander > 0.0 {
                extra += kind.service_s * 0.3 * self.wander.exp();
            }
            let queued = (self.free_at - start).max(0.0);
            let wait = queued + extra;
            self.free_at = start + wait + service;
            second.cores += service;
            second.wait += wait;
            if let Some(responses) = &mut self.responses {
                let other = if kind.has_heavy_tail {
                    Pareto::new(0.002, 1.8).unwrap().sample(rng)
                } else {
                    LogNormal::new((0.004f64).ln(), 0.5).unwrap().sample(rng)
                };
                responses.push(wait + service + other);
            }
        }
        second.cores = second.cores.min(1.0);
        second.is_at_own_limit |= second.cores > 0.9;
        // Limits the queue to 3 s.
        self.free_at = self.free_at.min(at + 3.0);
        second
    }
}

/// The additional wait with which a neighbour that is always active raises the 95th percentile by `share`.
pub(crate) fn harm_of_p95(kind: SystemKind, share: f64) -> f64 {
    use rand::SeedableRng as _;
    // Without the slow times of the system itself.
    let kind = SystemKind {
        is_diurnal: false,
        own_bursts_per_hour: 0.0,
        overloads_per_hour: 0.0,
        throttles_per_hour: 0.0,
        has_housekeeping: false,
        ..kind
    };
    let p95 = |harm_s: f64, activity: f64| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4_711);
        let mut system = System::new(kind, harm_s);
        system.responses = Some(Vec::new());
        for second in 0..2_000 {
            system.second(&mut rng, f64::from(second), activity);
        }
        let mut responses = system.responses.unwrap_or_default();
        let place = responses.len() * 95 / 100;
        *responses.select_nth_unstable_by(place, f64::total_cmp).1
    };
    let wanted = p95(0.0, 0.0) * (1.0 + share);
    let (mut low, mut high) = (0.0, 0.2);
    for _ in 0..16 {
        let middle = f64::midpoint(low, high);
        if p95(middle, 1.0) < wanted { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}
