//! The main thread during a run: shows progress and handles signals, keys, thresholds and the stop port.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use busyhour_analysis::thresholds::StopOrder;
use busyhour_live::{Order, RunPhase, Steering as _};
use busyhour_program::run::{RunShared, Stop};
use busyhour_record::{PlanNote, Recorder};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::back_off::{self, BackOff, Change};
use crate::disk::DiskWatch;
use crate::exit;
use crate::live::Live;
use crate::progress::{self, Display};
use crate::stop_port;
use crate::stop_signals::{SignalEvent, StopRequests};
use crate::terminal_view::Key;
use crate::thresholds::StopOrders;

/// Factor by which a key changes the rate.
const RATE_STEP: f64 = 1.25;

/// How long `q` waits for its confirmation.
const CONFIRMATION: Duration = Duration::from_secs(3);

/// What the loop remembers from step to step.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Slows the run down; `None`: it never does.
    back_off: Option<BackOff>,
    disk: DiskWatch,
    confirmation: Confirmation,
}

impl Memory {
    /// `backs_off`: the run is slowed down while every request fails.
    pub(crate) fn new(backs_off: bool) -> Self {
        Self { back_off: backs_off.then(BackOff::default), ..Self::default() }
    }

    /// The caveat of a run that was slowed down.
    pub(crate) fn note(&self) -> Option<PlanNote> {
        self.back_off.as_ref().and_then(BackOff::note)
    }
}

/// Asks before `q` stops the run.
#[derive(Debug, Default)]
struct Confirmation {
    asked: Option<Duration>,
}

impl Confirmation {
    /// Whether a key pressed at `now` confirms an earlier one; otherwise it is the question.
    fn is_given(&mut self, now: Duration) -> bool {
        let is_given = self.asked.take().is_some_and(|asked| now.saturating_sub(asked) <= CONFIRMATION);
        self.asked = (!is_given).then_some(now);
        is_given
    }
}

/// A running test.
pub(crate) struct Watched<'r> {
    pub(crate) shared: &'r Arc<RunShared>,
    pub(crate) recorder: &'r Recorder,
    pub(crate) stops: &'r StopRequests,
    pub(crate) live: Option<&'r Live>,
    /// Whether to listen on JMeter's stop port.
    pub(crate) has_stop_port: bool,
    /// The run directory.
    pub(crate) dir: &'r Path,
    /// Length of the run, if it is known.
    pub(crate) length: Option<Duration>,
}

