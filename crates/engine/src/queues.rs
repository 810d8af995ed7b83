//! Elements that take texts from queues and put texts into queues (the plugin Inter-Thread Communication).

use busyhour_program::element::{Gate, GateWait, Processor};
use busyhour_program::queues::TextQueue;
use busyhour_program::run::Stop;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// How often a waiting user checks whether the run is being stopped, in nanoseconds.
const STOP_CHECK_INTERVAL_NS: u64 = 1_000_000_000;

/// Retries until the operation succeeds, `wait_s` seconds have passed (`None`: no limit) or the run is stopped.
async fn retry<T>(
    queue: &TextQueue,
    user: &UserState,
    wait_s: Option<u64>,
    mut attempt: impl FnMut() -> Option<T>,
) -> Option<T> {
    let until = wait_s.map(|s| user.now() + s.saturating_mul(1_000_000_000));
    loop {
        // Subscribes to changes before it reads the queue, so that no change in between is missed.
        let changed = queue.changed();
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
        let next_check = until.unwrap_or(busyhour_sample::Nanos::MAX).min(now + STOP_CHECK_INTERVAL_NS);
        tokio::select! {
            () = changed => {}
            () = core.sleep_until(next_check) => {}
        }
    }
}

/// Inter-Thread Communication PreProcessor: waits for a text in a queue and moves it into a variable.
#[derive(Debug)]
pub struct PopIntoVariable {
    /// `FifoName`
    pub queue: Template,
    /// `Variable`
    pub variable: Template,
    /// `Timeout`: maximum wait in seconds; empty: no limit.
    pub timeout_s: Template,
}

impl PopIntoVariable {
    async fn pop(&self, user: &mut UserState) {
        let name = self.queue.text(user).into_owned();
        let timeout = self.timeout_s.text(user).into_owned();
        let wait_s = match timeout.as_str() {
            "" => None,
            // A negative time, or a text that is not a number, means no wait.
            text => Some(text.parse::<i64>().ok().and_then(|s| u64::try_from(s).ok()).unwrap_or(0)),
        };
        let queue = user.run.queues.named(&name);
        let text = retry(&queue, user, wait_s.filter(|s| *s < FOREVER_S), || queue.pop()).await;
        let variable = self.variable.text(user).into_owned();
        match text {
            Some(text) => user.variables.set(&variable, &text),
            // If no text was received, the variable is unset.
            None => {
                user.variables.remove(&variable);
            }
        }
    }
}

/// Longer than any run.
const FOREVER_S: u64 = 1_000_000_000;

impl Processor for PopIntoVariable {
    fn process(&self, _user: &mut UserState) {}

    fn gate(&self) -> Option<&dyn Gate> {
        Some(self)
    }
}

impl Gate for PopIntoVariable {
    fn wait<'u>(&'u self, user: &'u mut UserState) -> GateWait<'u> {
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
        user.run.put_into_queue(&name, value);
    }
}
