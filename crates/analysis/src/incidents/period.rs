//! Finds patterns that repeat at a fixed interval.

/// Minimum number of slices in a period.
const PERIOD_MIN: usize = 4;

/// Minimum number of periods in a run.
const PERIODS_MIN: usize = 4;

/// Minimum correlation between values that are one period apart.
const CORRELATION_MIN: f64 = 0.45;
/// Minimum difference between this correlation and the smallest correlation at a shorter distance.
const PROMINENCE_MIN: f64 = 0.65;

/// Minimum correlations between values that are one and two periods apart, in standard deviations of the correlation of
/// independent values.
const DEVIATIONS_MIN: (f64, f64) = (5.0, 3.0);

/// Minimum correlation between values that are two periods apart.
const SECOND_MIN: f64 = 0.3;

/// The period of the sequence as a number of values; `None` if the sequence is not periodic.
pub(super) fn period(values: &[f64]) -> Option<usize> {
    let count = values.len();
    let lags_max = count / PERIODS_MIN;
    if lags_max <= PERIOD_MIN {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    let rest: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let squares: f64 = rest.iter().map(|value| value * value).sum();
    if squares <= 0.0 {
        return None;
    }
    // The mean product is used instead of the sum, so that a pattern has the same correlation at every multiple of its period.
    let correlation = |lag: usize| {
        let products: f64 = rest.iter().zip(&rest[lag..]).map(|(a, b)| a * b).sum();
        products / (count - lag) as f64 / (squares / count as f64)
    };
    let all: Vec<f64> = (0..=2 * lags_max).map(correlation).collect();
    let deviation = 1.0 / (count as f64).sqrt();
    let (first_min, second_min) =
        (CORRELATION_MIN.max(DEVIATIONS_MIN.0 * deviation), SECOND_MIN.max(DEVIATIONS_MIN.1 * deviation));
    let mut least = 1.0_f64;
    for lag in 1..=lags_max {
        if lag >= PERIOD_MIN
            && all[lag] >= first_min
            && all[lag] - least >= PROMINENCE_MIN
            && all[lag] >= all[lag - 1]
            && all[lag] >= all[lag + 1]
            && (2 * lag - 1..=(2 * lag + 1).min(2 * lags_max)).any(|twice| all[twice] >= second_min)
        {
            return Some(lag);
        }
        least = least.min(all[lag]);
    }
    None
}

/// The values without the periodic pattern: from each value, the median of the values in the same phase is subtracted, and the
/// median of all values is added.
pub(super) fn without_period(values: &[f64], period: usize) -> Vec<f64> {
    let middle = super::levels::median(values);
    let typical: Vec<f64> = (0..period)
        .map(|phase| {
            let same: Vec<f64> = values.iter().skip(phase).step_by(period).copied().collect();
            super::levels::median(&same)
        })
        .collect();
    values.iter().enumerate().map(|(at, value)| value - typical[at % period] + middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saw_tooth_has_a_period_and_a_step_has_none() {
        let tooth: Vec<f64> = (0..120).map(|at| (at % 17) as f64).collect();
        assert_eq!(period(&tooth), Some(17));
        assert!(without_period(&tooth, 17).iter().all(|value| (value - 8.0).abs() < 1e-9));
        let step: Vec<f64> = (0..120).map(|at| if at < 40 { 0.0 } else { 1.0 }).collect();
        assert_eq!(period(&step), None);
        let spike: Vec<f64> = (0..120).map(|at| if (40..50).contains(&at) { 1.0 } else { 0.0 }).collect();
        assert_eq!(period(&spike), None);
        assert_eq!(period(&[0.0; 40]), None);
        assert_eq!(period(&[]), None);
    }
}
