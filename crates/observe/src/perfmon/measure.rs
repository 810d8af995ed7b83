//! Values of metrics from two readings of the system.

use std::time::Duration;

/// The result of one reading of the system for a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PerfMonMeasure {
    /// The value itself.
    Value(f64),
    /// A counter; the metric is its increase since the previous reading.
    Counter(f64),
    /// Two counters; the metric is the quotient of their increases, times `scale`.
    Quotient {
        /// The counter in the numerator.
        part: f64,
        /// The counter in the denominator.
        whole: f64,
        /// The factor.
        scale: f64,
    },
    /// A counter; the metric is its increase per second, times `scale`.
    PerSecond {
        /// The counter.
        counter: f64,
        /// The factor.
        scale: f64,
    },
}

/// The previous reading of a metric.
#[derive(Clone, Copy, Debug, Default)]
pub struct CounterDifference {
    previous: Option<(Duration, PerfMonMeasure)>,
}

impl CounterDifference {
    /// The value of the metric; `None` if it needs an earlier reading and there is none, if a counter was reset, or if the
    /// denominator of a quotient did not increase.
    pub fn next(&mut self, time: Duration, measure: PerfMonMeasure) -> Option<f64> {
        let previous = self.previous.replace((time, measure));
        if let PerfMonMeasure::Value(value) = measure {
            return Some(value);
        }
        let (before, earlier) = previous?;
        let seconds = time.checked_sub(before)?.as_secs_f64();
        let value = match (measure, earlier) {
            (PerfMonMeasure::Counter(now), PerfMonMeasure::Counter(then)) => increase(now, then)?,
            (
                PerfMonMeasure::Quotient { part, whole, scale },
                PerfMonMeasure::Quotient { part: part_then, whole: whole_then, .. },
            ) => scale * increase(part, part_then)? / increase(whole, whole_then)?,
            (
                PerfMonMeasure::PerSecond { counter, scale },
                PerfMonMeasure::PerSecond { counter: then, .. },
            ) => scale * increase(counter, then)? / seconds,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }
}

/// The increase of a counter; `None` if it was reset.
fn increase(now: f64, then: f64) -> Option<f64> {
    (now >= then).then_some(now - then)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(measures: &[PerfMonMeasure]) -> Vec<Option<f64>> {
        let mut difference = CounterDifference::default();
        (0..)
            .zip(measures)
            .map(|(n, measure)| difference.next(Duration::from_secs(2 * n), *measure))
            .collect()
    }

    #[test]
    fn differences_need_two_readings() {
        assert_eq!(values(&[PerfMonMeasure::Value(3.0)]), [Some(3.0)]);
        let counter = [5.0, 8.0, 2.0, 2.0].map(PerfMonMeasure::Counter);
        assert_eq!(values(&counter), [None, Some(3.0), None, Some(0.0)]);
        let per_second = [5.0, 8.0].map(|counter| PerfMonMeasure::PerSecond { counter, scale: 100.0 });
        assert_eq!(values(&per_second), [None, Some(150.0)]);
        let quotient = [(1.0, 4.0), (2.0, 8.0), (2.0, 8.0), (1.0, 9.0)];
        let quotient = quotient.map(|(part, whole)| PerfMonMeasure::Quotient { part, whole, scale: 100.0 });
        assert_eq!(values(&quotient), [None, Some(25.0), None, None], "0/0 and a decrease are unknown");
    }
}
