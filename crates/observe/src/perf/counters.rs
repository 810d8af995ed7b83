//! Counters of one event on several tasks or cores, added up.

use perf_event::{CountAndTime, Counter};

/// The increases of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Increase {
    /// Number of events, scaled up for the time in which the processor counted other events; `None` if it did not count
    /// this event for a task that ran.
    pub(super) count: Option<f64>,
    /// Time in which the event was to be counted, in ns.
    pub(super) enabled_ns: u64,
    /// Time in which it was counted, in ns.
    pub(super) running_ns: u64,
}

/// A reading of a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reading {
    count: u64,
    enabled_ns: u64,
    running_ns: u64,
}

impl From<CountAndTime> for Reading {
    fn from(read: CountAndTime) -> Self {
        Self { count: read.count, enabled_ns: read.time_enabled, running_ns: read.time_running }
    }
}

/// Counters of one event.
#[derive(Debug, Default)]
pub(super) struct Counters {
    counters: Vec<(Counter, Reading)>,
}

impl Counters {
    pub(super) fn push(&mut self, counter: Counter) {
        self.counters.push((counter, Reading::default()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// The increases of all counters since the last call. A counter that cannot be read does not increase.
    pub(super) fn increase(&mut self) -> Increase {
        let mut sum = Increase { count: Some(0.0), ..Increase::default() };
        for (counter, before) in &mut self.counters {
            let Ok(now) = counter.read_count_and_time() else { continue };
            let now = Reading::from(now);
            add(&mut sum, *before, now);
            *before = now;
        }
        sum
    }
}

/// Adds the increase of one counter. If there are more events than the processor can count at once, the kernel counts them in turns.
/// The number of events is then the count times the enabled time, divided by the time in which the event was counted.
fn add(sum: &mut Increase, before: Reading, now: Reading) {
    let count = now.count.saturating_sub(before.count);
    let enabled = now.enabled_ns.saturating_sub(before.enabled_ns);
    let running = now.running_ns.saturating_sub(before.running_ns);
    sum.enabled_ns += enabled;
    sum.running_ns += running;
    sum.count = match (sum.count, running, enabled) {
        // This task did not run.
        (Some(total), 0, 0) => Some(total + count as f64),
        (_, 0, _) | (None, ..) => None,
        (Some(total), ..) => Some(total + count as f64 * (enabled as f64 / running as f64)),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(count: u64, enabled_ns: u64, running_ns: u64) -> Reading {
        Reading { count, enabled_ns, running_ns }
    }

    #[test]
    fn counts_are_scaled_by_the_time_of_the_interval() {
        let mut sum = Increase { count: Some(0.0), ..Increase::default() };
        // The event was counted all the time before this interval, and for a quarter of this interval.
        add(&mut sum, reading(1_000, 100, 100), reading(1_200, 500, 200));
        assert_eq!(sum, Increase { count: Some(800.0), enabled_ns: 400, running_ns: 100 });
        // This task slept.
        add(&mut sum, reading(7, 100, 100), reading(7, 100, 100));
        assert_eq!(sum.count, Some(800.0));
        // This task ran, but the event was not counted.
        add(&mut sum, reading(7, 100, 100), reading(7, 200, 100));
        assert_eq!(sum, Increase { count: None, enabled_ns: 500, running_ns: 100 });
        add(&mut sum, reading(0, 0, 0), reading(5, 10, 10));
        assert_eq!(sum.count, None, "the sum is not known either");
    }
}
