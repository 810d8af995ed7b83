//! The agents of a run on several machines: figures of each, and which of them differs from the others.
//!
//! # Comparison
//!
//! All agents generate shares of the same load at the same time, so a change of the system under test concerns all of them. The run is divided into blocks of
//! [`BLOCK_S`] seconds. In each block, the logarithm of an agent's median response time, its share of failed requests, and the logarithm of the mean time by which
//! its requests started late are compared with the mean of the other agents. If an agent is like the others, the differences of the blocks have the mean 0: Student's t-test, with the level
//! [`LEVEL`] divided by the number of all comparisons (Bonferroni). A difference is only reported if it is at least [`RATIO_MIN`], [`POINTS_MIN`] or [`LATE_MIN_MS`].
//!
//! Error rates, from tests/agents.rs (1,000 runs of each kind without a difference and 200 with one: 2, 4 or 10 agents, 2 to 10 minutes, common drift and slow times of the system,
//! heavy-tailed times, bursts of errors that hit all agents): false alarms in at most 1 % of the runs; an agent with response times 30 % higher is named in
//! at least 95 %, one with two more failed requests per hundred, or one that starts 2 ms late, in at least 90 % of the runs.
//!
//! Stolen CPU time and the clock are not tested but measured: the first is a counter of the machine, and the bounds of the clock hold with certainty. An agent is
//! named if it lost [`STOLEN_MIN`] more than the others, or if its clock changed by more than its bounds and a drift of [`DRIFT_MAX_PPM`] allow.

use busyhour_stats::{Contrast, MeanWithError};
use serde::{Deserialize, Serialize};

use crate::series::Series;

/// Length of a block in seconds. Within a block, the times of one agent may depend on one another.
const BLOCK_S: u64 = 10;

/// Least number of blocks for a comparison.
const BLOCKS_MIN: usize = 10;

/// Probability of a false alarm in a run.
const LEVEL: f64 = 0.01;

/// Least reported difference of median response times, as a ratio.
const RATIO_MIN: f64 = 1.05;

/// Least reported difference of failed requests, in percentage points.
const POINTS_MIN: f64 = 0.5;

/// Least reported difference of the mean lateness, in ms.
const LATE_MIN_MS: f64 = 0.5;

/// Lateness, in ms, that is added before the logarithm is taken: differences far below it do not matter.
const LATE_BASE_MS: f64 = 0.1;

/// Least reported difference of the share of stolen CPU time.
const STOLEN_MIN: f64 = 0.02;

/// Least reported share of the periods in which an agent used up its CPU quota.
const THROTTLED_MIN: f64 = 0.01;

/// Largest drift of a clock without a fault, in parts per million.
pub const DRIFT_MAX_PPM: f64 = 200.0;

/// The agents of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Agents {
    /// The agents, in the order of their shares.
    pub rows: Vec<AgentRow>,
    /// Why they were not compared with one another; `None` if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
}

/// The figures of one agent. Values that are unknown, because its record is missing, are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentRow {
    /// Its name.
    pub name: String,
    /// Its share of the load.
    pub share: String,
    /// Number of cores that generated load.
    pub cores: u32,
    /// Number of samples that count in the results.
    pub samples: u64,
    /// Failed requests in percent.
    pub error_percent: Option<f64>,
    /// Median response time in ms.
    pub response_p50_ms: Option<f64>,
    /// 95th percentile of the response time in ms.
    pub response_p95_ms: Option<f64>,
    /// 99th percentile of the lateness of arrivals in ms.
    pub lateness_p99_ms: Option<f64>,
    /// Load of its busiest core (0..=1).
    pub busiest_core: Option<f64>,
    /// Share of the CPU time that the hypervisor gave to others (0..=1).
    pub cpu_stolen: Option<f64>,
    /// Share of the periods of its CPU quota in which the quota was used up (0..=1); `None` without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_throttled: Option<f64>,
    /// Largest error of the offset of its clock in ms.
    pub clock_bound_ms: Option<f64>,
    /// By how much its clock changed, beyond its bounds and a usual drift, in ms; `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_step_ms: Option<f64>,
    /// Why its part of the run is incomplete; empty if it is complete.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub problem: String,
    /// How it differs from the other agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
    /// Its report, relative to the run directory; `None` if it was not fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// A kind of comparison.
