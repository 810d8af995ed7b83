use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::*;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// A clock that advances a quarter of a slice with every look.
fn clock() -> u64 {
    NOW.set(NOW.get() + SLICE_NS / 4);
    NOW.get()
}

fn poll<F: Future>(future: Pin<&mut SlicedPoll<F>>) -> Polled<F::Output> {
    future.poll(&Context::from_waker(Waker::noop()), clock)
}

#[test]
fn two_evaluations_take_turns_and_keep_their_numbers() {
    let events = RefCell::new(Vec::new());
    let evaluate = |name: char, of: u64| {
        let events = &events;
        async move {
            Number::TextDepth.set(of);
            for _ in 0..3 {
                events.borrow_mut().push(name);
                (0..5).for_each(|_| checkpoint());
                assert_eq!(Number::TextDepth.get(), of);
            }
            of
        }
    };
    Number::TextDepth.set(7);
    let mut one = pin!(SlicedPoll::new(evaluate('a', 1)));
    let mut other = pin!(SlicedPoll::new(evaluate('b', 2)));
    for _ in 0..3 {
        assert_eq!(poll(one.as_mut()), Polled::Suspended);
        assert_eq!(poll(other.as_mut()), Polled::Suspended);
        assert_eq!(Number::TextDepth.get(), 7);
    }
    assert_eq!(poll(other.as_mut()), Polled::Ready(2));
    assert_eq!(poll(one.as_mut()), Polled::Ready(1));
    assert_eq!(events.take(), ['a', 'b', 'a', 'b', 'a', 'b']);
    assert_eq!(slices(), 6);
}

#[test]
fn a_short_poll_is_not_suspended_and_waits_as_without_a_coroutine() {
    let mut waits = true;
    let future = poll_fn(|_| {
        (0..3).for_each(|_| checkpoint());
        if std::mem::take(&mut waits) { Poll::Pending } else { Poll::Ready(5) }
    });
    let mut future = pin!(SlicedPoll::new(future));
    assert_eq!(poll(future.as_mut()), Polled::Pending);
    assert!(!future.is_suspended());
    assert_eq!(poll(future.as_mut()), Polled::Ready(5));
    assert_eq!(slices(), 0);
}

#[test]
fn work_that_must_be_whole_is_not_suspended() {
    let mut future = pin!(SlicedPoll::new(async {
        whole(|| (0..20).for_each(|_| checkpoint()));
        assert_eq!(slices(), 0);
        checkpoint();
    }));
    assert_eq!(poll(future.as_mut()), Polled::Suspended);
    assert_eq!(poll(future.as_mut()), Polled::Ready(()));
    (0..20).for_each(|_| checkpoint());
    assert_eq!(slices(), 1, "outside of a coroutine nothing is suspended");
}

#[test]
fn an_evaluation_that_is_dropped_drops_what_it_holds() {
    struct Held<'h>(&'h Cell<u64>);
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            checkpoint();
            self.0.set(self.0.get() + Number::TextCount.get());
        }
    }
    let dropped = Cell::new(0);
    {
        let mut future = Box::pin(SlicedPoll::new(async {
            Number::TextCount.set(3);
            let _outer = Held(&dropped);
            std::future::ready(()).await;
            let _inner = Held(&dropped);
            (0..20).for_each(|_| checkpoint());
            unreachable!("it is dropped before");
        }));
        assert_eq!(poll(future.as_mut()), Polled::Suspended);
    }
    assert_eq!(dropped.get(), 6);
    assert_eq!(Number::TextCount.get(), 0);
    assert!(!std::thread::panicking());
}

#[test]
fn a_panic_reaches_the_caller_and_leaves_the_thread_usable() {
    for suspensions in [0, 1] {
        let mut future = Box::pin(SlicedPoll::new(async {
            (0..5 * suspensions).for_each(|_| checkpoint());
            std::panic::resume_unwind(Box::new("broken"));
        }));
        for _ in 0..suspensions {
            assert_eq!(poll::<_>(future.as_mut()), Polled::<()>::Suspended);
        }
        let panic = catch_unwind(AssertUnwindSafe(|| poll(future.as_mut()))).expect_err("it panics");
        assert_eq!(panic.downcast_ref(), Some(&"broken"));
    }
    let mut future = pin!(SlicedPoll::new(async { 1 }));
    assert_eq!(poll(future.as_mut()), Polled::Ready(1));
}

#[test]
fn only_so_many_evaluations_are_suspended_at_a_time() {
    let evaluate = || Box::pin(SlicedPoll::new(async { (0..5).for_each(|_| checkpoint()) }));
    let mut all: Vec<_> = (0..SUSPENDED_MAX).map(|_| evaluate()).collect();
    for future in &mut all {
        assert_eq!(poll(future.as_mut()), Polled::Suspended);
    }
    assert_eq!(poll(evaluate().as_mut()), Polled::Ready(()));
    all.pop();
    assert_eq!(poll(evaluate().as_mut()), Polled::Suspended);
}
