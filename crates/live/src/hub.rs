//! The clients of a live page: browsers that receive its events. A slow client does not delay others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use busyhour_server::mpsc::error::TrySendError;
use busyhour_server::mpsc::{Receiver, Sender, channel};

/// Maximum number of events that wait for a client. A client that misses an event gets a complete model instead.
const BEHIND_MAX: usize = 4;

struct Listener {
    queue: Sender<Arc<str>>,
    /// Whether the client has missed an event.
    is_behind: bool,
}

/// The connected clients.
#[derive(Default)]
pub(crate) struct Hub {
    listeners: Mutex<Vec<Listener>>,
}

impl Hub {
    /// Adds a client. Its first event is the complete model that `whole` returns.
    pub(crate) fn listen(&self, whole: impl FnOnce() -> Arc<str>) -> Receiver<Arc<str>> {
        let (queue, events) = channel(BEHIND_MAX);
        // While the lock is held, no event is sent between the model and the insertion into the list.
        let mut listeners = self.locked();
        let is_behind = queue.try_send(whole()).is_err();
        listeners.push(Listener { queue, is_behind });
        events
    }

    /// Sends `event` to all clients. Clients that have missed an event get the complete model that `whole` returns instead.
    pub(crate) fn broadcast(&self, event: &Arc<str>, whole: impl FnOnce() -> Arc<str>) {
        let mut whole = Some(whole);
        let mut made: Option<Arc<str>> = None;
        self.locked().retain_mut(|listener| {
            let event = if listener.is_behind {
                if let Some(whole) = whole.take() {
                    made = Some(whole());
                }
                made.as_ref().unwrap_or(event)
            } else {
                event
            };
            match listener.queue.try_send(Arc::clone(event)) {
                Ok(()) => {
                    listener.is_behind = false;
                    true
                }
                Err(TrySendError::Full(_)) => {
                    listener.is_behind = true;
                    true
                }
                Err(TrySendError::Closed(_)) => false,
            }
        });
    }

    /// Sends the last event and removes all clients.
    pub(crate) fn end(&self, event: &Arc<str>) {
        for listener in self.locked().drain(..) {
            // If the queue of a client is full, it learns of the end when its connection closes.
            let _ = listener.queue.try_send(Arc::clone(event));
        }
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Arc<str> {
        text.into()
    }

    /// The events in the queue.
    fn texts(events: &mut Receiver<Arc<str>>) -> Vec<String> {
        std::iter::from_fn(|| events.try_recv().ok()).map(|event| event.to_string()).collect()
    }

    #[test]
    fn slow_clients_get_a_complete_model_and_delay_no_others() {
        let hub = Hub::default();
        let (mut quick, mut slow) = (hub.listen(|| event("whole 0")), hub.listen(|| event("whole 0")));
        assert_eq!(&*quick.try_recv().unwrap(), "whole 0");
        for number in 1..10 {
            hub.broadcast(&event(&format!("second {number}")), || event(&format!("whole {number}")));
            assert_eq!(*quick.try_recv().unwrap(), *format!("second {number}"));
        }
        // The queue contains the events that fitted; the next event is a complete model.
        let received = texts(&mut slow);
        assert_eq!(received, ["whole 0", "second 1", "second 2", "second 3"]);
        hub.broadcast(&event("second 10"), || event("whole 10"));
        hub.broadcast(&event("second 11"), || event("whole 11"));
        let received = texts(&mut slow);
        assert_eq!(received, ["whole 10", "second 11"]);
    }

    #[test]
    fn disconnected_clients_are_removed_and_the_end_closes_all() {
        let hub = Hub::default();
        drop(hub.listen(|| event("model")));
        let mut connected = hub.listen(|| event("model"));
        hub.broadcast(&event("second"), || event("model"));
        assert_eq!(hub.locked().len(), 1);
        hub.end(&event("end"));
        assert_eq!(texts(&mut connected), ["model", "second", "end"]);
    }
}
