//! The probe: a server that does next to nothing but note when each request came.
//!
//! One thread, one queue of readiness events. A *stamp* is the moment at which the probe learnt that a request's first byte
//! can be read: the end of the wait that brought the news. It is never before the byte arrived; it is after it by the time
//! that the kernel took to wake the probe, or that the probe spent on what it had learnt before (some 10 µs a request).
//! All that one wait brought has one stamp, since all of it was there at that moment. A request on a connection that was
//! opened for it is stamped after `accept`, a wait later.
//!
//! Nothing is written while requests come: stamps are kept in memory and handed out at the end.

mod connection;
mod record;
mod request;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use rustix::time::{ClockId, clock_gettime};

use self::connection::{After, Connection};
pub use self::record::{ProbeRecord, STAMPS_MAX, STAMPS_VERSION};

/// The listening socket's events.
const LISTENER: Token = Token(usize::MAX);

/// A request to stop the probe.
const STOP: Token = Token(usize::MAX - 1);

/// Most events that one wait brings.
const EVENTS: usize = 1024;

/// The last of a wait is spent looking again and again, since the system's waits are whole milliseconds.
const LOOK_WITHIN_NS: u64 = 1_000_000;

/// A time in which the probe accepts nothing, reads nothing and answers nothing, as a server in a long pause. What
/// becomes readable on connections that are open is stamped all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it begins, counted from the first stamp.
    pub after: Duration,
    /// How long it lasts.
    pub length: Duration,
}

/// How a probe behaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeOptions {
    /// Pauses, in order of their beginnings.
    pub stalls: Vec<Stall>,
    /// How long each answer waits.
    pub delay: Duration,
}

/// Stops a probe, from any thread.
#[derive(Clone, Debug)]
pub struct ProbeStopper {
    asked: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl ProbeStopper {
    /// Stops the probe immediately, also during a stall.
    ///
    /// # Errors
    /// The system cannot wake the probe; it stops at the next event.
    pub fn stop(&self) -> io::Result<()> {
        self.asked.store(true, Ordering::Release);
        self.waker.wake()
    }
}

/// A probe that listens.
#[derive(Debug)]
pub struct Probe {
    poll: Poll,
    listener: TcpListener,
    stopper: ProbeStopper,
    options: ProbeOptions,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// What was readable during a stall, and since when.
    held: Vec<usize>,
    accepting: bool,
    /// Answers to be sent, in order: when, and on which connection (and which of those that had its place).
    answers: VecDeque<(u64, usize, u64)>,
    record: ProbeRecord,
    first_ns: Option<u64>,
    stalls_begun: usize,
    /// End of the current stall.
    stalled_until_ns: Option<u64>,
}

impl Probe {
    /// A probe on a listening socket of [`listen`](crate::listen).
    ///
    /// # Errors
    /// The error of the system.
    pub fn new(listener: std::net::TcpListener, options: ProbeOptions) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let poll = Poll::new()?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Arc::new(Waker::new(poll.registry(), STOP)?);
        Ok(Self {
            poll,
            listener,
            stopper: ProbeStopper { asked: Arc::default(), waker },
            options,
            connections: Vec::new(),
            free: Vec::new(),
            held: Vec::new(),
            accepting: false,
            answers: VecDeque::new(),
            record: ProbeRecord::begin(monotonic_ns(), wall_ns()),
            first_ns: None,
            stalls_begun: 0,
            stalled_until_ns: None,
        })
    }

    /// What stops it.
    pub fn stopper(&self) -> ProbeStopper {
        self.stopper.clone()
    }

