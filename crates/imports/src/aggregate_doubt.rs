//! Reasons to doubt percentiles without samples.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::aggregate_result::{AggregateResult, AggregateRow};

/// Minimum number of requests beyond a percentile. With fewer, it is close to the maximum and varies like it.
const BEYOND_MIN: f64 = 10.0;

/// Minimum share of failed requests that raises a doubt.
const FAILED_SHARE_MIN: f64 = 0.05;

/// Minimum share of requests outside of the percentiles that raises a doubt.
const PART_LACKING_MIN: f64 = 0.05;

/// A row whose percentile is this many times that of another row is a different kind of request.
const MIXED_RATIO: f64 = 3.0;

/// Minimum share of all requests that a row needs to be compared with others.
const MIXED_SHARE_MIN: f64 = 0.05;

/// A reason to doubt percentiles of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum AggregateDoubt {
    /// Percentiles cover only a moving window.
    MovingWindow {
        /// Length of the window in s.
        window_s: f64,
        /// The smallest and the largest 95th percentile in ms.
        p95_ms: Option<(f64, f64)>,
    },
    /// Requests or iterations were not started.
    Dropped {
        /// Number of them.
        dropped: u64,
    },
    /// The percentiles cover only a part of the requests.
    PartCounted {
        /// Number of requests in the percentiles.
        counted: u64,
        /// Number of requests that were sent.
        sent: u64,
    },
    /// Times count from the actual start, although the rate was set.
    FromActualStart,
    /// Many requests failed.
    ManyErrors {
        /// Failed requests in per cent.
        percent: f64,
    },
    /// Failed requests have no time.
    WithoutFailed {
        /// Number of failed requests.
        failures: u64,
    },
    /// A percentile is based on few requests.
    FewBeyond {
        /// The percentile.
        percentile: f64,
        /// Number of requests beyond it.
        beyond: f64,
        /// Number of all requests.
        requests: u64,
    },
    /// The percentiles of all requests mix requests of different kinds.
    MixedRows {
        /// The row with the smallest 95th percentile, and that percentile in ms.
        fast: (String, f64),
        /// The row with the largest one.
        slow: (String, f64),
    },
    /// The tool rounded times before it counted them.
    Rounded {
        /// Number of significant digits.
        digits: u32,
    },
    /// The unit of times is not in the file.
    UnknownUnit,
    /// The file contains no samples, so some questions cannot be answered.
    NoSamples,
}

impl fmt::Display for AggregateDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AggregateDoubt::MovingWindow { window_s, p95_ms } => {
                write!(f, "the percentiles cover only the last {window_s} s of the run")?;
                match p95_ms {
                    Some((least, largest)) => {
                        write!(f, "; the p95 of such windows was {least} to {largest} ms")
                    }
                    None => Ok(()),
                }
            }
            AggregateDoubt::Dropped { dropped } => {
                write!(f, "{dropped} iterations were due but not started; the percentiles exclude them")
            }
            AggregateDoubt::PartCounted { counted, sent } => {
                write!(f, "the percentiles cover {counted} of the {sent} requests that were sent")
            }
            AggregateDoubt::FromActualStart => f.write_str(
                "times count from the actual start, so they exclude the wait of requests that started late",
            ),
            AggregateDoubt::ManyErrors { percent } => {
                write!(f, "{percent:.1} % of the requests failed")
            }
            AggregateDoubt::WithoutFailed { failures } => {
                write!(f, "{failures} requests failed; the percentiles exclude those without a response")
            }
            AggregateDoubt::FewBeyond { percentile, beyond, requests } => {
                let beyond = if *beyond < 1.0 { "none".into() } else { format!("about {beyond:.0}") };
                write!(f, "{beyond} of the {requests} requests are beyond the p{percentile}")
            }
            AggregateDoubt::MixedRows { fast, slow } => write!(
                f,
                "the percentiles of all requests mix fast and slow ones: the p95 of {} is {} ms, that of {} {} ms",
                fast.0, fast.1, slow.0, slow.1
            ),
            AggregateDoubt::Rounded { digits } => {
                write!(f, "the tool rounded times to {digits} significant digits before it counted them")
            }
            AggregateDoubt::UnknownUnit => f.write_str("the file does not contain the unit of times"),
            AggregateDoubt::NoSamples => f.write_str(
                "the file contains no samples, so arrivals, stalls, warm-up and coordinated omission cannot be judged",
            ),
        }
    }
}

