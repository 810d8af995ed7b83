//! Repeats expensive readings less often.

use busyhour_program::clock::thread_cpu_ns;
use busyhour_sample::Nanos;

/// Limits the CPU time of a costly part of a probe to a share of the elapsed time: the more CPU time an execution needed,
/// the later the next one starts.
#[derive(Debug)]
pub(crate) struct Budget {
    interval_min_ns: u64,
    /// The inverse of the share: 500 limits the part to 1/500 of a core.
    elapsed_per_cost: u64,
    next: Nanos,
    last: Nanos,
    cost_ns: u64,
}

impl Budget {
    /// At most one execution per `interval_min_ns`, and at most 1/`elapsed_per_cost` of a core.
    pub(crate) const fn new(interval_min_ns: u64, elapsed_per_cost: u64) -> Budget {
        Budget { interval_min_ns, elapsed_per_cost, next: Nanos(0), last: Nanos(0), cost_ns: 0 }
    }

    /// Executes the part if it is due.
    pub(crate) fn run<T>(&mut self, now: Nanos, part: impl FnOnce() -> T) -> Option<T> {
        if now < self.next {
            return None;
        }
        let before = thread_cpu_ns();
        let result = part();
        let cost = thread_cpu_ns().zip(before).map_or(0, |(after, before)| after.saturating_sub(before));
        self.delay(now, cost);
        Some(result)
    }

    /// Plans the execution after one that needed this CPU time.
    pub(crate) fn delay(&mut self, now: Nanos, cost_ns: u64) {
        let pause = cost_ns.saturating_mul(self.elapsed_per_cost).max(self.interval_min_ns);
        self.next = Nanos(now.0.saturating_add(pause));
        (self.last, self.cost_ns) = (now, cost_ns);
    }

    /// Brings the next execution forward, because something has changed, as if the share were 1/`elapsed_per_cost`.
    pub(crate) fn hasten(&mut self, elapsed_per_cost: u64) {
        let pause = self.cost_ns.saturating_mul(elapsed_per_cost).max(self.interval_min_ns);
        self.next = self.next.min(Nanos(self.last.0.saturating_add(pause)));
    }

    /// Makes the part due now.
    pub(crate) fn reset(&mut self) {
        self.next = Nanos(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costly_parts_wait_longer() {
        let mut budget = Budget::new(1_000, 500);
        assert_eq!(budget.run(Nanos(10), || 1), Some(1));
        budget.delay(Nanos(10), 1);
        assert_eq!(budget.next, Nanos(1_010));
        assert_eq!(budget.run(Nanos(1_009), || 2), None);
        budget.delay(Nanos(2_000), 10);
        assert_eq!(budget.next, Nanos(2_000 + 5_000));
        budget.hasten(200);
        assert_eq!(budget.next, Nanos(2_000 + 2_000));
        budget.hasten(1_000);
        assert_eq!(budget.next, Nanos(2_000 + 2_000), "never later");
        budget.reset();
        assert_eq!(budget.run(Nanos(0), || 3), Some(3));
    }
}
