//! The limits of the Application Performance Index.

/// The limits of the Application Performance Index (APDEX).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApdexLimits {
    /// Up to this response time a user is satisfied, in ns.
    pub satisfied_ns: u64,
    /// Up to this response time a user is tolerating, in ns.
    pub tolerated_ns: u64,
}

impl Default for ApdexLimits {
    /// JMeter's: 500 ms and 1,500 ms (`jmeter.reportgenerator.apdex_satisfied_threshold` and `…_tolerated_threshold`).
    fn default() -> Self {
        ApdexLimits { satisfied_ns: 500_000_000, tolerated_ns: 1_500_000_000 }
    }
}
