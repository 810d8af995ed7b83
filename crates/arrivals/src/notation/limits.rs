//! Limits of rates, durations and other parameters.

use crate::error::ParseError;
use crate::stage::{MmppState, Rate};

/// Maximum rate: one arrival per nanosecond, the resolution of the clock.
const RATE_PER_S_MAX: f64 = 1e9;
/// Maximum duration: a hundred Julian years, which is far below the maximum of u64 in nanoseconds.
const DURATION_NS_MAX: u64 = 3_155_760_000_000_000_000;
/// Maximum number of points from JMeter's generator. They are stored in a list with 8 bytes each.
const LISTED_MAX: u64 = 100_000_000;
/// Range of coefficients of variation for which the distributions of gaps are computed accurately.
const COV_RANGE: std::ops::RangeInclusive<f64> = 0.01..=20.0;
/// Maximum number of state changes of an MMPP per arrival. With more changes, the process is practically a Poisson process and
/// slow to generate.
const SWITCHES_PER_ARRIVAL_MAX: f64 = 10_000.0;

/// Rejects rates above one arrival per nanosecond.
pub(crate) fn check_rate(rate: Rate, at: usize) -> Result<Rate, ParseError> {
    if rate.per_s() <= RATE_PER_S_MAX {
        return Ok(rate);
    }
    Err(ParseError::new(at, "the rate is above 1,000,000,000/s, the resolution of times (1 ns)"))
}

/// Rejects durations of more than a hundred years.
pub(crate) fn check_duration(duration_ns: u128, at: usize) -> Result<u64, ParseError> {
    match u64::try_from(duration_ns) {
        Ok(duration_ns) if duration_ns <= DURATION_NS_MAX => Ok(duration_ns),
        _ => Err(ParseError::new(at, "longer than a hundred years")),
    }
}

/// Rejects numbers of points that need too much memory: the points of a stage are generated in random order and sorted, as in
/// JMeter.
pub(crate) fn check_listed(count: u64, at: usize) -> Result<u64, ParseError> {
    if count <= LISTED_MAX {
        return Ok(count);
    }
    Err(ParseError::new(at, "more than 100,000,000 arrivals in a stage that JMeter's random seed places")
        .with_hint("omit the random seed; arrivals are then generated in order, without a list"))
}

pub(super) fn check_cov(cov: f64, at: usize) -> Result<f64, ParseError> {
    if COV_RANGE.contains(&cov) {
        return Ok(cov);
    }
    let error = ParseError::new(at, "a coefficient of variation must be between 0.01 and 20");
    Err(if cov < 0.01 { error.with_hint("write even(…) for equal gaps") } else { error })
}

pub(super) fn check_states(states: &[MmppState; 2], at: usize) -> Result<(), ParseError> {
    if states.iter().any(|state| state.sojourn_ns == 0) {
        return Err(ParseError::new(at, "the mean time in a state must not be 0"));
    }
    let arrivals: f64 = states.iter().map(|state| state.rate.per_s() * (state.sojourn_ns as f64 / 1e9)).sum();
    if arrivals == 0.0 {
        return Err(ParseError::new(at, "neither state has arrivals")
            .with_hint("write pause for a time without arrivals"));
    }
    if 2.0 / arrivals > SWITCHES_PER_ARRIVAL_MAX {
        return Err(ParseError::new(at, "the state changes more than 10,000 times per arrival")
            .with_hint("that is a Poisson process of the mean rate: write poisson(…)"));
    }
    Ok(())
}
