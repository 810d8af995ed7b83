//! Signals that stop a run.
//!
//! A separate thread handles the signals. It never writes, and never waits for a core or for the thread that shows progress,
//! so a stop works even if these are blocked.

use std::time::Duration;

use busyhour_launch::{Command, CommandHandler as _, CommandSource, RunControl};
use busyhour_program::run::Stop;
use busyhour_terminal::exit::Exit;
use busyhour_terminal::signals::{Signal, Signals};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::terminal_view;

/// Time after a stop request at which the process ends if the run has not started yet.
const BEFORE_START: Duration = Duration::from_secs(1);

/// Interval at which the signal thread checks whether a run that was stopped has started.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Ends the process. The data that the recorder has already written is not lost.
fn leave() -> ! {
    terminal_view::restore();
    #[allow(clippy::exit, reason = "the thread that would return from main does not respond")]
    std::process::exit(Exit::Stopped as i32)
}

/// A signal requested a progress line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgressRequested;

/// Starts the signal thread.
///
/// SIGINT, SIGTERM and SIGHUP request a stop: with the first signal, users finish their samples; the second one ends the run
/// at once; the third one ends the process. SIGUSR1 requests a progress line; SIGUSR2 is ignored.
pub(crate) fn listen(control: &RunControl) -> std::io::Result<UnboundedReceiver<ProgressRequested>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // The signals are registered here, so that once this function has returned, no signal ends the process by default.
    let mut signals = runtime.block_on(async { Signals::new() })?;
    let (send, requests) = unbounded_channel();
    let control = control.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            let mut checks = tokio::time::interval(CHECK_INTERVAL);
            loop {
                tokio::select! {
                    signal = signals.next() => act_on(signal, &control, &send),
                    _ = checks.tick() => {}
                }
                if control.waiting_since_request().is_some_and(|waited| waited >= BEFORE_START) {
                    leave();
                }
            }
        });
    })?;
    Ok(requests)
}

fn act_on(signal: Signal, control: &RunControl, send: &UnboundedSender<ProgressRequested>) {
    let source = match signal {
        Signal::Progress => {
            let _ = send.send(ProgressRequested);
            return;
        }
        Signal::Stop | Signal::Interrupt if control.requested() == Stop::Now => leave(),
        // The sender of SIGINT is unknown. If the process is in the foreground of its terminal, the program assumes a
        // Ctrl-C.
        Signal::Interrupt if terminal_view::is_in_foreground() => CommandSource::Terminal,
        Signal::Stop | Signal::Interrupt => CommandSource::Program,
    };
    // An interrupt is never refused.
    let _ = control.execute(Command::Interrupt, source);
}
