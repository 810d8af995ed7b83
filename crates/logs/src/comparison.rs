//! Compares the log of a run with that of a clean run, the baseline.
//!
//! The result lists the templates and stack traces that the baseline lacks, and then those whose rate rose. Two
//! templates are matched even if `<*>` replaces more tokens in one of the two logs than in the other.
//!
//! # The test
//!
//! Under the hypothesis that both logs have the same rate per unit of exposure, the count of the run, given the sum of
//! both counts, is binomial with the run's share of the exposure (Przyborowski and Wilenski, "Homogeneity of results in
//! testing samples from Poisson series", Biometrika 31, 1940). Errors arrive in bursts, so that counts vary more than
//! those of a Poisson process. The ratio φ of variance to mean is therefore estimated from the counts in blocks of
//! several lengths, and the largest ratio is used. The counts are divided by φ (quasi-likelihood: McCullagh and Nelder,
//! "Generalized Linear Models", 1989, section 4.5), and a second test uses Student's t with the degrees of freedom of
//! φ. The result is the larger of the two p-values. A burst of 50 entries thus counts as about one event.
//!
//! The false discovery rate of all templates, and that of all traces, is 5 % (Benjamini and Hochberg). The rate of
//! false alarms was measured with simulated logs of 40 templates without a difference (`tests/comparison_study.rs`; the
//! documentation of the crate has the table): it is below 5 %. Logs that are too short to show how much their rates
//! vary are not judged ([`TooShortLogs`]).
//!
//! A difference between two runs need not be caused by a new version: two runs do not show how much a rate varies between runs of
//! the same version.

mod blocks;
mod fluctuation;
mod matching;
mod rates;

use serde::{Deserialize, Serialize};

use crate::counts::{FORMAT_VERSION, LogCounts};
use crate::severity::EntrySeverity;
use blocks::BlockCounts;
pub use fluctuation::TooShortLogs;
use matching::Pair;
pub use rates::FALSE_DISCOVERY_RATE;
use rates::rate_test;

/// Why two logs cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ComparisonError {
    /// The counts were selected by different queries.
    #[error(
        "the baseline was counted with the query `{baseline}` and the run with `{run}`; count both with the same query"
    )]
    DifferentQueries {
        /// Query of the baseline.
        baseline: String,
        /// Query of the run.
        run: String,
    },
    /// The length of a run is unknown or zero.
    #[error(
        "the length of the {0} is unknown, because its log has no entry with a time; specify its start and end"
    )]
    NoLength(LogSide),
    /// The counts were written by another version.
    #[error("the counts of the {side} have format {found}; this version reads format {FORMAT_VERSION}")]
    UnknownFormat {
        /// The log that the counts are of.
        side: LogSide,
        /// Version of its format.
        found: u32,
    },
    /// An exposure is not a positive number.
    #[error("the exposure of the {side} is {value}; it has to be a positive number")]
    InvalidExposure {
        /// The log that the exposure is of.
        side: LogSide,
        /// Its value.
        value: f64,
    },
}

/// One of the two logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSide {
    /// The log of the clean run.
    Baseline,
    /// The log of the run.
    Run,
}

impl std::fmt::Display for LogSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LogSide::Baseline => "baseline",
            LogSide::Run => "run",
        })
    }
}

/// The unit in which rates are expressed: entries per second, or per request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exposure {
    /// The length of the runs in seconds.
    #[serde(rename = "seconds")]
    RunLength,
    /// The number of requests in each run, stated by the caller. The requests are assumed to be spread evenly over the run.
    Requests {
        /// The number of requests in the baseline.
        baseline: f64,
        /// The number of requests in the run.
        run: f64,
    },
}

/// The differences between two logs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogComparison {
    /// The unit in which rates are expressed.
    pub exposure: Exposure,
    /// Exposure of the baseline: seconds or requests.
    pub baseline_exposure: f64,
    /// Exposure of the run: seconds or requests.
    pub run_exposure: f64,
    /// False discovery rate of the significant differences.
    pub false_discovery_rate: f64,
    /// Why no rise is significant, if the logs are too short to judge rates.
    pub too_short: Option<TooShortLogs>,
    /// Differences of templates.
    pub templates: Differences,
    /// Differences of stack traces.
    pub traces: Differences,
}

/// The differences of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Differences {
    /// Templates or traces that the baseline lacks: significant ones first, then by severity and count.
    pub new: Vec<Difference>,
    /// Templates or traces that are significantly more frequent than in the baseline, by the ratio of the rates.
    pub risen: Vec<Difference>,
    /// Number of templates or traces that are in both and not significantly more frequent.
    pub others: usize,
    /// Number of templates or traces of the baseline that the run lacks.
    pub absent: usize,
}

