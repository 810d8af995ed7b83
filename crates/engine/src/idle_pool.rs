//! The idle pool: the users of one group on one core, and the arrivals assigned to them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use busyhour_sample::Nanos;
use tokio::sync::Notify;

use crate::timers::Timers;

/// Maximum number of arrivals that wait for users of one group on one core. Further arrivals are dropped, so that memory stays
/// bounded even if the server is slow.
const WAITING_MAX: usize = 4_000_000;

/// An arrival that is assigned to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// The number of the arrival in the whole schedule. It selects the session's random stream.
    pub(crate) arrival: u64,
    /// Intended start of the session.
    pub(crate) scheduled: Nanos,
    /// Whether the arrival had to wait for a user.
    pub(crate) waited: bool,
}

/// A user's entry in the pool.
#[derive(Default)]
struct Slot {
    assignment: Option<Assignment>,
    /// The next arrival if it was reserved ahead of time: the user starts it without the dispatcher.
    ahead: Option<Assignment>,
    waker: Option<Waker>,
}

/// The result of offering an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// An idle user has accepted the arrival.
    Accepted,
    /// No user is idle: a new one should be created.
    NoIdleUser,
}

/// The next arrival of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextAssignment {
    /// An arrival whose intended start has been reached.
    Now(Assignment),
    /// An arrival in the near future. The user prepares its session and then waits with [`PoolUser::hold`].
    Ahead(Assignment),
}

/// The users of one group on one core, and the arrivals that wait for them.
#[derive(Default)]
pub(crate) struct IdlePool {
    slots: RefCell<Vec<Slot>>,
    /// Idle users. The most recently used one is on top, because its connections are the most recently used.
    free: RefCell<Vec<u32>>,
    /// The slot that has a reserved arrival.
    reserved: Cell<Option<u32>>,
    waiting: RefCell<VecDeque<Assignment>>,
    busy: Cell<u32>,
    alive: Cell<u32>,
    closed: Cell<bool>,
    /// Notified when no user is busy any more.
    pub(crate) became_idle: Notify,
}

/// A user in a pool; dropping it frees the slot.
pub(crate) struct PoolUser {
    pool: Rc<IdlePool>,
    slot: u32,
    busy: bool,
}

impl Slot {
    /// Registers the task of `cx` to be woken when the slot changes.
    fn register(&mut self, cx: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
    }
}

impl IdlePool {
    /// Offers an arrival to the idle users.
    pub(crate) fn offer(&self, assignment: Assignment) -> Offer {
        let Some(slot) = self.free.borrow_mut().pop() else { return Offer::NoIdleUser };
        let waker = {
            let mut slots = self.slots.borrow_mut();
            let entry = &mut slots[slot as usize];
            entry.assignment = Some(assignment);
            entry.waker.take()
        };
        self.busy.set(self.busy.get() + 1);
        if let Some(waker) = waker {
            waker.wake();
        }
        Offer::Accepted
    }

    /// Reserves an arrival for an idle user ahead of time, so that no other task delays its start; returns `false` if no user is
    /// idle. At its intended start the arrival passes to the user, unless [`IdlePool::cancel_reservation`] is called before.
    pub(crate) fn reserve(&self, assignment: Assignment) -> bool {
        let Some(slot) = self.free.borrow_mut().pop() else { return false };
        let waker = {
            let mut slots = self.slots.borrow_mut();
            let entry = &mut slots[slot as usize];
            entry.ahead = Some(assignment);
            entry.waker.take()
        };
        self.reserved.set(Some(slot));
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Ends a reservation; returns whether its user has started the arrival. If not, the user is idle again, on top of the
    /// stack.
    pub(crate) fn cancel_reservation(&self) -> bool {
        let Some(slot) = self.reserved.take() else { return false };
        let waker = {
            let mut slots = self.slots.borrow_mut();
            let entry = &mut slots[slot as usize];
            if entry.ahead.take().is_none() {
                return true;
            }
            entry.waker.take()
        };
        self.free.borrow_mut().push(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
        false
    }

    /// Queues an arrival; returns `false` if too many are waiting.
    pub(crate) fn wait(&self, assignment: Assignment) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() >= WAITING_MAX {
            return false;
        }
        waiting.push_back(Assignment { waited: true, ..assignment });
        true
    }

    /// Adds a new user, with an arrival or idle.
    pub(crate) fn add_user(self: &Rc<Self>, assignment: Option<Assignment>) -> PoolUser {
        let mut slots = self.slots.borrow_mut();
        let slot = u32::try_from(slots.len()).unwrap_or(u32::MAX);
        slots.push(Slot { assignment, ..Slot::default() });
        self.alive.set(self.alive.get() + 1);
        // A user without an arrival counts as busy until it first calls `next`, which makes it idle.
        self.busy.set(self.busy.get() + 1);
        PoolUser { pool: Rc::clone(self), slot, busy: true }
    }

    /// Number of users that have ever been in the pool.
    pub(crate) fn users(&self) -> u32 {
        u32::try_from(self.slots.borrow().len()).unwrap_or(u32::MAX)
    }

    /// Number of users in the pool.
    pub(crate) fn alive(&self) -> u32 {
        self.alive.get()
    }

    /// Whether every arrival has been served, or no user is left to serve the others.
    pub(crate) fn is_idle(&self) -> bool {
        self.busy.get() == 0 && (self.waiting.borrow().is_empty() || self.alive.get() == 0)
    }

    /// Ends idle users immediately and busy users after their session; returns the number of arrivals without a user.
    pub(crate) fn close(&self) -> u64 {
        self.closed.set(true);
        let mut left = std::mem::take(&mut *self.waiting.borrow_mut()).len();
        let mut wakers = Vec::new();
        for slot in self.slots.borrow_mut().iter_mut() {
            left += usize::from(slot.assignment.take().is_some());
            wakers.extend(slot.waker.take());
        }
        for waker in wakers {
            waker.wake();
        }
        left as u64
    }
}

impl PoolUser {
    /// The next arrival for this user; `None` if there are no more. Once `is_stopped` returns `true`, no arrival is taken:
    /// waiting arrivals remain queued until the pool closes and counts them.
    pub(crate) async fn next(&mut self, is_stopped: impl Fn() -> bool) -> Option<NextAssignment> {
        let pool = Rc::clone(&self.pool);
        poll_fn(|cx| {
            if is_stopped() {
                return Poll::Ready(None);
            }
            let mut slots = pool.slots.borrow_mut();
            let entry = &mut slots[self.slot as usize];
            if let Some(assignment) = entry.assignment.take() {
                self.busy = true;
                return Poll::Ready(Some(NextAssignment::Now(assignment)));
            }
            if let Some(assignment) = entry.ahead {
                return Poll::Ready(Some(NextAssignment::Ahead(assignment)));
            }
            if pool.closed.get() {
                return Poll::Ready(None);
            }
            if self.busy {
                if let Some(assignment) = pool.waiting.borrow_mut().pop_front() {
                    return Poll::Ready(Some(NextAssignment::Now(assignment)));
                }
                self.rest();
                pool.free.borrow_mut().push(self.slot);
            }
            entry.register(cx);
            Poll::Pending
        })
        .await
    }

