//! The laws of arrivals.

/// The distribution of the gaps between arrivals, after rescaling time by Λ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Poisson arrivals: independent exponential gaps.
    Poisson,
    /// Even arrivals: equal gaps.
    Even,
    /// Jittered arrivals: one at a uniform point of each interval with one expected arrival. The CoV of gaps is √(1/6) ≈ 0.41.
    Jittered,
    /// A renewal process: independent gaps with this coefficient of variation.
    Renewal {
        /// Coefficient of variation: standard deviation divided by mean.
        cov: f64,
    },
    /// Poisson arrivals with two alternating rates. Their counts vary more than those of a Poisson process with a constant rate.
    Bursty,
    /// The start times recorded in a file.
    Replay,
    /// A fixed number of independent points: gaps as for Poisson arrivals, but counts that vary less.
    FixedCount,
    /// Stages with different laws, each of which must be judged separately.
    Mixed,
    /// No arrivals, only pauses.
    NoArrivals,
}
