//! Control of a run. All stops, pauses and rate changes pass through it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use busyhour_analysis::thresholds::ThresholdStop;
use busyhour_program::clock::Clock;
use busyhour_program::run::{RunShared, Stop};
use busyhour_record::{Manifest, PipeRelease, RunDir};
use busyhour_sample::{ControlEvent, LoadChange, Nanos};

use crate::event::RunEvent;
use crate::observers::Observers;
use crate::order::{Command, CommandHandler, CommandRefused, CommandSource, LoadState, RunPhase};

/// Default time for users to finish their samples after a stop request.
pub const GRACE: Duration = Duration::from_secs(30);

/// Controls one run; clones control the same run. It is created before the run is prepared, so that a stop request during
/// the preparation has an effect, too.
#[derive(Clone)]
pub struct RunControl(Arc<State>);

struct State {
    grace: Duration,
    /// Number of stop requests.
    requests: AtomicU8,
    /// Measures time since the control was created.
    clock: Clock,
    /// Time of the first stop request.
    first: Mutex<Option<Nanos>>,
    run: OnceLock<Running>,
    pipes: PipeRelease,
    is_forced: AtomicBool,
    has_ended: AtomicBool,
    /// The first interrupt, if it came from the terminal. It is added to the manifest at the end, because an interrupt must
    /// not wait for a lock or the disk.
    interrupted: OnceLock<ControlEvent>,
    /// The threshold that stopped the run.
    threshold: OnceLock<ThresholdStop>,
}

/// The run that is controlled.
struct Running {
    shared: Arc<RunShared>,
    length: Option<Duration>,
    fixed_rate: Option<String>,
    dir: RunDir,
    /// A command holds this lock while it is executed, so that commands are executed one at a time.
    manifest: Mutex<Manifest>,
    observers: Observers,
}

/// The properties of a run that its control requires.
pub(crate) struct ControlledRun {
    pub(crate) shared: Arc<RunShared>,
    pub(crate) length: Option<Duration>,
    /// The reason why the rate cannot be changed; `None` if it can.
    pub(crate) fixed_rate: Option<String>,
    pub(crate) dir: RunDir,
    pub(crate) manifest: Manifest,
    pub(crate) observers: Observers,
}

impl Default for RunControl {
    fn default() -> Self {
        Self::new(GRACE)
    }
}

