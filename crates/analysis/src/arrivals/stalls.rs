//! Detects stalls: interruptions of an otherwise continuous load.
//!
//! A stall is a gap that is too long to be explained by chance: a Poisson process with as many arrivals, at the rate
//! around the gap, contains a gap of this length with a probability of at most 1 in 500. Delayed arrivals often start
//! together after the stall. The gap and these arrivals are excluded from the measures and reported separately, because
//! one outlier dominates a sum of squares.

use serde::{Deserialize, Serialize};

/// Maximum number of arrivals before and after a gap from which the rate around it is estimated.
const AROUND: usize = 256;
/// Minimum number of arrivals for estimating this rate.
const AROUND_MIN: usize = 32;

/// Minimum length of a candidate gap, in mean gaps.
const MEANS_MIN: f64 = 11.0;

/// Minimum length of a stall, in ns.
const LENGTH_NS_MIN: u64 = 10_000_000;

/// The natural logarithm of 500: at most one in 500 logs contains a false stall.
const LN_LOGS: f64 = 6.21;

/// Factor that reduces the rate around a gap, because its estimate from 256 gaps may be too high.
const RATE_CAUTION: f64 = 0.85;

/// If the rate around a gap deviates by at most this share from the rate of the whole run, the latter is used, because it is more
/// precise.
const SAME_RATE: f64 = 0.25;

/// Minimum length of a stall of even arrivals, in mean gaps.
const EVEN_MEANS: f64 = 10.0;

/// The backlog after a stall ends when this many arrivals take at least this share of their usual time.
const RECOVERED: (usize, f64) = (16, 0.25);

/// If there are more than [`STALLS_MAX`] long gaps, only a gap this many times as long as the shortest of the recorded ones is
/// a stall.
const MUCH_LONGER: u64 = 5;

/// Maximum number of stalls; more long gaps are a property of the process.
pub(super) const STALLS_MAX: usize = 20;

/// Minimum length, in s, of a stall that makes the arrivals differ from the process.
pub(super) const MATERIAL_S: f64 = 0.1;

/// Rule that decides which gaps are stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StallRule {
    /// Gaps that are too long for a Poisson process.
    #[default]
    Poisson,
    /// Gaps of at least ten mean gaps; for even arrivals.
    Even,
    /// No gap is a stall; for processes with long gaps.
    NoStalls,
}

/// A time without arrivals that chance does not explain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ArrivalGap {
    /// Start, in s after the first arrival.
    pub at_s: f64,
    /// Length in s.
    pub length_s: f64,
    /// Number of arrivals that started together afterwards; 0 if the load continued at its usual rate.
    pub backlog: u64,
    /// Time in which these arrivals started, in s.
    pub backlog_s: f64,
}

/// A long gap. Times are rescaled by the known rate, if there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct LongGap {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// End of the backlog.
    pub(super) recovered_ns: u64,
    given_ns: (u64, u64),
    before_per_ns: f64,
    after: u64,
    after_per_ns: Option<f64>,
    backlog: u64,
    is_recovered: bool,
}

/// Finds long gaps in a sequence of arrivals, in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct StallWatch {
    /// Ring buffer of the latest arrivals; `next` is the index of the oldest once it is full.
    recent: Vec<u64>,
    next: usize,
    gaps: Vec<LongGap>,
    /// Index of the first gap that needs more arrivals, to find the end of its backlog or the rate after the gap.
    open_from: usize,
    too_many: bool,
}

impl StallWatch {
    pub(super) fn new(first_ns: u64) -> StallWatch {
        StallWatch { recent: vec![first_ns], next: 0, gaps: Vec::new(), open_from: 0, too_many: false }
    }

    /// Adds an arrival. `given_ns` are the start times of the preceding arrival and of this one before rescaling.
    pub(super) fn add(&mut self, at_ns: u64, gap_ns: u64, given_ns: (u64, u64)) {
        if gap_ns >= LENGTH_NS_MIN {
            self.add_if_long(at_ns, gap_ns, given_ns);
        }
        if self.open_from < self.gaps.len() {
            self.update_open_gaps(at_ns);
        }
        if self.recent.len() < AROUND {
            self.recent.push(at_ns);
        } else {
            self.recent[self.next] = at_ns;
            self.next = (self.next + 1) % AROUND;
        }
    }

    /// The arrival `back` positions before the latest one.
    fn earlier(&self, back: usize) -> u64 {
        let n = self.recent.len();
        self.recent[(self.next + n - 1 - back) % n]
    }

