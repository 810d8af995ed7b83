//! Stop requests from signals, the terminal, the live page and JMeter's stop port.
//!
//! A separate thread handles signals. It never writes, never waits for a core and never waits for the thread that shows
//! progress, so a stop works even if these are blocked.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use busyhour_program::run::{RunShared, Stop};
use busyhour_record::{ChangedFrom, ControlEvent, LoadChange, Nanos, PipeRelease};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::exit::Exit;
use crate::terminal_view;

/// Default time for users to finish their samples after a stop request.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// A run that has not started yet ends this long after a stop request.
const BEFORE_BEGIN: Duration = Duration::from_secs(1);

/// The file size limit of the process is exceeded; `tokio` has no name for it.
#[cfg(unix)]
const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();

/// Interval at which the signal thread checks for deadlines.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The stop requests of a run from outside of its plan.
#[derive(Clone)]
pub(crate) struct StopRequests(Arc<State>);

struct State {
    grace: Duration,
    /// Number of requests.
    times: AtomicU8,
    first: Mutex<Option<Instant>>,
    run: OnceLock<Arc<RunShared>>,
    pipes: PipeRelease,
    is_forced: AtomicBool,
    /// When Ctrl-C in the terminal of this process stopped the run.
    from_terminal: OnceLock<Nanos>,
}

impl StopRequests {
    pub(crate) fn new(grace: Duration) -> Self {
        Self(Arc::new(State {
            grace,
            times: AtomicU8::new(0),
            first: Mutex::default(),
            run: OnceLock::new(),
            pipes: PipeRelease::default(),
            is_forced: AtomicBool::new(false),
            from_terminal: OnceLock::new(),
        }))
    }

    /// For the recorder: after a forced stop it does not wait for the readers of pipes.
    pub(crate) fn pipes(&self) -> PipeRelease {
        self.0.pipes.clone()
    }

    /// Time for users to finish their samples after the first request.
    pub(crate) fn grace(&self) -> Duration {
        self.0.grace
    }

    /// Attaches the run that is about to start. Earlier requests apply to it.
    pub(crate) fn attach(&self, shared: &Arc<RunShared>) {
        let _ = self.0.run.set(Arc::clone(shared));
        shared.limit_plan_stops(nanos(self.0.grace));
        match self.stop() {
            Stop::No => {}
            stop => self.stop_run(stop),
        }
    }

    /// Requests a stop: graceful the first time, at once the second time.
    pub(crate) fn request(&self) -> Stop {
        let count_up = |times: u8| Some(times.saturating_add(1));
        let before =
            self.0.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count_up).unwrap_or(u8::MAX);
        self.0.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        let stop = if before == 0 { Stop::Graceful } else { Stop::Now };
        self.stop_run(stop);
        stop
    }

    /// Like `request`, by Ctrl-C in the terminal of this process.
    pub(crate) fn request_from_terminal(&self) -> Stop {
        if let (Stop::No, Some(run)) = (self.stop(), self.0.run.get()) {
            let _ = self.0.from_terminal.set(run.clock.now());
        }
        self.request()
    }

    /// The stop by Ctrl-C, if it was the first request.
    pub(crate) fn stop_from_terminal(&self) -> Option<ControlEvent> {
        let at_ns = *self.0.from_terminal.get()?;
        Some(ControlEvent { at_ns, change: LoadChange::Stop, from: ChangedFrom::Terminal })
    }

    /// Requests an immediate stop. TearDown groups still run within the grace period, as in JMeter.
    pub(crate) fn request_now(&self) -> Stop {
        self.0.times.fetch_max(2, Ordering::SeqCst);
        self.0.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        if let Some(run) = self.0.run.get() {
            run.stop_within(Stop::Now, nanos(self.0.grace));
        }
        Stop::Now
    }

    /// Lets users finish their samples within the grace period, without a request from outside.
    pub(crate) fn stop_gracefully(&self) {
        if let Some(run) = self.0.run.get() {
            run.stop_within(Stop::Graceful, nanos(self.0.grace));
        }
    }

    fn stop_run(&self, stop: Stop) {
        let Some(run) = self.0.run.get() else {
            // Preparation may be waiting for the reader of a pipe.
            self.0.pipes.release();
            return;
        };
        match stop {
            Stop::No => {}
            Stop::Graceful => run.stop_within(Stop::Graceful, nanos(self.0.grace)),
            Stop::Now => run.force_end(),
        }
    }

    /// The strongest request so far.
    pub(crate) fn stop(&self) -> Stop {
        match self.0.times.load(Ordering::SeqCst) {
            0 => Stop::No,
            1 => Stop::Graceful,
            _ => Stop::Now,
        }
    }

    /// Whether the end is forced, so that nothing may wait any longer.
    pub(crate) fn is_forced(&self) -> bool {
        self.0.is_forced.load(Ordering::SeqCst)
    }

    /// Whether there was a request.
    pub(crate) fn is_requested(&self) -> bool {
        self.stop() != Stop::No
    }

    /// Checks the deadlines; returns true if the grace period has just ended.
    fn check_deadlines(&self) -> bool {
        match self.0.run.get() {
            Some(run) => {
                if !run.is_forced(run.clock.now()) || self.0.is_forced.swap(true, Ordering::SeqCst) {
                    return false;
                }
                self.0.pipes.release();
                self.stop() != Stop::Now
            }
            None => {
                let first = *self.0.first.lock().unwrap_or_else(PoisonError::into_inner);
                if first.is_some_and(|first| first.elapsed() >= BEFORE_BEGIN) {
                    leave();
                }
                false
            }
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Ends the process. The data that the recorder has written remains.
fn leave() -> ! {
    terminal_view::restore();
    #[allow(clippy::exit, reason = "the thread that would return from main does not respond")]
    std::process::exit(Exit::Stopped as i32)
}

/// An event of the signal thread for the thread that shows progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalEvent {
    /// A signal requested a stop, which the signal thread has already passed on.
    Stop(Stop),
    /// The grace period is over.
    GraceOver,
    /// A signal requested a progress line.
    Progress,
}

/// Starts the signal thread.
///
/// SIGINT, SIGTERM and SIGHUP: the first lets users finish their samples, the second ends the run at once, the third ends
/// the process. SIGUSR1 requests a progress line; SIGUSR2 is ignored.
pub(crate) fn listen(stops: &StopRequests) -> std::io::Result<UnboundedReceiver<SignalEvent>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Registered here, so that after this function returns no signal ends the process by default.
    let mut signals = runtime.block_on(async { Signals::new() })?;
    let (send, events) = unbounded_channel();
    let stops = stops.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            let mut checks = tokio::time::interval(CHECK_INTERVAL);
            loop {
                tokio::select! {
                    signal = signals.next() => act_on(signal, &stops, &send),
                    _ = checks.tick() => {}
                }
                if stops.check_deadlines() {
                    let _ = send.send(SignalEvent::GraceOver);
                }
            }
        });
    })?;
    Ok(events)
}

