//! Estimates the standard errors of the throughput and the mean response time of a run with batch means.
//!
//! The window is divided into batches of equal length. Their number is chosen so that each batch has some requests and even a
//! short run has enough batches. Standard errors are computed from the variation between batches. The effective number of
//! independent batches takes their correlation into account ([`SerialDependence`]). Differences between runs, such as the load
//! of other machines, are not included.

use busyhour_stats::{SerialDependence, stationary_block_length};

/// Maximum number of batches. The estimate of serial dependence is designed for sequences of at least 60 elements.
const BATCHES_MOST: u64 = 120;

/// Minimum number of batches; with fewer batches, no standard errors are computed.
const BATCHES_LEAST: u64 = 8;

/// Mean number of requests in a batch.
const REQUESTS: u64 = 10;

/// The requests of a window, divided into batches by their ends.
#[derive(Debug, Clone)]
pub(crate) struct LoadBatches {
    window_ns: (u64, u64),
    /// For each batch: number of requests, and the sum of their service times in seconds.
    batches: Vec<(u64, f64)>,
}

impl LoadBatches {
    /// Empty batches for a window in which `requests` requests are expected.
    pub(crate) fn new(window_ns: (u64, u64), requests: u64) -> LoadBatches {
        let count = (requests / REQUESTS).min(BATCHES_MOST);
        LoadBatches { window_ns, batches: vec![(0, 0.0); count as usize] }
    }

    /// Counts a request that ended at `end_ns`.
    pub(crate) fn add(&mut self, end_ns: u64, service_s: f64) {
        let (from, to) = self.window_ns;
        if !(from..to).contains(&end_ns) {
            return;
        }
        let at = u128::from(end_ns - from) * self.batches.len() as u128 / u128::from(to - from);
        if let Some((requests, sum_s)) = self.batches.get_mut(at as usize) {
            *requests += 1;
            *sum_s += service_s;
        }
    }

    /// Standard errors of the throughput per second and of the mean service time in seconds; `None` if there are too few
    /// requests.
    pub(crate) fn precision(&self) -> Option<(f64, f64)> {
        let count = self.batches.len();
        let requests: u64 = self.batches.iter().map(|(requests, _)| requests).sum();
        if (count as u64) < BATCHES_LEAST || requests == 0 {
            return None;
        }
        let mean_s = self.batches.iter().map(|(_, sum_s)| sum_s).sum::<f64>() / requests as f64;
        let each = requests as f64 / count as f64;
        let length_s = (self.window_ns.1 - self.window_ns.0) as f64 / 1e9 / count as f64;
        let rates: Vec<f64> = self.batches.iter().map(|(requests, _)| *requests as f64 / length_s).collect();
        // The mean over requests is a ratio of two means over batches. Its standard error is that of its linear approximation.
        let linear: Vec<f64> =
            self.batches.iter().map(|(requests, sum_s)| (sum_s - *requests as f64 * mean_s) / each).collect();
        Some((standard_error(&rates)?, standard_error(&linear)?))
    }
}

/// Standard error of the mean of a serially dependent series.
fn standard_error(series: &[f64]) -> Option<f64> {
    let n = series.len() as f64;
    let mean = series.iter().sum::<f64>() / n;
    let variance = series.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let independent = SerialDependence::of(series, stationary_block_length(series)).independent;
    (independent > 0.0).then(|| (variance / independent).sqrt())
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Simulates users who think for 50 ms and queue for one server with a service time of 1 ms. Both times are
    /// exponential. Returns the rate and the mean response time over `seconds`, and the standard errors estimated from
    /// them.
    fn run(users: usize, seconds: f64, seed: u64) -> ((f64, f64), (f64, f64)) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut exponential = |mean: f64| -mean * (1.0 - random.random::<f64>()).ln();
        let mut ready: Vec<f64> = (0..users).map(|_| exponential(0.05)).collect();
        let warm_s = 0.5;
        let to_s = warm_s + seconds;
        let mut batches =
            LoadBatches::new(((warm_s * 1e9) as u64, (to_s * 1e9) as u64), (seconds * 800.0) as u64);
        let (mut free, mut count, mut sum) = (0.0_f64, 0_u32, 0.0);
        loop {
            let (user, at) = ready.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            if at > to_s {
                break;
            }
            let end = free.max(at) + exponential(0.001);
            free = end;
            ready[user] = end + exponential(0.05);
            batches.add((end * 1e9) as u64, end - at);
            if (warm_s..to_s).contains(&end) {
                count += 1;
                sum += end - at;
            }
        }
        ((f64::from(count) / seconds, sum / f64::from(count)), batches.precision().unwrap())
    }

    #[test]
    fn estimated_errors_of_a_short_run_match_the_spread_of_repeated_runs() {
        // One number of users is far below the knee; the other is at the knee, where successive batches are strongly
        // correlated.
        for users in [15, 51] {
            let runs: Vec<_> = (0..60).map(|seed| run(users, 4.0, seed)).collect();
            let n = runs.len() as f64;
            let of = |pick: &dyn Fn(&((f64, f64), (f64, f64))) -> f64| -> Vec<f64> {
                runs.iter().map(pick).collect()
            };
            let spread = |values: &[f64]| {
                let mean = values.iter().sum::<f64>() / n;
                (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
            };
            let typical = |values: &[f64]| (values.iter().map(|value| value * value).sum::<f64>() / n).sqrt();
            let rate = typical(&of(&|run| run.1.0)) / spread(&of(&|run| run.0.0));
            let time = typical(&of(&|run| run.1.1)) / spread(&of(&|run| run.0.1));
            // The spread of 60 runs has an error of about a tenth. The estimate may be too large, but should hardly be too
            // small.
            assert!((0.7..1.8).contains(&rate), "{users} users: {rate} times the true error of X");
            assert!((0.7..1.8).contains(&time), "{users} users: {time} times the true error of R");
        }
    }

    #[test]
    fn too_few_requests_have_no_precision() {
        let mut few = LoadBatches::new((0, 1_000_000_000), 79);
        (0..79).for_each(|at| few.add(at * 12_000_000, 0.01));
        assert_eq!(few.precision(), None);
        let mut constant = LoadBatches::new((0, 1_000_000_000), 80);
        (0..80).for_each(|at| constant.add(at * 12_500_000, 0.01));
        let (rate, time) = constant.precision().unwrap();
        assert!(rate < 1e-6 && time < 1e-12, "{rate} {time}");
    }
}
