//! Determines when a slice ends, and suspends evaluations.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use crate::handle::{Done, Handle, Pause};
use crate::numbers::{self, FRESH, Numbers};
use crate::{SLICE_NS, SUSPENDED_MAX, WAITING_MAX};

/// Number of steps after which the clock is read. A step takes about 5 to 300 ns.
const STEPS_PER_LOOK: usize = 1024;

/// Number of steps after which a slice ends; 0 if slices end by time.
static SUSPEND_EVERY: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Remaining steps until the clock is read.
    static LEFT: Cell<usize> = const { Cell::new(STEPS_PER_LOOK) };
    /// Whether futures are polled inside of coroutines.
    static NEEDED: Cell<bool> = const { Cell::new(false) };
    static SLICE: Slice = const {
        Slice {
            handle: Cell::new(ptr::null()),
            waker: Cell::new(ptr::null()),
            clock: Cell::new(no_clock),
            since_ns: Cell::new(None),
            whole: Cell::new(0),
            suspended: Cell::new(0),
            waiting: Cell::new(0),
            ended: Cell::new(0),
        }
    };
}

fn no_clock() -> u64 {
    0
}

/// The current slice of a thread, and the counts of its coroutines.
struct Slice {
    /// The running coroutine; null outside of coroutines.
    handle: Cell<*const Handle>,
    /// The waker of the future that is polled in the coroutine.
    waker: Cell<*const Waker>,
    clock: Cell<fn() -> u64>,
    /// The time at which the clock was first read in this slice.
    since_ns: Cell<Option<u64>>,
    /// Number of calls of [`without_suspension`] on the stack.
    whole: Cell<u32>,
    /// Number of suspended coroutines of this thread, without those that wait for a future.
    suspended: Cell<usize>,
    /// Number of coroutines of this thread that wait for a future.
    waiting: Cell<usize>,
    /// Number of slices of this thread that ended with a suspension.
    ended: Cell<u64>,
}

/// Counts steps of an evaluation. Suspends the evaluation if its slice is over.
#[inline]
pub fn tick(steps: usize) {
    let left = LEFT.get();
    if left > steps {
        LEFT.set(left - steps);
    } else {
        look();
    }
}

/// Like [`tick`], but reads the clock at once. It is called before and after work of unknown duration.
pub fn checkpoint() {
    look();
}

/// Polls the futures of this thread inside of coroutines from now on. Without this call, the thread uses coroutines only after
/// a poll has taken more than a thousand steps, so they cost nothing for users without evaluations.
pub fn need_coroutines() {
    NEEDED.set(true);
}

/// Whether this code runs inside of a coroutine.
pub(crate) fn is_inside() -> bool {
    SLICE.with(|slice| !slice.handle.get().is_null())
}

#[inline]
pub(crate) fn are_coroutines_needed() -> bool {
    NEEDED.get() || suspends_by_steps()
}

/// Runs work that must not be suspended.
pub fn without_suspension<R>(work: impl FnOnce() -> R) -> R {
    struct Inside;
    impl Drop for Inside {
        fn drop(&mut self) {
            SLICE.with(|slice| slice.whole.set(slice.whole.get() - 1));
        }
    }
    SLICE.with(|slice| slice.whole.set(slice.whole.get() + 1));
    let _inside = Inside;
    work()
}

/// Ends slices in the whole process after `steps` steps instead of by time; 0 restores the end by time. Tests use a small
/// number to find borrows and counters that a suspension breaks.
pub fn suspend_every(steps: usize) {
    SUSPEND_EVERY.store(steps, Ordering::Relaxed);
}

/// Number of slices of this thread that ended with a suspension.
pub fn slices() -> u64 {
    SLICE.with(|slice| slice.ended.get())
}

#[cold]
#[inline(never)]
fn look() {
    SLICE.with(|slice| {
        let handle = slice.handle.get();
        if handle.is_null() {
            need_coroutines();
            LEFT.set(usize::MAX);
            return;
        }
        LEFT.set(steps_per_look());
        // A coroutine is not suspended while it panics, because the thread's count of panics is shared by all of its users.
        let may_end = slice.is_over() && slice.whole.get() == 0 && !std::thread::panicking();
        if !may_end || slice.suspended.get() >= SUSPENDED_MAX {
            return;
        }
        note_suspension();
        pause(handle, Pause::Suspended);
    });
}

