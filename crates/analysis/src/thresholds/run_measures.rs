//! Measures of a whole run that cannot be computed from its per-second data.

/// Measures of a run that cannot be computed from its per-second data.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunMeasures {
    /// Time from the first start to the last end of a request, in seconds, over which rates of the run are computed. If unknown,
    /// rates are computed over whole seconds.
    pub span_s: Option<f64>,
    /// Coefficient of variation of the gaps between all arrivals; `None` if arrivals were not judged.
    pub arrivals_cov: Option<f64>,
}
