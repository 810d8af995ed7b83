//! Uniformly jittered arrivals.

use crate::linear_rate::LinearRate;
use crate::random::Source;

/// Generates one uniform point in each cell [k, k+1) of Λ. The stage may end within the last cell. A point after the end of the
/// stage is discarded, so that the expected number is exactly Λ(end).
#[derive(Clone, Debug)]
pub(crate) struct Jittered {
    source: Source,
    line: LinearRate,
    duration_ns: u64,
    expected: f64,
    cell: u64,
}

impl Jittered {
    pub(crate) fn new(source: Source, line: LinearRate, duration_ns: u64) -> Jittered {
        Jittered { source, line, duration_ns, expected: line.cumulative(duration_ns as f64), cell: 0 }
    }

    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        let count = self.cell as f64 + self.source.uniform();
        if count >= self.expected {
            return None;
        }
        self.cell += 1;
        Some((self.line.time_of(count) as u64).min(self.duration_ns - 1))
    }
}