    /// Waits for the intended start of a reserved arrival; returns `false` if the reservation was cancelled.
    pub(crate) async fn hold(
        &mut self,
        assignment: Assignment,
        timers: &Timers,
        is_stopped: impl Fn() -> bool,
    ) -> bool {
        let pool = Rc::clone(&self.pool);
        let is_mine = || pool.slots.borrow()[self.slot as usize].ahead == Some(assignment);
        let taken_away = poll_fn(|cx| {
            if !is_mine() {
                return Poll::Ready(());
            }
            pool.slots.borrow_mut()[self.slot as usize].register(cx);
            Poll::Pending
        });
        tokio::select! {
            biased;
            () = timers.sleep_until(assignment.scheduled) => {}
            () = taken_away => return false,
        }
        // A stop of the run wakes all sleepers, possibly before the intended start.
        if is_stopped() || !is_mine() {
            return false;
        }
        pool.slots.borrow_mut()[self.slot as usize].ahead = None;
        pool.busy.set(pool.busy.get() + 1);
        self.busy = true;
        true
    }

    fn rest(&mut self) {
        self.busy = false;
        self.pool.busy.set(self.pool.busy.get() - 1);
        if self.pool.busy.get() == 0 {
            self.pool.became_idle.notify_one();
        }
    }
}

impl Drop for PoolUser {
    fn drop(&mut self) {
        self.pool.alive.set(self.pool.alive.get() - 1);
        if self.busy {
            self.rest();
        }
        if self.pool.alive.get() == 0 {
            self.pool.became_idle.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;

    use super::*;

    fn assignment(arrival: u64) -> Assignment {
        Assignment { arrival, scheduled: Nanos(1_000), waited: false }
    }

    /// The next arrival of a user, if there is one.
    fn poll_next(user: &mut PoolUser) -> Option<NextAssignment> {
        let next = std::pin::pin!(user.next(|| false));
        match next.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(call) => call,
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_user_is_idle_again_after_its_reservation_is_cancelled() {
        let pool = Rc::new(IdlePool::default());
        assert!(!pool.reserve(assignment(1)), "the pool has no user");
        let mut user = pool.add_user(None);
        assert_eq!(poll_next(&mut user), None);
        assert!(pool.is_idle());
        assert!(pool.reserve(assignment(1)));
        assert_eq!(poll_next(&mut user), Some(NextAssignment::Ahead(assignment(1))));
        assert_eq!(pool.offer(assignment(2)), Offer::NoIdleUser, "the only user has a reservation");
        assert!(!pool.cancel_reservation(), "the user has not started the arrival");
        assert_eq!(poll_next(&mut user), None);
        assert_eq!(pool.offer(assignment(2)), Offer::Accepted);
        assert_eq!(poll_next(&mut user), Some(NextAssignment::Now(assignment(2))));
        assert!(!pool.is_idle());
    }

    #[test]
    fn a_reservation_is_not_a_waiting_arrival() {
        let pool = Rc::new(IdlePool::default());
        let mut user = pool.add_user(None);
        assert_eq!(poll_next(&mut user), None);
        assert!(pool.reserve(assignment(1)));
        assert_eq!(pool.close(), 0);
    }
}
