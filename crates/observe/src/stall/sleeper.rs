//! The thread of the stall meter.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Mutex, PoisonError};

use busyhour_program::clock::{Clock, thread_cpu_ns};
use busyhour_sample::Nanos;
use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::clock_gettime;

use super::histogram::{INTERVAL_NS, StallHistogram};

/// Intervals after which the CPU time is stored.
const CPU_EVERY: u64 = 1_000;

/// Sleeps for a millisecond at a time and records by how much each sleep was too long, until the channel is disconnected.
pub(super) fn run(histogram: &Mutex<StallHistogram>, clock: &Clock, stopped: &Receiver<()>) {
    // The default of 50 µs would be part of each delay. If it cannot be changed, it is.
    let _ = set_current_timer_slack(std::num::NonZeroU64::new(1_000));
    for round in 0u64.. {
        if stopped.try_recv() != Err(TryRecvError::Empty) {
            return;
        }
        let expected = Nanos(clock.now().0.saturating_add(INTERVAL_NS));
        if let Err(error) = sleep(INTERVAL_NS) {
            histogram.lock().unwrap_or_else(PoisonError::into_inner).fail(error.to_string());
            return;
        }
        let actual = clock.now();
        let mut histogram = histogram.lock().unwrap_or_else(PoisonError::into_inner);
        histogram.record(expected, actual);
        if round % CPU_EVERY == 0 {
            histogram.set_cpu_ns(thread_cpu_ns());
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
