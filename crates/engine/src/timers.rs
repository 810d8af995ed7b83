//! Sleeping until a point in time: one heap of deadlines and one kernel timer per core.
//!
//! The usual runtime timers tick once a millisecond and so turn even arrivals into bunches; a timerfd wakes
//! within microseconds, and one is enough for all users of a core.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use busyhour_program::clock::Clock;
use busyhour_program::run::WAKE_LEAD_NS;
use busyhour_sample::Nanos;

/// The sleepers of one core.
pub struct Timers {
    clock: Clock,
    inner: RefCell<Inner>,
    kernel: kernel::KernelTimer,
    /// On a manual clock, time moves on to the next deadline when all tasks are idle.
    #[cfg(test)]
    idle: idle::IdleTimer,
    spin_ns: Cell<u64>,
    spun_ns: Cell<u64>,
    is_punctual: Cell<bool>,
}

#[derive(Default)]
struct Inner {
    heap: BinaryHeap<Reverse<(Nanos, u32, u32)>>,
    places: Vec<UserPlace>,
    free: Vec<u32>,
    /// Deadlines in the heap whose sleepers have been dropped.
    stale: usize,
    armed: Option<Nanos>,
}

#[derive(Default)]
struct UserPlace {
    generation: u32,
    fired: bool,
    waker: Option<Waker>,
}

/// The number of such deadlines that may remain.
const STALE_MIN: usize = 64;

/// The same where starts are met that others have set: the arrivals of open workloads. It covers most of what a core that
/// has gone to sleep takes to wake, and so shortens the tail; as long as the budget lasts.
const PUNCTUAL_LEAD_NS: u64 = 50_000;

/// At most one part in this number of a core's time may be spent on the longer lead. At 1,000 arrivals per second this is
/// sufficient for all of them; at higher rates a core rarely sleeps between two arrivals.
const PUNCTUAL_SHARE: u64 = 20;

/// A turn of the spin that took less did nothing else, in nanoseconds: an empty look at the sockets takes about one
/// microsecond, and no request is sent in less than five.
const SPIN_TURN_NS: u64 = 4_000;

impl std::fmt::Debug for Timers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timers").field("sleeping", &self.inner.borrow().heap.len()).finish_non_exhaustive()
    }
}

impl Timers {
    /// Timers of the core this is called on; must be called inside its runtime.
    ///
    /// # Errors
    /// When the kernel gives no timer (open files limit).
    pub fn new(clock: Clock) -> io::Result<Self> {
        let kernel = kernel::KernelTimer::new()?;
        Ok(Self {
            clock,
            inner: RefCell::default(),
            kernel,
            #[cfg(test)]
            idle: idle::IdleTimer::default(),
            spin_ns: Cell::new(WAKE_LEAD_NS),
            spun_ns: Cell::new(0),
            is_punctual: Cell::new(false),
        })
    }

    /// Looks at the clock over and over while the next deadline is nearer than `spin_ns`, instead of having the kernel
    /// wake it: sooner by what waking takes, for the CPU time it burns.
    pub fn spin(&self, spin_ns: u64) {
        self.spin_ns.set(spin_ns);
    }

    /// From now on deadlines are met as well as can be had for a twentieth of the core's time.
    pub fn be_punctual(&self) {
        self.is_punctual.set(true);
    }

    /// So long before a deadline the core is awake.
    fn lead_ns(&self, now: Nanos) -> u64 {
        let asked_ns = self.spin_ns.get();
        let affordable = self.is_punctual.get() && self.spun_ns.get() < now.0 / PUNCTUAL_SHARE;
        if affordable { asked_ns.max(PUNCTUAL_LEAD_NS) } else { asked_ns }
    }

    /// Time spent looking at the clock with nothing else to do, in nanoseconds.
    pub fn spun_ns(&self) -> u64 {
        self.spun_ns.get()
    }

