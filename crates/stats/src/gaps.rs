//! Statistics of the times between arrivals.

use crate::batches::{Batches, coefficient_of_variation, reciprocal_mean};
use crate::estimate::Estimate;
use crate::moments::Moments;

/// Rate and coefficient of variation of a stream of gaps, in bounded memory, with confidence intervals that are valid for
/// dependent gaps.
#[derive(Debug, Clone, Default)]
pub struct GapStatistics {
    moments: Moments,
    /// The first gap. Sums are relative to it, which avoids cancellation if gaps are nearly equal.
    pivot: f64,
    batches: Batches,
}

impl GapStatistics {
    /// The statistics of the gaps between sorted time stamps, in the unit of the time stamps.
    #[must_use]
    pub fn of_stamps(stamps: &[u64]) -> GapStatistics {
        let mut gaps = GapStatistics::default();
        for pair in stamps.windows(2) {
            gaps.add(pair[1].saturating_sub(pair[0]) as f64);
        }
        gaps
    }

    /// Adds one gap. All gaps must have the same unit.
    pub fn add(&mut self, gap: f64) {
        if self.moments.n() == 0 {
            self.pivot = gap;
        }
        self.moments.add(gap);
        self.batches.add(gap - self.pivot);
    }

    /// Count, mean, standard deviation and extremes.
    #[must_use]
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Coefficient of variation (standard deviation divided by mean): 1 for Poisson arrivals, 0 for even arrivals. `None` for
    /// fewer than two gaps.
    #[must_use]
    pub fn coefficient_of_variation(&self) -> Option<Estimate> {
        coefficient_of_variation(&self.batches.parts(), self.pivot)
    }

    /// Number of arrivals per unit of time, in the unit of the gaps; `None` for fewer than two gaps, or if all are 0.
    #[must_use]
    pub fn rate(&self) -> Option<Estimate> {
        reciprocal_mean(&self.batches.parts(), self.pivot)
    }
}
