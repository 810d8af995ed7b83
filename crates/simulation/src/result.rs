//! What a simulation found.

use busyhour_stats::Estimate;
use serde::Serialize;

/// Shares of response times for which percentiles are given.
pub const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// Measures of a network in its steady state, with intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulationResult {
    /// The whole system, by class.
    pub classes: Vec<ClassResult>,
    /// The stations.
    pub stations: Vec<StationResult>,
    /// Events that happened, in all replications together.
    pub events: u64,
    /// Independent replications.
    pub replications: u32,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Simulated time of all replications together, in seconds.
    pub simulated_s: f64,
    /// Of that: left out because the system was still filling, in seconds.
    pub transient_s: f64,
    /// Share of intervals that hold the true value.
    pub confidence: f64,
    /// Requested half width of the intervals, relative to their middle.
    pub precision: f64,
    /// Why it ended.
    pub ending: Ending,
    /// Measures that are less precise than requested.
    pub unconverged: Vec<Unconverged>,
}

/// Why a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every measure is known well enough.
    Precise,
    /// The most events that were allowed have happened.
    EventsMax,
    /// A request to stop.
    Stopped,
    /// More and more customers came: the system is saturated.
    Flooded,
}

/// A class in the whole system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassResult {
    /// Its name.
    pub name: String,
    /// Passes that end per second, X.
    pub throughput_per_s: Option<Estimate>,
    /// How long a pass takes, R, in seconds; without thinking.
    pub response_s: Option<Estimate>,
    /// Customers in the system, Q; without thinking customers.
    pub customers: Option<Estimate>,
    /// Passes per second that end because a station was full; `None` where no station drops.
    pub lost_per_s: Option<Estimate>,
    /// The same as a share of the passes that end, 0 to 1.
    pub lost_share: Option<Estimate>,
    /// Percentiles of the response time.
    pub percentiles: Vec<Percentile>,
}

/// A station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationResult {
    /// Its name.
    pub name: String,
    /// Whether customers are served here, and not only sent on.
    pub serves: bool,
    /// All classes together.
    pub total: StationMeasures,
    /// Each class that was seen here.
    pub classes: Vec<(String, StationMeasures)>,
}

/// The results of a station. Values without observations are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StationMeasures {
    /// Visits that end per second, X.
    pub throughput_per_s: Option<Estimate>,
    /// How long a visit takes, waiting and being served (and blocked), in seconds.
    pub response_s: Option<Estimate>,
    /// Customers there, waiting and in service, Q.
    pub customers: Option<Estimate>,
    /// Share of the servers that work or are blocked, U; `None` where there is no number of servers.
    pub utilization: Option<Estimate>,
    /// Time at the station in a pass through the system, in seconds; per class, of passes of that class.
    pub residence_s: Option<Estimate>,
    /// Customers per second that are lost because the station is full; `None` if none can be lost.
    pub lost_per_s: Option<Estimate>,
    /// Lost customers as a share of arrivals, 0 to 1.
    pub lost_share: Option<Estimate>,
    /// Percentiles of the response time.
    pub percentiles: Vec<Percentile>,
}

/// A percentile of a response time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentile {
    /// The share of times that are not longer.
    pub share: f64,
    /// The time in seconds, known to 1.6 % at best; the interval is from the spread of the replications, and infinite
    /// when there are fewer than three.
    pub time_s: Estimate,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// X.
    Throughput,
    /// R.
    Response,
    /// Q.
    Customers,
    /// U.
    Utilization,
}

/// A measure that is not known well enough.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unconverged {
    /// The station; `None` of the whole system.
    pub station: Option<String>,
    /// The class; `None` of all together.
    pub class: Option<String>,
    /// What.
    pub measure: Measure,
    /// Half its interval over its value, when there is an interval.
    pub relative: Option<f64>,
    /// Why.
    pub reason: Reason,
    /// The law that is the reason; `None` of other reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heavy_tail: Option<HeavyTail>,
}

/// A law of times whose higher moments are infinite.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeavyTail {
    /// The station of a service time, or `outside` for interarrival and think times.
    pub place: String,
    /// Moments are finite below this order.
    pub tail_index: f64,
}

/// Why a measure is not known well enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The interval is wider than requested; more events would narrow it.
    Wide,
    /// Too little was seen for any interval.
    TooLittle,
    /// The mean is infinite.
    InfiniteMean,
    /// The variance is infinite, so that an interval from observed variances contains the mean far too rarely: such
    /// estimates are mostly too low, and rarely far too high.
    InfiniteVariance,
    /// The variance is finite, but values follow each other so closely that the error of their mean falls more slowly than
    /// the root of their number rises. An interval is too narrow.
    LongMemory,
    /// It still changed at the end: far more events are needed, or the station is saturated and there is no steady state.
    NotSteady,
}

impl Reason {
    /// Whether the laws of the model are the reason, which no number of events changes.
    #[must_use]
    pub const fn is_of_laws(self) -> bool {
        matches!(self, Reason::InfiniteMean | Reason::InfiniteVariance | Reason::LongMemory)
    }
}
