//! A point in a stage that is reached by many small steps.

/// Whole nanoseconds and the rest apart, so that after months of steps a gap of 100 ns still has all its digits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    whole_ns: u64,
    rest_ns: f64,
}

impl Position {
    /// The offset from the stage's beginning, rounded down.
    pub(crate) fn whole_ns(self) -> u64 {
        self.whole_ns
    }

    /// The offset as exactly as a float can say it.
    pub(crate) fn ns(self) -> f64 {
        self.whole_ns as f64 + self.rest_ns
    }

    /// Moves forward; `None` if that would reach `end_ns` or the step is no finite time.
    pub(crate) fn step(self, step_ns: f64, end_ns: u64) -> Option<Position> {
        let sum = self.rest_ns + step_ns;
        // A step beyond u64 saturates in the cast and is beyond any end; so is the endless step of a rate of 0.
        if sum.is_nan() || sum >= (end_ns - self.whole_ns) as f64 {
            return None;
        }
        let whole = sum.floor();
        Some(Position { whole_ns: self.whole_ns + whole as u64, rest_ns: sum - whole })
    }
}
