//! Threads that watch a run: the deadline of a stop, failures of all requests, the disk, and files that cannot be written.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_program::run::RunShared;
use busyhour_record::{LiveFigures, PlanNote};

use crate::back_off::{BackOff, Change, PAUSE_NS};
use crate::control::RunControl;
use crate::disk::DiskWatch;
use crate::event::RunEvent;
use crate::observers::Observers;
use crate::prepare::Prepared;

/// Interval at which the deadline of a stop is checked.
const DEADLINE_INTERVAL: Duration = Duration::from_millis(50);

/// Interval at which the run is supervised.
const SUPERVISION_INTERVAL: Duration = Duration::from_millis(500);

/// A thread that calls a function at an interval until it is ended.
struct Periodic<T> {
    end: Sender<()>,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Periodic<T> {
    fn start(
        name: &str,
        interval: Duration,
        mut state: T,
        mut step: impl FnMut(&mut T) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                step(&mut state);
            }
            state
        })?;
        Ok(Self { end, thread })
    }

    /// Ends the calls. Returns the state, or `None` if a call panicked.
    fn end(self) -> Option<T> {
        drop(self.end);
        self.thread.join().ok()
    }
}

/// Forces the end of a run when the grace period of a stop is over. It has a thread of its own, because it must work even if
/// the disk does not respond.
pub(crate) struct Deadlines(Periodic<()>);

impl Deadlines {
    pub(crate) fn watch(control: &RunControl) -> std::io::Result<Self> {
        let control = control.clone();
        Periodic::start("deadlines", DEADLINE_INTERVAL, (), move |()| control.check_deadline()).map(Self)
    }

    pub(crate) fn end(self) {
        let _ = self.0.end();
    }
}

/// Slows the run down while all requests fail, warns of a full disk, and reports files that cannot be written.
pub(crate) struct Supervisor(Periodic<Watch>);

struct Watch {
    /// Slows the run down; `None` if the run is never slowed down.
    back_off: Option<BackOff>,
    disk: DiskWatch,
    /// Number of failures of files that have been reported.
    failures: usize,
    shared: Arc<RunShared>,
    figures: LiveFigures,
    observers: Observers,
    dir: PathBuf,
    length: Option<Duration>,
}

impl Supervisor {
    /// Generators on other machines slow themselves down while their requests fail.
    pub(crate) fn watch(prepared: &Prepared, figures: LiveFigures, is_local: bool) -> std::io::Result<Self> {
        let slows_down = is_local && prepared.request.backs_off;
        let watch = Watch {
            back_off: slows_down.then(BackOff::default),
            disk: DiskWatch::default(),
            failures: 0,
            shared: Arc::clone(&prepared.started.shared),
            figures,
            observers: prepared.observers.clone(),
            dir: prepared.dir.path().to_owned(),
            length: prepared.info.length,
        };
        Periodic::start("supervision", SUPERVISION_INTERVAL, watch, Watch::step).map(Self)
    }

    /// Ends the supervision; returns the caveat of a run that was slowed down.
    pub(crate) fn end(self) -> Option<PlanNote> {
        self.0.end().and_then(|watch| watch.back_off?.note())
    }
}

impl Watch {
    fn step(&mut self) {
        let live = self.figures.live();
        if live.events > self.failures {
            self.failures = live.events;
            self.observers.emit(RunEvent::FileLost { failures: live.events });
        }
        let elapsed = self.shared.clock.now().as_duration();
        if let Some(back_off) = &mut self.back_off {
            let change = back_off.observe(elapsed.as_secs_f64(), live.total.samples, live.total.errors);
            if let Some(change) = change {
                let is_slow = change == Change::SlowDown;
                self.shared.failure_pause_ns.store(if is_slow { PAUSE_NS } else { 0 }, Relaxed);
                self.observers.emit(RunEvent::BackedOff(is_slow));
            }
        }
        let remaining = self.length.map(|length| length.saturating_sub(elapsed));
        if let Some(warning) = self.disk.step(&self.dir, elapsed, remaining) {
            self.observers.warn(warning);
        }
    }
}
