//! Differences of shares, tested by moving the slow windows in time.
//!
//! Dumps that follow each other are alike, and slow requests come in bursts. Tests for independent samples would therefore find
//! differences where there are none. The distribution of a difference without an association is that of the same difference after moving
//! the slow windows circularly by other times, which keeps the correlations of both. The p value is the larger of two: the share of
//! shifts with a difference as large, and the tail of Student's t with as many degrees of freedom as there are independent shifts.
//! Shifts after which the windows cover mostly the same dumps are left out, because they are nearly the observation: those by a short
//! time, and those by a period if the windows recur regularly. Regular windows have too few different shifts for the second value.
//! It is then that of a paired t test of the windows and the times between each window and the next one.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::column::Column;

/// Number of shifts.
const SHIFTS: usize = 800;

/// Independent shifts that are needed.
const INDEPENDENT_MIN: f64 = 8.0;

/// The part has at least this number of clusters.
const CLUSTERS_MIN: u32 = 16;

/// The moved windows, as ranges of dumps.
#[derive(Debug)]
pub(crate) struct ShiftedWindows {
    /// For each shift, the ranges of dumps in slow windows; the first shift is by 0.
    ranges: Vec<Vec<(u32, u32)>>,
    /// For each shift, whether the windows are at other times.
    is_elsewhere: Vec<bool>,
    /// Whether the windows recur, so that shifts by a period return them to the same times.
    is_regular: bool,
    /// Number of threads from the first dump up to each dump.
    threads_until: Vec<f64>,
}

/// A difference of shares, and how it varies without an association.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShareTest {
    /// Share of the threads in slow windows.
    pub(crate) share_slow: f64,
    /// Share of the threads in the other windows.
    pub(crate) share_fast: f64,
    /// Probability of a difference that is at least as large in either direction.
    pub(crate) p: f64,
    /// Standard deviation of the difference without an association.
    pub(crate) deviation: f64,
    /// Number of independent shifts.
    pub(crate) independent: f64,
}

impl ShareTest {
    pub(crate) fn difference(&self) -> f64 {
        self.share_slow - self.share_fast
    }
}

impl ShiftedWindows {
    /// Moves the windows over a part of the run. `times` are those of the dumps in this part, ascending, and `threads` their numbers of
    /// threads.
    pub(crate) fn new(times: &[u64], threads: &[u64], windows: &[(u64, u64)], part: (u64, u64)) -> Self {
        let length = part.1 - part.0;
        let ranges: Vec<Vec<(u32, u32)>> = (0..SHIFTS)
            .map(|number| (u128::from(length) * number as u128 / SHIFTS as u128) as u64)
            .map(|shift| moved(times, windows, part, shift))
            .collect();
        let is_elsewhere = elsewhere(&ranges, times.len());
        let is_regular = ranges[0].len() as f64 >= INDEPENDENT_MIN && returns(&is_elsewhere);
        let mut threads_until = vec![0.0];
        for count in threads {
            threads_until.push(threads_until[threads_until.len() - 1] + *count as f64);
        }
        ShiftedWindows { ranges, is_elsewhere, is_regular, threads_until }
    }

    /// The dumps in slow windows.
    pub(crate) fn slow(&self) -> &[(u32, u32)] {
        &self.ranges[0]
    }

    /// Number of dumps.
    pub(crate) fn dumps(&self) -> usize {
        self.threads_until.len() - 1
    }

    /// The shares in slow windows and in the others after a shift, of the threads that are counted in `until`.
    fn shares(&self, until: &[f64], shift: usize) -> Option<(f64, f64)> {
        let (mut count, mut threads) = (0.0, 0.0);
        for (from, to) in &self.ranges[shift] {
            let (from, to) = (*from as usize, *to as usize);
            count += until[to] - until[from];
            threads += self.threads_until[to] - self.threads_until[from];
        }
        let last = self.dumps();
        let (rest, others) = (until[last] - count, self.threads_until[last] - threads);
        (threads > 0.0 && others > 0.0).then(|| (count / threads, rest / others))
    }

    /// Tests whether the share of a column differs. `None` if the share does not vary, or if there are too few independent shifts.
    pub(crate) fn test(&self, column: &Column) -> Option<ShareTest> {
        let mut until = Vec::with_capacity(self.dumps() + 1);
        column.accumulate(self.dumps(), &mut until);
        let (share_slow, share_fast) = self.shares(&until, 0)?;
        let null = self.spread(&until)?;
        let distance = (share_slow - share_fast - null.mean).abs();
        let tail = match self.is_regular {
            true => self.paired(&until)?,
            false => {
                let t = StudentsT::new(0.0, 1.0, null.independent - 1.0).ok()?;
                2.0 * t.sf(distance / (null.deviation * (1.0 + 1.0 / null.independent).sqrt()))
            }
        };
        let as_large = null.values.iter().filter(|value| (*value - null.mean).abs() >= distance).count();
        let p = tail.max(as_large as f64 / null.values.len() as f64).min(1.0);
        Some(ShareTest {
            share_slow,
            share_fast,
            p,
            deviation: null.deviation,
            independent: null.independent,
        })
    }

