//! Named queues through which users of a run exchange texts (plugin Inter-Thread Communication).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap as HashMap;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Property: how long to wait for a text, in seconds; unset: no limit.
pub const TIMEOUT_PROPERTY: &str = "kg.apc.jmeter.functions.FifoTimeout";

/// Property: capacity of a queue in texts; unset: no limit.
pub const CAPACITY_PROPERTY: &str = "kg.apc.jmeter.functions.FifoCapacity";

/// The queues of a run, created at first use.
#[derive(Debug, Default)]
pub struct Queues(Mutex<HashMap<String, Arc<TextQueue>>>);

/// One queue.
#[derive(Debug, Default)]
pub struct TextQueue {
    texts: Mutex<VecDeque<String>>,
    /// Notified when a text is added to or removed from the queue.
    changed: Notify,
}

impl Queues {
    /// The queue with this name, created at first use.
    pub fn named(&self, name: &str) -> Arc<TextQueue> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(queues.entry(name.to_owned()).or_default())
    }
}

impl TextQueue {
    fn texts(&self) -> std::sync::MutexGuard<'_, VecDeque<String>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a text at the end if the queue contains fewer than `capacity` texts, and returns whether it was added.
    pub fn put(&self, text: String, capacity: usize) -> bool {
        let mut texts = self.texts();
        let has_room = texts.len() < capacity;
        if has_room {
            texts.push_back(text);
            drop(texts);
            self.changed.notify_waiters();
        }
        has_room
    }

    /// Waits until a text is added or removed.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Removes the first text and returns it.
    pub fn pop(&self) -> Option<String> {
        let text = self.texts().pop_front();
        if text.is_some() {
            self.changed.notify_waiters();
        }
        text
    }

    /// A copy of the first text.
    pub fn first(&self) -> Option<String> {
        self.texts().front().cloned()
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.texts().len()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.texts().is_empty()
    }
}
