//! The laws of arrivals.

/// The distribution of the gaps between arrivals, after rescaling time by Λ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Independent exponential gaps.
    Poisson,
    /// Equal gaps.
    Even,
    /// One uniform point per cell: gaps are the sum of two uniform variates, with CoV √(1/6) ≈ 0.41.
    Jittered,
    /// Independent gaps with this coefficient of variation.
    Renewal {
        /// Standard deviation divided by mean.
        cov: f64,
    },
    /// Two alternating rates: more variable than Poisson at every scale.
    Bursty,
    /// The start times in a file.
    Replay,
    /// A fixed number of independent points: Poisson gaps, but counts that vary less than those of a Poisson process.
    FixedCount,
    /// Stages with different laws, each of which must be judged separately.
    Mixed,
    /// Pauses only.
    NoArrivals,
}
