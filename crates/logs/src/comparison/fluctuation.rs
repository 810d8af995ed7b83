//! How long the rate of entries stays above or below its mean, and whether a log is long enough to judge rates.
//!
//! A fluctuation is a time for which the rate stays above or below its mean. Two logs show how much a rate varies only if they
//! contain several fluctuations. Their length is estimated from the autocorrelation of counts in [`BLOCKS`] blocks, pooled over
//! all templates of a log, because one template has too few entries to show it. A log that is shorter than [`FLUCTUATIONS_MIN`]
//! fluctuations is too short.

use serde::{Deserialize, Serialize};

use crate::counts::GroupCounts;

/// Number of blocks of a log.
const BLOCKS: usize = 64;
/// The lags, in blocks, with which the presence of a correlation is tested.
const LAGS: usize = 4;
/// Groups with fewer entries than this are ignored, because they do not show a correlation.
const COUNT_MIN: u64 = 10;
/// A correlation of more than this number of standard deviations is considered present. About 2 % of logs without one exceed it.
const Z_MIN: f64 = 2.0;
/// A log has to contain this number of fluctuations.
const FLUCTUATIONS_MIN: f64 = 20.0;
/// Minimum length of a log in seconds. Fluctuations of some seconds are usual, and shorter logs cannot show them.
const LENGTH_MIN_S: f64 = 60.0;

/// Why rates cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TooShortLogs {
    /// Length of the shorter log in seconds.
    pub length_s: f64,
    /// Estimated time in seconds for which the rate stays above or below its mean; `None` if the log is too short to estimate it.
    pub fluctuation_s: Option<f64>,
    /// Length in seconds that both logs need.
    pub needed_s: f64,
}

/// Sums over groups, from which the autocorrelation is estimated.
#[derive(Debug, Clone)]
struct Pool {
    block_s: f64,
    /// Σ e · r(lag) over the groups, for each lag from 1 on. r is the autocorrelation of a group's counts; e is the share of
    /// their variance that exceeds the variance of independent entries.
    correlations: Vec<f64>,
    /// Σ e².
    weight: f64,
}

impl Pool {
    fn new(length_s: f64) -> Pool {
        Pool { block_s: length_s / BLOCKS as f64, correlations: vec![0.0; BLOCKS / 2], weight: 0.0 }
    }

    fn add(&mut self, group: &GroupCounts, length_s: f64) {
        if group.count < COUNT_MIN {
            return;
        }
        let mut counts = [0.0; BLOCKS];
        for (start_s, count) in &group.over_time.counts {
            let at = (f64::from(*start_s) / length_s * BLOCKS as f64) as usize;
            counts[at.min(BLOCKS - 1)] += f64::from(*count);
        }
        let mean = counts.iter().sum::<f64>() / BLOCKS as f64;
        let deviations = counts.map(|count| count - mean);
        let variance = deviations.iter().map(|deviation| deviation * deviation).sum::<f64>() / BLOCKS as f64;
        let excess = (variance - mean) / variance.max(f64::MIN_POSITIVE);
        if excess <= 0.0 {
            return;
        }
        for (correlation, lag) in self.correlations.iter_mut().zip(1..) {
            let products = deviations.iter().zip(&deviations[lag..]).map(|(one, two)| one * two);
            *correlation += excess * products.sum::<f64>() / (BLOCKS - lag) as f64 / variance;
        }
        self.weight += excess * excess;
    }

    /// The length of a fluctuation in seconds; `None` if there is no correlation.
    fn fluctuation_s(&self) -> Option<f64> {
        if self.weight <= 0.0 {
            return None;
        }
        let sum: f64 = self.correlations.iter().take(LAGS).sum();
        let deviation = (LAGS as f64 * self.weight / BLOCKS as f64).sqrt();
        if sum / deviation < Z_MIN {
            return None;
        }
        let positive = self.correlations.iter().map(|sum| sum / self.weight).take_while(|value| *value > 0.0);
        // The quotient may exceed 1, because the rate varies less between blocks than between instants.
        Some(self.block_s * (0.5 + positive.map(|value| value.min(1.0)).sum::<f64>()))
    }
}

/// Whether one of the logs, each with its length in seconds, is too short to judge the rates of its groups.
pub(super) fn too_short(logs: [(&[GroupCounts], f64); 2]) -> Option<TooShortLogs> {
    let length_s = logs[0].1.min(logs[1].1);
    let fluctuations = logs.iter().filter_map(|(groups, length_s)| {
        let mut pool = Pool::new(*length_s);
        groups.iter().for_each(|group| pool.add(group, *length_s));
        pool.fluctuation_s()
    });
    let fluctuation_s = fluctuations.reduce(f64::max);
    let needed_s = fluctuation_s.map_or(LENGTH_MIN_S, |s| (FLUCTUATIONS_MIN * s).max(LENGTH_MIN_S));
    (length_s < needed_s).then_some(TooShortLogs { length_s, fluctuation_s, needed_s })
}

/// Whether one of the logs is too short to judge the rate of a single group, which consists of these groups of each log.
pub(super) fn group_too_short(logs: [(&[&GroupCounts], f64); 2]) -> bool {
    let length_s = logs[0].1.min(logs[1].1);
    logs.iter().any(|(groups, own_length_s)| {
        let mut pool = Pool::new(*own_length_s);
        groups.iter().for_each(|group| pool.add(group, *own_length_s));
        pool.fluctuation_s().is_some_and(|s| length_s < FLUCTUATIONS_MIN * s)
    })
}
