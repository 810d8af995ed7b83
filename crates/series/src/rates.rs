//! Converts totals of counters to increases, and handles resets.

use busyhour_sample::Nanos;

/// Turns the totals of one counter into increases. No other code handles resets.
///
/// After a restart, counting began at 0 again. The increase is then the new total (the rule of Prometheus' `rate`). A total
/// below the previous one also means that the source restarted. Events that were counted between the previous reading and
/// the restart are lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct CounterIncreases {
    previous: Option<(Nanos, f64)>,
    resets: u64,
}

/// The increase of a counter between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Increase {
    /// Time of the earlier reading, in ns since the start of the run.
    pub from: Nanos,
    /// Time of the later reading, in ns since the start of the run.
    pub to: Nanos,
    /// Increase in units of the counter; at least 0.
    pub amount: f64,
}

impl CounterIncreases {
    /// The increase since the previous total; `None` for the first total, and if `time` is not after the previous time.
    /// `restarted` is the time of the last known restart of the source.
    pub fn next_total(&mut self, time: Nanos, total: f64, restarted: Option<Nanos>) -> Option<Increase> {
        let previous = self.previous;
        if previous.is_none_or(|(before, _)| before < time) {
            self.previous = Some((time, total));
        }
        let (from, before) = previous.filter(|(before, _)| *before < time)?;
        let is_reset = total < before || restarted.is_some_and(|at| from < at && at <= time);
        self.resets += u64::from(is_reset);
        let amount = if is_reset { total.max(0.0) } else { total - before };
        Some(Increase { from, to: time, amount })
    }

    /// Number of resets so far.
    #[must_use]
    pub fn resets(&self) -> u64 {
        self.resets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resets_count_from_zero_and_times_must_increase() {
        let mut rates = CounterIncreases::default();
        let mut next = |second: u64, total| {
            rates.next_total(Nanos(second * 1_000_000_000), total, None).map(|increase| increase.amount)
        };
        assert_eq!(next(1, 10.0), None);
        assert_eq!(next(2, 15.0), Some(5.0));
        assert_eq!(next(3, 2.0), Some(2.0));
        assert_eq!(next(3, 9.0), None, "the same time again");
        assert_eq!(next(2, 9.0), None, "an earlier time");
        assert_eq!(next(5, 4.0), Some(2.0), "from the total at second 3");
        assert_eq!(rates.resets(), 1);
    }
}
