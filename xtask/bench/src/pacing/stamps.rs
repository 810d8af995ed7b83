//! Statistics of a load from the time stamps of a server.

use busyhour_arrivals::ArrivalProcess;
use busyhour_stats::{DispersionCounter, GapStatistics};

/// Gaps below this are short.
pub const SHORT_NS: u64 = 50_000;

/// Width of the windows in which arrivals are counted.
const WINDOW_NS: u64 = 100_000_000;

/// What a load was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fingerprint {
    /// Arrivals per second.
    pub rate_per_s: f64,
    /// Coefficient of variation of the gaps; NaN if it is not defined, as for the others.
    pub cov: f64,
    /// Index of dispersion of the counts per 100 ms.
    pub dispersion: f64,
    /// Share of gaps below [`SHORT_NS`].
    pub short_share: f64,
}

impl Fingerprint {
    /// Of sorted stamps.
    pub fn of(stamps_ns: &[u64]) -> Self {
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

    /// What a Poisson process of this rate has.
    pub fn poisson(rate_per_s: f64) -> Self {
        let short_share = 1.0 - (-rate_per_s * SHORT_NS as f64 / 1e9).exp();
        Self { rate_per_s, cov: 1.0, dispersion: 1.0, short_share }
    }

    /// What even arrivals have.
    pub fn even(rate_per_s: f64) -> Self {
        Self { rate_per_s, cov: 0.0, dispersion: 0.0, short_share: 0.0 }
    }
}

/// The stamps from `skip_ns` after the first on, at most `length_ns` of them.
pub fn judged(stamps_ns: &[u64], skip_ns: u64, length_ns: u64) -> &[u64] {
    let Some(&first) = stamps_ns.first() else { return stamps_ns };
    let from = stamps_ns.partition_point(|&stamp| stamp < first + skip_ns);
    let to = stamps_ns.partition_point(|&stamp| stamp < first + skip_ns + length_ns);
    &stamps_ns[from..to]
}

/// By how much each request came later than its schedule, sorted, in ns. When the run began is not known to the
/// server: the most punctual request counts as being in time.
///
/// `None` when not every scheduled request came: then it is not known which.
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

/// A quantile of sorted numbers by nearest rank; NaN of none.
pub fn quantile(sorted: &[u64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).map_or(f64::NAN, |&value| value as f64)
}

/// The schedule that a run of Busyhour followed, from the process and the seed in its manifest.
pub fn schedule_ns(process: &str, seed: u64) -> Option<Vec<u64>> {
    let process = ArrivalProcess::parse(process).ok()?;
    Some(process.schedule(seed).map(|arrival| arrival.at_ns).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_has_the_fingerprint_it_should_have() {
        let stamps = schedule_ns("poisson(1000/s) for 60s", 7).unwrap();
        let seen = Fingerprint::of(&stamps);
        let ideal = Fingerprint::poisson(1_000.0);
        assert!((seen.rate_per_s - 1_000.0).abs() < 15.0, "{seen:?}");
        assert!((seen.cov - 1.0).abs() < 0.02 && (seen.dispersion - 1.0).abs() < 0.25, "{seen:?}");
        assert!((seen.short_share - ideal.short_share).abs() < 0.005, "{seen:?}");
        let even = Fingerprint::of(&schedule_ns("even(1000/s) for 5s", 7).unwrap());
        assert!(even.cov < 1e-3 && even.dispersion < 0.01 && even.short_share == 0.0, "{even:?}");
    }

    #[test]
    fn lateness_counts_from_the_most_punctual() {
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
    fn the_judged_part_is_cut_out() {
        let stamps = [100, 110, 120, 130, 140];
        assert_eq!(judged(&stamps, 10, 20), [110, 120]);
        assert_eq!(judged(&stamps, 0, 1_000), stamps);
        assert!(judged(&[], 10, 20).is_empty());
    }
}
