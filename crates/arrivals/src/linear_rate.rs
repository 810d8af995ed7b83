//! A rate that is linear in time, its integral Λ, and the inverse of Λ.

/// The rate λ(t) = begin + slope·t for t ≥ 0, in arrivals per second, with t in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearRate {
    begin_per_s: f64,
    slope_per_s2: f64,
}

/// Nanoseconds in a second.
pub(crate) const NS_PER_S: f64 = 1e9;

impl LinearRate {
    pub(crate) fn new(begin_per_s: f64, end_per_s: f64, duration_ns: u64) -> LinearRate {
        let slope_per_s2 = if duration_ns == 0 || begin_per_s == end_per_s {
            0.0
        } else {
            (end_per_s - begin_per_s) / (duration_ns as f64 / NS_PER_S)
        };
        LinearRate { begin_per_s, slope_per_s2 }
    }

    /// The rate λ(t), never negative.
    pub(crate) fn at(&self, offset_ns: f64) -> f64 {
        (self.begin_per_s + self.slope_per_s2 * (offset_ns / NS_PER_S)).max(0.0)
    }

    /// The expected number of arrivals in [0, t), Λ(t).
    pub(crate) fn cumulative(&self, offset_ns: f64) -> f64 {
        let t = offset_ns / NS_PER_S;
        (self.begin_per_s + self.slope_per_s2 * t / 2.0) * t
    }

    /// The time in nanoseconds at which Λ reaches `count`; infinite if it never does.
    pub(crate) fn time_of(&self, count: f64) -> f64 {
        if self.slope_per_s2 == 0.0 { count * NS_PER_S / self.begin_per_s } else { self.step(0.0, count) }
    }

    /// Time after `offset_ns` until Λ has increased by `count`, in nanoseconds; infinite if Λ never increases that much. It is
    /// the root d of λ(t)·d + slope·d²/2 = count, computed in a form without cancellation.
    pub(crate) fn step(&self, offset_ns: f64, count: f64) -> f64 {
        let rate = self.at(offset_ns);
        if self.slope_per_s2 == 0.0 {
            return count * (NS_PER_S / rate);
        }
        let square = rate * rate + 2.0 * self.slope_per_s2 * count;
        if square < 0.0 {
            return f64::INFINITY;
        }
        2.0 * count * NS_PER_S / (rate + square.sqrt())
    }
}
