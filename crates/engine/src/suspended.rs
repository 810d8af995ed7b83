//! The suspended users of a core.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

/// The suspended users of a core, in the order in which they continue.
#[derive(Debug, Default)]
pub(crate) struct SuspendedUsers {
    queue: RefCell<VecDeque<(u64, Waker)>>,
    last_number: Cell<u64>,
}

impl SuspendedUsers {
    /// Adds a user; returns its number.
    pub(crate) fn push(&self, waker: &Waker) -> u64 {
        let number = self.last_number.get() + 1;
        self.last_number.set(number);
        self.queue.borrow_mut().push_back((number, waker.clone()));
        if self.queue.borrow().len() == 1 {
            self.wake_first();
        }
        number
    }

    /// Whether the user with this number continues next.
    pub(crate) fn is_first(&self, number: u64) -> bool {
        self.queue.borrow().front().is_some_and(|(first, _)| *first == number)
    }

    /// Removes a user that continues or is dropped.
    pub(crate) fn remove(&self, number: u64) {
        let was_first = self.is_first(number);
        self.queue.borrow_mut().retain(|(other, _)| *other != number);
        if was_first {
            self.wake_first();
        }
    }

    /// Wakes the first user, after the runtime has polled for events.
    fn wake_first(&self) {
        let first = self.queue.borrow().front().map(|(_, waker)| waker.clone());
        if let Some(waker) = first {
            let _ = pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(&waker));
        }
    }
}
