//! Solution methods.

/// Method for closed classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Exact if the cost is low, otherwise Linearizer.
    #[default]
    Automatic,
    /// Exact at any cost, as long as memory suffices.
    Exact,
    /// The approximation Linearizer.
    Linearizer,
    /// The approximation by Bard and Schweitzer, iterated until convergence.
    Schweitzer,
    /// The approximation by Bard and Schweitzer with PDQ's stopping rule.
    Pdq,
}

/// Settings of a solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolveSettings {
    /// Method for closed classes.
    pub method: Method,
    /// Whether to solve a network that breaks assumptions of the method, if all of them can be ignored.
    pub approximate: bool,
}

/// The effort of an exact solution of closed classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Number of populations.
    pub populations: f64,
    /// Number of elementary steps; a core computes about 10⁸ of them per second.
    pub steps: f64,
    /// Whether Linearizer could be used instead.
    pub linearizer: bool,
}
