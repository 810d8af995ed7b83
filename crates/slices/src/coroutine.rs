//! Polls futures inside of coroutines, so that a poll can be suspended.
//!
//! A coroutine is reused for many polls. Only a suspended poll keeps its coroutine; all others return it to the thread's pool.
//! A poll therefore costs two stack switches and no allocation.

use std::cell::{RefCell, UnsafeCell};
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use crate::handle::{Done, Handle, Job, Pause};
use crate::numbers::{self, FRESH, Numbers};
use crate::slice;

/// Size of the stack of a coroutine in bytes. This is address space; memory is used only up to the greatest depth reached so
/// far. Evaluators limit their recursion to fit into the default stack of a thread (2 MiB), so twice that size is enough.
const STACK_BYTES: usize = 4 << 20;

/// Maximum number of unused coroutines that a thread keeps.
const IDLE_MAX: usize = 8;

type Worker = Coroutine<Job, Pause, (), DefaultStack>;

thread_local! {
    static IDLE: RefCell<Vec<Worker>> = const { RefCell::new(Vec::new()) };
}

fn new_worker() -> Option<Worker> {
    let stack = DefaultStack::new(STACK_BYTES).ok()?;
    Some(Coroutine::with_stack(stack, |yielder: &Handle, mut job: Job| {
        loop {
            slice::enter(yielder);
            // SAFETY: `SlicedPoll::poll` passes a function and a pointer that belong together, and keeps the object behind the
            // pointer alive until the work is done or the coroutine is dropped.
            unsafe { (job.work)(job.of) };
            job = yielder.suspend(Pause::Done);
        }
    }))
}

/// The result of one poll.
#[derive(Debug, PartialEq, Eq)]
pub enum Polled<T> {
    /// The future is ready.
    Ready(T),
    /// The future waits for an event, possibly in the middle of an evaluation. Its waker is registered.
    Pending,
    /// The slice is over. The future has no waker registered; the caller polls it again after other users have run.
    Suspended,
}

/// A future that is polled inside of coroutines.
pub struct SlicedPoll<F: Future> {
    inner: UnsafeCell<Inner<F>>,
    suspended: Option<Worker>,
    /// The work on another thread for which the future waits; `None` if there is none.
    away: Option<Arc<Done>>,
    /// Whether the suspended poll waits for another future.
    is_waiting: bool,
    _pinned: PhantomPinned,
}

struct Inner<F: Future> {
    waker: Waker,
    output: Poll<F::Output>,
    future: F,
}

impl<F: Future> std::fmt::Debug for SlicedPoll<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlicedPoll").field("is_suspended", &self.is_suspended()).finish_non_exhaustive()
    }
}

impl<F: Future> SlicedPoll<F> {
    /// Wraps a future that has not been polled yet.
    pub fn new(future: F) -> Self {
        let inner = Inner { waker: Waker::noop().clone(), output: Poll::Pending, future };
        Self {
            inner: UnsafeCell::new(inner),
            suspended: None,
            away: None,
            is_waiting: false,
            _pinned: PhantomPinned,
        }
    }

    /// Whether the last poll was suspended: at the end of a slice, or to wait for work on another thread or for a future.
    pub fn is_suspended(&self) -> bool {
        self.suspended.is_some()
    }

    /// Polls the future, or continues the suspended poll. `clock` returns nanoseconds since an arbitrary time.
    ///
    /// # Panics
    /// If the future panics, with the same payload.
    pub fn poll(self: Pin<&mut Self>, context: &Context<'_>, clock: fn() -> u64) -> Polled<F::Output> {
        // SAFETY: nothing is moved out of the pinned value; `future` keeps its address.
        let this = unsafe { self.get_unchecked_mut() };
        if this.away.as_ref().is_some_and(|work| !work.is_done()) {
            return Polled::Pending;
        }
        this.away = None;
        let was_suspended = this.suspended.is_some();
        let polled = this.poll_once(context, clock);
        if was_suspended && matches!(polled, Polled::Pending) && this.suspended.is_none() {
            // During the suspension, a wake may have come for a part of the future that was polled earlier, such as the first
            // branch of a `select`. Since then, polls have only continued the suspended part. The future is therefore polled
            // once more, from its start.
            return this.poll_once(context, clock);
        }
        polled
    }

