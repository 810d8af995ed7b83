//! Selects the frames that are named.
//!
//! A frame and its callers have nearly the same difference. The result should name three places instead of one place
//! three times. The stacks of a selected frame are therefore excluded from the differences of the others, and a
//! difference is represented by the topmost frame that has most of it.

/// A frame that differs.
#[derive(Debug)]
pub(crate) struct Candidate<'g> {
    /// The position of its group.
    pub(crate) group: usize,
    pub(crate) is_jdk: bool,
    /// Positions of its stacks, ascending.
    pub(crate) stacks: &'g [u32],
}

/// The largest number of frames.
const NAMED_MAX: usize = 3;

/// A frame represents its callers if its difference is at least this part of theirs.
const STANDS_FOR: f64 = 0.8;

/// A frame is named if this part of its difference is not in stacks of named frames.
const NOT_NAMED_MIN: f64 = 0.5;

/// The groups of at most three frames: those of the application first, then by their differences. `differences` are those of the stacks;
/// frames that occur more often in slow windows are preferred.
pub(crate) fn select(candidates: &[Candidate<'_>], differences: &[f64]) -> Vec<usize> {
    let rising = selected(candidates, differences, 1.0);
    if rising.is_empty() { selected(candidates, differences, -1.0) } else { rising }
}

fn selected(candidates: &[Candidate<'_>], differences: &[f64], sign: f64) -> Vec<usize> {
    let mut is_named = vec![false; differences.len()];
    let mut named = Vec::new();
    for is_jdk in [false, true] {
        while named.len() < NAMED_MAX {
            let open: Vec<(&Candidate<'_>, f64)> = candidates
                .iter()
                .filter(|candidate| candidate.is_jdk == is_jdk && !named.contains(&candidate.group))
                .filter_map(|candidate| {
                    let all = sign * sum(candidate.stacks, differences, |_| true);
                    let rest = sign * sum(candidate.stacks, differences, |at| !is_named[at]);
                    (all > 0.0 && rest >= NOT_NAMED_MIN * all).then_some((candidate, rest))
                })
                .collect();
            let Some(best) = open.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            // Fewer stacks: nearer to the top.
            let nearest = open
                .iter()
                .filter(|(candidate, rest)| {
                    *rest >= STANDS_FOR * best.1 && is_part(candidate.stacks, best.0.stacks)
                })
                .min_by_key(|(candidate, _)| candidate.stacks.len())
                .unwrap_or(best);
            nearest.0.stacks.iter().for_each(|at| is_named[*at as usize] = true);
            named.push(nearest.0.group);
        }
    }
    named
}

fn sum(stacks: &[u32], differences: &[f64], is_counted: impl Fn(usize) -> bool) -> f64 {
    stacks.iter().map(|at| *at as usize).filter(|at| is_counted(*at)).map(|at| differences[at]).sum()
}

/// Whether all numbers of an ascending list are in another one.
fn is_part(part: &[u32], whole: &[u32]) -> bool {
    part.iter().all(|one| whole.binary_search(one).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_of_a_named_frame_are_not_named() {
        // Stack 0 is run → handle → pay, 1 is run → handle → search, 2 is rebuild, 3 is Thread.sleep alone.
        let differences = [0.4, 0.02, 0.1, 0.2];
        let candidate = |group, is_jdk, stacks| Candidate { group, is_jdk, stacks };
        let candidates = [
            candidate(0, false, &[0, 1][..]),
            candidate(1, false, &[0]),
            candidate(2, false, &[2]),
            candidate(3, true, &[2, 3]),
        ];
        assert_eq!(select(&candidates, &differences), [1, 2, 3]);
        assert_eq!(select(&candidates[..1], &differences), [0]);
        assert_eq!(select(&candidates[..2], &[-0.3, -0.1, 0.0, 0.0]), [0]);
        assert_eq!(select(&[], &differences), [0usize; 0]);
    }
}