fn act_on(signal: Signal, stops: &StopRequests, send: &UnboundedSender<SignalEvent>) {
    let event = match signal {
        Signal::Stop | Signal::Interrupt if stops.stop() == Stop::Now => leave(),
        // The sender of SIGINT is unknown, but to a process in the foreground of its terminal it comes from Ctrl-C.
        Signal::Interrupt if terminal_view::is_in_foreground() => {
            SignalEvent::Stop(stops.request_from_terminal())
        }
        Signal::Stop | Signal::Interrupt => SignalEvent::Stop(stops.request()),
        Signal::Progress => SignalEvent::Progress,
    };
    let _ = send.send(event);
}

/// The meaning of a signal.
#[derive(Clone, Copy, Debug)]
enum Signal {
    /// SIGINT.
    Interrupt,
    Stop,
    Progress,
}

/// The signals that this program handles.
pub(crate) struct Signals {
    #[cfg(unix)]
    stop: [tokio::signal::unix::Signal; 3],
    #[cfg(unix)]
    progress: tokio::signal::unix::Signal,
    /// Signals that would end the process. SIGXFSZ comes with an error of the write that exceeds `ulimit -f`.
    #[cfg(unix)]
    _ignored: [tokio::signal::unix::Signal; 2],
}

impl Signals {
    /// Must be called inside a runtime.
    pub(crate) fn new() -> std::io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                stop: [
                    signal(SignalKind::interrupt())?,
                    signal(SignalKind::terminate())?,
                    signal(SignalKind::hangup())?,
                ],
                progress: signal(SignalKind::user_defined1())?,
                _ignored: [signal(SignalKind::user_defined2())?, signal(SignalKind::from_raw(SIGXFSZ))?],
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next signal that requests a stop.
    pub(crate) async fn next_stop(&mut self) {
        while matches!(self.next().await, Signal::Progress) {}
    }

    /// Waits for the next signal.
    async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        {
            let [interrupt, terminate, hangup] = &mut self.stop;
            tokio::select! {
                _ = interrupt.recv() => Signal::Interrupt,
                _ = terminate.recv() => Signal::Stop,
                _ = hangup.recv() => Signal::Stop,
                _ = self.progress.recv() => Signal::Progress,
            }
        }
        #[cfg(not(unix))]
        {
            let _ = tokio::signal::ctrl_c().await;
            Signal::Stop
        }
    }
}