impl AggregateDoubt {
    /// Advice for the user.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            AggregateDoubt::MovingWindow { .. } => {
                "use the table at the end of the run (_stats.csv); a percentile of the run is not the mean of the percentiles of its windows"
            }
            AggregateDoubt::Dropped { .. } => "allow more users, and treat the percentiles as lower bounds",
            AggregateDoubt::PartCounted { .. } => {
                "wrk2 excludes its first ten seconds; use longer runs, and do not expect the times to include a slow start"
            }
            AggregateDoubt::FromActualStart => "use the table of times from the intended start",
            AggregateDoubt::ManyErrors { .. } => "investigate the errors before you use the times",
            AggregateDoubt::WithoutFailed { .. } => "treat the percentiles as lower bounds",
            AggregateDoubt::FewBeyond { .. } => "run longer before you rely on this percentile",
            AggregateDoubt::MixedRows { .. } => "use the percentiles of single requests",
            AggregateDoubt::Rounded { .. } => "do not interpret differences of less than 10 %",
            AggregateDoubt::UnknownUnit => "times are shown as milliseconds; check which unit the tool wrote",
            AggregateDoubt::NoSamples => "let the tool write samples, and report that file",
        }
    }
}

impl AggregateResult {
    /// The reasons to doubt the percentiles, the most important ones first.
    #[must_use]
    pub fn doubts(&self) -> Vec<AggregateDoubt> {
        let mut found = Vec::new();
        let method = &self.method;
        if let Some(window) = &method.window {
            found.push(AggregateDoubt::MovingWindow { window_s: window.window_s, p95_ms: window.p95_ms });
        }
        if self.dropped > 0 {
            found.push(AggregateDoubt::Dropped { dropped: self.dropped });
        }
        let counted = self.rows.first().and_then(|row| row.requests);
        if let Some((sent, counted)) = method
            .sent
            .zip(counted)
            .filter(|(sent, counted)| *counted as f64 <= (1.0 - PART_LACKING_MIN) * *sent as f64)
        {
            found.push(AggregateDoubt::PartCounted { counted, sent });
        }
        if method.from_intended_start == Some(false) {
            found.push(AggregateDoubt::FromActualStart);
        }
        if let Some(total) = self.rows.first() {
            self.find_in_total(total, &mut found);
        }
        found.extend(self.mixed_rows());
        found.extend(method.rounded_digits.map(|digits| AggregateDoubt::Rounded { digits }));
        if method.unknown_unit {
            found.push(AggregateDoubt::UnknownUnit);
        }
        found.push(AggregateDoubt::NoSamples);
        found
    }

    fn find_in_total(&self, total: &AggregateRow, found: &mut Vec<AggregateDoubt>) {
        if let (Some(requests), Some(failures)) = (total.requests, total.failures) {
            if self.method.without_failed {
                found.push(AggregateDoubt::WithoutFailed { failures });
            }
            let share = failures as f64 / (requests as f64).max(1.0);
            if share >= FAILED_SHARE_MIN {
                found.push(AggregateDoubt::ManyErrors { percent: share * 100.0 });
            }
        }
        // The number of requests in a moving window is unknown.
        let Some(requests) = total.requests.filter(|_| self.method.window.is_none()) else { return };
        let beyond = |percentile: f64| requests as f64 * (100.0 - percentile) / 100.0;
        let quoted = total.percentiles.iter().map(|known| known.percentile).filter(|known| *known < 100.0);
        if let Some(percentile) = quoted.into_iter().find(|percentile| beyond(*percentile) < BEYOND_MIN) {
            found.push(AggregateDoubt::FewBeyond { percentile, beyond: beyond(percentile), requests });
        }
    }

    /// The fastest and the slowest of the common requests, if their percentiles differ much.
    fn mixed_rows(&self) -> Option<AggregateDoubt> {
        let (total, parts) = self.rows.split_first()?;
        let least = total.requests? as f64 * MIXED_SHARE_MIN;
        let p95 = |row: &AggregateRow| Some((row.name.clone(), row.percentile(95.0)?));
        let common = parts.iter().filter(|row| row.requests.is_some_and(|requests| requests as f64 >= least));
        let times: Vec<(String, f64)> = common.filter_map(p95).collect();
        let fast = times.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let slow = times.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_mixed = slow.1 > MIXED_RATIO * fast.1;
        is_mixed.then(|| AggregateDoubt::MixedRows { fast: fast.clone(), slow: slow.clone() })
    }
}
