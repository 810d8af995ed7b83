//! A stage of an arrival process.

use std::sync::Arc;

use crate::law::Law;
use crate::linear_rate::{LinearRate, NS_PER_S};
use crate::share::ShareRule;

/// The unit of time of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Per millisecond.
    Millisecond,
    /// Per second.
    Second,
    /// Per minute.
    Minute,
    /// Per hour.
    Hour,
    /// Per day.
    Day,
}

impl Per {
    /// The length of the unit in seconds.
    pub fn seconds(self) -> f64 {
        match self {
            Per::Millisecond => 0.001,
            Per::Second => 1.0,
            Per::Minute => 60.0,
            Per::Hour => 3_600.0,
            Per::Day => 86_400.0,
        }
    }
}

/// A rate with the unit in which it was given, so that `100/min` is not printed as `1.6666666666666667/s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Number of arrivals per unit of time.
    pub value: f64,
    /// The unit of time.
    pub per: Per,
}

impl Rate {
    /// The rate 0.
    pub const ZERO: Rate = Rate { value: 0.0, per: Per::Second };

    /// The rate in arrivals per second.
    pub fn per_s(self) -> f64 {
        self.value / self.per.seconds()
    }
}

/// The kind of arrival process of a stage. The rate is in [`Stage`].
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// No arrivals.
    Pause,
    /// A Poisson process.
    Poisson,
    /// One arrival whenever the expected number reaches a whole number. With a `count`, the stage has exactly that many
    /// arrivals, the first at the start of the stage (JMeter's even arrivals). Without a `count`, the arrivals continue
    /// preceding even stages and pauses.
    Even {
        /// Number of arrivals, if it is fixed.
        count: Option<u64>,
    },
    /// Time is divided into intervals in which one arrival is expected; each has one arrival, at a uniformly random point.
    Jittered,
    /// A stationary renewal process with gamma gaps.
    Gamma {
        /// Coefficient of variation of the gaps.
        cov: f64,
    },
    /// A stationary renewal process with Weibull gaps.
    Weibull {
        /// Coefficient of variation of the gaps.
        cov: f64,
    },
    /// A two-state Markov-modulated Poisson process.
    Mmpp(Mmpp),
    /// The arrivals of a file.
    Replay(Replay),
    /// A fixed number of independent points (JMeter's random arrivals): a Poisson process conditioned on its count.
    FixedCount {
        /// Number of arrivals.
        count: u64,
        /// Inner state of the `java.util.Random` that generates the points exactly as JMeter does; `None` if the schedule's
        /// seed is used.
        java_random: Option<u64>,
    },
}

/// One state of a Markov-modulated Poisson process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MmppState {
    /// Rate of arrivals in this state.
    pub rate: Rate,
    /// Mean time in this state, which is exponentially distributed, in nanoseconds; positive.
    pub sojourn_ns: u64,
}

/// A Poisson process whose rate alternates between two values. The first state is drawn from the stationary distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmpp {
    /// The two states.
    pub states: [MmppState; 2],
}

impl Mmpp {
    /// The mean rate in arrivals per second.
    pub fn rate_mean_per_s(&self) -> f64 {
        let [a, b] = self.states;
        let (time_a, time_b) = (a.sojourn_ns as f64, b.sojourn_ns as f64);
        (a.rate.per_s() * time_a + b.rate.per_s() * time_b) / (time_a + time_b)
    }

    /// The index of dispersion (variance divided by mean) of the counts in windows of this length (Fischer and Meier-Hellstern,
    /// "The Markov-modulated Poisson process (MMPP) cookbook", Performance Evaluation 18, 1993). It is at least 1. `None` for a
    /// window of length 0 or a rate of 0.
    pub fn dispersion(&self, window_ns: u64) -> Option<f64> {
        let [a, b] = self.states;
        let (leave_a, leave_b) = (NS_PER_S / a.sojourn_ns as f64, NS_PER_S / b.sojourn_ns as f64);
        let (rate_a, rate_b) = (a.rate.per_s(), b.rate.per_s());
        let sum = leave_a + leave_b;
        let flow = rate_a * leave_b + rate_b * leave_a;
        let window = window_ns as f64 / NS_PER_S;
        if flow <= 0.0 || window <= 0.0 {
            return None;
        }
        let excess = 2.0 * leave_a * leave_b * (rate_a - rate_b).powi(2) / (sum * sum * flow);
        Some(1.0 + excess * (1.0 + libm::expm1(-sum * window) / (sum * window)))
    }
}

/// A process that replays the arrival times in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The file's name as given.
    pub file: String,
    /// Speed relative to the recording; positive.
    pub speed: f64,
    /// Offset from which on arrivals are discarded, in nanoseconds after scaling by the speed; `None` for no limit.
    pub limit_ns: Option<u64>,
    /// Offsets from the first start time in nanoseconds, ascending, after scaling by the speed; `None` before the file is read.
    pub(crate) offsets_ns: Option<Arc<[u64]>>,
}

