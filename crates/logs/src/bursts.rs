//! Finds bursts: times in which a log has clearly more entries than before.
//!
//! # The rule
//!
//! The count of the last ten seconds is compared with those of all windows of ten seconds in the 15 minutes before. A
//! burst begins when the count is at least [`BURST_COUNT_MIN`] and above `max + c · s`. Here, `max` is the largest
//! count before and `s` the standard deviation of the counts before; `s` is at least the standard deviation of
//! independent entries. A burst ends when the count is no longer above this limit. It also ends after a minute, because
//! the higher rate is then considered usual.
//!
//! If all windows of a log have the same distribution, a window is the largest of itself and the `n` before it with a
//! probability of about `1 / (n + 1)`. This holds for any distribution, so entries that come in bursts or whose rate
//! varies do not need a model. The margin `c · s` lowers the probability by another factor, `exp(-c)` if counts have an
//! exponential tail. In the first minutes of a run, there are few windows; `c = 3 + ln(90 / n)` gives these minutes the
//! same probability. The first [`BURST_HISTORY_MIN_S`] seconds are not judged.
//!
//! A burst that is not larger than others within the 15 minutes before is usual, and not reported. The rate of false
//! alarms and the share of bursts that are found were measured with `tests/burst_study.rs`; `docs/logs.md` has the
//! table.

use std::collections::VecDeque;

use serde::Serialize;

/// Length of the windows in which entries are counted, in seconds.
pub const BURST_WINDOW_S: u32 = 10;

/// Minimum number of entries of a burst in a window.
pub const BURST_COUNT_MIN: u64 = 5;

/// Number of seconds that are needed before bursts can be found.
pub const BURST_HISTORY_MIN_S: u32 = 120 + 2 * BURST_WINDOW_S;

/// Maximum and minimum number of windows, one per second, with which the current one is compared.
const REFERENCE_MAX: usize = 900;
const REFERENCE_MIN: usize = 120;
/// Maximum length of a burst in seconds.
const LENGTH_MAX_S: u32 = 60;
/// The margin above the largest count, in standard deviations, if there are [`REFERENCE_MAX`] windows.
const MARGIN: f64 = 3.0;

/// A time in which a log had more entries than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LogBurst {
    /// Its first second since the start of the run.
    pub from_s: u32,
    /// The second after its last one.
    pub to_s: u32,
    /// Number of entries.
    pub entries: u64,
    /// The largest number of entries in ten seconds before the burst.
    pub usual_max: u64,
    /// Number of seconds before the burst that `usual_max` refers to.
    pub history_s: u32,
}

/// Finds bursts in the numbers of entries per second. Memory and time per second are constant.
#[derive(Debug, Clone)]
pub struct BurstDetector {
    next_s: u32,
    /// The counts of the last seconds: those of the current window, and those since the beginning of an open burst.
    counts: VecDeque<u32>,
    window_sum: u64,
    /// The counts of windows that overlap the current one. They are not compared with it.
    overlapping: VecDeque<u64>,
    reference: Reference,
    open: Option<OpenBurst>,
}

#[derive(Debug, Clone, Copy)]
struct OpenBurst {
    /// The last second of the first window that exceeded the limit.
    since_s: u32,
    limit: f64,
    usual_max: u64,
    history_s: u32,
}

impl BurstDetector {
    /// A detector for counts that begin in this second of the run.
    #[must_use]
    pub fn new(first_s: u32) -> BurstDetector {
        BurstDetector {
            next_s: first_s,
            counts: VecDeque::new(),
            window_sum: 0,
            overlapping: VecDeque::new(),
            reference: Reference::default(),
            open: None,
        }
    }

    /// Adds the number of entries of the next second. Returns a burst when it has ended.
    pub fn add(&mut self, count: u32) -> Option<LogBurst> {
        let second = self.next_s;
        self.next_s = second.saturating_add(1);
        let window = BURST_WINDOW_S as usize;
        self.counts.push_back(count);
        self.window_sum += u64::from(count);
        if let Some(left) = self.counts.len().checked_sub(window + 1) {
            self.window_sum -= u64::from(self.counts[left]);
        }
        let ended = self.judge(second);
        if self.open.is_none() {
            let excess = self.counts.len().saturating_sub(window);
            self.counts.drain(..excess);
        }
        if self.counts.len() >= window {
            self.overlapping.push_back(self.window_sum);
        }
        if self.overlapping.len() >= window
            && let Some(sum) = self.overlapping.pop_front()
        {
            self.reference.add(sum);
        }
        ended
    }

    /// Ends the open burst, if there is one.
    #[must_use]
    pub fn finish(mut self) -> Option<LogBurst> {
        let last_s = self.next_s.saturating_sub(1);
        self.open.take().and_then(|open| self.burst(open, last_s))
    }

    fn judge(&mut self, second: u32) -> Option<LogBurst> {
        if let Some(open) = self.open {
            let is_over = (self.window_sum as f64) <= open.limit;
            if is_over || second - open.since_s >= LENGTH_MAX_S {
                self.open = None;
                return self.burst(open, second);
            }
            return None;
        }
        let limit = self.reference.limit()?;
        if self.window_sum >= BURST_COUNT_MIN && self.window_sum as f64 > limit {
            let (usual_max, history_s) = (self.reference.max(), self.reference.sums.len() as u32);
            self.open = Some(OpenBurst { since_s: second, limit, usual_max, history_s });
        }
        None
    }

