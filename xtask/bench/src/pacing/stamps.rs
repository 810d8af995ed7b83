//! Statistics of a load from the arrival times at a server.

use busyhour_arrivals::ArrivalProcess;
use busyhour_stats::{DispersionCounter, GapStatistics};

/// Gaps below this length are short.
pub const SHORT_NS: u64 = 50_000;

/// The width of the windows in which arrivals are counted.
const WINDOW_NS: u64 = 100_000_000;

/// The statistics of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadStatistics {
    /// The number of arrivals per second.
    pub rate_per_s: f64,
    /// The coefficient of variation of the gaps. Like the other statistics, it is NaN if it is not defined.
    pub cov: f64,
    /// The index of dispersion of the counts per 100 ms.
    pub dispersion: f64,
    /// The share of gaps below [`SHORT_NS`].
    pub short_share: f64,
}

impl LoadStatistics {
    /// Calculates the statistics of sorted arrival times.
    pub fn from_stamps(stamps_ns: &[u64]) -> Self {
        let gaps = GapStatistics::of_stamps(stamps_ns);
        let mut dispersion = DispersionCounter::new(WINDOW_NS);
        stamps_ns.iter().for_each(|&stamp| dispersion.add(stamp));
        let short = stamps_ns.windows(2).filter(|pair| pair[1] - pair[0] < SHORT_NS).count();
        let value =
            |estimate: Option<busyhour_stats::Estimate>| estimate.map_or(f64::NAN, |found| found.value);
        Self {
            rate_per_s: value(gaps.rate()) * 1e9,
            cov: value(gaps.coefficient_of_variation()),
            dispersion: value(dispersion.index()),
            short_share: short as f64 / stamps_ns.len().saturating_sub(1) as f64,
        }
    }

    /// The statistics of a Poisson process with this rate.
    pub fn poisson(rate_per_s: f64) -> Self {
        let short_share = 1.0 - (-rate_per_s * SHORT_NS as f64 / 1e9).exp();
        Self { rate_per_s, cov: 1.0, dispersion: 1.0, short_share }
    }

    /// The statistics of even arrivals with this rate.
    pub fn even(rate_per_s: f64) -> Self {
        Self { rate_per_s, cov: 0.0, dispersion: 0.0, short_share: 0.0 }
    }
}

/// The stamps in an interval of `length_ns` that begins `skip_ns` after the first stamp.
pub fn measured_part(stamps_ns: &[u64], skip_ns: u64, length_ns: u64) -> &[u64] {
    let Some(&first) = stamps_ns.first() else { return stamps_ns };
    let from = stamps_ns.partition_point(|&stamp| stamp < first + skip_ns);
    let to = stamps_ns.partition_point(|&stamp| stamp < first + skip_ns + length_ns);
    &stamps_ns[from..to]
}

/// The lateness of each request relative to its schedule, sorted, in ns. The server does not know the start of the run:
/// the most punctual request has the lateness 0.
///
/// `None` if scheduled requests are missing, because it is not known which.
pub fn lateness_ns(stamps_ns: &[u64], scheduled_ns: &[u64]) -> Option<Vec<u64>> {
    if stamps_ns.len() != scheduled_ns.len() {
        return None;
    }
    let after = |(stamp, scheduled): (&u64, &u64)| i128::from(*stamp) - i128::from(*scheduled);
    let least = stamps_ns.iter().zip(scheduled_ns).map(after).min()?;
    let mut late: Vec<u64> = stamps_ns
        .iter()
        .zip(scheduled_ns)
        .map(|pair| u64::try_from(after(pair) - least).unwrap_or(0))
        .collect();
    late.sort_unstable();
    Some(late)
}

/// A quantile of sorted numbers by nearest rank; NaN if there are none.
pub fn quantile(sorted: &[u64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).map_or(f64::NAN, |&value| value as f64)
}

/// The schedule of a run of Busyhour, from the process and the seed in its manifest.
pub fn schedule_ns(process: &str, seed: u64) -> Option<Vec<u64>> {
    let process = ArrivalProcess::parse(process).ok()?;
    Some(process.schedule(seed).map(|arrival| arrival.at_ns).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_have_the_expected_statistics() {
        let stamps = schedule_ns("poisson(1000/s) for 60s", 7).unwrap();
        let measured = LoadStatistics::from_stamps(&stamps);
        let ideal = LoadStatistics::poisson(1_000.0);
        assert!((measured.rate_per_s - 1_000.0).abs() < 15.0, "{measured:?}");
        assert!(
            (measured.cov - 1.0).abs() < 0.02 && (measured.dispersion - 1.0).abs() < 0.25,
            "{measured:?}"
        );
        assert!((measured.short_share - ideal.short_share).abs() < 0.005, "{measured:?}");
        let even = LoadStatistics::from_stamps(&schedule_ns("even(1000/s) for 5s", 7).unwrap());
        assert!(even.cov < 1e-3 && even.dispersion < 0.01 && even.short_share == 0.0, "{even:?}");
    }

    #[test]
    fn lateness_is_relative_to_the_most_punctual_request() {
        let scheduled = [0, 1_000, 2_000];
        assert_eq!(lateness_ns(&[500_010, 501_000, 502_100], &scheduled), Some(vec![0, 10, 100]));
        assert_eq!(lateness_ns(&[5, 6], &scheduled), None);
        assert_eq!(lateness_ns(&[], &[]), None);
    }

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let sorted: Vec<u64> = (1..=100).collect();
        assert_eq!(
            (quantile(&sorted, 0.5), quantile(&sorted, 0.99), quantile(&sorted, 1.0)),
            (50.0, 99.0, 100.0)
        );
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn the_measured_part_is_an_interval() {
        let stamps = [100, 110, 120, 130, 140];
        assert_eq!(measured_part(&stamps, 10, 20), [110, 120]);
        assert_eq!(measured_part(&stamps, 0, 1_000), stamps);
        assert!(measured_part(&[], 10, 20).is_empty());
    }
}
