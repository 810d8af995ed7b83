//! The end of an agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Notify;

/// Ends an agent; clones end the same agent.
#[derive(Clone, Debug, Default)]
pub struct AgentStop(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    requests: AtomicU32,
    changed: Notify,
}

impl AgentStop {
    /// Requests the end. An agent without a run ends at once. A run in progress is stopped as by an interrupt, and its results are
    /// sent before the agent ends. A second request ends the agent without waiting.
    pub fn request(&self) {
        self.0.requests.fetch_add(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }

    /// Wakes all waiting tasks, so that they check their conditions again.
    pub(super) fn check_again(&self) {
        self.0.changed.notify_waiters();
    }

    /// Number of requests so far.
    pub(super) fn count(&self) -> u32 {
        self.0.requests.load(Ordering::SeqCst)
    }

    /// Waits until there were at least this number of requests.
    pub(super) async fn requested(&self, count: u32) {
        loop {
            let changed = self.0.changed.notified();
            if self.count() >= count {
                return;
            }
            changed.await;
        }
    }
}
