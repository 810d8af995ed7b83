//! Finds the plateaus of a run whose number of users changes in steps.
//!
//! A plateau is an interval in which the number of active users stays within 2 % of its first value, for at least ten seconds and
//! at least a thirtieth of the run. The first tenth of a plateau (at least one second) is excluded because the system may not
//! have settled after the step; the last second is excluded because the next step may begin in it. A ramp has no plateaus
//! unless it is so slow that each of its steps lasts that long.

use std::ops::Range;

use crate::series::Series;

/// The number of users in a plateau deviates from its first value by at most this share.
const LEVEL_WIDTH: f64 = 0.02;

/// Minimum length of a plateau, in seconds.
const LENGTH_MIN: usize = 10;

/// Minimum length of a plateau, as a share of the run.
const SHARE_MIN: f64 = 1.0 / 30.0;

/// Share of a plateau that is excluded at its beginning.
const SETTLING: f64 = 0.1;

/// Plateaus whose numbers of users differ by less than this share have the same load.
const STEP_MIN: f64 = 0.05;

/// An interval with a constant number of users.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// The most frequent number of users.
    pub users: u32,
    /// Start and end without the excluded seconds, in seconds from the start of the run.
    pub window_s: (f64, f64),
}

/// Finds the plateaus in `series`. Returns an empty list if there are fewer than two plateaus, or if all have about the same
/// number of users.
#[must_use]
pub fn plateaus(series: &Series) -> Vec<Plateau> {
    // The number of users is unknown in seconds in which no request ended. Such seconds do not end a plateau.
    let known: Vec<(u64, u32)> = series
        .second
        .iter()
        .zip(&series.users)
        .filter_map(|(second, users)| Some((*second, (*users)?)))
        .filter(|(_, users)| *users > 0)
        .collect();
    let Some(length) = series.second.last().zip(series.second.first()).map(|(last, first)| last - first + 1)
    else {
        return Vec::new();
    };
    let least = LENGTH_MIN.max((SHARE_MIN * length as f64).ceil() as usize);
    let found: Vec<Plateau> = levels(&known)
        .into_iter()
        .filter_map(|level| plateau(&known[level]).filter(|(_, seconds)| *seconds >= least))
        .map(|(plateau, _)| plateau)
        .collect();
    let extremes = found.iter().map(|plateau| plateau.users).min().zip(found.iter().map(|p| p.users).max());
    match extremes {
        Some((few, many)) if f64::from(many) > f64::from(few) * (1.0 + STEP_MIN) => found,
        _ => Vec::new(),
    }
}

/// Splits the seconds into ranges in which the number of users stays near that of the range's first second.
fn levels(known: &[(u64, u32)]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    for at in 1..=known.len() {
        let is_same_level = known.get(at).is_some_and(|(_, users)| {
            let first = f64::from(known[from].1);
            (f64::from(*users) - first).abs() <= LEVEL_WIDTH * first
        });
        if !is_same_level {
            found.push(from..at);
            from = at;
        }
    }
    found
}

/// The plateau of a range of seconds, and the full length of that range in seconds.
fn plateau(range: &[(u64, u32)]) -> Option<(Plateau, usize)> {
    let (first, last) = (range.first()?.0, range.last()?.0);
    let seconds = (last - first + 1) as usize;
    let mut users: Vec<u32> = range.iter().map(|(_, users)| *users).collect();
    users.sort_unstable();
    let most = users.chunk_by(|a, b| a == b).max_by_key(|chunk| chunk.len())?[0];
    let settling = (SETTLING * seconds as f64).ceil().max(1.0);
    Some((Plateau { users: most, window_s: (first as f64 + settling, last as f64) }, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(users: impl IntoIterator<Item = Option<u32>>) -> Series {
        let users: Vec<Option<u32>> = users.into_iter().collect();
        Series { second: (5..).take(users.len()).collect(), users, ..Series::default() }
    }

    /// The series of steps, each given as (seconds, users).
    fn steps(steps: &[(usize, u32)]) -> Vec<Option<u32>> {
        steps.iter().flat_map(|&(seconds, users)| vec![Some(users); seconds]).collect()
    }

    #[test]
    fn steps_are_plateaus_and_ramps_are_not() {
        let mut run = steps(&[(30, 10)]);
        run.extend((11..40).map(Some));
        run.extend(steps(&[(40, 40), (20, 80), (5, 60)]));
        let found = plateaus(&series(run));
        let plateaus: Vec<(u32, (f64, f64))> =
            found.iter().map(|plateau| (plateau.users, plateau.window_s)).collect();
        // The steps begin at 5, 64 and 104 s.
        assert_eq!(plateaus, [(10, (8.0, 34.0)), (40, (68.0, 103.0)), (80, (106.0, 123.0))]);
    }

    #[test]
    fn a_run_with_one_load_has_no_plateaus() {
        assert_eq!(plateaus(&series(steps(&[(60, 50)]))), []);
        // A ramp, a plateau, a ramp.
        let run = (1..50).map(Some).chain(steps(&[(60, 50)])).chain((1..50).rev().map(Some));
        assert_eq!(plateaus(&series(run)), []);
        // The same load twice.
        assert_eq!(plateaus(&series(steps(&[(60, 50), (5, 20), (60, 50)]))), []);
        assert_eq!(plateaus(&Series::default()), []);
        assert_eq!(plateaus(&series([None; 60])), []);
    }

    #[test]
    fn seconds_without_samples_and_small_deviations_do_not_end_a_plateau() {
        let mut run = steps(&[(30, 100), (30, 200)]);
        run[7] = None;
        run[11] = Some(99);
        run[45] = Some(197);
        let found = plateaus(&series(run));
        assert_eq!(found.iter().map(|plateau| plateau.users).collect::<Vec<_>>(), [100, 200]);
    }

    #[test]
    fn a_step_that_is_short_compared_to_the_run_is_not_a_plateau() {
        let run = steps(&[(600, 10), (15, 20), (600, 30)]);
        let found = plateaus(&series(run));
        assert_eq!(found.iter().map(|plateau| plateau.users).collect::<Vec<_>>(), [10, 30]);
    }
}