    /// Serves until it is stopped; gives what it noted.
    ///
    /// # Errors
    /// The system cannot wait for events. A connection that fails only ends itself.
    pub fn run(mut self) -> io::Result<ProbeRecord> {
        let mut events = Events::with_capacity(EVENTS);
        while !self.stopper.asked.load(Ordering::Acquire) {
            let due_ns = self.stalled_until_ns.or_else(|| self.answers.front().map(|answer| answer.0));
            match self.poll.poll(&mut events, due_ns.map(wait_until)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            let now_ns = monotonic_ns();
            for event in &events {
                self.notice(event, now_ns);
            }
            self.start_stall(now_ns);
            if self.stalled_until_ns.is_some_and(|until_ns| now_ns < until_ns) {
                continue;
            }
            self.stalled_until_ns = None;
            self.serve(now_ns);
            if self.stalled_until_ns.is_none() {
                self.send_due();
            }
        }
        // What came before the end is noted, though not answered.
        self.poll.poll(&mut events, Some(Duration::ZERO))?;
        let now_ns = monotonic_ns();
        for event in &events {
            self.notice(event, now_ns);
        }
        self.record.end(now_ns, wall_ns());
        Ok(self.record)
    }

    /// Notes that something can be read.
    fn notice(&mut self, event: &Event, now_ns: u64) {
        match event.token() {
            LISTENER => self.accepting = true,
            STOP => {}
            Token(at) => {
                let Some(Some(connection)) = self.connections.get_mut(at) else { return };
                // The end of a connection is readable too, but no request.
                if event.is_readable()
                    && !event.is_read_closed()
                    && !event.is_error()
                    && connection.expects_request()
                {
                    connection.stamped = true;
                    self.stamp(now_ns);
                }
                self.held.push(at);
            }
        }
    }

    fn stamp(&mut self, now_ns: u64) {
        self.first_ns.get_or_insert(now_ns);
        self.record.stamp(now_ns);
    }

    /// Starts the next stall if it is due.
    fn start_stall(&mut self, now_ns: u64) {
        let Some(stall) = self.options.stalls.get(self.stalls_begun) else { return };
        let Some(first_ns) = self.first_ns.filter(|_| self.stalled_until_ns.is_none()) else { return };
        let begins_ns = first_ns.saturating_add(ns(stall.after));
        if now_ns >= begins_ns {
            self.stalls_begun += 1;
            let ends_ns = begins_ns.saturating_add(ns(stall.length));
            self.stalled_until_ns = (now_ns < ends_ns).then_some(ends_ns);
        }
    }

    /// Reads available data and accepts waiting connections.
    fn serve(&mut self, now_ns: u64) {
        for at in std::mem::take(&mut self.held) {
            self.read(at, now_ns);
        }
        if std::mem::take(&mut self.accepting) {
            self.accept();
        }
    }

    fn accept(&mut self) {
        // An error (no connection is waiting, or no descriptor is left) ends the loop; the next connection wakes the
        // probe again.
        while let Ok((mut stream, _)) = self.listener.accept() {
            let at = self.free.pop().unwrap_or(self.connections.len());
            let interest = Interest::READABLE | Interest::WRITABLE;
            let ready = stream
                .set_nodelay(true)
                .and_then(|()| self.poll.registry().register(&mut stream, Token(at), interest));
            if ready.is_err() {
                self.free.push(at);
                continue;
            }
            if at == self.connections.len() {
                self.connections.push(None);
            }
            self.record.connections += 1;
            // What it sent already is news of the next wait.
            self.connections[at] = Some(Connection::new(stream, self.record.connections));
        }
    }

    fn read(&mut self, at: usize, now_ns: u64) {
        let Some(Some(connection)) = self.connections.get_mut(at) else { return };
        let number = connection.number;
        let (seen, mut after) = connection.read();
        for _ in 0..seen.begun {
            self.stamp(now_ns);
        }
        self.record.requests += seen.complete;
        // A request that was read with the news of its connection can be the first one, which starts a stall.
        self.start_stall(now_ns);
        if self.options.delay.is_zero() && self.stalled_until_ns.is_none() {
            if let Some(Some(connection)) = self.connections.get_mut(at) {
                after = after.and(connection.answer(seen.complete));
            }
        } else {
            let due_ns = monotonic_ns().saturating_add(ns(self.options.delay));
            for _ in 0..seen.complete {
                self.answers.push_back((due_ns, at, number));
            }
        }
        if after == After::Closed {
            self.close(at);
        }
    }

    /// Sends the delayed answers whose time has come.
    fn send_due(&mut self) {
        while let Some(&(due_ns, at, number)) = self.answers.front() {
            if due_ns > monotonic_ns() {
                return;
            }
            self.answers.pop_front();
            let Some(Some(connection)) = self.connections.get_mut(at) else { continue };
            // Another may have taken the place of one that was closed.
            if connection.number == number && connection.answer(1) == After::Closed {
                self.close(at);
            }
        }
    }

    fn close(&mut self, at: usize) {
        // Closing also ends its registration.
        if self.connections[at].take().is_some() {
            self.free.push(at);
            // A connection may wait that could not be accepted for lack of descriptors.
            self.accepting = true;
        }
    }
}

/// How long the system shall wait: not at all within the last millisecond.
fn wait_until(due_ns: u64) -> Duration {
    let left_ns = due_ns.saturating_sub(monotonic_ns());
    if left_ns < LOOK_WITHIN_NS { Duration::ZERO } else { Duration::from_nanos(left_ns - LOOK_WITHIN_NS) }
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The system's monotonic clock, which all processes of one machine share.
fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

fn wall_ns() -> u64 {
    clock_ns(ClockId::Realtime)
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}
