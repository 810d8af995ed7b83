//! The loads of a run whose users go in steps: where their number stood still.
//!
//! A plateau is a time in which the number of users that requests saw stayed within 2 % of where it began, for ten seconds and a
//! thirtieth of the run at least. Its first tenth, a second at least, is left out, in which the system still feels the step, and so
//! is its last second, in which the next step may begin. Ramps have no such time, unless they are so slow that each of their steps
//! is a load of its own.

use std::ops::Range;

use crate::series::Series;

/// A plateau's users differ by no more than this share.
const LEVEL_WIDTH: f64 = 0.02;

/// A shorter plateau says too little, in seconds.
const LENGTH_MIN: usize = 10;

/// And one that is a smaller part of the run.
const SHARE_MIN: f64 = 1.0 / 30.0;

/// So much of its beginning is left out.
const SETTLING: f64 = 0.1;

/// Plateaus whose users differ by less than this share are one load.
const STEP_MIN: f64 = 0.05;

/// A time in which the number of users stood still.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// The users: the most frequent number.
    pub users: u32,
    /// From where to where, in seconds from the start of the run, without what is left out.
    pub window_s: (f64, f64),
}

/// The plateaus of the run of which `series` tells; empty when its users do not go in steps: fewer than two plateaus, or all of
/// one load.
#[must_use]
pub fn plateaus(series: &Series) -> Vec<Plateau> {
    // Seconds in which nothing ended tell nothing, and break nothing.
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

/// Stretches of the seconds in which the users stay near the first number.
fn levels(known: &[(u64, u32)]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    for at in 1..=known.len() {
        let stays = known.get(at).is_some_and(|(_, users)| {
            let first = f64::from(known[from].1);
            (f64::from(*users) - first).abs() <= LEVEL_WIDTH * first
        });
        if !stays {
            found.push(from..at);
            from = at;
        }
    }
    found
}

/// The plateau of a stretch, and how many seconds it was before anything was left out.
fn plateau(stretch: &[(u64, u32)]) -> Option<(Plateau, usize)> {
    let (first, last) = (stretch.first()?.0, stretch.last()?.0);
    let seconds = (last - first + 1) as usize;
    let mut users: Vec<u32> = stretch.iter().map(|(_, users)| *users).collect();
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

    /// So many seconds with so many users each.
    fn steps(of: &[(usize, u32)]) -> Vec<Option<u32>> {
        of.iter().flat_map(|&(seconds, users)| vec![Some(users); seconds]).collect()
    }

    #[test]
    fn steps_are_loads_and_ramps_are_none() {
        let mut run = steps(&[(30, 10)]);
        run.extend((11..40).map(Some));
        run.extend(steps(&[(40, 40), (20, 80), (5, 60)]));
        let found = plateaus(&series(run));
        let told: Vec<(u32, (f64, f64))> =
            found.iter().map(|plateau| (plateau.users, plateau.window_s)).collect();
        // They begin at 5, 64 and 104 s.
        assert_eq!(told, [(10, (8.0, 34.0)), (40, (68.0, 103.0)), (80, (106.0, 123.0))]);
    }

    #[test]
    fn one_load_is_no_stair() {
        assert_eq!(plateaus(&series(steps(&[(60, 50)]))), []);
        // A ramp, a plateau, a ramp.
        let run = (1..50).map(Some).chain(steps(&[(60, 50)])).chain((1..50).rev().map(Some));
        assert_eq!(plateaus(&series(run)), []);
        // Two times the same load.
        assert_eq!(plateaus(&series(steps(&[(60, 50), (5, 20), (60, 50)]))), []);
        assert_eq!(plateaus(&Series::default()), []);
        assert_eq!(plateaus(&series([None; 60])), []);
    }

    #[test]
    fn silent_seconds_and_stragglers_break_nothing() {
        let mut run = steps(&[(30, 100), (30, 200)]);
        run[7] = None;
        run[11] = Some(99);
        run[45] = Some(197);
        let found = plateaus(&series(run));
        assert_eq!(found.iter().map(|plateau| plateau.users).collect::<Vec<_>>(), [100, 200]);
    }

    #[test]
    fn what_is_short_beside_the_run_is_part_of_a_ramp() {
        let run = steps(&[(600, 10), (15, 20), (600, 30)]);
        let found = plateaus(&series(run));
        assert_eq!(found.iter().map(|plateau| plateau.users).collect::<Vec<_>>(), [10, 30]);
    }
}
