//! Being asked to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use busyhour_engine::run::{RunShared, Stop};

/// How far someone outside of the plan asked the run to stop.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<AtomicU8>);

impl Asked {
    /// Someone asks (again); the second time means at once.
    pub(crate) fn ask(&self, shared: &RunShared) -> Stop {
        let stop = if self.0.fetch_add(1, Ordering::Relaxed) == 0 { Stop::Graceful } else { Stop::Now };
        shared.ask_to_stop(stop);
        stop
    }

    /// Someone asks for the end at once.
    pub(crate) fn ask_now(&self, shared: &RunShared) -> Stop {
        self.0.store(2, Ordering::Relaxed);
        shared.ask_to_stop(Stop::Now);
        Stop::Now
    }

    /// How far it was asked.
    pub(crate) fn stop(&self) -> Stop {
        match self.0.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Graceful,
            _ => Stop::Now,
        }
    }
}

/// Waits for Ctrl-C or SIGTERM, for ever.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// Must be called inside a runtime.
    pub(crate) fn new() -> std::io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// The next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}
