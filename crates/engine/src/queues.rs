//! Queues by name through which users of a run hand texts to one another (the plugin Inter-Thread Communication).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap as HashMap;
use tokio::sync::Notify;

use crate::element::{Gate, Passing, Processor};
use crate::run::Stop;
use crate::template::Template;
use crate::user::UserState;

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

/// So often a user that waits looks whether the run is being stopped, in nanoseconds.
const LOOK_NS: u64 = 1_000_000_000;

/// Tries until it succeeds, `wait_s` seconds have passed (`None`: as long as it takes) or the run is stopped.
async fn retry<T>(
    queue: &Queue,
    user: &UserState,
    wait_s: Option<u64>,
    mut attempt: impl FnMut() -> Option<T>,
) -> Option<T> {
    let until = wait_s.map(|s| user.now() + s.saturating_mul(1_000_000_000));
    loop {
        // Listens before it looks, so that no change is missed in between.
        let changed = queue.changed.notified();
        let mut changed = std::pin::pin!(changed);
        changed.as_mut().enable();
        if let Some(done) = attempt() {
            return Some(done);
        }
        let core = user.core.as_ref()?;
        let now = user.now();
        if user.run.stop() != Stop::No || until.is_some_and(|until| now >= until) {
            return None;
        }
        let look = until.unwrap_or(busyhour_record::Nanos::MAX).min(now + LOOK_NS);
        tokio::select! {
            () = changed => {}
            () = core.timers.sleep_until(look) => {}
        }
    }
}

/// Inter-Thread Communication PreProcessor: takes a text out of a queue into a variable, waiting for it.
#[derive(Debug)]
pub struct PopIntoVariable {
    /// `FifoName`
    pub queue: Template,
    /// `Variable`
    pub variable: Template,
    /// `Timeout`: how long to wait in seconds; empty: as long as it takes.
    pub timeout_s: Template,
}

impl PopIntoVariable {
    async fn pop(&self, user: &mut UserState) {
        let name = self.queue.text(user).into_owned();
        let timeout = self.timeout_s.text(user).into_owned();
        let wait_s = match timeout.as_str() {
            "" => None,
            // What lies in the past, or is no number, does not wait.
            text => Some(text.parse::<i64>().ok().and_then(|s| u64::try_from(s).ok()).unwrap_or(0)),
        };
        let queue = user.run.queues.named(&name);
        let text = retry(&queue, user, wait_s.filter(|s| *s < FOR_EVER_S), || queue.pop()).await;
        let variable = self.variable.text(user).into_owned();
        match text {
            Some(text) => user.variables.set(&variable, &text),
            // A variable that is given nothing is as one that was never set.
            None => {
                user.variables.remove(&variable);
            }
        }
    }
}

/// Waits longer than any run.
const FOR_EVER_S: u64 = 1_000_000_000;

impl Processor for PopIntoVariable {
    fn process(&self, _user: &mut UserState) {}

    fn gate(&self) -> Option<&dyn Gate> {
        Some(self)
    }
}

impl Gate for PopIntoVariable {
    fn pass<'u>(&'u self, user: &'u mut UserState) -> Passing<'u> {
        Box::pin(self.pop(user))
    }
}

/// Inter-Thread Communication PostProcessor: puts a text into a queue.
#[derive(Debug)]
pub struct PutIntoQueue {
    /// `FifoName`
    pub queue: Template,
    /// `Value`
    pub value: Template,
}

impl Processor for PutIntoQueue {
    fn process(&self, user: &mut UserState) {
        let name = self.queue.text(user).into_owned();
        let value = self.value.text(user).into_owned();
        put(user, &name, value);
    }
}

/// Puts a text into the queue of this name; one that is full loses it, with a line in the log.
pub fn put(user: &UserState, name: &str, value: String) {
    let capacity = user.run.properties.number(CAPACITY_PROPERTY, usize::MAX);
    if user.run.queues.named(name).put(value, capacity).is_err() {
        let line = format!("the queue {name} is full; the value is lost");
        user.log(crate::run::Level::Warn, &line);
    }
}
