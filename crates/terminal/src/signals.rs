//! The signals that this program handles.

use crate::exit::{Exit, say};

/// The signal that the file size limit of the process is exceeded; `tokio` has no name for it.
#[cfg(unix)]
const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();

/// Handles signals while trials are executed: the first one prints `message` and calls `request_stop`; the second one ends
/// the process. The `keep` processes then end all processes of the trial.
pub fn stop_on_signals(
    request_stop: impl FnOnce() + Send + 'static,
    message: &'static str,
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = runtime.block_on(async { Signals::new() })?;
    let listen = async move {
        signals.next_stop().await;
        request_stop();
        say(&format!("{message}; a second signal ends the program at once"));
        signals.next_stop().await;
        #[allow(clippy::exit, reason = "the main thread waits for processes")]
        std::process::exit(Exit::Stopped as i32)
    };
    std::thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(listen))?;
    Ok(())
}

/// The meaning of a signal.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM or SIGHUP.
    Stop,
    /// SIGUSR1, which requests a progress line.
    Progress,
}

/// The signals that this program handles.
pub struct Signals {
    #[cfg(unix)]
    stop: [tokio::signal::unix::Signal; 3],
    #[cfg(unix)]
    progress: tokio::signal::unix::Signal,
    /// These signals are ignored, because they would end the process. SIGXFSZ is raised when a write exceeds `ulimit -f`;
    /// the write also returns an error.
    #[cfg(unix)]
    _ignored: [tokio::signal::unix::Signal; 2],
}

impl Signals {
    /// Must be called inside a runtime.
    pub fn new() -> std::io::Result<Self> {
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
    pub async fn next_stop(&mut self) {
        while matches!(self.next().await, Signal::Progress) {}
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Signal {
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