    /// Sleeps until `deadline`, or until [`Self::wake_all`].
    pub fn sleep_until(&self, deadline: Nanos) -> Sleep<'_> {
        Sleep { timers: self, deadline, place: None }
    }

    /// Runs forever: wakes sleepers whose deadline has come.
    pub async fn drive(&self) {
        loop {
            self.expired().await;
            let mut now = self.clock.now();
            self.fire(now);
            // A manual clock is not polled: it would never move.
            let spin_ns = if self.clock.is_manual() { 0 } else { self.lead_ns(now) };
            while spin_ns > 0 && self.next_deadline().is_some_and(|next| next.since(now) <= spin_ns) {
                // Lets other tasks run, and checks the sockets.
                tokio::task::yield_now().await;
                let before = std::mem::replace(&mut now, self.clock.now());
                let passed = now.since(before);
                if passed < SPIN_TURN_NS {
                    self.spun_ns.set(self.spun_ns.get() + passed);
                }
                self.fire(now);
            }
            self.arm();
        }
    }

    #[cfg(not(test))]
    async fn expired(&self) {
        self.kernel.expired().await;
    }

    #[cfg(test)]
    async fn expired(&self) {
        if self.clock.is_manual() {
            self.idle.expired(&self.clock).await
        } else {
            self.kernel.expired().await
        }
    }

    /// Wakes every sleeper early (a stop was requested).
    pub fn wake_all(&self) {
        self.fire(Nanos::MAX);
    }

    /// The next deadline, if anybody sleeps.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.inner.borrow().heap.peek().map(|Reverse((deadline, ..))| *deadline)
    }

    fn fire(&self, now: Nanos) {
        loop {
            let waker = {
                let mut inner = self.inner.borrow_mut();
                inner.armed = None;
                match inner.heap.peek() {
                    Some(Reverse((deadline, ..))) if *deadline <= now => {}
                    _ => return,
                }
                let Some(Reverse((_, index, generation))) = inner.heap.pop() else { return };
                let place = &mut inner.places[index as usize];
                if place.generation != generation {
                    inner.stale = inner.stale.saturating_sub(1);
                    continue;
                }
                place.fired = true;
                place.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    fn arm(&self) {
        let mut inner = self.inner.borrow_mut();
        let Some(&Reverse((deadline, ..))) = inner.heap.peek() else { return };
        if inner.armed.is_none_or(|armed| deadline < armed) {
            inner.armed = Some(deadline);
            #[cfg(test)]
            if self.clock.is_manual() {
                self.idle.set(deadline);
                return;
            }
            let now = self.clock.now();
            self.kernel.set(deadline.since(now).saturating_sub(self.lead_ns(now)));
        }
    }

    fn register(&self, deadline: Nanos, waker: &Waker) -> (u32, u32) {
        let mut inner = self.inner.borrow_mut();
        let index = inner.free.pop().unwrap_or_else(|| {
            inner.places.push(UserPlace::default());
            u32::try_from(inner.places.len() - 1).unwrap_or(u32::MAX)
        });
        let place = &mut inner.places[index as usize];
        place.fired = false;
        place.waker = Some(waker.clone());
        let generation = place.generation;
        inner.heap.push(Reverse((deadline, index, generation)));
        (index, generation)
    }

    fn release(&self, index: u32) {
        let inner = &mut *self.inner.borrow_mut();
        let place = &mut inner.places[index as usize];
        place.generation = place.generation.wrapping_add(1);
        place.waker = None;
        let fired = place.fired;
        inner.free.push(index);
        if !fired {
            // Its deadline is still in the heap; it is taken out with others, when they are most of it.
            inner.stale += 1;
            if inner.stale > STALE_MIN && inner.stale * 2 > inner.heap.len() {
                let places = &inner.places;
                inner
                    .heap
                    .retain(|Reverse((_, at, generation))| places[*at as usize].generation == *generation);
                inner.stale = 0;
            }
        }
    }
}

/// A sleep; ends at its deadline or when all sleepers are woken.
#[derive(Debug)]
pub struct Sleep<'t> {
    timers: &'t Timers,
    deadline: Nanos,
    place: Option<u32>,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.place {
            None => {
                if self.timers.clock.now() >= self.deadline {
                    return Poll::Ready(());
                }
                let (index, _) = self.timers.register(self.deadline, cx.waker());
                self.place = Some(index);
                self.timers.arm();
                Poll::Pending
            }
            Some(index) => {
                let mut inner = self.timers.inner.borrow_mut();
                let place = &mut inner.places[index as usize];
                if place.fired {
                    return Poll::Ready(());
                }
                if !place.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                    place.waker = Some(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        if let Some(index) = self.place {
            self.timers.release(index);
        }
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::unix::AsyncFd;

    /// A timerfd in the runtime's epoll set.
    pub struct KernelTimer(AsyncFd<OwnedFd>);

    impl KernelTimer {
        pub fn new() -> io::Result<Self> {
            let fd =
                timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
            // SAFETY: an OwnedFd always names the same descriptor and keeps it open until it is dropped, which
            // AsyncFd does only after taking it out of the runtime's epoll set.
            let fd = unsafe { AsyncFd::register_with_interest(fd, tokio::io::Interest::READABLE) };
            Ok(Self(fd?))
        }

        /// Expires `wait_ns` from now (at once for 0).
        pub fn set(&self, wait_ns: u64) {
            let wait_ns = wait_ns.max(1);
            let value = Timespec {
                tv_sec: i64::try_from(wait_ns / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: (wait_ns % 1_000_000_000) as _,
            };
            let spec = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
            // Setting a valid time on an own timer cannot fail.
            let _ = timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &spec);
        }

        /// Waits until the timer has expired. Setting it again makes it unready, so it need not be read.
        pub async fn expired(&self) {
            if let Ok(mut ready) = self.0.readable().await {
                let mut count = [0_u8; 8];
                let _ = rustix::io::read(self.0.get_ref(), &mut count);
                ready.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::cell::Cell;
    use std::io;
    use std::time::Duration;

    use tokio::sync::Notify;
    use tokio::time::Instant;

    /// The runtime's own timer: coarser, but there everywhere.
    pub struct KernelTimer {
        at: Cell<Option<Instant>>,
        changed: Notify,
    }

    impl KernelTimer {
        pub fn new() -> io::Result<Self> {
            Ok(Self { at: Cell::new(None), changed: Notify::new() })
        }

        /// Expires `wait_ns` from now.
        pub fn set(&self, wait_ns: u64) {
            self.at.set(Some(Instant::now() + Duration::from_nanos(wait_ns)));
            self.changed.notify_one();
        }

        /// Waits until the timer has expired.
        pub async fn expired(&self) {
            loop {
                match self.at.get() {
                    None => self.changed.notified().await,
                    Some(at) => tokio::select! {
                        () = tokio::time::sleep_until(at) => {
                            self.at.set(None);
                            return;
                        }
                        () = self.changed.notified() => {}
                    },
                }
            }
        }
    }
}

#[cfg(test)]
mod idle;
#[cfg(test)]
mod tests;
