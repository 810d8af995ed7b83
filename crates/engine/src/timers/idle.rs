//! Simulated time for tests: a manual clock advances when all tasks are idle.

use std::cell::Cell;
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_sample::Nanos;
use tokio::sync::Notify;

/// Expires when the runtime is idle, and then moves the clock to the deadline. Requires a runtime whose own time is paused,
/// because such a time advances only when the runtime is idle.
#[derive(Default)]
pub(crate) struct IdleTimer {
    at: Cell<Option<Nanos>>,
    changed: Notify,
}

impl IdleTimer {
    pub(crate) fn set(&self, at: Nanos) {
        self.at.set(Some(at));
        self.changed.notify_one();
    }

    pub(crate) async fn expired(&self, clock: &Clock) {
        loop {
            if self.at.get().is_some() {
                // Paused time advances only when all tasks are waiting.
                tokio::time::sleep(Duration::from_millis(1)).await;
                if let Some(at) = self.at.take() {
                    clock.advance(Duration::from_nanos(at.since(clock.now())));
                }
                return;
            }
            self.changed.notified().await;
        }
    }
}