/// Counts a coroutine that is going to be suspended.
pub(crate) fn note_suspension() {
    SLICE.with(|slice| {
        slice.suspended.set(slice.suspended.get() + 1);
        slice.ended.set(slice.ended.get() + 1);
    });
}

/// The running coroutine and its waker; `None` if it must not be suspended for work on another thread.
pub(crate) fn leave_for_away() -> Option<(*const Handle, Waker)> {
    leave(|slice| slice.suspended.get() < SUSPENDED_MAX)
}

/// The running coroutine and its waker; `None` if it must not be suspended until a future is ready.
pub(crate) fn leave_to_wait() -> Option<(*const Handle, Waker)> {
    leave(|slice| slice.waiting.get() < WAITING_MAX)
}

fn leave(has_room: impl FnOnce(&Slice) -> bool) -> Option<(*const Handle, Waker)> {
    SLICE.with(|slice| {
        let handle = slice.handle.get();
        if handle.is_null() {
            need_coroutines();
        }
        let may_leave = !handle.is_null() && slice.whole.get() == 0 && !std::thread::panicking();
        if !may_leave || !has_room(slice) {
            return None;
        }
        // SAFETY: `begin` was called with the waker of the current poll, which is valid until the poll is done.
        Some((handle, unsafe { (*slice.waker.get()).clone() }))
    })
}

/// Suspends the running coroutine until the work is done.
pub(crate) fn suspend_for(handle: *const Handle, work: Arc<Done>) {
    pause(handle, Pause::Away(work));
}

/// Suspends the running coroutine until its waker is called. Returns the waker of the poll that resumes it.
pub(crate) fn suspend_until_woken(handle: *const Handle) -> Waker {
    SLICE.with(|slice| {
        slice.waiting.set(slice.waiting.get() + 1);
        slice.ended.set(slice.ended.get() + 1);
    });
    pause(handle, Pause::Waiting);
    // SAFETY: `begin` was called with the waker of the current poll, which is valid until the poll is done.
    SLICE.with(|slice| unsafe { (*slice.waker.get()).clone() })
}

/// Suspends the coroutine; returns when it is resumed.
fn pause(handle: *const Handle, pause: Pause) {
    /// Restores the numbers when it is dropped, even if the stack is unwound because the evaluation is dropped.
    struct Restore(Numbers);
    impl Drop for Restore {
        fn drop(&mut self) {
            numbers::exchange(self.0);
        }
    }
    let _restore = Restore(numbers::exchange(FRESH));
    // SAFETY: `enter` was called with the yielder of the coroutine that runs this function. The yielder is valid until the
    // coroutine's outermost function returns, which it never does.
    let yielder = unsafe { &*handle };
    yielder.suspend(pause);
    enter(handle);
}

/// Whether slices end by steps instead of by time.
pub(crate) fn suspends_by_steps() -> bool {
    SUSPEND_EVERY.load(Ordering::Relaxed) > 0
}

fn steps_per_look() -> usize {
    match SUSPEND_EVERY.load(Ordering::Relaxed) {
        0 => STEPS_PER_LOOK,
        steps => steps,
    }
}

impl Slice {
    fn is_over(&self) -> bool {
        if suspends_by_steps() {
            return true;
        }
        let now = self.clock.get()();
        match self.since_ns.get() {
            Some(since) => now.saturating_sub(since) >= SLICE_NS,
            None => {
                self.since_ns.set(Some(now));
                false
            }
        }
    }
}

/// Starts a slice.
#[inline]
pub(crate) fn begin(clock: fn() -> u64, waker: *const Waker) {
    LEFT.set(steps_per_look());
    SLICE.with(|slice| {
        slice.clock.set(clock);
        slice.waker.set(waker);
        slice.since_ns.set(None);
    });
}

/// Sets the coroutine that runs from now on.
#[inline]
pub(crate) fn enter(handle: *const Handle) {
    SLICE.with(|slice| slice.handle.set(handle));
}

/// Records that no coroutine runs any more.
#[inline]
pub(crate) fn end() {
    LEFT.set(usize::MAX);
    SLICE.with(|slice| slice.handle.set(ptr::null()));
}

/// Records that a suspended coroutine continues or is dropped.
pub(crate) fn no_longer_suspended() {
    SLICE.with(|slice| slice.suspended.set(slice.suspended.get() - 1));
}

/// Records that a coroutine that waited for a future continues or is dropped.
pub(crate) fn no_longer_waiting() {
    SLICE.with(|slice| slice.waiting.set(slice.waiting.get() - 1));
}