    /// Polls the future once, or runs the next slice of a suspended poll.
    fn poll_once(&mut self, context: &Context<'_>, clock: fn() -> u64) -> Polled<F::Output> {
        let inner = self.inner.get();
        if self.suspended.is_none() && !slice::are_coroutines_needed() {
            // SAFETY: `inner` is pinned and not used elsewhere.
            let polled = unsafe { Pin::new_unchecked(&mut (*inner).future) }
                .poll(&mut Context::from_waker(context.waker()));
            return match polled {
                Poll::Ready(output) => Polled::Ready(output),
                Poll::Pending => Polled::Pending,
            };
        }
        let mut worker = match self.suspended.take() {
            Some(worker) => {
                self.count_resumption();
                worker
            }
            None => {
                // SAFETY: no poll is in progress, so the waker is not used elsewhere.
                let waker = unsafe { &mut (*inner).waker };
                if !waker.will_wake(context.waker()) {
                    waker.clone_from(context.waker());
                }
                let Some(worker) = IDLE.with_borrow_mut(Vec::pop).or_else(new_worker) else {
                    // If there is no memory for another stack, the future is polled on this stack, without suspension.
                    // SAFETY: `inner` is pinned and not used elsewhere.
                    unsafe { poll_inner::<F>(inner.cast_const().cast()) };
                    return self.take_output();
                };
                worker
            }
        };
        // SAFETY: this only takes a pointer and reads nothing.
        let outside = Outside::leave_for(clock, unsafe { &raw const (*inner).waker });
        let paused = worker.resume(Job { work: poll_inner::<F>, of: inner.cast_const().cast() });
        drop(outside);
        match paused {
            CoroutineResult::Yield(Pause::Suspended) => {
                self.suspended = Some(worker);
                Polled::Suspended
            }
            CoroutineResult::Yield(Pause::Away(work)) => {
                self.suspended = Some(worker);
                self.away = Some(work);
                Polled::Pending
            }
            CoroutineResult::Yield(Pause::Waiting) => {
                self.suspended = Some(worker);
                self.is_waiting = true;
                Polled::Pending
            }
            CoroutineResult::Yield(Pause::Done) | CoroutineResult::Return(()) => {
                IDLE.with_borrow_mut(|idle| {
                    if idle.len() < IDLE_MAX && !worker.done() {
                        idle.push(worker);
                    }
                });
                self.take_output()
            }
        }
    }

    /// Records that the suspended coroutine continues or is dropped.
    fn count_resumption(&mut self) {
        if std::mem::take(&mut self.is_waiting) {
            slice::no_longer_waiting();
        } else {
            slice::no_longer_suspended();
        }
    }

    fn take_output(&mut self) -> Polled<F::Output> {
        match std::mem::replace(&mut self.inner.get_mut().output, Poll::Pending) {
            Poll::Ready(output) => Polled::Ready(output),
            Poll::Pending => Polled::Pending,
        }
    }
}

impl<F: Future> Drop for SlicedPoll<F> {
    fn drop(&mut self) {
        // The frames of the coroutine borrow the future, so they are unwound first.
        if let Some(worker) = self.suspended.take() {
            self.count_resumption();
            let outside = Outside::leave_for(|| 0, std::ptr::null());
            drop(worker);
            drop(outside);
        }
    }
}

/// Polls the future of an [`Inner`] and stores its result.
///
/// # Safety
/// `inner` must point to a pinned `Inner<F>` that is not used elsewhere until the function returns or its stack is unwound.
unsafe fn poll_inner<F: Future>(inner: *const ()) {
    let inner: *mut Inner<F> = inner.cast_mut().cast();
    // SAFETY: guaranteed by the caller; the future is never moved.
    unsafe {
        let future = Pin::new_unchecked(&mut (*inner).future);
        let polled = future.poll(&mut Context::from_waker(&(*inner).waker));
        (*inner).output = polled;
    }
}

/// The values that the thread's [`Number`](crate::Number)s have outside of coroutines. They are saved here while a coroutine
/// runs. Dropping this value restores them, even if the coroutine panicked.
struct Outside(Numbers);

impl Outside {
    fn leave_for(clock: fn() -> u64, waker: *const Waker) -> Self {
        let outside = Self(numbers::exchange(FRESH));
        slice::begin(clock, waker);
        outside
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        slice::end();
        numbers::exchange(self.0);
    }
}
