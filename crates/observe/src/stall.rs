//! The stall meter: measures the delay of a thread that is due to run at short intervals.
//!
//! Stalls of the whole machine (another virtual machine took the CPU, no CPU was free, memory was short) look like slow
//! responses of the system. As in jHiccup, a thread sleeps repeatedly for a millisecond. If it wakes up too late, the
//! delay is a stall. During a long stall, the thread cannot measure the delays of the intervals within it, so they are
//! filled in, one per interval. If sleeping is expensive, the interval becomes longer, up to 16 ms, so that the thread
//! takes at most 0.2 % of a core.

mod histogram;
mod sleeper;

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_series::{Mark, MarkKind, Metric};

use crate::declared::DeclaredSeries;
use crate::probe::{Probe, ProbeError};
use crate::reading::Reading;

pub use histogram::StallHistogram;

static MAX: Metric = Metric::gauge(
    "busyhour_stall_max_seconds",
    "Longest delay of a thread that is due to run at short intervals, since the last reading.",
);
static P99: Metric = Metric::gauge(
    "busyhour_stall_p99_seconds",
    "99th percentile of the delays since the last reading, including those filled in for missed intervals.",
);
static INTERVAL: Metric = Metric::gauge(
    "busyhour_stall_interval_seconds",
    "Interval at which the thread is due to run: shorter stalls are not noticed.",
);
static CPU: Metric =
    Metric::counter("busyhour_stall_cpu_seconds_total", "CPU time that measuring stalls took.");

/// Delays of at least this length are marked.
const MARK_FROM: Duration = Duration::from_millis(20);

/// Measures stalls of the machine on which it runs; source `stall`. Has its own thread, which ends with the probe.
#[derive(Debug)]
pub struct StallProbe {
    histogram: Arc<Mutex<StallHistogram>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    max: DeclaredSeries,
    p99: DeclaredSeries,
    interval: DeclaredSeries,
    cpu: DeclaredSeries,
}

impl StallProbe {
    /// Starts measuring, with marks on this clock.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(clock: &Clock) -> io::Result<StallProbe> {
        let histogram = Arc::new(Mutex::new(StallHistogram::new(MARK_FROM)));
        let (stop, stopped): (Sender<()>, Receiver<()>) = channel();
        let (shared, clock) = (histogram.clone(), clock.clone());
        let thread = std::thread::Builder::new()
            .name(String::from("observe-stall"))
            .spawn(move || sleeper::run(&shared, &clock, &stopped))?;
        Ok(StallProbe {
            histogram,
            stop: Some(stop),
            thread: Some(thread),
            max: DeclaredSeries::new(&MAX),
            p99: DeclaredSeries::new(&P99),
            interval: DeclaredSeries::new(&INTERVAL),
            cpu: DeclaredSeries::new(&CPU),
        })
    }
}

impl Drop for StallProbe {
    fn drop(&mut self) {
        // The thread ends when the channel is disconnected, after its current sleep.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Probe for StallProbe {
    fn source(&self) -> &str {
        "stall"
    }

    /// A histogram of a second has 100 to 1,000 delays, enough for its 99th percentile.
    fn interval_min(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let mut histogram = self.histogram.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = histogram.error() {
            return Err(ProbeError::format("the timer of the stall meter", error));
        }
        let summary = histogram.take();
        drop(histogram);
        if let Some(delays) = summary.delays {
            self.max.set(reading, delays.max_ns as f64 / 1e9);
            self.p99.set(reading, delays.p99_ns as f64 / 1e9);
            self.interval.set(reading, summary.interval.as_micros() as f64 / 1e6);
        }
        if let Some(cpu_ns) = summary.cpu_ns {
            self.cpu.set(reading, cpu_ns as f64 / 1e9);
        }
        for (from, to) in summary.stalls {
            let milliseconds = (to.0 - from.0) / 1_000_000;
            let text = format!("a thread that was due to run was delayed by {milliseconds} ms");
            reading.mark(Mark { kind: MarkKind::Stall, from, to, text });
        }
        if summary.stalls_omitted > 0 {
            let text = format!("{} more stalls since the last reading", summary.stalls_omitted);
            reading.mark(Mark { kind: MarkKind::Stall, from: reading.time(), to: reading.time(), text });
        }
        Ok(())
    }
}