impl std::fmt::Debug for RunControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunControl").field("phase", &self.phase()).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl RunControl {
    /// Creates a control for a run. After a stop request, its users have the time `grace` to finish their samples.
    #[must_use]
    pub fn new(grace: Duration) -> Self {
        Self(Arc::new(State {
            grace,
            requests: AtomicU8::new(0),
            clock: Clock::start(),
            first: Mutex::default(),
            run: OnceLock::new(),
            pipes: PipeRelease::default(),
            is_forced: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            interrupted: OnceLock::new(),
            threshold: OnceLock::new(),
        }))
    }

    /// Time for users to finish their samples after the first stop request.
    #[must_use]
    pub fn grace(&self) -> Duration {
        self.0.grace
    }

    /// The recorder's handle on its pipes: after a forced stop, the recorder does not wait for their readers.
    pub(crate) fn pipes(&self) -> PipeRelease {
        self.0.pipes.clone()
    }

    /// Attaches the run that is about to start. Earlier stop requests apply to it.
    pub(crate) fn attach(&self, run: ControlledRun) {
        let ControlledRun { shared, length, fixed_rate, dir, manifest, observers } = run;
        shared.limit_plan_stops(nanos(self.0.grace));
        let manifest = Mutex::new(manifest);
        let _ = self.0.run.set(Running { shared, length, fixed_rate, dir, manifest, observers });
        let stop = self.requested();
        if stop != Stop::No {
            self.stop_run(stop);
            self.emit(RunEvent::StopRequested { is_immediate: stop == Stop::Now });
        }
    }

    fn emit(&self, event: RunEvent) {
        if let Some(run) = self.0.run.get() {
            run.observers.emit(event);
        }
    }

    /// The strongest stop request so far that came neither from the plan nor from a threshold.
    #[must_use]
    pub fn requested(&self) -> Stop {
        match self.0.requests.load(Ordering::SeqCst) {
            0 => Stop::No,
            1 => Stop::Graceful,
            _ => Stop::Now,
        }
    }

    /// Whether there was a stop request that came neither from the plan nor from a threshold.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.requested() != Stop::No
    }

    /// Whether the end is forced, so that the run must not wait for anything any longer.
    #[must_use]
    pub fn is_forced(&self) -> bool {
        self.0.is_forced.load(Ordering::SeqCst)
    }

    /// Time since the first stop request, if the run has not started. A caller that waits for the preparation may then end
    /// the process.
    #[must_use]
    pub fn waiting_since_request(&self) -> Option<Duration> {
        let first = *lock(&self.0.first);
        let first = first.filter(|_| self.0.run.get().is_none())?;
        Some(self.0.clock.now().as_duration().saturating_sub(first.as_duration()))
    }

    /// The reason why the rate cannot be changed; `None` if it can.
    #[must_use]
    pub fn fixed_rate(&self) -> Option<&str> {
        self.0.run.get().and_then(|run| run.fixed_rate.as_deref())
    }

    /// The current phase.
    #[must_use]
    pub fn phase(&self) -> RunPhase {
        let Some(run) = self.0.run.get() else { return RunPhase::Preparing };
        if self.0.has_ended.load(Ordering::SeqCst) {
            RunPhase::Ended
        } else if run.shared.stop() != Stop::No {
            RunPhase::Stopping
        } else if run.shared.control.is_paused() {
            RunPhase::Paused
        } else {
            RunPhase::Running
        }
    }

    /// Stops the run because a threshold failed; users can finish their samples within the grace period. This is not a
    /// request from outside: the outcome of the run names the threshold.
    pub(crate) fn stop_by_threshold(&self, stop: &ThresholdStop) {
        let Some(run) = self.0.run.get() else { return };
        // A threshold that fails after the last user has ended did not stop the run.
        if self.0.has_ended.load(Ordering::SeqCst) || self.0.threshold.set(stop.clone()).is_err() {
            return;
        }
        run.shared.stop_within(Stop::Graceful, nanos(self.0.grace));
        self.emit(RunEvent::ThresholdFailed(stop.clone()));
        self.emit(RunEvent::PhaseChanged(RunPhase::Stopping));
    }

    /// Forces the end if the grace period is over. It must be called often.
    pub(crate) fn check_deadline(&self) {
        let Some(run) = self.0.run.get() else { return };
        if !run.shared.is_forced(run.shared.clock.now()) || self.0.is_forced.swap(true, Ordering::SeqCst) {
            return;
        }
        self.0.pipes.release();
        if self.requested() != Stop::Now {
            run.observers.emit(RunEvent::GraceOver { grace: self.0.grace });
        }
    }

    /// The threshold that stopped the run.
    pub(crate) fn stopping_threshold(&self) -> Option<ThresholdStop> {
        self.0.threshold.get().cloned()
    }

    /// Records that all users have ended.
    pub(crate) fn engine_ended(&self) {
        self.0.has_ended.store(true, Ordering::SeqCst);
    }

    /// Marks the run as ended and returns its manifest with the changes during the run.
    pub(crate) fn end(&self) -> Option<Manifest> {
        self.0.has_ended.store(true, Ordering::SeqCst);
        let mut manifest = lock(&self.0.run.get()?.manifest).clone();
        manifest.events.extend(self.0.interrupted.get());
        Some(manifest)
    }

    fn request(&self) -> Stop {
        let count_up = |requests: u8| Some(requests.saturating_add(1));
        let before =
            self.0.requests.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count_up).unwrap_or(u8::MAX);
        lock(&self.0.first).get_or_insert_with(|| self.0.clock.now());
        let stop = if before == 0 { Stop::Graceful } else { Stop::Now };
        self.stop_run(stop);
        stop
    }

    fn stop_run(&self, stop: Stop) {
        let Some(run) = self.0.run.get() else {
            // The preparation may be waiting for the reader of a pipe.
            self.0.pipes.release();
            return;
        };
        match stop {
            Stop::No => {}
            Stop::Graceful => run.shared.stop_within(Stop::Graceful, nanos(self.0.grace)),
            Stop::Now => run.shared.force_end(),
        }
    }

    /// Executes [`Command::Interrupt`] and [`Command::StopNow`]. It does not wait for other commands, because these two must take
    /// effect even if the disk does not respond.
    fn interrupt(&self, command: Command, source: CommandSource) {
        let running = self.0.run.get();
        if let (Stop::No, Some(from), Some(run)) = (self.requested(), source.recorded(), running) {
            let at_ns = run.shared.clock.now();
            let _ = self.0.interrupted.set(ControlEvent { at_ns, change: LoadChange::Stop, from });
        }
        let stop = match command {
            Command::StopNow => {
                self.0.requests.fetch_max(2, Ordering::SeqCst);
                lock(&self.0.first).get_or_insert_with(|| self.0.clock.now());
                if let Some(run) = running {
                    run.shared.stop_within(Stop::Now, nanos(self.0.grace));
                }
                Stop::Now
            }
            _ => self.request(),
        };
        self.emit(RunEvent::StopRequested { is_immediate: stop == Stop::Now });
        self.emit(RunEvent::PhaseChanged(RunPhase::Stopping));
    }
}

