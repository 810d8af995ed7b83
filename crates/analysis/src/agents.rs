//! The agents of a run on several machines: figures of each, and which of them differs from the others.
//!
//! # Comparison
//!
//! All agents generate shares of the same load at the same time, so a change of the system under test concerns all of them. The run is divided into blocks of
//! [`BLOCK_S`] seconds. In each block, the logarithm of an agent's median response time, and its share of failed requests, is
//! compared with the mean of the other agents. If an agent is like the others, the differences of the blocks have the mean 0: Student's t-test, with the level
//! [`LEVEL`] divided by the number of all comparisons (Bonferroni). A difference is only reported if it is at least [`RATIO_MIN`] or [`POINTS_MIN`].
//!
//! Error rates, from tests/agents.rs (200 runs of each kind: 2, 4 or 10 agents, 2 to 10 minutes, common drift and slow times of the system,
//! heavy-tailed times, bursts of errors that hit all agents): false alarms in at most 1 % of the runs; an agent with response times 30 % higher is named in
//! at least 95 %, one with two more failed requests per hundred in at least 90 % of the runs.

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
    /// Largest error of the offset of its clock in ms.
    pub clock_bound_ms: Option<f64>,
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
}

/// The values of one agent in the blocks of a run: the mean logarithm of the medians of its seconds, and the failed requests in percent.
#[derive(Default)]
struct Blocks {
    log_median: Vec<Option<f64>>,
    error_percent: Vec<Option<f64>>,
}

impl Blocks {
    fn of(series: &Series, first_s: u64, count: usize) -> Blocks {
        let mut sums = vec![(0.0, 0_u32, 0_u64, 0_u64); count];
        for (at, second) in series.second.iter().enumerate() {
            let Some(block) = second.checked_sub(first_s).map(|since| (since / BLOCK_S) as usize) else {
                continue;
            };
            let Some((logs, seconds, requests, errors)) = sums.get_mut(block) else { continue };
            *requests += series.requests[at];
            *errors += series.errors[at];
            if let Some(median) = series.response_p50[at].filter(|median| *median > 0.0) {
                *logs += median.ln();
                *seconds += 1;
            }
        }
        let mut blocks = Blocks::default();
        for (logs, seconds, requests, errors) in sums {
            blocks.log_median.push((seconds > 0).then(|| logs / f64::from(seconds)));
            let percent = errors as f64 / requests.max(1) as f64 * 100.0;
            blocks.error_percent.push((requests > 0).then_some(percent));
        }
        blocks
    }

    fn values(&self, quantity: Quantity) -> &[Option<f64>] {
        match quantity {
            Quantity::ResponseTime => &self.log_median,
            Quantity::Errors => &self.error_percent,
        }
    }
}

impl Agents {
    /// Compares the agents. `series` are the seconds of each agent, in the order of the rows; `None` if they are unknown.
    pub fn compare(&mut self, series: &[Option<&Series>]) {
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
        let level = LEVEL / (2 * known.len()) as f64;
        for (index, (row, _)) in known.iter().enumerate() {
            for quantity in [Quantity::ResponseTime, Quantity::Errors] {
                let differences = differences(&blocks, index, quantity);
                let found = difference(&differences, quantity, level, 2 * known.len());
                self.rows[*row].differs.extend(found);
            }
        }
    }
}

/// The differences between one agent and the mean of the others, for each block in which all are known.
fn differences(blocks: &[Blocks], index: usize, quantity: Quantity) -> Vec<f64> {
    let count = blocks[index].values(quantity).len();
    (0..count)
        .filter_map(|block| {
            let values: Option<Vec<f64>> = blocks.iter().map(|agent| agent.values(quantity)[block]).collect();
            let values = values?;
            let others = values.iter().sum::<f64>() - values[index];
            Some(values[index] - others / (values.len() - 1) as f64)
        })
        .collect()
}

/// Describes a difference that is neither small nor likely by chance.
fn difference(differences: &[f64], quantity: Quantity, level: f64, comparisons: usize) -> Option<String> {
    let mean = MeanWithError::of_values(differences).filter(|_| differences.len() >= BLOCKS_MIN)?;
    let contrast = Contrast {
        difference: mean.value,
        standard_error: mean.variance.sqrt(),
        freedom: mean.freedom,
        resolution: 0.0,
    };
    let p = contrast.p_value();
    if p >= level {
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
        Quantity::ResponseTime | Quantity::Errors => None,
    }
}
