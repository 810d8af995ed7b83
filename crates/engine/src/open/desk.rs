//! Where arrivals meet users: those of one group on one core.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use busyhour_record::Nanos;
use tokio::sync::Notify;

use super::WAITING_MAX;
use crate::timers::Timers;

/// An arrival on its way to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// Its number in the whole schedule, which keys the session's random stream.
    pub(crate) arrival: u64,
    /// When the session is meant to begin.
    pub(crate) scheduled: Nanos,
    /// It had to wait for a user.
    pub(crate) waited: bool,
}

/// A user's place at the desk.
#[derive(Default)]
struct Seat {
    ticket: Option<Ticket>,
    /// The next arrival, told before its time: the user begins it by itself.
    ahead: Option<Ticket>,
    waker: Option<Waker>,
}

/// What a desk did with an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// A free user has it.
    ByUser,
    /// Nobody is free: a new user should be made for it.
    NoUser,
}

/// What a user at a desk hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// An arrival whose time has come.
    Now(Ticket),
    /// An arrival that is still to come: time to get ready, and then to [`Attendance::hold`] on.
    Ahead(Ticket),
}

/// The users of one group on one core, and the arrivals that wait for them.
#[derive(Default)]
pub(crate) struct Desk {
    seats: RefCell<Vec<Seat>>,
    /// Free users, the last one that became free on top: its connections are the freshest.
    free: RefCell<Vec<u32>>,
    /// The seat that was told an arrival ahead of its time.
    booked: Cell<Option<u32>>,
    waiting: RefCell<VecDeque<Ticket>>,
    busy: Cell<u32>,
    alive: Cell<u32>,
    closed: Cell<bool>,
    /// Told when no user is busy any more.
    pub(crate) quiet: Notify,
}

/// A user at a desk; leaving it, in whatever way, frees the place.
pub(crate) struct Attendance {
    desk: Rc<Desk>,
    seat: u32,
    busy: bool,
}

impl Seat {
    /// Has the user of `cx` told of what comes.
    fn listen(&mut self, cx: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
    }
}

impl Desk {
    /// Offers an arrival to the free users.
    pub(crate) fn offer(&self, ticket: Ticket) -> Taken {
        let Some(seat) = self.free.borrow_mut().pop() else { return Taken::NoUser };
        let waker = {
            let mut seats = self.seats.borrow_mut();
            let place = &mut seats[seat as usize];
            place.ticket = Some(ticket);
            place.waker.take()
        };
        self.busy.set(self.busy.get() + 1);
        if let Some(waker) = waker {
            waker.wake();
        }
        Taken::ByUser
    }

    /// Tells a free user of an arrival before its time, so that nothing but the user stands between its time and its start;
    /// false when nobody is free. The arrival is the user's from its time on, until [`Desk::unbook`].
    pub(crate) fn book(&self, ticket: Ticket) -> bool {
        let Some(seat) = self.free.borrow_mut().pop() else { return false };
        let waker = {
            let mut seats = self.seats.borrow_mut();
            let place = &mut seats[seat as usize];
            place.ahead = Some(ticket);
            place.waker.take()
        };
        self.booked.set(Some(seat));
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Ends a booking: whether its user has begun the arrival. If it has not, it is free again, the first to be asked.
    pub(crate) fn unbook(&self) -> bool {
        let Some(seat) = self.booked.take() else { return false };
        let waker = {
            let mut seats = self.seats.borrow_mut();
            let place = &mut seats[seat as usize];
            if place.ahead.take().is_none() {
                return true;
            }
            place.waker.take()
        };
        self.free.borrow_mut().push(seat);
        if let Some(waker) = waker {
            waker.wake();
        }
        false
    }

    /// Lets an arrival wait; false when too many wait already.
    pub(crate) fn wait(&self, ticket: Ticket) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() >= WAITING_MAX {
            return false;
        }
        waiting.push_back(Ticket { waited: true, ..ticket });
        true
    }

    /// A place for a new user, with an arrival or free.
    pub(crate) fn seat(self: &Rc<Self>, ticket: Option<Ticket>) -> Attendance {
        let mut seats = self.seats.borrow_mut();
        let seat = u32::try_from(seats.len()).unwrap_or(u32::MAX);
        seats.push(Seat { ticket, ..Seat::default() });
        self.alive.set(self.alive.get() + 1);
        // A user without an arrival is counted as busy until it first asks for one, which frees it.
        self.busy.set(self.busy.get() + 1);
        Attendance { desk: Rc::clone(self), seat, busy: true }
    }

    /// Users that have ever had a place.
    pub(crate) fn users(&self) -> u32 {
        u32::try_from(self.seats.borrow().len()).unwrap_or(u32::MAX)
    }

    /// Users that have a place.
    pub(crate) fn alive(&self) -> u32 {
        self.alive.get()
    }