impl Running {
    /// Records a change in the manifest. The lock on the manifest keeps the changes in order.
    fn record(&self, manifest: &mut Manifest, at_ns: Nanos, change: LoadChange, source: CommandSource) {
        let Some(from) = source.recorded() else { return };
        let event = ControlEvent { at_ns, change, from };
        self.observers.emit(RunEvent::LoadChanged(event));
        manifest.events.push(event);
        // The manifest is written at once, so that the changes are known even if the process is killed.
        if let Err(error) = self.dir.write_manifest(manifest) {
            self.observers.emit(RunEvent::Warning(busyhour_diagnostic::io_hints::chain(&error)));
        }
    }
}

impl CommandHandler for RunControl {
    fn execute(&self, command: Command, source: CommandSource) -> Result<(), CommandRefused> {
        if matches!(command, Command::Interrupt | Command::StopNow) {
            self.interrupt(command, source);
            return Ok(());
        }
        let run = self.0.run.get().ok_or(CommandRefused::NotStarted)?;
        let mut manifest = lock(&run.manifest);
        if matches!(self.phase(), RunPhase::Stopping | RunPhase::Ended) {
            return Err(CommandRefused::Ending);
        }
        let (control, now) = (&run.shared.control, run.shared.clock.now());
        let posted = match command {
            Command::Pause => control.pause(now)?,
            Command::Resume => control.resume(now)?,
            Command::Rate { factor } => {
                if let Some(why) = &run.fixed_rate {
                    return Err(CommandRefused::FixedRate(why.clone()));
                }
                Some(control.set_rate_factor(now, factor)?)
            }
            Command::Stop | Command::Interrupt | Command::StopNow => {
                self.request();
                run.record(&mut manifest, now, LoadChange::Stop, source);
                None
            }
        };
        if let Some(posted) = posted {
            run.record(&mut manifest, posted.at, posted.change, source);
        }
        run.observers.emit(RunEvent::PhaseChanged(self.phase()));
        Ok(())
    }

    fn state(&self) -> LoadState {
        let Some(run) = self.0.run.get() else {
            return LoadState { phase: RunPhase::Preparing, factor: 1.0, ..LoadState::default() };
        };
        LoadState {
            phase: self.phase(),
            factor: run.shared.control.rate_factor(),
            elapsed: run.shared.clock.now().as_duration(),
            length: run.length,
            active: u64::from(run.shared.active.load(Ordering::Relaxed)),
            changes: lock(&run.manifest).events.clone(),
        }
    }
}
