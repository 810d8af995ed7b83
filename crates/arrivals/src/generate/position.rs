//! An offset in a stage, computed as the sum of many small steps.

/// An offset, stored as whole nanoseconds and a fraction, so that gaps of 100 ns are still exact after months.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    whole_ns: u64,
    rest_ns: f64,
}

impl Position {
    /// The offset from the start of the stage, rounded down.
    pub(crate) fn whole_ns(self) -> u64 {
        self.whole_ns
    }

    /// The offset as a floating-point number.
    pub(crate) fn ns(self) -> f64 {
        self.whole_ns as f64 + self.rest_ns
    }

    /// Advances the position; `None` if it would reach `end_ns` or if the step is not finite.
    pub(crate) fn step(self, step_ns: f64, end_ns: u64) -> Option<Position> {
        let sum = self.rest_ns + step_ns;
        // This condition is also met for infinite steps, which result from a rate of 0.
        if sum.is_nan() || sum >= (end_ns - self.whole_ns) as f64 {
            return None;
        }
        let whole = sum.floor();
        Some(Position { whole_ns: self.whole_ns + whole as u64, rest_ns: sum - whole })
    }
}
