//! While a run goes on: what is shown of it, and who may end or change it.

use std::sync::Arc;

use busyhour_analysis::thresholds::StopOrder;
use busyhour_engine::run::{RunShared, Stop};
use busyhour_live::{Order, RunPhase, Steering as _};
use busyhour_record::Recorder;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::exit;
use crate::live::Live;
use crate::progress::{self, Display};
use crate::stop_port;
use crate::stop_signals::{Asked, Heard};
use crate::terminal_view::Key;
use crate::thresholds::StopOrders;

/// By how much a key changes the rate; four fifths take a step back.
const RATE_STEP: f64 = 1.25;

/// A run that goes on.
pub(crate) struct Watched<'r> {
    pub(crate) shared: &'r Arc<RunShared>,
    pub(crate) recorder: &'r Recorder,
    pub(crate) asked: &'r Asked,
    pub(crate) live: Option<&'r Live>,
    /// JMeter's stop port is listened to.
    pub(crate) has_stop_port: bool,
}

impl Watched<'_> {
    /// Shows progress and takes orders until the engine has finished; the threshold that stopped the run.
    pub(crate) fn until_it_ends(
        &self,
        display: &mut Display,
        mut heard: UnboundedReceiver<Heard>,
        mut finished: tokio::sync::oneshot::Receiver<()>,
        mut orders: Option<StopOrders>,
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
                    Some(heard) = heard.recv() => self.tell_heard(display, heard),
                    packet = packet() => self.stop(display, match packet {
                        stop_port::Order::Shutdown => self.asked.ask(),
                        stop_port::Order::StopTestNow => self.asked.ask_now(),
                    }),
                    // Without thresholds, and once they have spoken, there is nothing to wait for.
                    Some(order) = broken(&mut orders) => {
                        display.say(&format!(
                            "stopping: the threshold `{}` was broken at {} s; users finish the sample they are in",
                            order.text,
                            order.second + 1
                        ));
                        self.asked.stop_gracefully();
                        stopped_by = Some(order);
                    }
                    Some(key) = pressed(&mut keys) => {
                        self.act_on(display, key);
                        self.step(display);
                    }
                    _ = steps.tick() => self.step(display),
                }
            }
            self.tell(display);
            while let Ok(heard) = heard.try_recv() {
                self.tell_heard(display, heard);
            }
            display.clear();
        });
        Ok(stopped_by)
    }

    /// Says what the thread that hears signals has done.
    fn tell_heard(&self, display: &mut Display, heard: Heard) {
        match heard {
            Heard::Stop(stop) => self.stop(display, stop),
            Heard::GraceOver => display.say(&format!(
                "the grace period of {} has passed: stopping now; samples under way are given up",
                seconds(self.asked.grace())
            )),
            Heard::Progress => display.say_progress(self.shared, self.recorder),
        }
    }

    fn step(&self, display: &mut Display) {
        self.tell(display);
        display.step(self.shared, self.recorder, self.live);
    }

    /// Says what the page and the terminal have changed.
    fn tell(&self, display: &mut Display) {
        let told = self.live.map(|live| live.steered.take_told()).unwrap_or_default();
        told.iter().for_each(|line| display.say(line));
    }

    fn stop(&self, display: &mut Display, stop: Stop) {
        match stop {
            Stop::Now => display.say("stopping now; samples under way are given up"),
            Stop::Graceful | Stop::No => display.say(&format!(
                "stopping: users finish the sample they are in, for at most {} (once more: stop now)",
                seconds(self.asked.grace())
            )),
        }
        if let Some(live) = self.live {
            live.tell_state();
        }
    }

    fn act_on(&self, display: &mut Display, key: Key) {
        let Some(live) = self.live else { return };
        let state = live.steered.state();
        // Two digits after the point are what a person means.
        let times = |factor: f64| Order::Rate { factor: (state.factor * factor * 100.0).round() / 100.0 };
        let order = match key {
            Key::Interrupt => return self.stop(display, self.asked.ask()),
            Key::Help => return display.switch_help(),
            Key::Resized => return,
            Key::Pause if state.phase == RunPhase::Paused => Order::Resume,
            Key::Pause => Order::Pause,
            Key::Stop => Order::Stop,
            Key::Faster => times(RATE_STEP),
            Key::Slower => times(1.0 / RATE_STEP),
            Key::AsAsked => Order::Rate { factor: 1.0 },
        };
        if let Err(why) = live.order(order) {
            display.say(&why);
        }
    }
}

/// `30 s`
fn seconds(time: std::time::Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// Waits for a threshold's order to stop; `None` when none can come any more.
async fn broken(orders: &mut Option<StopOrders>) -> Option<StopOrder> {
    match orders {
        Some(waiting) => {
            let order = waiting.await.ok();
            *orders = None;
            order
        }
        None => std::future::pending().await,
    }
}

/// Waits for a key; for ever where nobody reads keys.
async fn pressed(keys: &mut Option<UnboundedReceiver<Key>>) -> Option<Key> {
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