/// A template or a stack trace of the run and its rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The template or the key of the trace.
    pub text: String,
    /// The highest severity of its entries in the run.
    pub severity: Option<EntrySeverity>,
    /// The logger of its first entry in the run.
    pub logger: Option<String>,
    /// An entry of the run.
    pub example: String,
    /// Number of entries in the baseline.
    pub baseline_count: u64,
    /// Number of entries in the run.
    pub run_count: u64,
    /// Entries per unit of exposure in the baseline.
    pub baseline_rate: f64,
    /// Entries per unit of exposure in the run.
    pub run_rate: f64,
    /// Ratio of variance to mean of the counts: 1 for independent entries, more if they come in bursts.
    pub dispersion: f64,
    /// Probability of at least such a rise if the true rates are equal.
    pub p_value: f64,
    /// Whether the logs are too short to judge the rate, because the rate stays above or below its mean for a large
    /// part of them. Such a rise is not significant, whatever its probability.
    pub is_too_short: bool,
    /// Whether the rise is significant, given the number of tests. Even a template that the baseline lacks may not be
    /// significant: the template may be rare or have occurred in one burst, or the baseline may be short.
    pub is_significant: bool,
}

/// Compares the log of a run with that of a baseline.
///
/// # Errors
/// The logs were counted with different queries, or an exposure is unknown.
pub fn compare(
    baseline: &LogCounts,
    run: &LogCounts,
    exposure: Exposure,
) -> Result<LogComparison, ComparisonError> {
    for (side, counts) in [(LogSide::Baseline, baseline), (LogSide::Run, run)] {
        if counts.format != FORMAT_VERSION {
            return Err(ComparisonError::UnknownFormat { side, found: counts.format });
        }
    }
    if baseline.query != run.query {
        let (baseline, run) = (baseline.query.clone(), run.query.clone());
        return Err(ComparisonError::DifferentQueries { baseline, run });
    }
    let length = |counts: &LogCounts, side| {
        counts.length_s.filter(|length| *length > 0.0).ok_or(ComparisonError::NoLength(side))
    };
    let lengths_s = (length(baseline, LogSide::Baseline)?, length(run, LogSide::Run)?);
    let (baseline_exposure, run_exposure) = match exposure {
        Exposure::RunLength => lengths_s,
        Exposure::Requests { baseline, run } => (baseline, run),
    };
    for (side, value) in [(LogSide::Baseline, baseline_exposure), (LogSide::Run, run_exposure)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(ComparisonError::InvalidExposure { side, value });
        }
    }
    let too_short =
        fluctuation::too_short([(&baseline.templates, lengths_s.0), (&run.templates, lengths_s.1)]);
    let exposures = (baseline_exposure, run_exposure);
    let context = Context { lengths_s, exposures, is_too_short: too_short.is_some() };
    let template_pairs = matching::match_templates(&baseline.templates, &run.templates);
    let trace_pairs = matching::match_equal(&baseline.traces, &run.traces);
    Ok(LogComparison {
        exposure,
        baseline_exposure,
        run_exposure,
        false_discovery_rate: FALSE_DISCOVERY_RATE,
        too_short,
        templates: context.differences(&template_pairs),
        traces: context.differences(&trace_pairs),
    })
}

struct Context {
    /// Lengths of the baseline and of the run. `exposures` are in the same order.
    lengths_s: (f64, f64),
    exposures: (f64, f64),
    is_too_short: bool,
}

impl Context {
    fn differences(&self, pairs: &[Pair<'_>]) -> Differences {
        let absent = pairs.iter().filter(|pair| pair.run.is_empty()).count();
        let mut all: Vec<Difference> = pairs.iter().filter_map(|pair| self.difference(pair)).collect();
        let p_values: Vec<f64> = all.iter().map(|difference| difference.p_value).collect();
        let significant = rates::significant(&p_values);
        for (difference, is_significant) in all.iter_mut().zip(significant) {
            difference.is_significant = is_significant && !difference.is_too_short;
        }
        let (mut new, in_both): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|difference| difference.baseline_count == 0);
        let (mut risen, others): (Vec<_>, Vec<_>) =
            in_both.into_iter().partition(|difference| difference.is_significant);
        new.sort_by(|a, b| {
            let key = |d: &Difference| (d.is_significant, d.severity, d.run_count);
            key(b).cmp(&key(a)).then_with(|| a.text.cmp(&b.text))
        });
        let factor = |difference: &Difference| difference.run_rate / difference.baseline_rate;
        risen.sort_by(|a, b| factor(b).total_cmp(&factor(a)).then_with(|| a.text.cmp(&b.text)));
        Differences { new, risen, others: others.len(), absent }
    }

    /// The difference of a pair; `None` if the run does not have it.
    fn difference(&self, pair: &Pair<'_>) -> Option<Difference> {
        let most = pair.run.iter().max_by_key(|group| group.count)?;
        let baseline = BlockCounts::of(&pair.baseline, self.lengths_s.0);
        let run = BlockCounts::of(&pair.run, self.lengths_s.1);
        let test = rate_test((&baseline, self.exposures.0), (&run, self.exposures.1));
        Some(Difference {
            text: most.text.clone(),
            severity: pair.run.iter().filter_map(|group| group.severity).max(),
            logger: most.logger.clone(),
            example: most.example.clone(),
            baseline_count: baseline.total(),
            run_count: run.total(),
            baseline_rate: baseline.total() as f64 / self.exposures.0,
            run_rate: run.total() as f64 / self.exposures.1,
            dispersion: test.dispersion,
            p_value: test.p_value,
            is_too_short: self.is_too_short
                || fluctuation::group_too_short([
                    (&pair.baseline, self.lengths_s.0),
                    (&pair.run, self.lengths_s.1),
                ]),
            is_significant: false,
        })
    }
}

#[cfg(test)]
mod tests;
