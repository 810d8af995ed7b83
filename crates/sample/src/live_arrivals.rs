//! Regularity of the arrivals in the last seconds of a run in progress.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::nanos::Nanos;

/// Length of the window in seconds.
const WINDOW_S: u64 = 10;

/// Number of stored seconds before the newest one.
const STORED_S: u64 = WINDOW_S + 2;

/// Maximum number of start times that are stored per second. At higher rates, only the starts in the first part of each second
/// are stored.
const STAMPS_MAX: usize = 20_000;

/// Minimum number of gaps. With fewer gaps, the coefficient of variation is too uncertain to report.
const GAPS_MIN: u64 = 50;

/// Minimum mean gap in clock ticks. With a smaller mean gap, rounding alone changes the coefficient of variation of Poisson
/// arrivals by more than 2 %.
const GAP_TICKS_MIN: f64 = 2.0;

const SECOND_NS: u64 = 1_000_000_000;

/// Regularity of the arrivals of the last seconds: of session starts in an open load, otherwise of request starts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LiveArrivals {
    /// Coefficient of variation of the gaps (standard deviation divided by mean).
    pub cov: f64,
    /// Number of gaps used for the computation.
    pub gaps: u64,
}

/// The start times in one second.
#[derive(Debug, Default)]
struct Slice {
    second: u64,
    stamps: Vec<u64>,
}

/// Collects start times and computes the regularity of the gaps.
#[derive(Debug)]
pub struct RecentStarts {
    slices: VecDeque<Slice>,
    spare: Vec<Vec<u64>>,
    /// Length in ns of the first part of each second; only starts in this part are stored.
    stored_ns: u64,
    /// Whether session starts were reported, so that starts of requests are ignored.
    open: bool,
    /// Resolution of the start times, in ns.
    tick_ns: u64,
}

impl Default for RecentStarts {
    fn default() -> Self {
        RecentStarts::new()
    }
}

impl RecentStarts {
    /// A collector without starts, for times with a resolution of 1 ns.
    pub fn new() -> RecentStarts {
        RecentStarts {
            slices: VecDeque::new(),
            spare: Vec::new(),
            stored_ns: SECOND_NS,
            open: false,
            tick_ns: 1,
        }
    }

    /// A collector for start times that are rounded down to multiples of `tick_ns`.
    pub fn with_tick_ns(tick_ns: u64) -> RecentStarts {
        RecentStarts { tick_ns, ..RecentStarts::new() }
    }

    /// Adds the start of a request.
    pub fn request(&mut self, start: Nanos) {
        if !self.open {
            self.add(start);
        }
    }

    /// Adds the start of a session.
    pub fn session(&mut self, start: Nanos) {
        if !self.open {
            self.open = true;
            self.slices.clear();
        }
        self.add(start);
    }

    fn add(&mut self, start: Nanos) {
        if start.0 % SECOND_NS >= self.stored_ns {
            return;
        }
        let second = start.second();
        self.make_room(second);
        // A request that started before the window has no slice.
        let Some(slice) = self.slices.iter_mut().rev().find(|slice| slice.second == second) else { return };
        slice.stamps.push(start.0);
        if slice.stamps.len() > STAMPS_MAX {
            self.stored_ns /= 2;
            let stored_ns = self.stored_ns;
            for slice in &mut self.slices {
                slice.stamps.retain(|stamp| stamp % SECOND_NS < stored_ns);
            }
        }
    }

    /// Adds the slice of `second`, unless it is before the window. Seconds without starts have slices, too, so that the result
    /// does not depend on the order of the starts.
    fn make_room(&mut self, second: u64) {
        let (Some(oldest), Some(newest)) = (self.slices.front(), self.slices.back()) else {
            return self.slices.push_back(Slice { second, stamps: Vec::new() });
        };
        let (oldest, newest) = (oldest.second, newest.second);
        for before in (newest.saturating_sub(STORED_S).max(second)..oldest).rev() {
            let stamps = self.spare.pop().unwrap_or_default();
            self.slices.push_front(Slice { second: before, stamps });
        }
        if second <= newest {
            return;
        }
        while self.slices.front().is_some_and(|slice| slice.second + STORED_S < second) {
            let mut old = self.slices.pop_front().unwrap_or_default();
            old.stamps.clear();
            self.spare.push(old.stamps);
        }
        for next in (newest + 1).max(second.saturating_sub(STORED_S))..=second {
            let stamps = self.spare.pop().unwrap_or_default();
            self.slices.push_back(Slice { second: next, stamps });
        }
    }

