//! The main thread during a run. It shows progress and events, and sends the commands of keys and of JMeter's stop port to the
//! run.

use std::ops::RangeInclusive;
use std::time::Duration;

use busyhour_launch::{Command, CommandHandler as _, CommandSource, RunEvent, RunHandle, RunPhase};
use busyhour_terminal::exit;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::events::ShownEvents;
use crate::live::Live;
use crate::progress::{self, Display};
use crate::stop_port;
use crate::stop_signals::ProgressRequested;
use crate::terminal_view::Key;

/// Factor by which a key changes the rate.
const RATE_STEP: f64 = 1.25;

/// Maximum time between the first `q` and its confirmation.
const CONFIRMATION: Duration = Duration::from_secs(3);

/// Requests a confirmation before `q` stops the run.
#[derive(Debug, Default)]
struct Confirmation {
    asked: Option<Duration>,
}

impl Confirmation {
    /// Whether a key pressed at `now` confirms an earlier one. If not, this key requests a confirmation.
    fn is_given(&mut self, now: Duration) -> bool {
        let is_given = self.asked.take().is_some_and(|asked| now.saturating_sub(asked) <= CONFIRMATION);
        self.asked = (!is_given).then_some(now);
        is_given
    }
}

/// A running test and the terminal that shows it.
pub(crate) struct Watched<'r> {
    pub(crate) run: &'r RunHandle,
    pub(crate) live: Option<&'r Live>,
    /// JMeter's stop ports, if the run listens on one of them.
    pub(crate) stop_ports: Option<RangeInclusive<u16>>,
    pub(crate) events: &'r ShownEvents,
}

impl Watched<'_> {
    /// Shows progress, and sends requests to the run until it has ended.
    pub(crate) fn until_it_ends(
        &self,
        display: &mut Display,
        mut progress_requests: UnboundedReceiver<ProgressRequested>,
    ) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut keys = display.take_keys();
        let mut confirmation = Confirmation::default();
        let mut events = self.events.divert();
        runtime.block_on(async {
            let port = match self.stop_ports.clone() {
                Some(ports) => stop_port::listen(ports).await,
                None => None,
            };
            if let Some(address) = port.as_ref().and_then(|socket| socket.local_addr().ok()) {
                let line =
                    format!("Waiting for possible Shutdown/StopTestNow message on port {}\n", address.port());
                exit::print(&line);
            }
            let packet = async || match &port {
                Some(socket) => stop_port::next(socket).await,
                None => std::future::pending().await,
            };
            let mut steps = tokio::time::interval(progress::STEP);
            while !self.run.is_finished() {
                tokio::select! {
                    Some(event) = events.recv() => {
                        self.show(display, &event);
                        if matches!(event, RunEvent::PhaseChanged(RunPhase::Ended)) {
                            break;
                        }
                    }
                    Some(ProgressRequested) = progress_requests.recv() => display.say_progress(self.run),
                    packet = packet() => self.execute(display, match packet {
                        stop_port::PortCommand::Shutdown => Command::Interrupt,
                        stop_port::PortCommand::StopTestNow => Command::StopNow,
                    }, CommandSource::Program),
                    Some(key) = next_key(&mut keys) => {
                        self.act_on(display, key, &mut confirmation);
                        display.step(self.run, self.live);
                    }
                    _ = steps.tick() => display.step(self.run, self.live),
                }
            }
            self.events.print();
            while let Ok(event) = events.try_recv() {
                self.show(display, &event);
            }
            display.clear();
        });
        Ok(())
    }

    fn show(&self, display: &mut Display, event: &RunEvent) {
        if let Some(text) = self.events.text(event) {
            display.say(&text);
        }
    }

    fn execute(&self, display: &mut Display, command: Command, source: CommandSource) {
        if let Err(refused) = self.run.control().execute(command, source) {
            display.say(&refused.to_string());
        }
    }

    fn act_on(&self, display: &mut Display, key: Key, confirmation: &mut Confirmation) {
        let state = self.run.control().state();
        // The factor is rounded, so that the displayed factor is exact.
        let times = |factor: f64| Command::Rate { factor: (state.factor * factor * 100.0).round() / 100.0 };
        let command = match key {
            Key::Interrupt => Command::Interrupt,
            Key::Help => return display.switch_help(),
            Key::Resized => return,
            Key::Pause if state.phase == RunPhase::Paused => Command::Resume,
            Key::Pause => Command::Pause,
            Key::Stop if !confirmation.is_given(state.elapsed) => {
                return display.say("press q again within 3 s to stop the run");
            }
            Key::Stop => Command::Stop,
            Key::Faster => times(RATE_STEP),
            Key::Slower => times(1.0 / RATE_STEP),
            Key::ResetRate => Command::Rate { factor: 1.0 },
        };
        self.execute(display, command, CommandSource::Terminal);
    }
}

/// Waits for a key. Never completes if keys are not read.
async fn next_key(keys: &mut Option<UnboundedReceiver<Key>>) -> Option<Key> {
    match keys {
        Some(waiting) => {
            let key = waiting.recv().await;
            if key.is_none() {
                *keys = None;
            }
            key
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_stops_only_when_it_is_repeated_in_time() {
        let ms = Duration::from_millis;
        let mut confirmation = Confirmation::default();
        assert!(!confirmation.is_given(ms(1_000)) && !confirmation.is_given(ms(4_001)));
        assert!(confirmation.is_given(ms(7_001)));
        assert!(!confirmation.is_given(ms(7_002)), "a third press requests a new confirmation");
    }
}
