//! Methods of solution.

/// How to solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Exactly where that is affordable, else by Linearizer.
    #[default]
    Automatic,
    /// Exact at any cost, as long as memory suffices.
    Exact,
    /// Linearizer.
    Linearizer,
    /// Bard and Schweitzer until nothing moves.
    Schweitzer,
    /// Bard and Schweitzer with PDQ's stopping rule.
    Pdq,
}

/// What to do with a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How to solve closed classes.
    pub method: Method,
    /// Whether to ignore broken assumptions that can be ignored.
    pub approximate: bool,
}

/// What an exact solution of closed classes takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Populations that it goes through.
    pub populations: f64,
    /// Elementary steps; a core makes some 10⁸ of them in a second.
    pub steps: f64,
    /// Whether Linearizer could be used instead.
    pub linearizer: bool,
}
