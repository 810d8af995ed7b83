//! Bounds of the throughput and response time of a closed network with one class.

use serde::Serialize;

/// Bounds of throughput and response time, and their intersection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// Service demand of a pass D: the response time of a single customer, without waiting.
    pub demand_s: f64,
    /// The bottleneck's demand per server D_max.
    pub demand_max_s: f64,
    /// N* = (D + Z)/D_max: with more users, some always wait (Kleinrock).
    pub users_optimal: f64,
    /// Asymptotic bounds of X (Denning & Buzen, Computing Surveys 10, 1978).
    pub asymptotic_rate_per_s: BoundedRange,
    /// Asymptotic bounds of R.
    pub asymptotic_response_s: BoundedRange,
    /// Balanced job bounds of X (Zahorjan, Sevcik, Eager & Galler, CACM 25, 1982), for stations of one server.
    pub balanced_rate_per_s: Option<BoundedRange>,
    /// Balanced job bounds of R.
    pub balanced_response_s: Option<BoundedRange>,
}

/// An interval between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BoundedRange {
    /// Lower bound.
    pub from: f64,
    /// Upper bound.
    pub to: f64,
}

/// The load of a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load<'s> {
    /// Service demand of a pass in seconds.
    pub demand_s: f64,
    /// Speeds with 1, 2, 3 … customers, in servers; `None` for a delay.
    pub speeds: Option<&'s [f64]>,
}

impl Load<'_> {
    fn fastest(&self) -> f64 {
        self.speeds.map_or(f64::INFINITY, |speeds| speeds.iter().copied().fold(0.0, f64::max))
    }

    fn slowest(&self) -> f64 {
        self.speeds.map_or(1.0, |speeds| speeds.iter().copied().fold(f64::INFINITY, f64::min))
    }

    /// The highest speed per customer.
    fn fastest_per_customer(&self) -> f64 {
        let shares =
            |speeds: &[f64]| (1..).zip(speeds).map(|(n, speed)| speed / f64::from(n)).fold(0.0, f64::max);
        self.speeds.map_or(1.0, shares)
    }

    fn is_single_server(&self) -> bool {
        self.speeds.is_none_or(|speeds| speeds.iter().all(|speed| *speed == 1.0))
    }
}

/// The bounds for `users` customers (at least 1) with this think time; `None` without service.
#[must_use]
pub fn bounds(users: u64, think_s: f64, loads: &[Load<'_>]) -> Option<Bounds> {
    let n = users as f64;
    // Delays act like think time for the throughput, but are part of the response time.
    let delays_s: f64 = loads.iter().filter(|load| load.speeds.is_none()).map(|load| load.demand_s).sum();
    let queues = || loads.iter().filter(|load| load.speeds.is_some());
    let waiting_s: f64 = queues().map(|load| load.demand_s).sum();
    let demand_s = delays_s + waiting_s;
    let demand_max_s = queues().map(|load| load.demand_s / load.fastest()).fold(0.0, f64::max);
    if users == 0 || demand_max_s <= 0.0 {
        return None;
    }
    let idle_s = think_s + delays_s;
    let response =
        |rate: BoundedRange| BoundedRange { from: n / rate.to - think_s, to: n / rate.from - think_s };
    // Best case: no customer waits. Worst case: every customer always waits for all others.
    let best_s: f64 = queues().map(|load| load.demand_s / load.fastest_per_customer()).sum();
    let worst_s: f64 = queues().map(|load| load.demand_s / load.slowest()).sum();
    let asymptotic = BoundedRange {
        from: n / (idle_s + n * worst_s),
        to: (n / (idle_s + best_s)).min(1.0 / demand_max_s),
    };
    let balanced = queues().all(Load::is_single_server).then(|| {
        let count = queues().filter(|load| load.demand_s > 0.0).count() as f64;
        let average_s = waiting_s / count;
        let others = n - 1.0;
        BoundedRange {
            from: n / (idle_s + waiting_s + others * demand_max_s / (1.0 + idle_s / (n * waiting_s))),
            to: (1.0 / demand_max_s)
                .min(n / (idle_s + waiting_s + others * average_s / (1.0 + idle_s / waiting_s))),
        }
    });
    Some(Bounds {
        demand_s,
        demand_max_s,
        users_optimal: (demand_s + think_s) / demand_max_s,
        asymptotic_rate_per_s: asymptotic,
        asymptotic_response_s: response(asymptotic),
        balanced_rate_per_s: balanced,
        balanced_response_s: balanced.map(response),
    })
}
