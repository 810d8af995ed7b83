use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::*;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// A clock that advances by a quarter of a slice whenever it is read.
fn clock() -> u64 {
    NOW.set(NOW.get() + SLICE_NS / 4);
    NOW.get()
}

fn poll<F: Future>(future: Pin<&mut SlicedPoll<F>>) -> Polled<F::Output> {
    need_coroutines();
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
fn a_short_poll_is_not_suspended_even_if_it_returns_pending() {
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
fn a_wake_that_comes_during_a_suspension_is_not_lost() {
    // The future has two parts, like a `select`: the first waits for an event; the second evaluates, then waits forever.
    let event = Cell::new(false);
    let mut evaluates = true;
    let both = poll_fn(|_| {
        if event.get() {
            return Poll::Ready(());
        }
        if std::mem::take(&mut evaluates) {
            (0..5).for_each(|_| checkpoint());
        }
        Poll::Pending
    });
    let mut both = pin!(SlicedPoll::new(both));
    assert_eq!(poll(both.as_mut()), Polled::Suspended);
    event.set(true);
    assert_eq!(poll(both.as_mut()), Polled::Ready(()));
}

#[test]
fn work_that_must_be_whole_is_not_suspended() {
    let mut future = pin!(SlicedPoll::new(async {
        without_suspension(|| (0..20).for_each(|_| checkpoint()));
        assert_eq!(slices(), 0);
        checkpoint();
    }));
    assert_eq!(poll(future.as_mut()), Polled::Suspended);
    assert_eq!(poll(future.as_mut()), Polled::Ready(()));
    (0..20).for_each(|_| checkpoint());
    assert_eq!(slices(), 1, "outside of a coroutine nothing is suspended");
}

#[test]
fn dropping_an_evaluation_drops_its_values() {
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
            unreachable!("the future is dropped before");
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
fn the_number_of_suspended_evaluations_is_limited() {
    let evaluate = || Box::pin(SlicedPoll::new(async { (0..5).for_each(|_| checkpoint()) }));
    let mut all: Vec<_> = (0..SUSPENDED_MAX).map(|_| evaluate()).collect();
    for future in &mut all {
        assert_eq!(poll(future.as_mut()), Polled::Suspended);
    }
    assert_eq!(poll(evaluate().as_mut()), Polled::Ready(()));
    all.pop();
    assert_eq!(poll(evaluate().as_mut()), Polled::Suspended);
}

#[test]
fn coroutines_are_used_when_a_poll_has_taken_many_steps() {
    let poll = |steps: usize| {
        let mut future = pin!(SlicedPoll::new(async move {
            (0..steps).for_each(|_| tick(1));
            (0..5).for_each(|_| checkpoint());
        }));
        future.as_mut().poll(&Context::from_waker(Waker::noop()), clock)
    };
    tick(1);
    let few = pin!(SlicedPoll::new(async { (0..900).for_each(|_| tick(1)) }));
    assert_eq!(few.poll(&Context::from_waker(Waker::noop()), clock), Polled::Ready(()));
    assert!(!slice::are_coroutines_needed());
    assert_eq!(poll(2_000), Polled::Ready(()));
    assert_eq!(poll(0), Polled::Suspended);
}

#[test]
fn work_without_steps_is_done_on_another_thread() {
    const LONG: usize = 1 << 20;
    let here = std::thread::current().id();
    let text = String::from("on the stack of the evaluation");
    let evaluate = || async {
        assert_eq!(
            run_on_other_thread(1, || std::thread::current().id()),
            here,
            "short work runs on the same thread"
        );
        let (length, thread) = run_on_other_thread(LONG, || (text.len(), std::thread::current().id()));
        assert_ne!(thread, here);
        assert_eq!(without_suspension(|| run_on_other_thread(LONG, || std::thread::current().id())), here);
        length
    };
    assert_eq!(run_on_other_thread(LONG, || std::thread::current().id()), here, "outside of a coroutine");
    need_coroutines();
    let mut future = Box::pin(SlicedPoll::new(evaluate()));
    let waker = Waker::from(std::sync::Arc::new(Unpark(std::thread::current())));
    let length = loop {
        match future.as_mut().poll(&Context::from_waker(&waker), clock) {
            Polled::Ready(length) => break length,
            Polled::Pending => std::thread::park(),
            Polled::Suspended => {}
        }
    };
    assert_eq!(length, text.len());

    // The evaluation is dropped before its end. The drop waits for the work, which uses the stack.
    let finished = std::sync::atomic::AtomicBool::new(false);
    let mut future = Box::pin(SlicedPoll::new(async {
        run_on_other_thread(LONG, || finished.store(true, std::sync::atomic::Ordering::Relaxed));
    }));
    assert_eq!(poll(future.as_mut()), Polled::Pending);
    drop(future);
    assert!(finished.into_inner());
}

#[test]
fn a_panic_on_another_thread_reaches_the_evaluation() {
    need_coroutines();
    let mut future = Box::pin(SlicedPoll::new(async {
        let caught = catch_unwind(|| {
            run_on_other_thread::<()>(1 << 20, || std::panic::resume_unwind(Box::new("broken")))
        });
        assert_eq!(caught.expect_err("it panics").downcast_ref(), Some(&"broken"));
    }));
    let waker = Waker::from(std::sync::Arc::new(Unpark(std::thread::current())));
    while future.as_mut().poll(&Context::from_waker(&waker), clock) == Polled::Pending {
        std::thread::park();
    }
}

/// A waker that unparks a thread.
struct Unpark(std::thread::Thread);

impl std::task::Wake for Unpark {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn long_work_of_the_first_user_is_suspended_too() {
    // A new thread, on which no future has needed coroutines yet.
    std::thread::spawn(|| {
        let mut future = pin!(SlicedPoll::new(async {
            begin_slices().await;
            (0..5).for_each(|_| checkpoint());
            begin_slices().await;
        }));
        let mut poll = || future.as_mut().poll(&Context::from_waker(Waker::noop()), clock);
        assert_eq!([poll(), poll(), poll()], [Polled::Pending, Polled::Suspended, Polled::Ready(())]);
        assert_eq!(slices(), 1);
    })
    .join()
    .unwrap();
    // Polled directly, `begin_slices` returns `Pending` once and then continues.
    let mut alone = pin!(begin_slices());
    let mut poll = || alone.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!([poll(), poll()], [Poll::Pending, Poll::Ready(())]);
}

/// A future that is ready when its flag is set.
fn flagged(flag: &Cell<bool>) -> impl Future<Output = u8> + Unpin + '_ {
    poll_fn(|_| if flag.get() { Poll::Ready(9) } else { Poll::Pending })
}

#[test]
fn others_continue_while_an_evaluation_waits_for_a_future() {
    let flag = Cell::new(false);
    let mut waiting = pin!(SlicedPoll::new(async {
        Number::TextDepth.set(4);
        let got = wait_for(flagged(&flag)).ok();
        assert_eq!(Number::TextDepth.get(), 4);
        got
    }));
    let mut other = pin!(SlicedPoll::new(async {
        assert_eq!(Number::TextDepth.get(), 0);
        flag.set(true);
    }));
    assert_eq!(poll(waiting.as_mut()), Polled::Pending);
    assert_eq!(poll(waiting.as_mut()), Polled::Pending, "a spurious wake");
    assert!(waiting.is_suspended());
    assert_eq!(poll(other.as_mut()), Polled::Ready(()));
    assert_eq!(poll(waiting.as_mut()), Polled::Ready(Some(9)));
}

#[test]
fn dropping_a_wait_drops_its_future_and_frees_its_place() {
    let flag = Cell::new(false);
    let dropped = Cell::new(0);
    struct Counted<'c>(&'c Cell<u32>);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    for round in 1..=2 {
        let all: Vec<_> = (0..WAITING_MAX)
            .map(|_| {
                let mut one = Box::pin(SlicedPoll::new(async {
                    let counted = Counted(&dropped);
                    let _ = wait_for(flagged(&flag));
                    drop(counted);
                }));
                assert_eq!(poll(one.as_mut()), Polled::Pending);
                one
            })
            .collect();
        let mut beyond = pin!(SlicedPoll::new(async { wait_for(flagged(&flag)).is_err() }));
        assert_eq!(poll(beyond.as_mut()), Polled::Ready(true), "the limit of waiting evaluations is reached");
        drop(all);
        assert_eq!(dropped.get(), round * WAITING_MAX as u32);
    }
}

#[test]
fn waiting_is_an_error_where_evaluations_cannot_be_suspended() {
    let flag = Cell::new(true);
    assert!(wait_for(flagged(&flag)).is_err(), "outside of a coroutine");
    let mut inside =
        pin!(SlicedPoll::new(async { without_suspension(|| wait_for(flagged(&flag)).is_err()) }));
    assert_eq!(poll(inside.as_mut()), Polled::Ready(true));
}
