//! Sleeping until a point in time: one heap of deadlines and one kernel timer per core.
//!
//! The timers of common runtimes have a resolution of one millisecond and so turn evenly spaced arrivals into bursts. A timerfd
//! wakes the thread within microseconds, and one is sufficient for all users of a core.

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
    /// On a manual clock: moves the time to the next deadline when all tasks are idle.
    #[cfg(test)]
    idle: idle::IdleTimer,
    spin_ns: Cell<u64>,
    spun_ns: Cell<u64>,
    is_punctual: Cell<bool>,
}

#[derive(Default)]
struct Inner {
    heap: BinaryHeap<Reverse<(Nanos, u32, u32)>>,
    places: Vec<UserPosition>,
    free: Vec<u32>,
    /// Number of deadlines in the heap whose sleepers have been dropped.
    stale: usize,
    armed: Option<Nanos>,
}

#[derive(Default)]
struct UserPosition {
    generation: u32,
    fired: bool,
    waker: Option<Waker>,
}

/// Deadlines of dropped sleepers are removed only if there are more of them than this number.
const STALE_MIN: usize = 64;

/// How long before a deadline the core wakes up if deadlines must be met as exactly as possible (arrivals of open workloads), in
/// nanoseconds. This lead covers most of the time that a sleeping core takes to wake up, and so reduces the highest latenesses.
/// It applies while [`PUNCTUAL_SHARE`] permits.
const PUNCTUAL_LEAD_NS: u64 = 50_000;

/// A core may spend at most 1/20 of its time on this lead. At 1,000 arrivals per second, this is sufficient for all of them; at
/// higher rates, a core rarely sleeps between two arrivals.
const PUNCTUAL_SHARE: u64 = 20;

/// A turn of the spin loop that took less than this time, in nanoseconds, did no other work. Polling the sockets
/// without an event takes about one microsecond, and sending a request takes at least five.
const SPIN_TURN_NS: u64 = 4_000;

impl std::fmt::Debug for Timers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timers").field("sleeping", &self.inner.borrow().heap.len()).finish_non_exhaustive()
    }
}

impl Timers {
    /// Timers of the core whose thread calls this function; must be called inside its runtime.
    ///
    /// # Errors
    /// If the kernel cannot create a timer (limit of open files).
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

    /// Polls the clock while the next deadline is less than `spin_ns` nanoseconds away, instead of waiting for the kernel to
    /// wake the thread. Deadlines are then not late by the time that waking takes, at the cost of CPU time.
    pub fn spin(&self, spin_ns: u64) {
        self.spin_ns.set(spin_ns);
    }

    /// From now on, spends up to a twentieth of the core's time on meeting deadlines more exactly.
    pub fn be_punctual(&self) {
        self.is_punctual.set(true);
    }

    /// How many nanoseconds before a deadline the core is awake.
    fn lead_ns(&self, now: Nanos) -> u64 {
        let asked_ns = self.spin_ns.get();
        let affordable = self.is_punctual.get() && self.spun_ns.get() < now.0 / PUNCTUAL_SHARE;
        if affordable { asked_ns.max(PUNCTUAL_LEAD_NS) } else { asked_ns }
    }

    /// Time spent only on polling the clock, in nanoseconds.
    pub fn spun_ns(&self) -> u64 {
        self.spun_ns.get()
    }

    /// Sleeps until `deadline`, or until [`Self::wake_all`].
    pub fn sleep_until(&self, deadline: Nanos) -> Sleep<'_> {
        Sleep { timers: self, deadline, place: None }
    }

    /// Wakes sleepers whose deadline has been reached; runs forever.
    pub async fn drive(&self) {
        loop {
            self.expired().await;
            let mut now = self.clock.now();
            self.fire(now);
            // A manual clock is not polled, because it would not advance meanwhile.
            let spin_ns = if self.clock.is_manual() { 0 } else { self.lead_ns(now) };
            while spin_ns > 0 && self.next_deadline().is_some_and(|next| next.since(now) <= spin_ns) {
                // Lets other tasks run and polls the sockets.
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

    /// Wakes every sleeper early, for example because a stop was requested.
    pub fn wake_all(&self) {
        self.fire(Nanos::MAX);
    }

    /// The next deadline; `None` if nothing sleeps.
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
            inner.places.push(UserPosition::default());
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
            // The sleeper's deadline is still in the heap. Such deadlines are removed together when they are the majority.
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

    /// A timerfd that is registered in the runtime's epoll set.
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

        /// Expires `wait_ns` from now; if it is 0, immediately.
        pub fn set(&self, wait_ns: u64) {
            let wait_ns = wait_ns.max(1);
            let value = Timespec {
                tv_sec: i64::try_from(wait_ns / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: (wait_ns % 1_000_000_000) as _,
            };
            let spec = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
            // Setting a valid time on an open timerfd cannot fail.
            let _ = timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &spec);
        }

        /// Waits until the timer has expired. Setting the timer again clears its readiness, so it need not be read.
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

    /// The runtime's own timer: less exact, but available on all systems.
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
