//! The messages between a coroutine and the thread that runs it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use corosensei::Yielder;

/// The work of a coroutine: a function and the pointer with which it is called.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) work: unsafe fn(*const ()),
    pub(crate) of: *const (),
}

/// The reason why a coroutine returns control to its thread.
pub(crate) enum Pause {
    Done,
    Suspended,
    /// The coroutine waits for work on another thread.
    Away(Arc<Done>),
    /// The coroutine waits until its waker is called.
    Waiting,
}

/// The handle with which the code inside of a coroutine suspends it.
pub(crate) type Handle = Yielder<Job, Pause>;

/// A flag that is set when work on another thread is done.
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
