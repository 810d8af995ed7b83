//! Measures of a whole run that its seconds do not contain.

/// Measures of a run that cannot be added up from its seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunMeasures {
    /// From the first start to the last end of a request, in seconds: rates over the run are divided by it. Without it they are
    /// divided by whole seconds.
    pub span_s: Option<f64>,
    /// Coefficient of variation of the gaps between all arrivals; `None` when they were not judged.
    pub arrivals_cov: Option<f64>,
}