#[derive(Clone, Copy, PartialEq)]
enum Quantity {
    ResponseTime,
    Errors,
    Lateness,
}

impl Quantity {
    const ALL: [Quantity; 3] = [Quantity::ResponseTime, Quantity::Errors, Quantity::Lateness];
}

/// The values of one agent in the blocks of a run: the mean logarithm of the medians of its seconds, the failed requests in percent,
/// and the mean lateness, as a logarithm and in ms.
#[derive(Default)]
struct Blocks {
    log_median: Vec<Option<f64>>,
    error_percent: Vec<Option<f64>>,
    log_late: Vec<Option<f64>>,
    late_ms: Vec<Option<f64>>,
}

/// The sums of one block.
#[derive(Clone, Copy, Default)]
struct Sums {
    logs: f64,
    seconds: u32,
    requests: u64,
    errors: u64,
    late_ms: f64,
}

impl Blocks {
    fn of(series: &Series, first_s: u64, count: usize) -> Blocks {
        let mut sums = vec![Sums::default(); count];
        for (at, second) in series.second.iter().enumerate() {
            let Some(block) = second.checked_sub(first_s).map(|since| (since / BLOCK_S) as usize) else {
                continue;
            };
            let Some(sums) = sums.get_mut(block) else { continue };
            let requests = series.requests[at];
            sums.requests += requests;
            sums.errors += series.errors[at];
            let mean = |means: &[Option<f64>]| means.get(at).copied().flatten();
            // Response times count from the intended start, service times from the start.
            if let (Some(response), Some(service)) = (mean(&series.response_mean), mean(&series.service_mean))
            {
                sums.late_ms += (response - service).max(0.0) * requests as f64;
            }
            if let Some(median) = series.response_p50[at].filter(|median| *median > 0.0) {
                sums.logs += median.ln();
                sums.seconds += 1;
            }
        }
        let mut blocks = Blocks::default();
        for Sums { logs, seconds, requests, errors, late_ms } in sums {
            let of_requests = |value: f64| (requests > 0).then_some(value / requests.max(1) as f64);
            blocks.log_median.push((seconds > 0).then(|| logs / f64::from(seconds)));
            blocks.error_percent.push(of_requests(errors as f64 * 100.0));
            let late_ms = of_requests(late_ms);
            blocks.log_late.push(late_ms.map(|late_ms| (LATE_BASE_MS + late_ms).ln()));
            blocks.late_ms.push(late_ms);
        }
        blocks
    }

    fn values(&self, quantity: Quantity) -> &[Option<f64>] {
        match quantity {
            Quantity::ResponseTime => &self.log_median,
            Quantity::Errors => &self.error_percent,
            Quantity::Lateness => &self.log_late,
        }
    }
}

impl Agents {
    /// Compares the agents. `series` are the seconds of each agent, in the order of the rows; `None` if they are unknown.
    pub fn compare(&mut self, series: &[Option<&Series>]) {
        self.name_measured();
        let known: Vec<(usize, &Series)> =
            series.iter().enumerate().filter_map(|(at, series)| Some((at, (*series)?))).collect();
        if known.len() < 2 {
            self.not_compared = Some("fewer than two records are known".to_owned());
            return;
        }
        let first = known.iter().filter_map(|(_, series)| series.second.first()).max().copied().unwrap_or(0);
        let last = known.iter().filter_map(|(_, series)| series.second.last()).min().copied().unwrap_or(0);
        // The first block and an incomplete last one are left out: agents reach their load at slightly different times.
        let first = first + BLOCK_S;
        let count = ((last + 1).saturating_sub(first) / BLOCK_S) as usize;
        if count < BLOCKS_MIN {
            self.not_compared =
                Some(format!("the run is too short: {count} blocks of {BLOCK_S} s instead of {BLOCKS_MIN}"));
            return;
        }
        let blocks: Vec<Blocks> = known.iter().map(|(_, series)| Blocks::of(series, first, count)).collect();
        let comparisons = Quantity::ALL.len() * known.len();
        for (index, (row, _)) in known.iter().enumerate() {
            for quantity in Quantity::ALL {
                let found = differences(&blocks, index, |agent| agent.values(quantity));
                let late_ms = differences(&blocks, index, |agent| &agent.late_ms);
                let late_ms = late_ms.iter().sum::<f64>() / late_ms.len().max(1) as f64;
                self.rows[*row].differs.extend(difference(&found, quantity, late_ms, comparisons));
            }
        }
    }