    /// Whether every arrival has been served, as far as anybody is left to serve them.
    pub(crate) fn is_quiet(&self) -> bool {
        self.busy.get() == 0 && (self.waiting.borrow().is_empty() || self.alive.get() == 0)
    }

    /// Sends free users home, and the others when they are through; gives how many arrivals nobody has taken up.
    pub(crate) fn close(&self) -> u64 {
        self.closed.set(true);
        let mut left = std::mem::take(&mut *self.waiting.borrow_mut()).len();
        let mut wakers = Vec::new();
        for seat in self.seats.borrow_mut().iter_mut() {
            left += usize::from(seat.ticket.take().is_some());
            wakers.extend(seat.waker.take());
        }
        for waker in wakers {
            waker.wake();
        }
        left as u64
    }
}

impl Attendance {
    /// The next arrival for this user; `None` when there will be none any more. Once the run `is_stopped` no arrival is
    /// taken up: those that are here wait until the desk closes and counts them.
    pub(crate) async fn next(&mut self, is_stopped: impl Fn() -> bool) -> Option<Call> {
        let desk = Rc::clone(&self.desk);
        poll_fn(|cx| {
            if is_stopped() {
                return Poll::Ready(None);
            }
            let mut seats = desk.seats.borrow_mut();
            let place = &mut seats[self.seat as usize];
            if let Some(ticket) = place.ticket.take() {
                self.busy = true;
                return Poll::Ready(Some(Call::Now(ticket)));
            }
            if let Some(ticket) = place.ahead {
                return Poll::Ready(Some(Call::Ahead(ticket)));
            }
            if desk.closed.get() {
                return Poll::Ready(None);
            }
            if self.busy {
                if let Some(ticket) = desk.waiting.borrow_mut().pop_front() {
                    return Poll::Ready(Some(Call::Now(ticket)));
                }
                self.rest();
                desk.free.borrow_mut().push(self.seat);
            }
            place.listen(cx);
            Poll::Pending
        })
        .await
    }

    /// Waits for the time of an arrival that was told ahead; false when it is this user's no more.
    pub(crate) async fn hold(
        &mut self,
        ticket: Ticket,
        timers: &Timers,
        is_stopped: impl Fn() -> bool,
    ) -> bool {
        let desk = Rc::clone(&self.desk);
        let is_mine = || desk.seats.borrow()[self.seat as usize].ahead == Some(ticket);
        let taken_away = poll_fn(|cx| {
            if !is_mine() {
                return Poll::Ready(());
            }
            desk.seats.borrow_mut()[self.seat as usize].listen(cx);
            Poll::Pending
        });
        tokio::select! {
            biased;
            () = timers.sleep_until(ticket.scheduled) => {}
            () = taken_away => return false,
        }
        // All sleepers are woken when the run is to stop: that is not its time.
        if is_stopped() || !is_mine() {
            return false;
        }
        desk.seats.borrow_mut()[self.seat as usize].ahead = None;
        desk.busy.set(desk.busy.get() + 1);
        self.busy = true;
        true
    }

    fn rest(&mut self) {
        self.busy = false;
        self.desk.busy.set(self.desk.busy.get() - 1);
        if self.desk.busy.get() == 0 {
            self.desk.quiet.notify_one();
        }
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.desk.alive.set(self.desk.alive.get() - 1);
        if self.busy {
            self.rest();
        }
        if self.desk.alive.get() == 0 {
            self.desk.quiet.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;

    use super::*;

    fn ticket(arrival: u64) -> Ticket {
        Ticket { arrival, scheduled: Nanos(1_000), waited: false }
    }

    /// What a user hears now, if it hears anything.
    fn heard(user: &mut Attendance) -> Option<Call> {
        let next = std::pin::pin!(user.next(|| false));
        match next.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(call) => call,
            Poll::Pending => None,
        }
    }

    #[test]
    fn who_was_told_ahead_is_free_again_when_the_arrival_is_taken_away() {
        let desk = Rc::new(Desk::default());
        assert!(!desk.book(ticket(1)), "nobody is there");
        let mut user = desk.seat(None);
        assert_eq!(heard(&mut user), None);
        assert!(desk.is_quiet());
        assert!(desk.book(ticket(1)));
        assert_eq!(heard(&mut user), Some(Call::Ahead(ticket(1))));
        assert_eq!(desk.offer(ticket(2)), Taken::NoUser, "it has one");
        assert!(!desk.unbook(), "its time had not come");
        assert_eq!(heard(&mut user), None);
        assert_eq!(desk.offer(ticket(2)), Taken::ByUser);
        assert_eq!(heard(&mut user), Some(Call::Now(ticket(2))));
        assert!(!desk.is_quiet());
    }

    #[test]
    fn nobody_is_owed_an_arrival_that_was_only_told_ahead() {
        let desk = Rc::new(Desk::default());
        let mut user = desk.seat(None);
        assert_eq!(heard(&mut user), None);
        assert!(desk.book(ticket(1)));
        assert_eq!(desk.close(), 0);
    }
}
