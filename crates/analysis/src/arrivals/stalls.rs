//! Times in which nothing arrived although the load went on.
//!
//! A stall is one gap that chance does not explain: at the rate around it a Poisson process of as many arrivals has one as
//! long with a probability of at most 1 in 10,000. What was held back often arrives together afterwards; both are left out
//! of the measures and reported on their own, because one outlier in a sum of squares hides everything else.

use serde::{Deserialize, Serialize};

/// Arrivals before and after a gap from which the rate around it comes, at most and at least.
const AROUND: usize = 256;
const AROUND_MIN: usize = 32;

/// A gap is looked at from so many mean gaps on.
const MEANS_MIN: f64 = 14.0;

/// No shorter gap is a stall, in ns.
const LENGTH_NS_MIN: u64 = 10_000_000;

/// ln of 10,000: one false stall in so many logs.
const LN_LOGS: f64 = 9.21;

/// The rate from 256 gaps may be that much too high.
const RATE_CAUTION: f64 = 0.85;

/// Even arrivals have no gap of so many mean gaps.
const EVEN_MEANS: f64 = 10.0;

/// After a stall the backlog has arrived when so many arrivals take at least this part of the time they usually take.
const RECOVERED: (usize, f64) = (16, 0.25);

/// More long gaps than this are no stalls but the nature of the process.
pub(super) const STALLS_MAX: usize = 20;

/// A stall of this length, in s, is always reported as a fault.
pub(super) const MATERIAL_S: f64 = 0.1;

/// Which gaps are stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StallRule {
    /// Those that are too long for a Poisson process.
    #[default]
    Poisson,
    /// Those of ten mean gaps: the arrivals should be even.
    Even,
    /// No stalls: the process itself has long gaps.
    Ignore,
}

/// A time without arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// Its beginning, in s after the first arrival.
    pub at_s: f64,
    /// Its length in s.
    pub length_s: f64,
    /// Arrivals that came together afterwards; 0 where the load went on as before.
    pub backlog: u64,
    /// How long these took, in s.
    pub backlog_s: f64,
}

/// A long gap, on the judging clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct LongGap {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// When the arrivals that the stall delayed had arrived.
    pub(super) recovered_ns: u64,
    given_ns: (u64, u64),
    before_per_ns: f64,
    after: u64,
    after_per_ns: Option<f64>,
    backlog: u64,
    is_recovered: bool,
}

/// Looks for long gaps as arrivals come, in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct StallWatch {
    /// The latest arrivals; `next` is the oldest once it is full.
    recent: Vec<u64>,
    next: usize,
    gaps: Vec<LongGap>,
    /// Gaps before this one are complete.
    open_from: usize,
    too_many: bool,
}

impl StallWatch {
    pub(super) fn new(first_ns: u64) -> StallWatch {
        StallWatch { recent: vec![first_ns], next: 0, gaps: Vec::new(), open_from: 0, too_many: false }
    }

    /// Adds an arrival; times are on the judging clock but for `given_ns`, the arrival before it and itself as stamped.
    pub(super) fn add(&mut self, at_ns: u64, gap_ns: u64, given_ns: (u64, u64)) {
        if gap_ns >= LENGTH_NS_MIN {
            self.look(at_ns, gap_ns, given_ns);
        }
        if self.open_from < self.gaps.len() {
            self.follow(at_ns);
        }
        if self.recent.len() < AROUND {
            self.recent.push(at_ns);
        } else {
            self.recent[self.next] = at_ns;
            self.next = (self.next + 1) % AROUND;
        }
    }

    /// The arrival that was `back` before the latest one.
    fn earlier(&self, back: usize) -> u64 {
        let n = self.recent.len();
        self.recent[(self.next + n - 1 - back) % n]
    }

    fn look(&mut self, at_ns: u64, gap_ns: u64, given_ns: (u64, u64)) {
        let gaps = self.recent.len() - 1;
        if gaps < AROUND_MIN {
            return;
        }
        let span_ns = (self.earlier(0) - self.earlier(gaps)).max(1) as f64;
        let before_per_ns = gaps as f64 / span_ns;
        if (gap_ns as f64) * before_per_ns < MEANS_MIN {
            return;
        }
        // One more than the maximum, so that "too many" can be recognized.
        if self.gaps.len() > STALLS_MAX {
            self.too_many = true;
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

    fn follow(&mut self, at_ns: u64) {
        let (window, part) = RECOVERED;
        // The latest arrival is not among the recent ones yet.
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

    /// The stalls among the long gaps of `arrivals` that came from `first_ns` to `last_ns`. None when they are so many that
    /// they are the nature of the process, or make up more than a third of the time.
    pub(super) fn stalls(&self, rule: StallRule, arrivals: u64, first_ns: u64, last_ns: u64) -> Vec<LongGap> {
        if rule == StallRule::Ignore || self.too_many || last_ns == first_ns {
            return Vec::new();
        }
        let overall = arrivals as f64 / (last_ns - first_ns) as f64;
        let is_stall = |gap: &&LongGap| {
            let means = (gap.to_ns - gap.from_ns) as f64;
            let after = gap.after_per_ns.or_else(|| {
                let enough = gap.after as usize >= AROUND_MIN;
                enough.then(|| gap.after as f64 / (last_ns - gap.to_ns).max(1) as f64)
            });
            let Some(after) = after else { return false };
            match rule {
                StallRule::Even => means * overall >= EVEN_MEANS,
                StallRule::Poisson | StallRule::Ignore => {
                    let rate = gap.before_per_ns.min(after).min(overall);
                    means * rate * RATE_CAUTION >= (arrivals as f64).ln() + LN_LOGS
                }
            }
        };
        let stalls: Vec<LongGap> = self.gaps.iter().filter(is_stall).copied().collect();
        let left_out: u64 = stalls.iter().map(|gap| gap.recovered_ns - gap.from_ns).sum();
        if stalls.len() > STALLS_MAX || left_out > (last_ns - first_ns) / 3 { Vec::new() } else { stalls }
    }
}

impl LongGap {
    /// As it is reported; `first_given_ns` is the first arrival as stamped.
    pub(super) fn told(&self, first_given_ns: u64) -> Stall {
        let seconds = |ns: u64| ns as f64 / 1e9;
        Stall {
            at_s: seconds(self.given_ns.0.saturating_sub(first_given_ns)),
            length_s: seconds(self.given_ns.1.saturating_sub(self.given_ns.0)),
            backlog: self.backlog,
            backlog_s: seconds(self.recovered_ns - self.to_ns),
        }
    }
}