    /// The 95 % interval of the difference of a column. The windows and the times between them are clusters of dumps, whose shares vary
    /// independently of each other; the variance is that of a ratio of sums over clusters (Cochran, Sampling Techniques, section 6.3).
    pub(crate) fn interval(&self, column: &Column) -> Option<(f64, f64)> {
        let mut until = Vec::with_capacity(self.dumps() + 1);
        column.accumulate(self.dumps(), &mut until);
        let (share_slow, share_fast) = self.shares(&until, 0)?;
        let (slow, fast) = self.clusters();
        let slow = self.cluster_variance(&until, &slow, share_slow)?;
        let fast = self.cluster_variance(&until, &fast, share_fast)?;
        let variance = slow.0 + fast.0;
        if variance <= 0.0 {
            return None;
        }
        // Welch and Satterthwaite.
        let freedom = variance * variance / (slow.0 * slow.0 / slow.1 + fast.0 * fast.0 / fast.1);
        let half = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975) * variance.sqrt();
        let difference = share_slow - share_fast;
        Some((difference - half, difference + half))
    }

    /// The ranges of dumps in slow windows, and between them. Long ranges are divided.
    fn clusters(&self) -> (Vec<(u32, u32)>, Vec<(u32, u32)>) {
        let longest = (self.dumps() as u32).div_ceil(CLUSTERS_MIN).max(1);
        let (mut slow, mut fast) = (Vec::new(), Vec::new());
        let mut at = 0;
        for (from, to) in self.slow() {
            divide(at, *from, longest, &mut fast);
            divide(*from, *to, longest, &mut slow);
            at = *to;
        }
        divide(at, self.dumps() as u32, longest, &mut fast);
        (slow, fast)
    }

    /// The variance of a share, and its degrees of freedom; `None` for fewer than two clusters.
    fn cluster_variance(&self, until: &[f64], clusters: &[(u32, u32)], share: f64) -> Option<(f64, f64)> {
        let (mut squares, mut threads) = (0.0, 0.0);
        for (from, to) in clusters {
            let (from, to) = (*from as usize, *to as usize);
            let of_cluster = self.threads_until[to] - self.threads_until[from];
            squares += (until[to] - until[from] - share * of_cluster).powi(2);
            threads += of_cluster;
        }
        let count = clusters.len() as f64;
        (count >= 2.0 && threads > 0.0)
            .then(|| (squares / (threads * threads) * count / (count - 1.0), count - 1.0))
    }

    /// The p value of a paired t test of each window and the time up to the next one; `None` for fewer than eight windows.
    fn paired(&self, until: &[f64]) -> Option<f64> {
        let share = |from: u32, to: u32| {
            let (from, to) = (from as usize, to as usize);
            let threads = self.threads_until[to] - self.threads_until[from];
            (threads > 0.0).then(|| (until[to] - until[from]) / threads)
        };
        let next = |at: usize| self.slow().get(at + 1).map_or(self.dumps() as u32, |(from, _)| *from);
        let pairs = self.slow().iter().enumerate();
        let differences: Vec<f64> =
            pairs.filter_map(|(at, (from, to))| Some(share(*from, *to)? - share(*to, next(at))?)).collect();
        let count = differences.len() as f64;
        if count < INDEPENDENT_MIN {
            return None;
        }
        let mean = differences.iter().sum::<f64>() / count;
        let variance = differences.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let t = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
        Some(if variance > 0.0 { 2.0 * t.sf(mean.abs() / (variance / count).sqrt()) } else { 1.0 })
    }

    /// How the difference varies over the shifts to other times; `None` if it does not, or if too few of them are independent.
    fn spread(&self, until: &[f64]) -> Option<Spread> {
        let all: Vec<f64> = (0..SHIFTS)
            .map(|shift| self.shares(until, shift).map_or(0.0, |(slow, fast)| slow - fast))
            .collect();
        let independent_share = independent(&all)?;
        let values: Vec<f64> =
            all.into_iter().zip(&self.is_elsewhere).filter(|(_, is)| **is).map(|(value, _)| value).collect();
        let count = values.len() as f64;
        let independent = independent_share * count;
        if independent < INDEPENDENT_MIN {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0)).sqrt();
        (deviation > 1e-9).then_some(Spread { values, mean, deviation, independent })
    }
}

/// How a difference varies over shifts.
struct Spread {
    values: Vec<f64>,
    mean: f64,
    deviation: f64,
    independent: f64,
}

