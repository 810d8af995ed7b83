//! The observer that updates the live state of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use busyhour_analysis::thresholds::ThresholdResult;
use busyhour_launch::{RunEvent, RunObserver};
use busyhour_sample::Snapshot;

use crate::live_run::LiveRun;
use crate::slices::SliceChange;
use crate::system::LiveSystem;

/// A change of what the page shows.
#[derive(Clone, Copy)]
pub(crate) enum Changed<'e> {
    /// A second was added; it changed these slices.
    Second(SliceChange),
    /// Another event of the run.
    Event(&'e RunEvent),
}

/// Called after each change.
pub(crate) type OnChange = Box<dyn FnMut(&LiveRun, Changed<'_>) + Send>;

/// The callbacks for changes.
#[derive(Default)]
struct Listeners(Mutex<Vec<OnChange>>);

/// The state of a run in progress. Clones share the state.
#[derive(Clone)]
pub struct LiveView {
    run: Arc<Mutex<LiveRun>>,
    listeners: Arc<Listeners>,
    system: Arc<Mutex<Option<Box<dyn LiveSystem>>>>,
}

/// Updates a [`LiveView`].
pub struct LiveObserver(LiveView);

impl std::fmt::Debug for LiveView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveView").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for LiveObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveObserver").finish_non_exhaustive()
    }
}

impl Default for LiveView {
    fn default() -> Self {
        Self { run: Arc::new(Mutex::new(LiveRun::new())), listeners: Arc::default(), system: Arc::default() }
    }
}

impl LiveView {
    /// The observer that updates this view.
    #[must_use]
    pub fn observer(&self) -> LiveObserver {
        LiveObserver(self.clone())
    }

    /// Sets the source of the values and marks of the system under test. It is read once per second of the run.
    pub fn set_system(&self, system: Box<dyn LiveSystem>) {
        *lock(&self.system) = Some(system);
    }

    /// The current state, locked.
    pub fn run(&self) -> MutexGuard<'_, LiveRun> {
        lock(&self.run)
    }

    pub(crate) fn shared(&self) -> Arc<Mutex<LiveRun>> {
        Arc::clone(&self.run)
    }

    pub(crate) fn on_change(&self, listener: OnChange) {
        lock(&self.listeners.0).push(listener);
    }

    fn report(&self, run: &LiveRun, changed: Changed<'_>) {
        lock(&self.listeners.0).iter_mut().for_each(|listener| listener(run, changed));
    }
}

impl RunObserver for LiveObserver {
    fn second(&mut self, snapshot: &Snapshot, thresholds: &[ThresholdResult]) {
        let mut run = lock(&self.0.run);
        if let Some(system) = lock(&self.0.system).as_deref() {
            run.add_system(system);
        }
        let grown = run.add(snapshot, thresholds);
        self.0.report(&run, Changed::Second(grown));
    }

    fn event(&mut self, event: &RunEvent) {
        self.0.report(&lock(&self.0.run), Changed::Event(event));
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
