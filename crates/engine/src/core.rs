//! What the users of one core share: timers, the recorder's batch, label numbers.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use busyhour_program::run::{RunShared, Stop};
use busyhour_program::run_control::TICK_NS;
use busyhour_program::user::CoreAccess;
use busyhour_sample::{
    ArrivalOutcome, ArrivalRecord, BatchWriter, Detail, LabelId, Labels, Nanos, OwnedSample, Sample,
};
use rustc_hash::FxHashMap as HashMap;
use tokio::sync::Notify;

use crate::open::ArrivalCounts;
use crate::signs::{CoreSigns, Doing};
use crate::stalls::StallLog;
use crate::suspended::SuspendedUsers;
use crate::timers::Timers;

/// What the users of one core share. It never leaves its thread.
pub struct Core {
    /// Number of the core, from 0.
    pub index: u32,
    /// What all cores share.
    pub run: Arc<RunShared>,
    /// Sleepers.
    pub timers: Timers,
    labels: Labels,
    known: RefCell<HashMap<Box<str>, LabelId>>,
    batch: RefCell<BatchWriter>,
    waiting: RefCell<VecDeque<WaitingSample>>,
    /// Notified within a tick of a change of the load ([`busyhour_program::run_control`]).
    pub(crate) load_changed: Notify,
    /// How long users were held back because the recorder was behind, in nanoseconds.
    pub stalled_ns: Cell<u64>,
    /// Samples abandoned because the run was stopped at once.
    pub interrupted: Cell<u64>,
    /// Users that ended, or never began, because of a panic.
    pub died: Cell<u64>,
    /// The longest time by which the core's own tick came late: what a user's start may lag behind.
    pub lag_ns_max: Cell<u64>,
    /// Users whose evaluation takes longer than a slice.
    pub(crate) suspended: SuspendedUsers,
    /// The longest of these times.
    pub(crate) stalls: RefCell<StallLog>,
    /// When the next tick is due.
    next_tick: Cell<Nanos>,
    /// What the supervisor sees of this core.
    pub(crate) signs: Arc<CoreSigns>,
    arrivals: Cell<ArrivalCounts>,
    /// When the second looked at began, and the thread's CPU time then.
    second: Cell<Option<(Nanos, u64)>>,
    busiest: Cell<Option<f64>>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("index", &self.index).finish_non_exhaustive()
    }
}

impl CoreAccess for Core {
    fn index(&self) -> u32 {
        self.index
    }

    fn sleep_until(&self, deadline: Nanos) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(self.timers.sleep_until(deadline))
    }
}

/// A sample that found the recorder full.
struct WaitingSample {
    sample: OwnedSample,
    detail: Option<Box<Detail>>,
}

impl Core {
    /// The shared state of core `index`; must be called inside its runtime.
    ///
    /// # Errors
    /// When the kernel gives no timer.
    pub fn new(index: u32, run: Arc<RunShared>, labels: Labels, batch: BatchWriter) -> io::Result<Self> {
        let timers = Timers::new(run.clock.clone())?;
        timers.spin(run.spin_ns.load(std::sync::atomic::Ordering::Relaxed));
        Ok(Self {
            index,
            run,
            timers,
            labels,
            known: RefCell::default(),
            batch: RefCell::new(batch),
            waiting: RefCell::default(),
            load_changed: Notify::new(),
            stalled_ns: Cell::new(0),
            interrupted: Cell::new(0),
            died: Cell::new(0),
            lag_ns_max: Cell::new(0),
            suspended: SuspendedUsers::default(),
            stalls: RefCell::default(),
            next_tick: Cell::new(Nanos::ZERO),
            signs: Arc::default(),
            arrivals: Cell::default(),
            second: Cell::new(None),
            busiest: Cell::new(None),
        })
    }

    /// Shows itself to a supervisor through these signs.
    pub(crate) fn with_signs(mut self, signs: Arc<CoreSigns>) -> Self {
        self.signs = signs;
        self
    }

    /// The number of a label that varies.
    pub fn label(&self, text: &str) -> LabelId {
        if let Some(&id) = self.known.borrow().get(text) {
            return id;
        }
        let id = self.labels.intern(text);
        let mut known = self.known.borrow_mut();
        // A plan that puts a counter into its labels must not make the cache grow without end.
        if known.len() < 10_000 {
            known.insert(text.into(), id);
        }
        id
    }

    /// Records a sample; when the recorder is behind, it waits here and [`Self::settle`] holds users back.
    pub fn record(&self, sample: &Sample<'_>) {
        self.record_with(sample, None);
    }

