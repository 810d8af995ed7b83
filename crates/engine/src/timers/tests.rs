//! Tests the order of wakes, early wakes, and dropped sleepers.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::time::Duration;

use rand::Rng as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::task::LocalSet;

use super::*;

fn in_runtime(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    LocalSet::new().block_on(&runtime, test);
}

/// Lets every task run that is ready.
async fn settle() {
    // A local set polls up to 61 tasks in a row before other tasks run.
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn sleepers_wake_in_the_order_of_their_deadlines() {
    in_runtime(async {
        let clock = Clock::manual(0);
        let timers = Rc::new(Timers::new(clock.clone()).unwrap());
        let woken: Rc<RefCell<Vec<u64>>> = Rc::default();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut deadlines: Vec<u64> = (0..5_000).map(|_| random.random_range(1..1_000_000_000)).collect();
        for deadline in deadlines.clone() {
            let (timers, woken) = (Rc::clone(&timers), Rc::clone(&woken));
            tokio::task::spawn_local(async move {
                timers.sleep_until(Nanos(deadline)).await;
                woken.borrow_mut().push(deadline);
            });
        }
        settle().await;
        deadlines.sort_unstable();
        assert_eq!(timers.next_deadline(), Some(Nanos(deadlines[0])));
        for _ in 0..100 {
            clock.advance(Duration::from_millis(10));
            timers.fire(clock.now());
            settle().await;
            let due = deadlines.iter().filter(|deadline| **deadline <= clock.now().0).count();
            assert_eq!(woken.borrow().len(), due, "no user wakes up early or late");
        }
        assert_eq!(*woken.borrow(), deadlines);
        let inner = timers.inner.borrow();
        assert!(inner.heap.is_empty());
        assert_eq!(inner.free.len(), inner.places.len(), "every place was released");
    });
}

#[test]
fn the_kernel_timer_wakes_sleepers() {
    in_runtime(async {
        let clock = Clock::start();
        let timers = Timers::new(clock.clone()).unwrap();
        let naps = async {
            // Each sleep ends before the next one begins; the first deadline has already passed.
            for ns in [0, 1, 50_000, 1_000_000, 3_000_000] {
                let until = clock.now() + ns;
                timers.sleep_until(until).await;
                assert!(clock.now() >= until);
            }
            // An earlier deadline after a later one must set the kernel timer again.
            let late = timers.sleep_until(clock.now() + 3_600_000_000_000_u64);
            let soon = timers.sleep_until(clock.now() + 2_000_000_u64);
            tokio::select! {
                biased;
                () = late => panic!("an hour has not passed"),
                () = soon => {}
            }
        };
        tokio::select! {
            () = timers.drive() => {}
            () = naps => {}
        }
    });
}

#[test]
fn all_sleepers_can_be_woken_and_sleep_again() {
    in_runtime(async {
        let timers = Rc::new(Timers::new(Clock::manual(0)).unwrap());
        let tasks: Vec<_> = (0..1_000_u64)
            .map(|number| {
                let timers = Rc::clone(&timers);
                tokio::task::spawn_local(async move {
                    timers.sleep_until(Nanos::from_secs(1 + number)).await;
                    timers.sleep_until(Nanos::from_secs(2 + number)).await;
                })
            })
            .collect();
        settle().await;
        timers.wake_all();
        settle().await;
        assert!(tasks.iter().all(|task| !task.is_finished()), "the second sleep has not ended");
        assert_eq!(timers.next_deadline(), Some(Nanos::from_secs(2)));
        timers.wake_all();
        settle().await;
        assert!(tasks.iter().all(tokio::task::JoinHandle::is_finished));
        assert_eq!(timers.next_deadline(), None);
    });
}

#[test]
fn dropped_sleepers_are_removed() {
    in_runtime(async {
        let clock = Clock::manual(0);
        let timers = Timers::new(clock.clone()).unwrap();
        for round in 0..50_u64 {
            let mut sleeps: Vec<_> = (0..100_u64)
                .map(|number| Box::pin(timers.sleep_until(Nanos(1_000_000 * (round + 1) + number))))
                .collect();
            for sleep in &mut sleeps {
                let asleep = poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx).is_pending())).await;
                assert!(asleep);
            }
        }
        {
            let inner = timers.inner.borrow();
            assert_eq!(inner.places.len(), 100, "places are reused");
            assert_eq!(inner.free.len(), 100);
            assert!(
                inner.heap.len() <= 400,
                "deadlines of dropped sleepers are removed: {}",
                inner.heap.len()
            );
        }
        // A sleeper that reuses a place must not be woken by the deadline of the previous sleeper.
        let mut sleep = Box::pin(timers.sleep_until(Nanos::from_secs(10)));
        assert!(poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx).is_pending())).await);
        clock.advance(Duration::from_secs(1));
        timers.fire(clock.now());
        assert!(poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx).is_pending())).await);
        clock.advance(Duration::from_secs(9));
        timers.fire(clock.now());
        assert!(poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx).is_ready())).await);
        drop(sleep);
        assert!(timers.inner.borrow().heap.is_empty());
    });
}

#[test]
fn the_longer_lead_lasts_as_long_as_its_budget() {
    in_runtime(async {
        let timers = Timers::new(Clock::manual(0)).unwrap();
        let second = Nanos(1_000_000_000);
        assert_eq!(timers.lead_ns(second), WAKE_LEAD_NS, "no larger lead is requested");
        timers.be_punctual();
        assert_eq!(timers.lead_ns(second), PUNCTUAL_LEAD_NS);
        timers.spun_ns.set(second.0 / PUNCTUAL_SHARE);
        assert_eq!(timers.lead_ns(second), WAKE_LEAD_NS, "the budget, a twentieth of the time, is spent");
        assert_eq!(timers.lead_ns(second + 1_000), PUNCTUAL_LEAD_NS, "later, the budget has grown");
        timers.spin(2 * PUNCTUAL_LEAD_NS);
        assert_eq!(timers.lead_ns(second), 2 * PUNCTUAL_LEAD_NS, "a requested lead ignores the budget");
    });
}
