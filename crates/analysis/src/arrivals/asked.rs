//! What was asked for, and under which circumstances.

use busyhour_arrivals::Law;
use serde::{Deserialize, Serialize};

use super::lateness::Lateness;
use super::observed::Observed;

/// A quotient of measured R and cycle up to this is taken for 1.
const RATIO_MAX: f64 = 1.02;

/// The process that the arrivals are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "process", rename_all = "snake_case")]
pub enum Asked {
    /// Nobody said: compared with Poisson arrivals, which is what many independent users make.
    #[default]
    Unknown,
    /// Poisson arrivals, with a constant rate or one that is given to the tally.
    Poisson,
    /// A fixed number of independent points: Poisson but for its counts over the whole stage.
    FixedCount,
    /// Equal gaps.
    Even,
    /// One uniform point per cell.
    Jittered,
    /// Independent gaps with this coefficient of variation.
    Renewal {
        /// Standard deviation over mean.
        cov: f64,
    },
    /// Rates that take turns at random; compared with its own schedule.
    Bursty,
    /// Stamps of a file; compared with its own schedule.
    Replay,
    /// Stages of different laws; compared with its own schedule.
    Mixed,
    /// Users who wait for each response and then think: compared with Poisson arrivals, in windows up to a tenth of a
    /// cycle. In longer ones each user comes back so regularly that counts vary less, for any N: the index of
    /// dispersion of N independent users is that of one, I(t) = 1 + (2/t)·∫ (t − u)(h(u) − 1/(R + Z)) du over \[0, t\]
    /// with the renewal density h (Cox, "Renewal Theory", 1962), and with users who never come back at once,
    /// h = 0, that is 1 − t/(R + Z).
    Closed {
        /// Users, N.
        users: Option<f64>,
        /// Mean response time R, s.
        response_s: Option<f64>,
        /// Mean think time Z, s.
        think_s: Option<f64>,
    },
}

impl From<Law> for Asked {
    fn from(law: Law) -> Asked {
        match law {
            Law::Poisson => Asked::Poisson,
            Law::Even => Asked::Even,
            Law::Jittered => Asked::Jittered,
            Law::Renewal { cov } => Asked::Renewal { cov },
            Law::Bursty => Asked::Bursty,
            Law::Replay => Asked::Replay,
            Law::FixedCount => Asked::FixedCount,
            Law::Mixed => Asked::Mixed,
            Law::NoArrivals => Asked::Unknown,
        }
    }
}

impl Asked {
    /// R + Z, the time in which a user comes back, in s; by Little's law N/λ when R or Z is unknown.
    pub(super) fn cycle_s(&self, rate_per_s: f64) -> Option<f64> {
        let Asked::Closed { users, response_s, think_s } = self else { return None };
        match (response_s, think_s, users) {
            (Some(response_s), Some(think_s), _) => Some(response_s + think_s),
            (_, _, Some(users)) => Some(users / rate_per_s),
            _ => None,
        }
        .filter(|cycle_s| *cycle_s > 0.0 && cycle_s.is_finite())
    }

    /// R/(R + Z): the part of a cycle that a user is not free to arrive in, 0 to 1. `None` where users, rate and response
    /// time do not fit together.
    pub(super) fn r_over_r_plus_z(&self, rate_per_s: Option<f64>) -> Option<f64> {
        let Asked::Closed { response_s: Some(response_s), .. } = self else { return None };
        let ratio = response_s / self.cycle_s(rate_per_s.unwrap_or(f64::NAN))?;
        // Chance and the ends of a run make a little more than 1. Where it is much more, the number of users is not that
        // of those who sent these requests, and nothing can be said.
        (ratio <= RATIO_MAX).then_some(ratio.min(1.0))
    }

    /// The name of the process, for sentences.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Asked::Unknown | Asked::Poisson | Asked::FixedCount | Asked::Closed { .. } => "Poisson",
            Asked::Even => "even",
            Asked::Jittered => "jittered",
            Asked::Renewal { .. } => "a renewal process",
            Asked::Bursty => "bursty",
            Asked::Replay => "a replay",
            Asked::Mixed => "a mixture of processes",
        }
    }
}

/// What the stamps are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Starts of sessions: one per arrival of an open workload.
    SessionStarts,
    /// Starts of top-level samplers; transactions, redirects and embedded resources never count.
    #[default]
    SamplerStarts,
}

/// What else is known about the arrivals; what is unknown is `None`.
#[derive(Debug, Clone, Default)]
pub struct Circumstances<'a> {
    /// The thread group, label or file they are of; `None` for all together.
    pub of: Option<String>,
    /// What the stamps are of.
    pub scope: Scope,
    /// The rate that was asked for, per s, on average over the schedule.
    pub asked_per_s: Option<f64>,
    /// The tally of the scheduled starts of the same arrivals, with the same settings: what processes without a theory
    /// of their own are compared with.
    pub schedule: Option<&'a Observed>,
    /// How late starts were.
    pub lateness: Option<Lateness>,
    /// Arrivals that were given up because no user was free.
    pub drops: Option<u64>,
    /// Arrivals that waited for a free user.
    pub waited: Option<u64>,
    /// How long these waited.
    pub waits: Option<Lateness>,
    /// CPU time of the generator's busiest core over the run's length, 0 to 1.
    pub generator_busy: Option<f64>,
}