/// Whether shifts that are neither short nor nearly a whole round return the windows to the same times.
fn returns(is_elsewhere: &[bool]) -> bool {
    let first = is_elsewhere.iter().position(|is| *is);
    let last = is_elsewhere.iter().rposition(|is| *is);
    match (first, last) {
        (Some(first), Some(last)) => is_elsewhere[first..=last].iter().any(|is| !is),
        _ => false,
    }
}

/// Adds a range in parts of at most this length.
fn divide(from: u32, to: u32, longest: u32, parts: &mut Vec<(u32, u32)>) {
    let mut at = from;
    while at < to {
        let end = at.saturating_add(longest).min(to);
        parts.push((at, end));
        at = end;
    }
}

/// For each shift, whether the windows cover other dumps than before: the agreement beyond chance is less than a half.
fn elsewhere(ranges: &[Vec<(u32, u32)>], dumps: usize) -> Vec<bool> {
    let mut slow_until = vec![0u32; dumps + 1];
    for (from, to) in &ranges[0] {
        slow_until[*from as usize + 1..=*to as usize].fill(1);
    }
    for at in 0..dumps {
        slow_until[at + 1] += slow_until[at];
    }
    let slow = f64::from(slow_until[dumps]);
    let by_chance = slow / dumps as f64;
    let agreement = |ranges: &Vec<(u32, u32)>| {
        let both: u32 =
            ranges.iter().map(|(from, to)| slow_until[*to as usize] - slow_until[*from as usize]).sum();
        (f64::from(both) / slow - by_chance) / (1.0 - by_chance)
    };
    ranges.iter().map(|ranges| agreement(ranges) < 0.5).collect()
}

/// The windows, moved later by `shift`; beyond the end of the part they continue at its start. Ranges do not overlap.
fn moved(times: &[u64], windows: &[(u64, u64)], part: (u64, u64), shift: u64) -> Vec<(u32, u32)> {
    let length = part.1 - part.0;
    let at = |time: u64| times.partition_point(|one| *one < time) as u32;
    let mut ranges = Vec::with_capacity(windows.len() + 1);
    for (from, to) in windows {
        let first = (from - part.0 + shift) % length;
        let last = first + (to - from).min(length);
        ranges.push((at(part.0 + first), at(part.0 + last.min(length))));
        if last > length {
            ranges.push((0, at(part.0 + last - length)));
        }
    }
    ranges.retain(|(from, to)| from < to);
    ranges
}

/// The share of the shifts that are independent; `None` if all differences are equal.
fn independent(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let squares: f64 = centred.iter().map(|value| value * value).sum();
    (squares > 1e-15).then(|| 1.0 / correlated_shifts(&centred, squares))
}

/// The number of neighbouring shifts that together count as one independent shift: the sum of their autocorrelations up
/// to the first one that is not positive.
fn correlated_shifts(centred: &[f64], squares: f64) -> f64 {
    let count = centred.len();
    let mut sum = 1.0;
    for lag in 1..count / 2 {
        let product: f64 = (0..count).map(|at| centred[at] * centred[(at + lag) % count]).sum();
        let correlation = product / squares;
        if correlation <= 0.0 {
            break;
        }
        sum += 2.0 * correlation;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_move_over_the_end() {
        let times: Vec<u64> = (0..10).map(|at| 100 + at * 10).collect();
        assert_eq!(moved(&times, &[(120, 140)], (100, 200), 0), [(2, 4)]);
        assert_eq!(moved(&times, &[(120, 140)], (100, 200), 70), [(9, 10), (0, 1)]);
        assert_eq!(moved(&times, &[(121, 129)], (100, 200), 0), []);
    }

    #[test]
    fn a_share_that_is_larger_in_slow_windows_is_found() {
        let times: Vec<u64> = (0..400).collect();
        let threads = vec![10; 400];
        let windows: Vec<(u64, u64)> = [20, 61, 107, 170, 233, 290, 351].map(|at| (at, at + 9)).into();
        let mut column = Column::default();
        for at in 0..400u32 {
            let is_slow = windows.iter().any(|(from, to)| (*from..*to).contains(&u64::from(at)));
            column.add(at, if is_slow { 5 + at % 3 } else { 1 + at % 2 });
        }
        let shifted = ShiftedWindows::new(&times, &threads, &windows, (0, 400));
        let test = shifted.test(&column).unwrap();
        assert!(test.p < 0.001, "{test:?}");
        assert!((test.difference() - 0.45).abs() < 0.03, "{test:?}");
        let (low, high) = shifted.interval(&column).unwrap();
        assert!(low > 0.4 && high < 0.5 && low < 0.45 && high > 0.45, "{low} {high}");
    }
}
