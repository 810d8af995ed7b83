//! Statistics of arrivals and of groups of runs. All functions are pure: they use neither files nor a clock, and their source of
//! randomness is a parameter.
//!
//! Comparing runs:
//!
//! - [`Contrast`] estimates the difference between two groups of runs, with standard errors from repeated runs or from
//!   [`Resamples`] of one run.
//! - [`select`] adjusts multiple tests.
//! - [`values_needed`] computes sample sizes.
//! - [`rank_changes`] finds changepoints in a series of runs.
//! - [`monotonic_trend`] tests a series for a trend and estimates its slope.
//!
//! Judging arrivals:
//!
//! - [`GapStatistics`], [`DispersionCounter`] and [`autocorrelations`] provide confidence intervals that are valid for dependent
//!   values.
//! - [`kolmogorov_uniform`], [`lilliefors_exponential`], [`anderson_darling_exponential`], [`lilliefors_rounded`] and [`ljung_box`]
//!   are tests. Those for exponential gaps take into account that the mean is estimated, and [`lilliefors_rounded`] also that times
//!   are rounded.
//! - [`Band`] determines whether a confidence interval is inside a band of immaterial differences. This decision is useful even
//!   for many values, with which every test of equality rejects.
//!
//! ```
//! use busyhour_stats::{Band, Decision, GapStatistics};
//!
//! let mut gaps = GapStatistics::default();
//! for _ in 0..1_000 {
//!     gaps.add(1_000_000.0); // 1 ms, in ns
//! }
//! let cov = gaps.coefficient_of_variation().unwrap();
//! assert_eq!(Band::around(0.0, 0.05).judge(cov.low, cov.high), Decision::Inside);
//! ```

mod autocorrelation;
mod batches;
mod bootstrap;
mod contrast;
mod dispersion;
mod equivalence;
mod estimate;
mod exponential;
mod gaps;
mod kolmogorov;
mod moments;
mod multiplicity;
mod power;
mod rank_changes;
mod rounded;
mod spectral;
mod trend;
mod truncation;

pub use autocorrelation::{Autocorrelations, autocorrelations, ljung_box};
pub use batches::{
    Batches, PowerSums, coefficient_of_variation, index_of_dispersion, proportion, reciprocal_mean,
};
pub use bootstrap::{Resamples, SerialDependence, stationary_block_length};
pub use contrast::{Contrast, MeanWithError};
pub use dispersion::{
    DispersionCounter, WindowCounter, Windows, chi_square_interval, dispersion_estimate, dispersion_p_value,
    normal_p_value, poisson_upper_tail,
};
pub use equivalence::{Band, Decision};
pub use estimate::{CONFIDENCE, Estimate, IntervalMethod};
pub use exponential::{anderson_darling_exponential, lilliefors_exponential};
pub use gaps::GapStatistics;
pub use kolmogorov::{TestResult, kolmogorov_uniform, kolmogorov_upper_tail};
pub use moments::Moments;
pub use multiplicity::{Selection, select};
pub use power::{VALUES_MAX, power, values_needed, values_needed_welch, variance_upper};
pub use rank_changes::{RankChange, RankChangeSettings, rank_changes, values_for_change};
pub use rounded::{RoundedExponential, lilliefors_rounded};
pub use spectral::{SPECTRAL_VALUES_MIN, VarianceOfMean, spectral_variance};
pub use trend::{MonotonicTrend, TREND_VALUES_MAX, TREND_VALUES_MIN, monotonic_trend};
pub use truncation::{Truncation, truncation};

/// A source of randomness. It is a parameter, so that the same seed gives the same result.
pub use rand::Rng as RandomSource;
