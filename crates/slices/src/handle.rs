//! What passes between a coroutine and the thread that runs it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use corosensei::Yielder;

/// What a coroutine is to do: calls the function with the pointer.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) work: unsafe fn(*const ()),
    pub(crate) of: *const (),
}

/// How a coroutine gives the thread back.
pub(crate) enum Pause {
    Done,
    Suspended,
    /// Until work on another thread is done.
    Away(Arc<Done>),
    /// Until its waker is called.
    Waiting,
}

/// The inside end of a coroutine.
pub(crate) type Handle = Yielder<Job, Pause>;

/// Whether work has been done.
#[derive(Debug, Default)]
pub(crate) struct Done {
    is_done: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Done {
    pub(crate) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self) {
        let _locked = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_done.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    pub(crate) fn wait(&self) {
        let mut locked = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_done() {
            locked = self.changed.wait(locked).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
