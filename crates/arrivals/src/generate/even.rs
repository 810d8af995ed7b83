//! Even arrivals: one whenever the expected number of arrivals reaches a whole number.

use crate::linear_rate::LinearRate;

/// Relative tolerance for expected numbers that should be whole, because products such as 100/60 · 3 are rounded. Without the
/// tolerance, rounding could produce six arrivals instead of five.
const NEAR: f64 = 1e-9;

/// Generates the k-th arrival (from 0) at the time at which Λ reaches `phase` + k.
#[derive(Clone, Debug)]
pub(crate) struct Even {
    line: LinearRate,
    duration_ns: u64,
    phase: f64,
    next: u64,
    count: u64,
}

impl Even {
    pub(crate) fn new(line: LinearRate, duration_ns: u64, phase: f64, count: Option<u64>) -> Even {
        let expected = line.cumulative(duration_ns as f64);
        let count = count.unwrap_or_else(|| count_within(phase, expected));
        Even { line, duration_ns, phase, next: 0, count }
    }

    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        if self.next >= self.count {
            return None;
        }
        let offset_ns = self.line.time_of(self.phase + self.next as f64).round();
        self.next += 1;
        // Rounding may shift the last offset to the end or beyond it; the cast saturates. If the rate falls to 0, the last root
        // is only approximate.
        Some((offset_ns as u64).min(self.duration_ns - 1))
    }
}

/// The number of the values phase, phase + 1, … that are below `expected`.
fn count_within(phase: f64, expected: f64) -> u64 {
    let span = expected - phase;
    (span - NEAR * expected.max(1.0)).ceil().max(0.0) as u64
}

/// The phase at the end of a stage with `expected` expected arrivals: the amount by which Λ increases until the next even
/// arrival.
pub(crate) fn phase_after(phase: f64, expected: f64) -> f64 {
    let rest = phase + count_within(phase, expected) as f64 - expected;
    if rest.abs() <= NEAR * expected.max(1.0) { 0.0 } else { rest.max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_does_not_add_an_arrival() {
        let expected = 100.0 / 60.0 * 3.0 + f64::EPSILON * 8.0;
        assert!(expected > 5.0);
        assert_eq!(count_within(0.0, expected), 5);
        assert_eq!(phase_after(0.0, expected), 0.0);
        assert_eq!(count_within(0.0, 5.5), 6);
        assert_eq!(phase_after(0.0, 5.5), 0.5);
        assert_eq!(count_within(0.5, 0.25), 0);
        assert_eq!(phase_after(0.5, 0.25), 0.25);
        assert_eq!(count_within(0.0, 0.0), 0);
    }
}