impl Watched<'_> {
    /// Shows progress and handles stop requests until the engine has finished. Returns the threshold that stopped the run.
    pub(crate) fn until_it_ends(
        &self,
        display: &mut Display,
        mut events: UnboundedReceiver<SignalEvent>,
        mut finished: tokio::sync::oneshot::Receiver<()>,
        mut orders: Option<StopOrders>,
        memory: &mut Memory,
    ) -> std::io::Result<Option<StopOrder>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut keys = display.take_keys();
        let mut stopped_by = None;
        runtime.block_on(async {
            let port = match self.has_stop_port {
                true => stop_port::listen(&self.shared.properties).await,
                false => None,
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
            loop {
                tokio::select! {
                    _ = &mut finished => break,
                    Some(event) = events.recv() => self.on_event(display, event),
                    packet = packet() => self.stop(display, match packet {
                        stop_port::Order::Shutdown => self.stops.request(),
                        stop_port::Order::StopTestNow => self.stops.request_now(),
                    }),
                    Some(order) = next_stop_order(&mut orders) => {
                        display.say(&format!(
                            "stopping: the threshold `{}` failed at {} s; users finish their current sample",
                            order.text,
                            order.second + 1
                        ));
                        self.stops.stop_gracefully();
                        stopped_by = Some(order);
                    }
                    Some(key) = next_key(&mut keys) => {
                        self.act_on(display, key, memory);
                        self.step(display, memory);
                    }
                    _ = steps.tick() => self.step(display, memory),
                }
            }
            self.show_messages(display);
            while let Ok(event) = events.try_recv() {
                self.on_event(display, event);
            }
            display.clear();
        });
        Ok(stopped_by)
    }

    /// Shows what the signal thread has done.
    fn on_event(&self, display: &mut Display, event: SignalEvent) {
        match event {
            SignalEvent::Stop(stop) => self.stop(display, stop),
            SignalEvent::GraceOver => display.say(&format!(
                "the grace period of {} is over: stopping now; requests in flight are discarded",
                seconds(self.stops.grace())
            )),
            SignalEvent::Progress => display.say_progress(self.shared, self.recorder),
        }
    }

    fn step(&self, display: &mut Display, memory: &mut Memory) {
        self.show_messages(display);
        self.back_off(display, memory);
        let elapsed = self.shared.clock.now().as_duration();
        let remaining = self.length.map(|length| length.saturating_sub(elapsed));
        if let Some(warning) = memory.disk.step(self.dir, elapsed, remaining) {
            display.say(&warning);
        }
        display.step(self.shared, self.recorder, self.live);
    }

    /// Lets users wait after failures while every request fails.
    fn back_off(&self, display: &mut Display, memory: &mut Memory) {
        let Some(back_off) = &mut memory.back_off else { return };
        let total = self.recorder.live().total;
        let elapsed = self.shared.clock.now().as_duration().as_secs_f64();
        let (pause_ns, message) = match back_off.observe(elapsed, total.samples, total.errors) {
            None => return,
            Some(Change::SlowDown) => (
                back_off::PAUSE_NS,
                "all requests failed for 10 s: each user now waits 1 s after a failure (--no-back-off keeps the load)",
            ),
            Some(Change::SpeedUp) => (0, "a request succeeded: users no longer wait after failures"),
        };
        self.shared.failure_pause_ns.store(pause_ns, Ordering::Relaxed);
        display.say(message);
    }

    /// Shows the changes made from the page and the terminal.
    fn show_messages(&self, display: &mut Display) {
        let messages = self.live.map(|live| live.steered.take_messages()).unwrap_or_default();
        messages.iter().for_each(|line| display.say(line));
    }

    fn stop(&self, display: &mut Display, stop: Stop) {
        match stop {
            Stop::Now => display.say("stopping now; requests in flight are discarded"),
            Stop::Graceful | Stop::No => display.say(&format!(
                "stopping: users finish their current sample, for at most {} (repeat to stop now)",
                seconds(self.stops.grace())
            )),
        }
        if let Some(live) = self.live {
            live.publish_state();
        }
    }

    fn act_on(&self, display: &mut Display, key: Key, memory: &mut Memory) {
        let Some(live) = self.live else { return };
        let state = live.steered.state();
        // Rounded, so that the factor is shown as it is.
        let times = |factor: f64| Order::Rate { factor: (state.factor * factor * 100.0).round() / 100.0 };
        let order = match key {
            Key::Interrupt => return self.stop(display, self.stops.request_from_terminal()),
            Key::Help => return display.switch_help(),
            Key::Resized => return,
            Key::Pause if state.phase == RunPhase::Paused => Order::Resume,
            Key::Pause => Order::Pause,
            Key::Stop if !memory.confirmation.is_given(state.elapsed) => {
                return display.say("press q again within 3 s to stop the run");
            }
            Key::Stop => Order::Stop,
            Key::Faster => times(RATE_STEP),
            Key::Slower => times(1.0 / RATE_STEP),
            Key::ResetRate => Order::Rate { factor: 1.0 },
        };
        if let Err(why) = live.order(order) {
            display.say(&why);
        }
    }
}

/// `30 s`
fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// Waits for a threshold to stop the run. Never returns if there are no thresholds; returns `None` once when their thread ends.
async fn next_stop_order(orders: &mut Option<StopOrders>) -> Option<StopOrder> {
    match orders {
        Some(waiting) => {
            let order = waiting.await.ok();
            *orders = None;
            order
        }
        None => std::future::pending().await,
    }
}

/// Waits for a key. Never returns if keys are not read.
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
        assert!(!confirmation.is_given(ms(7_002)), "a third press asks again");
    }
}
