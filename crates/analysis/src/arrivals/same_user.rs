//! Short gaps between two starts of the same user: requests of one page that follow each other without a pause.

use std::num::NonZeroU64;

use super::slices::GAP_LIMITS_NS;

/// Counts the gaps between consecutive starts that belong to the same user, by their length.
#[derive(Debug, Clone, Default)]
pub struct SameUserGaps {
    before: Option<(u64, NonZeroU64)>,
    by_limit: [u64; GAP_LIMITS_NS.len()],
    gaps: u64,
}

impl SameUserGaps {
    /// Adds a start, in ns. Starts must be added in order of time; a start of an unknown user counts as that of a different user.
    pub fn add(&mut self, start_ns: u64, user: Option<NonZeroU64>) {
        self.gaps += 1;
        if let (Some(user), Some((before_ns, before))) = (user, self.before)
            && user == before
        {
            let gap_ns = start_ns.saturating_sub(before_ns);
            let limit = GAP_LIMITS_NS.partition_point(|length| *length <= gap_ns);
            if let Some(count) = self.by_limit.get_mut(limit) {
                *count += 1;
            }
        }
        self.before = user.map(|user| (start_ns, user));
    }

    /// The share of all gaps that are shorter than `length_s` and between two starts of the same user.
    pub(super) fn share_below(&self, length_s: f64) -> f64 {
        let length_ns = (length_s * 1e9).round() as u64;
        let limits = GAP_LIMITS_NS.iter().zip(&self.by_limit);
        let below: u64 = limits.filter(|(limit, _)| **limit <= length_ns).map(|(_, count)| count).sum();
        below as f64 / self.gaps.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gaps_of_the_same_user_count() {
        let mut gaps = SameUserGaps::default();
        let user = NonZeroU64::new;
        for (start_us, number) in [(0, 1), (50, 1), (60, 2), (70, 1), (1_070, 1)] {
            gaps.add(start_us * 1_000, user(number));
        }
        assert_eq!((gaps.share_below(1e-4), gaps.share_below(2e-3)), (0.2, 0.4));
        gaps.add(0, None);
        gaps.add(0, None);
        assert_eq!(gaps.share_below(1e-6), 0.0);
    }
}
