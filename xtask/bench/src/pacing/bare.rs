//! The lower bound for the pacing of generators: a loop that waits for the kernel's timer and writes a fixed request at
//! each time of a schedule, and does nothing else. Its lateness is due to the machine; additional lateness is due to
//! the generator.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::AsFd as _;

use anyhow::{Context as _, Result, bail};
use rustix::event::epoll;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use super::stamps::{quantile, schedule_ns};

/// The subcommand with which this program starts itself as the generator.
pub const CLIENT: &str = "pacing-bare";

/// The seed of the schedule.
pub const SEED: u64 = 1;

/// The maximum number of requests in flight.
const CONNECTIONS: usize = 64;

/// The event number of the timer; other events have the numbers of connections.
const TIMER: u64 = u64::MAX;

/// The time before the first arrival, for opening the connections.
const SETUP_NS: u64 = 50_000_000;

/// The arguments of the generator.
#[derive(Debug, clap::Args)]
pub struct Client {
    /// Port of the server
    port: u16,
    /// Arrival process
    process: String,
    /// Time in nanoseconds by which the kernel wakes the loop before each arrival; the loop then polls the clock
    lead_ns: u64,
}

impl Client {
    /// Sends a request at each arrival. Prints the median and p99 of the lateness of its writes, in nanoseconds.
    ///
    /// # Errors
    /// The process cannot be parsed, or a connection fails.
    pub fn run(&self) -> Result<()> {
        let schedule = schedule_ns(&self.process, SEED).context("not an arrival process")?;
        let mut late = send_at(self.port, &schedule, self.lead_ns)?;
        late.sort_unstable();
        println!("{} {}", quantile(&late, 0.5), quantile(&late, 0.99));
        Ok(())
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

fn send_at(port: u16, schedule_ns: &[u64], lead_ns: u64) -> Result<Vec<u64>> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
    epoll::add(&poll, &timer, epoll::EventData::new_u64(TIMER), epoll::EventFlags::IN)?;
    let mut connections = Vec::new();
    for number in 0..CONNECTIONS as u64 {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        epoll::add(&poll, stream.as_fd(), epoll::EventData::new_u64(number), epoll::EventFlags::IN)?;
        connections.push(stream);
    }
    let request = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let mut free: Vec<usize> = (0..CONNECTIONS).rev().collect();
    let mut response = [0_u8; 4096];
    let mut events = Vec::with_capacity(CONNECTIONS);
    let mut receive = |connections: &mut [TcpStream], free: &mut Vec<usize>, wait: Option<&Timespec>| {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), wait)?;
        for event in &events {
            if event.data.u64() == TIMER {
                rustix::io::read(&timer, &mut response[..8])?;
                continue;
            }
            let number = usize::try_from(event.data.u64())?;
            match connections[number].read(&mut response) {
                Ok(0) => bail!("the server closed a connection"),
                // The response of the probe is short and arrives in one piece.
                Ok(_) => free.push(number),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    };
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut late = Vec::with_capacity(schedule_ns.len());
    let origin_ns = now_ns() + SETUP_NS;
    for at_ns in schedule_ns {
        let scheduled_ns = origin_ns + at_ns;
        while now_ns() + lead_ns < scheduled_ns {
            let wake_ns = scheduled_ns - lead_ns;
            let value = Timespec {
                tv_sec: i64::try_from(wake_ns / 1_000_000_000)?,
                tv_nsec: i64::try_from(wake_ns % 1_000_000_000)?,
            };
            let spec = Itimerspec { it_interval: zero, it_value: value };
            timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &spec)?;
            receive(&mut connections, &mut free, None)?;
        }
        while now_ns() < scheduled_ns || free.is_empty() {
            receive(&mut connections, &mut free, Some(&zero))?;
        }
        let number = free.pop().context("no connection")?;
        late.push(now_ns().saturating_sub(scheduled_ns));
        connections[number].write_all(request.as_bytes())?;
    }
    while free.len() < CONNECTIONS {
        receive(&mut connections, &mut free, None)?;
    }
    Ok(late)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn every_arrival_sends_one_request() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let mut threads = Vec::new();
            for _ in 0..CONNECTIONS {
                let (mut stream, _) = listener.accept().unwrap();
                threads.push(std::thread::spawn(move || {
                    let mut buffer = [0_u8; 512];
                    let mut requests = 0;
                    while stream.read(&mut buffer).unwrap_or(0) > 0 {
                        requests += 1;
                        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
                    }
                    requests
                }));
            }
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        let schedule: Vec<u64> = (0..200).map(|k| k * 1_000).collect();
        assert_eq!(send_at(port, &schedule, 10_000).unwrap().len(), 200);
        assert_eq!(server.join().unwrap(), 200);
    }
}