    /// Names agents that lost more CPU time than the others or used up their quota, and agents with a faulty clock.
    fn name_measured(&mut self) {
        let stolen: Vec<Option<f64>> = self.rows.iter().map(|row| row.cpu_stolen).collect();
        for (index, row) in self.rows.iter_mut().enumerate() {
            let others = stolen.iter().enumerate().filter(|(at, _)| *at != index);
            let others: Vec<f64> = others.filter_map(|(_, stolen)| *stolen).collect();
            let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
            if let Some(own) = row.cpu_stolen.filter(|own| !others.is_empty() && own - mean >= STOLEN_MIN) {
                row.differs.push(format!(
                    "its hypervisor gave {:.0} % of the CPU time to others, that of the other agents {:.0} %",
                    own * 100.0,
                    mean * 100.0
                ));
            }
            if let Some(share) = row.cpu_throttled.filter(|share| *share >= THROTTLED_MIN) {
                row.differs.push(format!(
                    "it used up its CPU quota in {:.0} % of the periods and then had to wait",
                    share * 100.0
                ));
            }
            if let Some(step) = row.clock_step_ms {
                row.differs.push(format!(
                    "its clock changed by {:.1} ms during the run, more than a drift of {DRIFT_MAX_PPM:.0} ppm",
                    step.abs()
                ));
            }
        }
    }
}

/// The differences between one agent and the mean of the others, for each block in which all are known.
fn differences<'b>(
    blocks: &'b [Blocks],
    index: usize,
    values_of: impl Fn(&'b Blocks) -> &'b [Option<f64>],
) -> Vec<f64> {
    let count = values_of(&blocks[index]).len();
    (0..count)
        .filter_map(|block| {
            let values: Option<Vec<f64>> = blocks.iter().map(|agent| values_of(agent)[block]).collect();
            let values = values?;
            let others = values.iter().sum::<f64>() - values[index];
            Some(values[index] - others / (values.len() - 1) as f64)
        })
        .collect()
}

/// Describes a difference that is neither small nor likely by chance.
/// `late_ms` is the difference of the mean lateness.
fn difference(differences: &[f64], quantity: Quantity, late_ms: f64, comparisons: usize) -> Option<String> {
    let mean = MeanWithError::of_values(differences).filter(|_| differences.len() >= BLOCKS_MIN)?;
    let contrast = Contrast {
        difference: mean.value,
        standard_error: mean.variance.sqrt(),
        freedom: mean.freedom,
        resolution: 0.0,
    };
    let p = contrast.p_value();
    if p >= LEVEL / comparisons as f64 {
        return None;
    }
    let adjusted = (p * comparisons as f64).min(1.0);
    let chance = if adjusted < 0.000_1 { "p < 0.0001".to_owned() } else { format!("p = {adjusted:.4}") };
    match quantity {
        Quantity::ResponseTime if mean.value.abs() >= RATIO_MIN.ln() => {
            let percent = (mean.value.exp() - 1.0) * 100.0;
            let direction = if percent > 0.0 { "higher" } else { "lower" };
            Some(format!(
                "its median response time is {:.0} % {direction} than that of the others ({chance})",
                percent.abs()
            ))
        }
        Quantity::Errors if mean.value.abs() >= POINTS_MIN => {
            let direction = if mean.value > 0.0 { "more" } else { "fewer" };
            Some(format!(
                "{:.1} % {direction} of its requests fail than of the others ({chance})",
                mean.value.abs()
            ))
        }
        Quantity::Lateness if late_ms >= LATE_MIN_MS => {
            Some(format!("its requests start {late_ms:.1} ms later than those of the others ({chance})"))
        }
        Quantity::ResponseTime | Quantity::Errors | Quantity::Lateness => None,
    }
}
