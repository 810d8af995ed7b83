//! The probe: a server that does little more than record when each request arrived.
//!
//! It uses one thread and one queue of readiness events. A *stamp* is the time at which the probe is notified that the first
//! byte of a request can be read: the end of the wait that reported the event. The stamp is never earlier than the arrival
//! of the byte. It is later by the time that the kernel takes to wake the probe, or that the probe spends on earlier events
//! (some 10 µs per request). All events of one wait have the same stamp, because all of them had occurred at that time. The
//! first request on a new connection is stamped after `accept`, one wait later.
//!
//! Nothing is written while requests arrive: stamps are stored in memory and returned at the end.

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

/// The token for events of the listening socket.
const LISTENER: Token = Token(usize::MAX);

/// The token for requests to stop the probe.
const STOP: Token = Token(usize::MAX - 1);

/// The maximum number of events that one wait returns.
const EVENTS: usize = 1024;

/// Duration of the busy wait at the end of each wait; waits of the system are whole milliseconds.
const BUSY_WAIT_NS: u64 = 1_000_000;

/// A period in which the probe does not accept, read or answer anything, like a server in a long pause. Requests that
/// become readable on open connections are still stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerStall {
    /// The start, relative to the first stamp.
    pub after: Duration,
    /// The duration.
    pub length: Duration,
}

/// The configuration of a probe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeOptions {
    /// The stalls, ordered by their start.
    pub stalls: Vec<ServerStall>,
    /// The time by which each response is delayed.
    pub delay: Duration,
}

/// Stops a probe, from any thread.
#[derive(Clone, Debug)]
pub struct ProbeStopper {
    requested: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl ProbeStopper {
    /// Stops the probe immediately, even during a stall.
    ///
    /// # Errors
    /// The system cannot wake the probe; in this case, the probe stops at its next event.
    pub fn stop(&self) -> io::Result<()> {
        self.requested.store(true, Ordering::Release);
        self.waker.wake()
    }
}

/// A listening probe.
#[derive(Debug)]
pub struct ProbeServer {
    poll: Poll,
    listener: TcpListener,
    stopper: ProbeStopper,
    options: ProbeOptions,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// Connections with readable data that has not been read yet, for example because of a stall.
    readable: Vec<usize>,
    accepting: bool,
    /// Responses to be sent, in order: the time, and the index and the number of the connection. The number is needed
    /// because indices are reused.
    answers: VecDeque<(u64, usize, u64)>,
    record: ProbeRecord,
    first_ns: Option<u64>,
    stalls_begun: usize,
    /// The end of the current stall.
    stalled_until_ns: Option<u64>,
}

impl ProbeServer {
    /// Creates a probe on a listening socket of [`listen`](crate::listen).
    ///
    /// # Errors
    /// The system cannot register the socket for events.
    pub fn new(listener: std::net::TcpListener, options: ProbeOptions) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let poll = Poll::new()?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Arc::new(Waker::new(poll.registry(), STOP)?);
        Ok(Self {
            poll,
            listener,
            stopper: ProbeStopper { requested: Arc::default(), waker },
            options,
            connections: Vec::new(),
            free: Vec::new(),
            readable: Vec::new(),
            accepting: false,
            answers: VecDeque::new(),
            record: ProbeRecord::begin(monotonic_ns(), wall_ns()),
            first_ns: None,
            stalls_begun: 0,
            stalled_until_ns: None,
        })
    }

    /// Returns a handle that stops the probe.
    pub fn stopper(&self) -> ProbeStopper {
        self.stopper.clone()
    }

    /// Serves requests until the probe is stopped; returns the record.
    ///
    /// # Errors
    /// The system cannot wait for events. If a connection fails, only that connection ends.
    pub fn run(mut self) -> io::Result<ProbeRecord> {
        let mut events = Events::with_capacity(EVENTS);
        while !self.stopper.requested.load(Ordering::Acquire) {
            let due_ns = self.stalled_until_ns.or_else(|| self.answers.front().map(|answer| answer.0));
            match self.poll.poll(&mut events, due_ns.map(wait_until)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            let now_ns = monotonic_ns();
            for event in &events {
                self.handle_event(event, now_ns);
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
        // Requests that arrived before the end are recorded, but not answered.
        self.poll.poll(&mut events, Some(Duration::ZERO))?;
        let now_ns = monotonic_ns();
        for event in &events {
            self.handle_event(event, now_ns);
        }
        self.record.end(now_ns, wall_ns());
        Ok(self.record)
    }

    /// Handles a readiness event: stamps a new request, and remembers the connection to read from.
    fn handle_event(&mut self, event: &Event, now_ns: u64) {
        match event.token() {
            LISTENER => self.accepting = true,
            STOP => {}
            Token(at) => {
                let Some(Some(connection)) = self.connections.get_mut(at) else { return };
                // The end of a connection also makes it readable, but it is not a request.
                if event.is_readable()
                    && !event.is_read_closed()
                    && !event.is_error()
                    && connection.expects_request()
                {
                    connection.stamped = true;
                    self.stamp(now_ns);
                }
                self.readable.push(at);
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
        for at in std::mem::take(&mut self.readable) {
            self.read(at, now_ns);
        }
        if std::mem::take(&mut self.accepting) {
            self.accept();
        }
    }

    fn accept(&mut self) {
        // An error (no connection is waiting, or there is no free descriptor) ends the loop; the next connection wakes the
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
            // Data that the client has already sent is reported by the next wait.
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
        // If a request is read together with its connection, it may be the first request, which starts a stall.
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

    /// Sends the delayed responses that are due.
    fn send_due(&mut self) {
        while let Some(&(due_ns, at, number)) = self.answers.front() {
            if due_ns > monotonic_ns() {
                return;
            }
            self.answers.pop_front();
            let Some(Some(connection)) = self.connections.get_mut(at) else { continue };
            // The index may have been reused by another connection.
            if connection.number == number && connection.answer(1) == After::Closed {
                self.close(at);
            }
        }
    }

    fn close(&mut self, at: usize) {
        // Dropping the connection also removes its registration.
        if self.connections[at].take().is_some() {
            self.free.push(at);
            // There may be a connection that could not be accepted because there was no free descriptor.
            self.accepting = true;
        }
    }
}

/// The time for which the system waits: zero if the response is due within a millisecond.
fn wait_until(due_ns: u64) -> Duration {
    let left_ns = due_ns.saturating_sub(monotonic_ns());
    if left_ns < BUSY_WAIT_NS { Duration::ZERO } else { Duration::from_nanos(left_ns - BUSY_WAIT_NS) }
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
