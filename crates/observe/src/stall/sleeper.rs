//! The thread of the stall meter.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use busyhour_program::clock::{Clock, thread_cpu_ns};
use busyhour_sample::Nanos;
use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::clock_gettime;

use super::histogram::StallHistogram;

/// The shortest interval in ms.
const INTERVAL_MIN_MS: u64 = 1;

/// The longest interval in ms.
const INTERVAL_MAX_MS: u64 = 16;

/// Intended ratio of elapsed time to CPU time of the thread, so that it uses about 0.15 % of a core.
const ELAPSED_PER_COST: u64 = 700;

/// Number of sleeps after which the interval is adapted to their cost.
const ADAPT_EVERY: u64 = 200;

/// The interval in ms at which sleeps of this cost take at most the intended share of a core.
fn interval_for(cost_ns: u64) -> u64 {
    cost_ns.saturating_mul(ELAPSED_PER_COST).div_ceil(1_000_000).clamp(INTERVAL_MIN_MS, INTERVAL_MAX_MS)
}

/// Sleeps for an interval at a time and records by how much each sleep was too long, until the channel is disconnected.
///
/// A sleep costs about 3 µs on a physical machine and 20 µs on a busy virtual one. There, an interval of 1 ms would
/// take 2 % of a core, so the interval becomes longer.
pub(super) fn run(histogram: &Mutex<StallHistogram>, clock: &Clock, stopped: &Receiver<()>) {
    // With the default timer slack of 50 µs, each delay could be up to 50 µs too long. If the slack cannot be changed, this error
    // is accepted.
    let _ = set_current_timer_slack(std::num::NonZeroU64::new(1_000));
    let mut interval = Duration::from_millis(INTERVAL_MIN_MS);
    let mut cpu_before = thread_cpu_ns();
    for round in 1u64.. {
        if stopped.try_recv() != Err(TryRecvError::Empty) {
            return;
        }
        let interval_ns = interval.as_nanos() as u64;
        let expected = Nanos(clock.now().0.saturating_add(interval_ns));
        if let Err(error) = sleep(interval_ns) {
            histogram.lock().unwrap_or_else(PoisonError::into_inner).fail(error.to_string());
            return;
        }
        let actual = clock.now();
        let mut histogram = histogram.lock().unwrap_or_else(PoisonError::into_inner);
        histogram.record(expected, actual, interval);
        if round % ADAPT_EVERY == 0 {
            let cpu = thread_cpu_ns();
            histogram.set_cpu_ns(cpu);
            if let Some((before, now)) = cpu_before.zip(cpu) {
                interval = Duration::from_millis(interval_for(now.saturating_sub(before) / ADAPT_EVERY));
            }
            cpu_before = cpu;
        }
    }
}

/// Sleeps for a time in ns; an interrupted sleep continues.
fn sleep(ns: u64) -> rustix::io::Result<()> {
    let now = clock_gettime(ClockId::Monotonic);
    let total = now.tv_nsec as u64 + ns;
    let end = Timespec {
        tv_sec: now.tv_sec + (total / 1_000_000_000) as i64,
        tv_nsec: (total % 1_000_000_000) as _,
    };
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &end) {
            Err(rustix::io::Errno::INTR) => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_follows_the_cost_within_its_bounds() {
        for (cost_ns, interval_ms) in
            [(0, 1), (1_000, 1), (2_000, 2), (3_000, 3), (19_000, 14), (u64::MAX, 16)]
        {
            assert_eq!(interval_for(cost_ns), interval_ms, "{cost_ns} ns");
        }
    }
}
