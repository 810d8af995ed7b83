//! The settings of an aggregator.

use crate::sample::Nanos;

/// What response times count for the Application Performance Index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApdexLimits {
    /// Up to here a user is satisfied, in ns.
    pub satisfied_ns: u64,
    /// Up to here a user tolerates it, in ns.
    pub tolerated_ns: u64,
}

impl Default for ApdexLimits {
    /// JMeter's: 500 ms and 1,500 ms (`jmeter.reportgenerator.apdex_satisfied_threshold` and `…_tolerated_threshold`).
    fn default() -> Self {
        ApdexLimits { satisfied_ns: 500_000_000, tolerated_ns: 1_500_000_000 }
    }
}

/// How a book counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AggregatorSettings {
    /// Whether intended starts are unknown: response times are service times then, and are kept once.
    pub(crate) one_clock: bool,
    /// What satisfies and what is tolerated.
    pub(crate) apdex: ApdexLimits,
    /// Samples that start from the first instant on, and before the second, count; `None` for all. Series and heat map
    /// are of all.
    pub(crate) window: Option<(Nanos, Nanos)>,
}
