//! The threads of a watch.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_series::Metric;

use crate::probe::{Probe, ProbeError};
use crate::reading::Reading;
use crate::runner::ProbeRunner;
use crate::schedule::{ProbeSchedule, SourceCost};
use crate::series_id::SeriesId;
use crate::store::SeriesStore;

/// The shortest interval between readings.
pub const INTERVAL_MIN: Duration = Duration::from_millis(100);

/// Maximum time that [`Watch::stop`] waits for probes that block.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

static CPU: Metric = Metric::counter(
    "busyhour_observe_cpu_seconds_total",
    "CPU time that reading and recording a source took.",
);
static SKIPPED: Metric = Metric::counter(
    "busyhour_observe_readings_skipped_total",
    "Readings that were skipped, because an earlier one took longer than the interval.",
);

/// The options of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// Interval between readings, at least 100 ms.
    pub interval: Duration,
}

impl Default for WatchOptions {
    fn default() -> WatchOptions {
        WatchOptions { interval: Duration::from_secs(1) }
    }
}

/// Why a watch cannot start.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The interval is too short.
    #[error("the interval of {given:?} is too short: at least {INTERVAL_MIN:?}")]
    Interval {
        /// The requested interval.
        given: Duration,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread for probes")]
    Thread(#[from] io::Error),
}

/// A command to a thread.
enum Command {
    Add(ProbeRunner),
    Stop,
}

/// Reads probes until it is stopped or dropped: one thread for all probes that do not block, and one for each that may.
#[derive(Debug)]
pub struct Watch {
    clock: Clock,
    store: SeriesStore,
    options: WatchOptions,
    costs: Costs,
    shared: Thread,
    blocking: Mutex<Vec<Thread>>,
}

#[derive(Debug)]
struct Thread {
    commands: Sender<Command>,
    /// Disconnected when the thread has ended.
    ended: Mutex<Receiver<()>>,
    handle: Option<JoinHandle<()>>,
}

type Costs = Arc<Mutex<Vec<Arc<SourceCost>>>>;

impl Watch {
    /// Starts reading the probes. Their first readings are due immediately.
    ///
    /// # Errors
    /// The interval is too short, or a thread cannot be started.
    pub fn start(
        clock: Clock,
        store: SeriesStore,
        options: WatchOptions,
        probes: Vec<Box<dyn Probe>>,
    ) -> Result<Watch, WatchError> {
        if options.interval < INTERVAL_MIN {
            return Err(WatchError::Interval { given: options.interval });
        }
        let costs = Costs::default();
        let shared = Thread::start("observe", clock.clone(), costs.clone())?;
        let watch = Watch { clock, store, options, costs, shared, blocking: Mutex::default() };
        let cost_probe = CostProbe { costs: watch.costs.clone(), series: Vec::new() };
        watch.shared.send(Command::Add(watch.runner(Box::new(cost_probe))));
        for probe in probes {
            watch.add(probe)?;
        }
        Ok(watch)
    }

    /// Adds a probe to the running watch.
    ///
    /// # Errors
    /// The thread of a blocking probe cannot be started.
    pub fn add(&self, probe: Box<dyn Probe>) -> Result<(), WatchError> {
        let may_block = probe.may_block();
        let runner = self.runner(probe);
        if !may_block {
            self.shared.send(Command::Add(runner));
            return Ok(());
        }
        let thread = Thread::start("observe-source", self.clock.clone(), self.costs.clone())?;
        thread.send(Command::Add(runner));
        self.blocking.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    fn runner(&self, probe: Box<dyn Probe>) -> ProbeRunner {
        ProbeRunner::with_interval(&self.store, probe, self.options.interval)
    }

    /// The store, for live views and for marks.
    #[must_use]
    pub fn store(&self) -> &SeriesStore {
        &self.store
    }

    /// Ends the watch. Waits for readings in progress, but not longer than a second for probes that block.
    pub fn stop(self) {}
}

impl Drop for Watch {
    fn drop(&mut self) {
        let blocking = self.blocking.get_mut().unwrap_or_else(PoisonError::into_inner);
        for thread in blocking.iter().chain([&self.shared]) {
            thread.send(Command::Stop);
        }
        self.shared.join(None);
        let deadline = busyhour_program::clock::monotonic_ns().saturating_add(STOP_TIMEOUT.as_nanos() as u64);
        for thread in blocking {
            let left = deadline.saturating_sub(busyhour_program::clock::monotonic_ns());
            thread.join(Some(Duration::from_nanos(left)));
        }
    }
}

impl Thread {
    fn start(name: &str, clock: Clock, costs: Costs) -> io::Result<Thread> {
        let (commands, received) = channel();
        let (alive, ended) = channel();
        let handle = Builder::new().name(name.to_owned()).spawn(move || {
            run(&received, &clock, &costs);
            drop(alive);
        })?;
        Ok(Thread { commands, ended: Mutex::new(ended), handle: Some(handle) })
    }

    /// Sends a command. It is ignored if the thread has ended, because all its sources have ended then.
    fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// Waits for the end of the thread. If the timeout passes before, the thread continues to run.
    fn join(&mut self, timeout: Option<Duration>) {
        if let Some(timeout) = timeout {
            let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
            if ended.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
        if let Some(handle) = self.handle.take() {
            // Panics of probes are caught; the panic hook has reported any other panic.
            let _ = handle.join();
        }
    }
}

/// Reads probes when they are due, until the command to stop; each at least once.
fn run(commands: &Receiver<Command>, clock: &Clock, costs: &Costs) {
    let mut schedule = ProbeSchedule::default();
    loop {
        let command = match schedule.next_due() {
            Some(due) => {
                let wait = Duration::from_nanos(due.0.saturating_sub(clock.now().0));
                commands.recv_timeout(wait)
            }
            None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match command {
            Ok(Command::Add(runner)) => {
                let cost = schedule.add_with_cost(runner, clock.now());
                costs.lock().unwrap_or_else(PoisonError::into_inner).push(cost);
            }
            Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => {
                schedule.run_unread(clock);
                return;
            }
            Err(RecvTimeoutError::Timeout) => schedule.run_due(clock),
        }
    }
}

/// Records the costs of the probes.
struct CostProbe {
    costs: Costs,
    series: Vec<(SeriesId, SeriesId)>,
}

impl Probe for CostProbe {
    fn source(&self) -> &str {
        "observe"
    }

    fn interval_min(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        for cost in &costs[self.series.len()..] {
            let labels = [("source", cost.source.as_str())];
            self.series.push((reading.series(&CPU, &labels), reading.series(&SKIPPED, &labels)));
        }
        for (cost, (cpu, skipped)) in costs.iter().zip(&self.series) {
            let cpu_ns = cost.cpu_ns.load(Ordering::Relaxed);
            reading.set_if(*cpu, (cpu_ns > 0).then_some(cpu_ns as f64 / 1e9));
            reading.set(*skipped, cost.skipped.load(Ordering::Relaxed) as f64);
        }
        Ok(())
    }
}
