//! The state that the users of one core share: timers, the recorder's batch, label numbers.

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
use crate::signs::{CoreActivity, CoreStep};
use crate::stalls::StallLog;
use crate::suspended::SuspendedUsers;
use crate::timers::Timers;

/// The state that the users of one core share. It never leaves its thread.
pub struct Core {
    /// Number of the core, from 0.
    pub index: u32,
    /// The state that all cores share.
    pub run: Arc<RunShared>,
    /// The timers of the sleeping users.
    pub timers: Timers,
    labels: Labels,
    known: RefCell<HashMap<Box<str>, LabelId>>,
    batch: RefCell<BatchWriter>,
    waiting: RefCell<VecDeque<WaitingSample>>,
    /// Notified within one tick after a change of the load ([`busyhour_program::run_control`]).
    pub(crate) load_changed: Notify,
    /// How long users were held back because the recorder was behind, in nanoseconds.
    pub stalled_ns: Cell<u64>,
    /// Samples abandoned because the run was stopped immediately.
    pub interrupted: Cell<u64>,
    /// Users that ended, or never began, because of a panic.
    pub died: Cell<u64>,
    /// The maximum lateness of the core's own tick, in nanoseconds. Starts of users may be late by as much.
    pub lag_ns_max: Cell<u64>,
    /// Users whose evaluation takes longer than a slice.
    pub(crate) suspended: SuspendedUsers,
    /// The longest delays of the tick.
    pub(crate) stalls: RefCell<StallLog>,
    /// When the next tick is due.
    next_tick: Cell<Nanos>,
    /// The signs of life that the supervisor reads.
    pub(crate) signs: Arc<CoreActivity>,
    arrivals: Cell<ArrivalCounts>,
    /// When the second that is being measured began, and the CPU time of the thread at that time.
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

/// A sample that could not be recorded because the recorder's queue was full.
struct WaitingSample {
    sample: OwnedSample,
    detail: Option<Box<Detail>>,
}

impl Core {
    /// The shared state of core `index`; must be called inside its runtime.
    ///
    /// # Errors
    /// If the kernel cannot create a timer.
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

    /// Reports signs of life to a supervisor through `signs`.
    pub(crate) fn with_signs(mut self, signs: Arc<CoreActivity>) -> Self {
        self.signs = signs;
        self
    }

    /// The number of a label that is computed during the run.
    pub fn label(&self, text: &str) -> LabelId {
        if let Some(&id) = self.known.borrow().get(text) {
            return id;
        }
        let id = self.labels.intern(text);
        let mut known = self.known.borrow_mut();
        // If the labels of a plan contain a counter, the cache must not grow without limit.
        if known.len() < 10_000 {
            known.insert(text.into(), id);
        }
        id
    }

    /// Records a sample. If the recorder is behind, the sample waits here, and [`Self::settle`] holds users back.
    pub fn record(&self, sample: &Sample<'_>) {
        self.record_with(sample, None);
    }

    /// As [`Self::record`], with the details for result files that contain more of a sample than a CSV row.
    pub(crate) fn record_with(&self, sample: &Sample<'_>, mut detail: Option<Box<Detail>>) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.is_empty() && self.batch.borrow_mut().record_with(sample, &mut detail).is_ok() {
            return;
        }
        waiting.push_back(WaitingSample { sample: sample.to_owned_sample(), detail });
    }

    /// Records the outcome of an arrival of an open workload, and counts it.
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

    /// Number of arrivals of open workloads so far, by outcome.
    pub fn arrivals(&self) -> ArrivalCounts {
        self.arrivals.get()
    }

    /// Whether users must wait before they make more samples.
    #[inline]
    pub fn is_behind(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Waits until the recorder has received every sample made so far.
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

    /// Hands samples over to the recorder every tenth of a second; ends when the run is stopped immediately.
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
            self.measure_cpu_share(now);
            let changes = self.run.control.count();
            if changes != changes_reported {
                changes_reported = changes;
                self.load_changed.notify_waiters();
            }
            let stop = self.run.stop();
            if stop == Stop::Now {
                self.signs.set_doing(CoreStep::Dropping);
                return;
            }
            if stop != reported {
                reported = stop;
                // Wake the sleeping users, so that they notice the stop request.
                self.timers.wake_all();
            }
            next = now.max(next);
        }
    }

    /// Notes the lateness of the tick that is due. Also called when the users have ended: if the last user of a core ends right
    /// after a stall, the core has no further tick.
    pub(crate) fn measure_lag(&self, now: Nanos) {
        let due = self.next_tick.get();
        if now >= due {
            let lag = now.since(due);
            self.lag_ns_max.set(lag.max(self.lag_ns_max.get()));
            self.stalls.borrow_mut().note(Some(self.index), due, lag);
        }
    }

    /// CPU time of the core's thread in nanoseconds, excluding the time spent polling the clock; `None` if the system does
    /// not provide it.
    pub fn cpu_ns(&self) -> Option<u64> {
        Some(busyhour_program::clock::thread_cpu_ns()?.saturating_sub(self.timers.spun_ns()))
    }

    /// Measures the share of the last second in which the core's thread had the CPU.
    fn measure_cpu_share(&self, now: Nanos) {
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

    /// Records a change in the number of active users: users started minus users ended.
    pub(crate) fn record_users(&self, change: i64) {
        self.batch.borrow_mut().record_users(change, self.run.clock.now());
    }

    /// Hands recorded samples over to the recorder.
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