    /// The regularity over the window that ends at `watermark`. The last second is excluded because its requests may
    /// not have ended.
    pub fn regularity(&mut self, watermark: Nanos) -> Option<LiveArrivals> {
        let (mut gaps, mut mean, mut squares) = (0u64, 0.0, 0.0);
        let whole = self.stored_ns == SECOND_NS;
        let mut before: Option<(u64, u64)> = None;
        for slice in &mut self.slices {
            if slice.second + 1 >= watermark.second() {
                break;
            }
            slice.stamps.sort_unstable();
            for &stamp in &slice.stamps {
                let gap = before
                    .filter(|(second, _)| *second == slice.second || (whole && second + 1 == slice.second))
                    .map(|(_, before)| (stamp - before) as f64);
                if let Some(gap) = gap {
                    // Welford's algorithm for mean and variance.
                    gaps += 1;
                    let off = gap - mean;
                    mean += off / gaps as f64;
                    squares += off * (gap - mean);
                }
                before = Some((slice.second, stamp));
            }
        }
        (gaps >= GAPS_MIN && mean > 0.0 && mean >= GAP_TICKS_MIN * self.tick_ns as f64)
            .then(|| LiveArrivals { cov: (squares / (gaps - 1) as f64).sqrt() / mean, gaps })
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};

    use super::*;

    fn poisson(rate: f64, seconds: u64) -> Vec<Nanos> {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut at, mut all) = (0.0, Vec::new());
        loop {
            at -= (1.0 - random.random::<f64>()).ln() / rate;
            if at > seconds as f64 {
                return all;
            }
            all.push(Nanos((at * 1e9) as u64));
        }
    }

    #[test]
    fn gaps_near_the_clock_tick_give_no_result() {
        for (rate, reported) in [(100.0, true), (2_000.0, false)] {
            let mut starts = RecentStarts::with_tick_ns(1_000_000);
            for at in poisson(rate, 8) {
                starts.request(Nanos(at.0 / 1_000_000 * 1_000_000));
            }
            let live = starts.regularity(Nanos::from_secs(8));
            assert_eq!(live.is_some(), reported, "{rate}");
            assert!(live.is_none_or(|live| (live.cov - 1.0).abs() < 0.1), "{rate}: {live:?}");
        }
    }

    #[test]
    fn the_gaps_of_poisson_arrivals_vary_as_much_as_their_mean() {
        for rate in [100.0, 5_000.0, 200_000.0] {
            let mut starts = RecentStarts::new();
            let mut all = poisson(rate, 8);
            // Within a tenth of a second, start times can have any order.
            all.sort_by_key(|at| (at.0 / 100_000_000, at.0 % 7));
            all.into_iter().for_each(|at| starts.request(at));
            let live = starts.regularity(Nanos::from_secs(8)).unwrap();
            assert!((live.cov - 1.0).abs() < 0.1, "{rate}: {live:?}");
            assert!(live.gaps as f64 >= (rate * 6.0).min(40_000.0), "{rate}: {live:?}");
        }
    }

    #[test]
    fn sessions_count_instead_of_requests_and_the_window_moves() {
        let mut starts = RecentStarts::new();
        for second in 0..40 {
            for n in 0..100 {
                let at = Nanos(second * SECOND_NS + n * 10_000_000);
                // The requests of a session follow it immediately. These bunches are not arrivals.
                starts.session(at);
                starts.request(at + 1_000_u64);
                starts.request(at + 2_000_u64);
            }
        }
        let live = starts.regularity(Nanos::from_secs(40)).unwrap();
        assert!(live.cov < 0.001, "{live:?}");
        assert!((1_000..1_300).contains(&live.gaps), "{live:?}");
        assert_eq!(RecentStarts::new().regularity(Nanos::from_secs(9)), None);
    }
}