impl Replay {
    /// The offsets from the start of the stage in nanoseconds, ascending; `None` before the file is read.
    pub fn offsets_ns(&self) -> Option<&[u64]> {
        self.offsets_ns.as_deref()
    }

    /// Sets the start times of the file, which may be in any order.
    pub(crate) fn set_start_times(&mut self, mut stamps_ns: Vec<u64>) {
        stamps_ns.sort_unstable();
        let first = stamps_ns.first().copied().unwrap_or(0);
        let faster = |stamp: u64| {
            let offset = stamp - first;
            if self.speed == 1.0 { offset } else { (offset as f64 / self.speed).round() as u64 }
        };
        let within = |offset: &u64| self.limit_ns.is_none_or(|limit| *offset < limit);
        self.offsets_ns = Some(stamps_ns.into_iter().map(faster).filter(within).collect());
    }

    /// Duration of the stage: the limit if there is one, otherwise the time until just after the last arrival; 0 before the file
    /// is read.
    pub(crate) fn duration_ns(&self) -> u64 {
        let last = || self.offsets_ns.as_ref()?.last().map(|last| last.saturating_add(1));
        self.limit_ns.or_else(last).unwrap_or(0)
    }
}

/// One stage: the interval \[[`begin_ns`](Stage::begin_ns), [`end_ns`](Stage::end_ns)) of the process.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The arrival process.
    pub process: Process,
    /// The rate at the start. It is 0 for a pause, and for a replay, because the file determines the rate of a replay.
    pub rate_begin: Rate,
    /// The rate at the end. Between start and end, the rate is linear in time.
    pub rate_end: Rate,
    /// Start in nanoseconds since the start of the process.
    pub begin_ns: u64,
    /// End in nanoseconds since the start of the process, exclusive.
    pub end_ns: u64,
    /// The value of Λ at the start of the stage.
    pub(crate) cumulative_begin: f64,
    /// The amount by which Λ increases from the start of the stage until the first even arrival.
    pub(crate) phase: f64,
}

impl Stage {
    /// Length in nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.end_ns - self.begin_ns
    }

    /// The law of the stage; `None` for a pause.
    pub fn law(&self) -> Option<Law> {
        Some(match self.process {
            Process::Pause => return None,
            Process::Poisson => Law::Poisson,
            Process::Even { .. } => Law::Even,
            Process::Jittered => Law::Jittered,
            Process::Gamma { cov } | Process::Weibull { cov } => Law::Renewal { cov },
            Process::Mmpp(_) => Law::Bursty,
            Process::Replay(_) => Law::Replay,
            Process::FixedCount { .. } => Law::FixedCount,
        })
    }

    /// The rule by which the stage's arrivals are divided into shares.
    pub fn share_rule(&self) -> ShareRule {
        match self.process {
            Process::Pause | Process::Poisson | Process::Mmpp(_) | Process::FixedCount { .. } => {
                ShareRule::ByMark
            }
            Process::Even { .. }
            | Process::Jittered
            | Process::Gamma { .. }
            | Process::Weibull { .. }
            | Process::Replay(_) => ShareRule::ByIndex,
        }
    }

    /// The rate in arrivals per second, `offset_ns` after the start of the stage.
    pub(crate) fn rate_at(&self, offset_ns: u64) -> f64 {
        match &self.process {
            Process::Pause => 0.0,
            Process::Mmpp(mmpp) => mmpp.rate_mean_per_s(),
            Process::Replay(_) if self.duration_ns() == 0 => 0.0,
            Process::Replay(_) => {
                self.expected_until(self.duration_ns()) / (self.duration_ns() as f64 / NS_PER_S)
            }
            Process::FixedCount { count, .. } => {
                let area = self.line().cumulative(self.duration_ns() as f64);
                if area > 0.0 { self.line().at(offset_ns as f64) * (*count as f64 / area) } else { 0.0 }
            }
            _ => self.line().at(offset_ns as f64),
        }
    }

    /// The expected number of arrivals in the first `offset_ns` of the stage.
    pub(crate) fn expected_until(&self, offset_ns: u64) -> f64 {
        match &self.process {
            Process::Pause => 0.0,
            Process::Mmpp(mmpp) => mmpp.rate_mean_per_s() * (offset_ns as f64 / NS_PER_S),
            Process::Replay(replay) => {
                replay.offsets_ns().unwrap_or_default().partition_point(|at| *at < offset_ns) as f64
            }
            Process::FixedCount { count, .. } => {
                let area = self.line().cumulative(self.duration_ns() as f64);
                let part = self.line().cumulative(offset_ns as f64);
                if area > 0.0 { *count as f64 * (part / area) } else { 0.0 }
            }
            _ => self.line().cumulative(offset_ns as f64),
        }
    }

    /// The rate λ(t) of the stage.
    pub(crate) fn line(&self) -> LinearRate {
        LinearRate::new(self.rate_begin.per_s(), self.rate_end.per_s(), self.duration_ns())
    }
}
