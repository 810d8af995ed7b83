//! Being asked to stop: by signals, and by whoever else may ask.
//!
//! Signals are handled by a thread of their own, which never writes, never waits for a core and never waits for the
//! thread that shows the run: the stop works whatever these do.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use busyhour_engine::run::{RunShared, Stop};
use busyhour_record::PipeRelease;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::exit::Exit;
use crate::terminal_view;

/// How long users may take to finish their samples after a stop request when nothing else is said.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// A run that has not begun ends this long after it was asked to, whatever it waits for.
const BEFORE_BEGIN: Duration = Duration::from_secs(1);

/// How often the thread looks whether a time has come.
const LOOK: Duration = Duration::from_millis(50);

/// How far someone outside of the plan asked the run to stop.
#[derive(Clone)]
pub(crate) struct Asked(Arc<State>);

struct State {
    grace: Duration,
    /// How often the stop was asked for.
    times: AtomicU8,
    first: Mutex<Option<Instant>>,
    run: OnceLock<Arc<RunShared>>,
    pipes: PipeRelease,
    is_forced: AtomicBool,
}

impl Asked {
    pub(crate) fn new(grace: Duration) -> Self {
        Self(Arc::new(State {
            grace,
            times: AtomicU8::new(0),
            first: Mutex::default(),
            run: OnceLock::new(),
            pipes: PipeRelease::default(),
            is_forced: AtomicBool::new(false),
        }))
    }

    /// For the recorder: nobody waits for the readers of pipes after a forced stop.
    pub(crate) fn pipes(&self) -> PipeRelease {
        self.0.pipes.clone()
    }

    /// How long users may take after the first request.
    pub(crate) fn grace(&self) -> Duration {
        self.0.grace
    }

    /// The run is about to begin: what was asked before applies to it.
    pub(crate) fn begin(&self, shared: &Arc<RunShared>) {
        let _ = self.0.run.set(Arc::clone(shared));
        match self.stop() {
            Stop::No => {}
            stop => self.stop_run(stop),
        }
    }

    /// Someone asks (again); the second time means at once.
    pub(crate) fn ask(&self) -> Stop {
        let count_up = |times: u8| Some(times.saturating_add(1));
        let before =
            self.0.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count_up).unwrap_or(u8::MAX);
        self.0.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        let stop = if before == 0 { Stop::Graceful } else { Stop::Now };
        self.stop_run(stop);
        stop
    }

    /// A program asks for the end at once. TearDown groups run all the same, as in JMeter, within the grace period.
    pub(crate) fn ask_now(&self) -> Stop {
        self.0.times.fetch_max(2, Ordering::SeqCst);
        self.0.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        if let Some(run) = self.0.run.get() {
            run.stop_within(Stop::Now, nanos(self.0.grace));
        }
        Stop::Now
    }

    /// Has users finish their samples within the grace period, for a reason of the program's own.
    pub(crate) fn stop_gracefully(&self) {
        if let Some(run) = self.0.run.get() {
            run.stop_within(Stop::Graceful, nanos(self.0.grace));
        }
    }

    fn stop_run(&self, stop: Stop) {
        let Some(run) = self.0.run.get() else {
            // It is not there yet, and what is waited for before it must not keep it from ending.
            self.0.pipes.release();
            return;
        };
        match stop {
            Stop::No => {}
            Stop::Graceful => run.stop_within(Stop::Graceful, nanos(self.0.grace)),
            Stop::Now => run.force_end(),
        }
    }

    /// How far it was asked.
    pub(crate) fn stop(&self) -> Stop {
        match self.0.times.load(Ordering::SeqCst) {
            0 => Stop::No,
            1 => Stop::Graceful,
            _ => Stop::Now,
        }
    }

    /// Whether the end is forced: nothing is to be waited for any more.
    pub(crate) fn is_forced(&self) -> bool {
        self.0.is_forced.load(Ordering::SeqCst)
    }

    /// Whether anybody asked.
    pub(crate) fn is_asked(&self) -> bool {
        self.stop() != Stop::No
    }

    /// Looks whether a time has come; true when that of the grace period just has.
    fn look(&self) -> bool {
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

/// Ends the process. What the recorder has written stays.
fn leave() -> ! {
    terminal_view::give_back();
    #[allow(clippy::exit, reason = "the thread that would return from main does not respond")]
    std::process::exit(Exit::Stopped as i32)
}

/// What the thread tells the one that shows the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A signal asked for a stop, which was carried out.
    Stop(Stop),
    /// The grace period is over.
    GraceOver,
    /// A signal asked how far the run is.
    Progress,
}

/// Starts to listen to signals.
///
/// SIGINT, SIGTERM and SIGHUP: the first lets users finish their samples, the second ends the run at once, the third
/// the process. SIGUSR1 asks for a line of progress; SIGUSR2 is ignored.
pub(crate) fn listen(asked: &Asked) -> std::io::Result<UnboundedReceiver<Heard>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Registered here: from the return of this function on no signal ends the process by itself.
    let mut signals = runtime.block_on(async { Signals::new() })?;
    let (send, heard) = unbounded_channel();
    let asked = asked.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            let mut look = tokio::time::interval(LOOK);
            loop {
                tokio::select! {
                    signal = signals.next() => act_on(signal, &asked, &send),
                    _ = look.tick() => {}
                }
                if asked.look() {
                    let _ = send.send(Heard::GraceOver);
                }
            }
        });
    })?;
    Ok(heard)
}

fn act_on(signal: Signal, asked: &Asked, send: &UnboundedSender<Heard>) {
    let heard = match signal {
        Signal::Stop if asked.stop() == Stop::Now => leave(),
        Signal::Stop => Heard::Stop(asked.ask()),
        Signal::Progress => Heard::Progress,
    };
    let _ = send.send(heard);
}

/// What a signal means.
#[derive(Clone, Copy, Debug)]
enum Signal {
    Stop,
    Progress,
}

/// The signals that this program handles.
pub(crate) struct Signals {
    #[cfg(unix)]
    stop: [tokio::signal::unix::Signal; 3],
    #[cfg(unix)]
    progress: tokio::signal::unix::Signal,
    #[cfg(unix)]
    _ignored: tokio::signal::unix::Signal,
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
                _ignored: signal(SignalKind::user_defined2())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// The next one that asks for a stop.
    pub(crate) async fn next_stop(&mut self) {
        while !matches!(self.next().await, Signal::Stop) {}
    }

    /// The next one.
    async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        {
            let [interrupt, terminate, hangup] = &mut self.stop;
            tokio::select! {
                _ = interrupt.recv() => Signal::Stop,
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
