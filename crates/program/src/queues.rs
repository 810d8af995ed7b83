//! Queues by name through which users of a run hand texts to one another (the plugin Inter-Thread Communication).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap as HashMap;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Property: how long to wait for a text, in seconds; unset: as long as it takes.
pub const TIMEOUT_PROPERTY: &str = "kg.apc.jmeter.functions.FifoTimeout";

/// Property: how many texts a queue holds; unset: no bound.
pub const CAPACITY_PROPERTY: &str = "kg.apc.jmeter.functions.FifoCapacity";

/// The queues of a run, made when they are first named.
#[derive(Debug, Default)]
pub struct Queues(Mutex<HashMap<String, Arc<Queue>>>);

/// One queue.
#[derive(Debug, Default)]
pub struct Queue {
    texts: Mutex<VecDeque<String>>,
    /// Somebody has put or taken a text.
    changed: Notify,
}

impl Queues {
    /// The queue of this name.
    pub fn named(&self, name: &str) -> Arc<Queue> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(queues.entry(name.to_owned()).or_default())
    }
}

impl Queue {
    fn texts(&self) -> std::sync::MutexGuard<'_, VecDeque<String>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a text at the end if fewer than `capacity` are there; gives it back otherwise.
    ///
    /// # Errors
    /// The queue is full.
    pub fn put(&self, text: String, capacity: usize) -> Result<(), String> {
        let mut texts = self.texts();
        if texts.len() >= capacity {
            return Err(text);
        }
        texts.push_back(text);
        drop(texts);
        self.changed.notify_waiters();
        Ok(())
    }

    /// The next change: a text that somebody puts or takes.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Takes the first text.
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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts().is_empty()
    }
}