    fn add_if_long(&mut self, at_ns: u64, gap_ns: u64, given_ns: (u64, u64)) {
        let gaps = self.recent.len() - 1;
        if gaps < AROUND_MIN {
            return;
        }
        let span_ns = (self.earlier(0) - self.earlier(gaps)).max(1) as f64;
        let before_per_ns = gaps as f64 / span_ns;
        if (gap_ns as f64) * before_per_ns < MEANS_MIN {
            return;
        }
        // One more than the maximum, so that "too many" can be recognized. Then only the longest are kept.
        if self.gaps.len() > STALLS_MAX && !self.make_room(gap_ns) {
            return;
        }
        self.gaps.push(LongGap {
            from_ns: at_ns - gap_ns,
            to_ns: at_ns,
            recovered_ns: at_ns,
            given_ns,
            before_per_ns,
            after: 0,
            after_per_ns: None,
            backlog: 0,
            is_recovered: false,
        });
    }

    /// Removes the shortest gap if it is shorter than `gap_ns`. Returns whether it was removed.
    fn make_room(&mut self, gap_ns: u64) -> bool {
        self.too_many = true;
        let shortest = self.gaps.iter().enumerate().min_by_key(|(_, gap)| gap.length_ns());
        let Some(at) = shortest.filter(|(_, gap)| gap.length_ns() < gap_ns).map(|(at, _)| at) else {
            return false;
        };
        self.gaps.remove(at);
        self.open_from -= usize::from(at < self.open_from);
        true
    }

    fn update_open_gaps(&mut self, at_ns: u64) {
        let (window, part) = RECOVERED;
        // The current arrival is not yet in `recent`.
        let before_ns = (self.recent.len() >= window).then(|| self.earlier(window - 1));
        for gap in &mut self.gaps[self.open_from..] {
            gap.after += 1;
            if let Some(from_ns) = before_ns.filter(|_| !gap.is_recovered && gap.after > window as u64) {
                let usual = window as f64 / gap.before_per_ns;
                gap.is_recovered = (at_ns - from_ns) as f64 >= part * usual;
                gap.recovered_ns = from_ns.max(gap.to_ns);
                gap.backlog = gap.after - window as u64 - 1;
            }
            if gap.after as usize == AROUND {
                gap.after_per_ns = Some(AROUND as f64 / (at_ns - gap.to_ns).max(1) as f64);
            }
        }
        while self.gaps.get(self.open_from).is_some_and(|gap| gap.is_recovered && gap.after_per_ns.is_some())
        {
            self.open_from += 1;
        }
    }

    /// The stalls among the long gaps of `arrivals` arrivals from `first_ns` to `last_ns`. If there are so many long gaps that
    /// they are a property of the process, only much longer gaps are stalls. Returns no stalls if they take more than a third
    /// of the time.
    pub(super) fn stalls(&self, rule: StallRule, arrivals: u64, first_ns: u64, last_ns: u64) -> Vec<LongGap> {
        if rule == StallRule::NoStalls || last_ns == first_ns {
            return Vec::new();
        }
        let usual_ns = match self.too_many {
            true => self.gaps.iter().map(LongGap::length_ns).min().unwrap_or(0),
            false => 0,
        };
        let overall = arrivals as f64 / (last_ns - first_ns) as f64;
        let is_stall = |gap: &&LongGap| {
            if gap.length_ns() < MUCH_LONGER.saturating_mul(usual_ns) {
                return false;
            }
            let means = gap.length_ns() as f64;
            let after = gap.after_per_ns.or_else(|| {
                let enough = gap.after as usize >= AROUND_MIN;
                enough.then(|| gap.after as f64 / (last_ns - gap.to_ns).max(1) as f64)
            });
            let Some(after) = after else { return false };
            match rule {
                StallRule::Even => means * overall >= EVEN_MEANS,
                StallRule::Poisson | StallRule::NoStalls => {
                    let around = gap.before_per_ns.min(after);
                    let is_steady = [gap.before_per_ns, after]
                        .iter()
                        .all(|rate| (rate / overall - 1.0).abs() <= SAME_RATE);
                    let rate = if is_steady { overall } else { around.min(overall) * RATE_CAUTION };
                    means * rate >= (arrivals as f64).ln() + LN_LOGS
                }
            }
        };
        let stalls: Vec<LongGap> = self.gaps.iter().filter(is_stall).copied().collect();
        let left_out: u64 = stalls.iter().map(|gap| gap.recovered_ns - gap.from_ns).sum();
        if stalls.len() > STALLS_MAX || left_out > (last_ns - first_ns) / 3 { Vec::new() } else { stalls }
    }
}

impl LongGap {
    fn length_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }

    /// The stall for reports; `first_given_ns` is the first start time before rescaling.
    pub(super) fn to_stall(self, first_given_ns: u64) -> ArrivalGap {
        let seconds = |ns: u64| ns as f64 / 1e9;
        ArrivalGap {
            at_s: seconds(self.given_ns.0.saturating_sub(first_given_ns)),
            length_s: seconds(self.given_ns.1.saturating_sub(self.given_ns.0)),
            backlog: self.backlog,
            backlog_s: seconds(self.recovered_ns - self.to_ns),
        }
    }
}