    /// The same with what files beyond rows show of it.
    pub(crate) fn record_with(&self, sample: &Sample<'_>, mut detail: Option<Box<Detail>>) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.is_empty() && self.batch.borrow_mut().record_with(sample, &mut detail).is_ok() {
            return;
        }
        waiting.push_back(WaitingSample { sample: sample.to_owned_sample(), detail });
    }

    /// Records what became of an arrival of an open workload, and counts it.
    pub(crate) fn record_arrival(&self, arrival: &ArrivalRecord) {
        self.count_arrivals(|counts| match arrival.outcome {
            ArrivalOutcome::Discarded => counts.dropped += 1,
            ArrivalOutcome::Started { .. } => counts.begun += 1,
            ArrivalOutcome::Waited { .. } => {
                counts.begun += 1;
                counts.waited += 1;
            }
        });
        self.batch.borrow_mut().record_arrival(arrival, arrival.started_at().unwrap_or(arrival.scheduled));
    }

    pub(crate) fn count_arrivals(&self, count: impl FnOnce(&mut ArrivalCounts)) {
        let mut counts = self.arrivals.get();
        count(&mut counts);
        self.arrivals.set(counts);
    }

    /// What became of the arrivals of open workloads so far.
    pub fn arrivals(&self) -> ArrivalCounts {
        self.arrivals.get()
    }

    /// Whether users must wait before they make more samples.
    #[inline]
    pub fn is_behind(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Waits until every sample made so far is with the recorder.
    pub async fn settle(&self) {
        let began = self.run.clock.now();
        while !self.drain() {
            tokio::task::yield_now().await;
            let now = self.run.clock.now();
            self.timers.sleep_until(now + 1_000_000_u64).await;
        }
        let waited = self.run.clock.now().since(began);
        self.stalled_ns.set(self.stalled_ns.get() + waited);
    }

    fn drain(&self) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        let mut batch = self.batch.borrow_mut();
        while let Some(WaitingSample { sample, detail }) = waiting.front_mut() {
            if !sample.with(|sample| batch.record_with(sample, detail).is_ok()) {
                return false;
            }
            waiting.pop_front();
        }
        true
    }

    /// Hands samples over to the recorder every tenth of a second; ends when the run is stopped at once.
    pub async fn tick(&self) {
        let mut next = self.run.clock.now();
        let mut reported = Stop::No;
        let mut changes_reported = 0;
        self.signs.tick(next);
        loop {
            next = next + TICK_NS;
            self.next_tick.set(next);
            self.timers.sleep_until(next).await;
            let now = self.run.clock.now();
            self.measure_lag(now);
            self.signs.tick(now);
            self.flush();
            self.look_at_cpu(now);
            let changes = self.run.control.count();
            if changes != changes_reported {
                changes_reported = changes;
                self.load_changed.notify_waiters();
            }
            let stop = self.run.stop();
            if stop == Stop::Now {
                self.signs.set_doing(Doing::Dropping);
                return;
            }
            if stop != reported {
                reported = stop;
                // Sleepers see that they are to end; this tick is not asleep now.
                self.timers.wake_all();
            }
            next = now.max(next);
        }
    }

    /// Notes by how much the tick that is due now is late. Also called when the users have ended, because a core whose last user
    /// ends right after a stall has no tick any more.
    pub(crate) fn measure_lag(&self, now: Nanos) {
        let due = self.next_tick.get();
        if now >= due {
            let lag = now.since(due);
            self.lag_ns_max.set(lag.max(self.lag_ns_max.get()));
            self.stalls.borrow_mut().note(Some(self.index), due, lag);
        }
    }

    /// CPU time of the core's thread without clock polling, in nanoseconds; `None` if the system does
    /// not provide it.
    pub fn cpu_ns(&self) -> Option<u64> {
        Some(busyhour_program::clock::thread_cpu_ns()?.saturating_sub(self.timers.spun_ns()))
    }

    /// Notes how much of the last second the core's thread had the CPU.
    fn look_at_cpu(&self, now: Nanos) {
        let Some(cpu_ns) = self.cpu_ns() else { return };
        match self.second.get() {
            Some((began, before)) => {
                let passed = now.since(began);
                if passed >= 1_000_000_000 {
                    let share = cpu_ns.saturating_sub(before) as f64 / passed as f64;
                    let most = self.busiest.get().map_or(share, |most| most.max(share));
                    self.busiest.set(Some(most));
                    self.second.set(Some((now, cpu_ns)));
                }
            }
            None => self.second.set(Some((now, cpu_ns))),
        }
    }

    /// Highest share of a second in which the thread had the CPU; `None` before the first second is over.
    pub fn busiest_second(&self) -> Option<f64> {
        self.busiest.get()
    }

    /// Records that `change` more users started than ended now.
    pub(crate) fn record_users(&self, change: i64) {
        self.batch.borrow_mut().record_users(change, self.run.clock.now());
    }

    /// Hands over what has been recorded.
    pub fn flush(&self) {
        self.drain();
        self.batch.borrow_mut().flush(self.run.clock.now());
    }

    /// How often the recorder's queue was full, and how many samples were lost.
    pub fn recorder_stalls(&self) -> (u64, u64) {
        let batch = self.batch.borrow();
        (batch.stalls(), batch.lost())
    }
}

#[cfg(test)]
mod tests;
