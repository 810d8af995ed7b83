//! Divides a sequence of counts into segments with a constant share of errors.
//!
//! The best partition has the largest binomial likelihood after subtraction of a penalty for each change. Errors often
//! occur in groups, for example when one connection fails. Their counts then vary more than those of independent
//! errors. The logarithm of the likelihood is divided by this over-dispersion. It is estimated from the counts in
//! single slices and in blocks of slices, around the partition with the most segments.

use std::ops::Range;

use super::levels::Partition;

/// Number of slices per segment in the partition with the most segments.
const SLICES_OF_SEGMENT: usize = 15;
/// Minimum number of segments in the partition with the most segments: before, in and after one burst of errors.
const SEGMENTS_FEW: usize = 3;

/// Numbers of adjacent slices in the blocks in which the variation of the counts is measured.
const BLOCKS: [usize; 4] = [1, 2, 4, 8];

/// Minimum number of degrees of freedom for using a measured variation.
const FREEDOM_MIN: usize = 6;

/// A part of a sequence with a constant share of errors.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShareSegment {
    pub(super) range: Range<usize>,
    pub(super) errors: u64,
    pub(super) requests: u64,
}

impl ShareSegment {
    pub(super) fn share(&self) -> f64 {
        self.errors as f64 / self.requests.max(1) as f64
    }
}

/// Divides `counts`, which are pairs of errors and requests, into segments. Also returns the over-dispersion, which is at least
/// 1.
pub(super) fn share_segments(counts: &[(u64, u64)], penalty: f64) -> (Vec<ShareSegment>, f64) {
    let mut sums = vec![(0, 0)];
    for (errors, requests) in counts {
        let (before, of) = sums[sums.len() - 1];
        sums.push((before + errors, of + requests));
    }
    let of_range = |range: &Range<usize>| {
        let (from, to) = (sums[range.start], sums[range.end]);
        ShareSegment { range: range.clone(), errors: to.0 - from.0, requests: to.1 - from.1 }
    };
    if counts.is_empty() || sums[counts.len()].0 == 0 {
        return (vec![of_range(&(0..counts.len()))], 1.0);
    }
    let partition = Partition::of(counts.len(), 1, |range| deviance(&of_range(range)));
    let segments = |number: usize| partition.ranges(number).iter().map(of_range).collect::<Vec<_>>();
    // A partition of few slices into many segments would also fit the variation that the over-dispersion must measure.
    let most = partition.segments_max().min((counts.len() / SLICES_OF_SEGMENT).max(SEGMENTS_FEW));
    let dispersion = dispersion(counts, &segments(most));
    let score = |number: usize| partition.cost(number) / dispersion + penalty * (number as f64 - 1.0);
    let best = (1..=most).min_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(1);
    (segments(best), dispersion)
}

/// Minus twice the logarithm of the likelihood of a segment, given its own share of errors.
fn deviance(segment: &ShareSegment) -> f64 {
    let share = segment.share();
    let term = |count: u64, share: f64| if count == 0 { 0.0 } else { count as f64 * share.ln() };
    -2.0 * (term(segment.errors, share) + term(segment.requests - segment.errors, 1.0 - share))
}

/// The variance of the counts around the shares of their segments, divided by the variance of independent errors. Returns the
/// maximum over all lengths of blocks.
fn dispersion(counts: &[(u64, u64)], segments: &[ShareSegment]) -> f64 {
    let of_blocks = |length: usize| {
        let (mut squares, mut blocks) = (0.0, 0_usize);
        let mut shares = 0;
        for segment in segments {
            let share = segment.share();
            if share <= 0.0 || share >= 1.0 || segment.range.len() < 2 * length {
                continue;
            }
            shares += 1;
            for block in counts[segment.range.clone()].chunks_exact(length) {
                let errors: u64 = block.iter().map(|(errors, _)| errors).sum();
                let requests: u64 = block.iter().map(|(_, requests)| requests).sum();
                let expected = requests as f64 * share;
                if requests > 0 {
                    squares += (errors as f64 - expected).powi(2) / (expected * (1.0 - share));
                    blocks += 1;
                }
            }
        }
        let freedom = blocks.saturating_sub(shares);
        (freedom >= FREEDOM_MIN).then(|| squares / freedom as f64)
    };
    BLOCKS.into_iter().filter_map(of_blocks).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_a_segment() {
        let counts: Vec<(u64, u64)> = (0..100)
            .map(|at| if (30..36).contains(&at) { (10, 100) } else { (u64::from(at % 2 == 0), 100) })
            .collect();
        let (segments, dispersion) = share_segments(&counts, 18.0);
        let ranges: Vec<Range<usize>> = segments.iter().map(|segment| segment.range.clone()).collect();
        assert_eq!(ranges, [0..30, 30..36, 36..100]);
        assert!(dispersion < 1.01 && segments[1].errors == 60, "{dispersion} {segments:?}");
    }

    #[test]
    fn groups_of_errors_at_a_constant_rate_are_one_segment() {
        let counts: Vec<(u64, u64)> =
            (0..150).map(|at| (if at % 7 == 3 || at % 5 == 1 { 5 } else { 0 }, 100)).collect();
        let (segments, dispersion) = share_segments(&counts, 18.0);
        assert!(segments.len() == 1 && dispersion > 3.0, "{dispersion} {segments:?}");
    }

    #[test]
    fn without_errors_there_is_one_segment() {
        assert_eq!(share_segments(&[(0, 10); 30], 18.0).0.len(), 1);
        assert_eq!(share_segments(&[(10, 10); 30], 18.0).0.len(), 1);
    }
}
