//! The end of a neighbour, which any thread can request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

/// The reason why a neighbour ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Its time was over.
    TimeLimit,
    /// A signal asked it to end.
    Signal,
    /// Its parent process ended.
    ParentEnded,
    /// A thread could not continue.
    Failed,
}

/// Ends a neighbour early. The first request determines the reason.
#[derive(Debug, Default)]
pub struct StopFlag {
    reason: Mutex<Option<EndReason>>,
    requested: Condvar,
    is_requested: AtomicBool,
}

impl StopFlag {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks all threads to end, unless that was requested before.
    pub fn request(&self, reason: EndReason) {
        let mut current = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        current.get_or_insert(reason);
        self.is_requested.store(true, Ordering::Release);
        self.requested.notify_all();
    }

    /// The reason of the first request, if any.
    pub fn reason(&self) -> Option<EndReason> {
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an end was requested. Cheap enough for a check every few microseconds.
    pub(crate) fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Acquire)
    }

    /// Waits for a request, but not longer than `time`.
    pub(crate) fn wait_until(&self, time: Instant) {
        let mut reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        while reason.is_none() {
            let rest = time.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return;
            }
            reason = self.requested.wait_timeout(reason, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_first_request_determines_the_reason_and_ends_waits() {
        let flag = StopFlag::new();
        assert!(!flag.is_requested() && flag.reason().is_none());
        flag.wait_until(Instant::now());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| flag.wait_until(Instant::now() + Duration::from_secs(3_600)));
            flag.request(EndReason::ParentEnded);
            flag.request(EndReason::Signal);
            waiting.join().unwrap();
        });
        assert_eq!((flag.reason(), flag.is_requested()), (Some(EndReason::ParentEnded), true));
    }
}