    /// The burst in `counts`, which end at second `last_s`. It extends from the first to the last second whose rate exceeds the
    /// usual maximum.
    fn burst(&self, open: OpenBurst, last_s: u32) -> Option<LogBurst> {
        let window = u64::from(BURST_WINDOW_S);
        let exceeds_usual = |count: &u32| u64::from(*count) * window > open.usual_max;
        let first = self.counts.iter().position(exceeds_usual)?;
        let last = self.counts.iter().rposition(exceeds_usual)?;
        let start_s = (last_s + 1).saturating_sub(self.counts.len() as u32);
        Some(LogBurst {
            from_s: start_s + first as u32,
            to_s: start_s + last as u32 + 1,
            entries: self.counts.range(first..=last).map(|count| u64::from(*count)).sum(),
            usual_max: open.usual_max,
            history_s: open.history_s,
        })
    }
}

/// The windows of the last 15 minutes: their maximum, mean and variance.
#[derive(Debug, Clone, Default)]
struct Reference {
    sums: VecDeque<u64>,
    /// Number of the first element of `sums`.
    first: u64,
    /// Numbers and counts of the windows whose count is larger than that of every later window, in descending order of
    /// counts.
    maxima: VecDeque<(u64, u64)>,
    total: u128,
    squares: u128,
}

impl Reference {
    fn add(&mut self, sum: u64) {
        let number = self.first + self.sums.len() as u64;
        while self.maxima.back().is_some_and(|(_, value)| *value <= sum) {
            self.maxima.pop_back();
        }
        self.maxima.push_back((number, sum));
        self.sums.push_back(sum);
        self.total += u128::from(sum);
        self.squares += u128::from(sum) * u128::from(sum);
        if self.sums.len() > REFERENCE_MAX
            && let Some(oldest) = self.sums.pop_front()
        {
            self.first += 1;
            self.total -= u128::from(oldest);
            self.squares -= u128::from(oldest) * u128::from(oldest);
            if self.maxima.front().is_some_and(|(number, _)| *number < self.first) {
                self.maxima.pop_front();
            }
        }
    }

    fn max(&self) -> u64 {
        self.maxima.front().map_or(0, |(_, value)| *value)
    }

    /// The count above which a burst begins; `None` if there are too few windows.
    fn limit(&self) -> Option<f64> {
        if self.sums.len() < REFERENCE_MIN {
            return None;
        }
        let n = self.sums.len() as f64;
        let mean = self.total as f64 / n;
        let variance = (self.squares as f64 / n - mean * mean).max(mean).max(1.0);
        let margin = MARGIN + (REFERENCE_MAX as f64 / n).ln();
        Some(self.max() as f64 + margin * variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(counts: impl IntoIterator<Item = u32>) -> Vec<LogBurst> {
        let mut detector = BurstDetector::new(0);
        let mut found: Vec<LogBurst> = counts.into_iter().filter_map(|count| detector.add(count)).collect();
        found.extend(detector.finish());
        found
    }

    /// Counts of 900 seconds. `burst` replaces the counts from second 400 on.
    fn with(usual: u32, burst: &[u32]) -> Vec<u32> {
        let mut counts = vec![usual; 900];
        counts[400..400 + burst.len()].copy_from_slice(burst);
        counts
    }

    #[test]
    fn a_burst_in_a_silent_log_has_exact_seconds() {
        let found = bursts(with(0, &[3, 9, 1]));
        let expected = LogBurst { from_s: 400, to_s: 403, entries: 13, usual_max: 0, history_s: 383 };
        assert_eq!(found, [expected]);
        assert_eq!(bursts(with(0, &[2, 2])), [], "fewer than five entries");
    }

    #[test]
    fn a_burst_above_a_constant_rate_is_found_and_a_small_one_is_not() {
        let found = bursts(with(10, &[60, 60]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].from_s, found[0].to_s, found[0].usual_max), (400, 402, 100));
        assert_eq!(bursts(with(10, &[12, 12])), []);
    }

    #[test]
    fn a_repeated_burst_is_usual() {
        let mut counts = vec![0; 3_000];
        for at in (500..3_000).step_by(300) {
            counts[at] = 20;
        }
        let found: Vec<u32> = bursts(counts).iter().map(|burst| burst.from_s).collect();
        assert_eq!(found, [500]);
    }

    #[test]
    fn a_lasting_rise_is_one_burst_of_a_minute() {
        let mut counts = vec![1; 400];
        counts.extend([30; 600]);
        let found = bursts(counts);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].from_s, 400);
        assert!((50..=61).contains(&(found[0].to_s - found[0].from_s)), "{found:?}");
    }

    #[test]
    fn the_first_minutes_are_not_judged() {
        let mut counts = vec![0; 300];
        counts[100] = 50;
        assert_eq!(bursts(counts), []);
        let mut counts = vec![0; 300];
        counts[BURST_HISTORY_MIN_S as usize] = 50;
        assert_eq!(bursts(counts).len(), 1);
        let mut counts = vec![0; 300];
        counts[299] = 50;
        assert_eq!(bursts(counts).len(), 1, "under way at the end");
    }

    #[test]
    fn the_maximum_is_that_of_the_windows_that_are_kept() {
        let mut reference = Reference::default();
        let mut all = Vec::new();
        let mut value = 7_u64;
        for _ in 0..3_000 {
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let sum = value >> 54;
            reference.add(sum);
            all.push(sum);
            let kept = &all[all.len().saturating_sub(REFERENCE_MAX)..];
            assert_eq!(reference.max(), *kept.iter().max().unwrap());
        }
        let kept = &all[all.len() - REFERENCE_MAX..];
        assert_eq!(reference.total, kept.iter().map(|sum| u128::from(*sum)).sum::<u128>());
        assert_eq!(reference.squares, kept.iter().map(|sum| u128::from(sum * sum)).sum::<u128>());
    }
}
