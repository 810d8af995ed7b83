//! The results of a simulation.

use busyhour_stats::Estimate;
use serde::Serialize;

/// The percentiles in results, as shares of the response times.
pub const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// Measures of a network in its steady state, with confidence intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulationResult {
    /// The results of each class in the whole system.
    pub classes: Vec<ClassResult>,
    /// The results of each station.
    pub stations: Vec<StationResult>,
    /// Number of events in all replications.
    pub events: u64,
    /// Number of independent replications.
    pub replications: u32,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Simulated time of all replications, in seconds.
    pub simulated_s: f64,
    /// Simulated time that was excluded as start-up, in seconds.
    pub transient_s: f64,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Requested half width of the intervals, divided by the value.
    pub precision: f64,
    /// Why the simulation ended.
    pub ending: Ending,
    /// Measures that are less precise than requested.
    pub unconverged: Vec<Unconverged>,
}

/// Why a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// All measures have the requested precision.
    Precise,
    /// The maximum number of events was reached.
    EventsMax,
    /// The caller requested the stop.
    Stopped,
    /// There were too many customers of open classes, because the system is saturated.
    #[serde(rename = "flooded")]
    TooManyCustomers,
}

/// The results of a class in the whole system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassResult {
    /// Name of the class.
    pub name: String,
    /// Completed passes per second, X.
    pub throughput_per_s: Option<Estimate>,
    /// Response time of a pass, R, in seconds, without think time.
    pub response_s: Option<Estimate>,
    /// Number of customers in the system, Q, without thinking customers.
    pub customers: Option<Estimate>,
    /// Passes per second that end because a station is full; `None` if no station drops customers.
    pub lost_per_s: Option<Estimate>,
    /// Share of all passes that end because a station is full, 0 to 1.
    pub lost_share: Option<Estimate>,
    /// Percentiles of the response time.
    pub percentiles: Vec<Percentile>,
}

/// The results of a station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationResult {
    /// Name of the station.
    pub name: String,
    /// Whether customers spend time at the station: true for queues, delays and joins. Other stations only route customers.
    pub serves: bool,
    /// The measures of all classes together.
    pub total: StationMeasures,
    /// The measures of each class that visited the station.
    pub classes: Vec<(String, StationMeasures)>,
}

/// The measures of a station. Values without observations are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StationMeasures {
    /// Completed visits per second, X.
    pub throughput_per_s: Option<Estimate>,
    /// Response time of a visit in seconds, including waiting, service and blocking.
    pub response_s: Option<Estimate>,
    /// Number of customers at the station, waiting and in service, Q.
    pub customers: Option<Estimate>,
    /// Share of the servers that are busy or blocked, U; `None` if the station has no servers.
    pub utilization: Option<Estimate>,
    /// Residence time: time at the station per pass, in seconds. For a class, per pass of this class.
    pub residence_s: Option<Estimate>,
    /// Customers per second that are lost because the station is full; `None` if it does not drop customers.
    pub lost_per_s: Option<Estimate>,
    /// Lost customers as a share of arrivals, 0 to 1.
    pub lost_share: Option<Estimate>,
    /// Percentiles of the response time.
    pub percentiles: Vec<Percentile>,
}

/// A percentile of a response time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentile {
    /// The share of response times that do not exceed the percentile.
    pub share: f64,
    /// The percentile in seconds, with a resolution of 1.6 %. The interval is computed from the variance between
    /// replications, and is infinite with fewer than three replications.
    pub time_s: Estimate,
}

/// A kind of measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureKind {
    /// Throughput X.
    Throughput,
    /// Response time R.
    Response,
    /// Number of customers Q.
    Customers,
    /// Utilization U.
    Utilization,
}

/// A measure without the requested precision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unconverged {
    /// The station; `None` for the whole system.
    pub station: Option<String>,
    /// The class; `None` for all classes together.
    pub class: Option<String>,
    /// The measure.
    pub measure: MeasureKind,
    /// Half the interval's width divided by the value; `None` without an interval.
    pub relative: Option<f64>,
    /// The reason.
    pub reason: Reason,
    /// The distribution of times that is the reason; `None` for other reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heavy_tail: Option<HeavyTail>,
}

/// A distribution of times whose higher moments are infinite.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeavyTail {
    /// The station of the service time, or `outside` for interarrival times and think times.
    pub place: String,
    /// Moments are finite only if their order is less than this index.
    pub tail_index: f64,
}

/// Why a measure does not have the requested precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The interval is wider than requested; more events would narrow it.
    Wide,
    /// There are too few observations for an interval.
    TooLittle,
    /// The mean is infinite.
    InfiniteMean,
    /// The variance is infinite. An interval from observed variances would contain the mean far too rarely: most estimates are
    /// too low, and a few are far too high.
    InfiniteVariance,
    /// The variance is finite, but successive values are so strongly correlated that the standard error of the mean of n values
    /// decreases more slowly than 1/√n. An interval would be too narrow.
    LongMemory,
    /// The measure was still changing at the end. Either far more events are needed, or the station is saturated and has no
    /// steady state.
    NotSteady,
}

impl Reason {
    /// Whether the distributions in the model are the reason, so that more events do not help.
    #[must_use]
    pub const fn is_caused_by_laws(self) -> bool {
        matches!(self, Reason::InfiniteMean | Reason::InfiniteVariance | Reason::LongMemory)
    }
}
