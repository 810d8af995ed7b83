//! Updates the state of a run on its own thread.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use busyhour_analysis::thresholds::Criterion;
use busyhour_record::{SnapshotSender, snapshot_channel};

use crate::live_run::LiveRun;
use crate::slices::Grown;

/// Seconds that may wait for the thread, which needs milliseconds for one.
const SECONDS_MAX: usize = 64;

/// Called after each second with its changes.
pub(crate) type OnSecond = Box<dyn FnMut(&LiveRun, Grown) + Send>;

/// The function to call after each second, once there is one.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<Vec<OnSecond>>);

/// The state of a running run.
pub struct Follower {
    run: Arc<Mutex<LiveRun>>,
    listeners: Arc<Listeners>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").finish_non_exhaustive()
    }
}

/// Follows a run whose recorder uses the sender; `criteria` are its thresholds.
///
/// # Errors
/// The thread cannot be started.
pub fn follow(criteria: Vec<Criterion>) -> io::Result<(Follower, SnapshotSender)> {
    let (sender, seconds) = snapshot_channel(SECONDS_MAX);
    let (run, listeners) = (Arc::new(Mutex::new(LiveRun::new(criteria))), Arc::new(Listeners::default()));
    let (kept, reported) = (Arc::clone(&run), Arc::clone(&listeners));
    let thread = std::thread::Builder::new().name("live".into()).spawn(move || {
        while let Some(second) = seconds.recv() {
            let mut run = lock(&kept);
            let grown = run.add(&second);
            for listener in lock(&reported.0).iter_mut() {
                listener(&run, grown);
            }
        }
    })?;
    Ok((Follower { run, listeners, thread: Some(thread) }, sender))
}

impl Follower {
    /// The current state, locked.
    pub fn run(&self) -> MutexGuard<'_, LiveRun> {
        lock(&self.run)
    }

    pub(crate) fn shared(&self) -> Arc<Mutex<LiveRun>> {
        Arc::clone(&self.run)
    }

    pub(crate) fn on_second(&self, listener: OnSecond) {
        lock(&self.listeners.0).push(listener);
    }

    /// Waits for the last second. Call it when the recorder has ended.
    pub fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            // After a panic of the thread there are no more changes.
            let _ = thread.join();
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
