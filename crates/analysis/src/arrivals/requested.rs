//! The requested arrival process, and further facts that a verdict depends on.

use busyhour_arrivals::Law;
use serde::{Deserialize, Serialize};

use super::lateness::Lateness;
use super::observed::Observed;
use super::same_user::SameUserGaps;

/// A measured ratio R/(R + Z) between 1 and this value counts as 1.
const RATIO_MAX: f64 = 1.02;

/// The process that the arrivals are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "process", rename_all = "snake_case")]
pub enum RequestedProcess {
    /// Unknown; compared with Poisson arrivals, which many independent users produce.
    #[default]
    Unknown,
    /// Poisson arrivals, with a constant rate or with the known rate in the tally's settings.
    Poisson,
    /// A fixed number of independent uniform points: like Poisson, except for the count over the whole stage.
    FixedCount,
    /// Equal gaps.
    Even,
    /// Time is divided into intervals in which one arrival is expected; each has one arrival, at a uniformly random point.
    Jittered,
    /// Independent gaps with this coefficient of variation.
    Renewal {
        /// Standard deviation divided by mean.
        cov: f64,
    },
    /// Rates that alternate at random; compared with the schedule.
    Bursty,
    /// Start times from a file; compared with the schedule.
    Replay,
    /// Stages with different processes; compared with the schedule.
    Mixed,
    /// Users who wait for each response and then think. Their arrivals are compared with Poisson arrivals in windows of
    /// up to a tenth of a cycle. In longer windows, each user returns at regular intervals, so counts vary less, for
    /// any N. The index of dispersion of N independent users equals that of one user, I(t) = 1 + (2/t)·∫ (t − u)(h(u) −
    /// 1/(R + Z)) du over \[0, t\] with the renewal density h (Cox, "Renewal Theory", 1962). For users who never return
    /// immediately, h = 0, and the index is 1 − t/(R + Z).
    Closed {
        /// Number of users N.
        users: Option<f64>,
        /// Mean response time R, in s.
        response_s: Option<f64>,
        /// Mean think time Z, in s.
        think_s: Option<f64>,
    },
}

impl From<Law> for RequestedProcess {
    fn from(law: Law) -> RequestedProcess {
        match law {
            Law::Poisson => RequestedProcess::Poisson,
            Law::Even => RequestedProcess::Even,
            Law::Jittered => RequestedProcess::Jittered,
            Law::Renewal { cov } => RequestedProcess::Renewal { cov },
            Law::Bursty => RequestedProcess::Bursty,
            Law::Replay => RequestedProcess::Replay,
            Law::FixedCount => RequestedProcess::FixedCount,
            Law::Mixed => RequestedProcess::Mixed,
            Law::NoArrivals => RequestedProcess::Unknown,
        }
    }
}

impl RequestedProcess {
    /// The cycle time R + Z of a user in s; N/λ by Little's law when R or Z is unknown.
    pub(super) fn cycle_s(&self, rate_per_s: f64) -> Option<f64> {
        let RequestedProcess::Closed { users, response_s, think_s } = self else { return None };
        match (response_s, think_s, users) {
            (Some(response_s), Some(think_s), _) => Some(response_s + think_s),
            (_, _, Some(users)) => Some(users / rate_per_s),
            _ => None,
        }
        .filter(|cycle_s| *cycle_s > 0.0 && cycle_s.is_finite())
    }

    /// R/(R + Z), 0 to 1: the share of a cycle in which a user waits for a response. `None` when the number of users, the rate and
    /// the response time are inconsistent.
    pub(super) fn r_over_r_plus_z(&self, rate_per_s: Option<f64>) -> Option<f64> {
        let RequestedProcess::Closed { response_s: Some(response_s), .. } = self else { return None };
        let ratio = response_s / self.cycle_s(rate_per_s.unwrap_or(f64::NAN))?;
        // Chance and the ends of a run can make the ratio slightly larger than 1. A much larger ratio means that the number of
        // users is wrong.
        (ratio <= RATIO_MAX).then_some(ratio.min(1.0))
    }

    /// The name of the process, for use in sentences.
    pub(super) fn name(&self) -> &'static str {
        match self {
            RequestedProcess::Unknown
            | RequestedProcess::Poisson
            | RequestedProcess::FixedCount
            | RequestedProcess::Closed { .. } => "Poisson",
            RequestedProcess::Even => "even",
            RequestedProcess::Jittered => "jittered",
            RequestedProcess::Renewal { .. } => "a renewal process",
            RequestedProcess::Bursty => "bursty",
            RequestedProcess::Replay => "a replay",
            RequestedProcess::Mixed => "a mixture of processes",
        }
    }
}

/// The events whose start times are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedStarts {
    /// Starts of sessions: one per arrival of an open workload.
    SessionStarts,
    /// Starts of top-level samplers, without transactions, redirects and embedded resources.
    #[default]
    SamplerStarts,
}

/// Further facts about the arrivals; `None` for unknown ones.
#[derive(Debug, Clone, Default)]
pub struct ArrivalContext<'a> {
    /// The thread group, label or file that the arrivals belong to; `None` if all arrivals of the run are judged together.
    pub of: Option<String>,
    /// The events whose start times are judged.
    pub scope: JudgedStarts,
    /// The requested rate per s, averaged over the schedule.
    pub requested_per_s: Option<f64>,
    /// The tally of the intended starts of the same arrivals, with the same settings. Processes for which no reference values
    /// are known are compared with it.
    pub schedule: Option<&'a Observed>,
    /// Lateness of the starts.
    pub lateness: Option<Lateness>,
    /// Gaps between two starts of the same user.
    pub same_user: Option<SameUserGaps>,
    /// The plan's timers that set a rate, such as "Constant Throughput Timer".
    pub rate_timers: Vec<String>,
    /// Arrivals that were discarded because no user was free.
    pub discarded: Option<u64>,
    /// Arrivals that waited for a free user.
    pub waited: Option<u64>,
    /// Waiting times of these arrivals.
    pub waits: Option<Lateness>,
    /// CPU time of the generator's busiest core divided by the run's length, 0 to 1.
    pub generator_busy: Option<f64>,
}
