//! The client that a PerfMon Metrics Collector needs: one thread per agent.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use busyhour_program::clock::Clock;

use super::client_session::{ClientError, ClientSession, MetricRow, MetricValue};
use super::sample::PerfMonSample;

/// Maximum time for connecting and for the first answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Interval at which a thread checks whether it must stop.
const READ_TIMEOUT: Duration = Duration::from_millis(200);

/// Receives the samples and the address of their agent (`host:port`). The threads of the agents call it, one at a time.
pub type SampleSink = Box<dyn FnMut(&str, &PerfMonSample) + Send>;

/// Collects the values of agents until it is stopped or dropped.
///
/// Each value of each agent is passed as a sample. While an agent cannot be reached, each of its metrics yields a
/// failed sample per interval, as in JMeter. Label and message of this sample are the text of the corresponding Java
/// exception. Unlike JMeter's collector, this one connects again, also to an agent that disappeared later.
#[derive(Debug)]
pub struct PerfMonCollector {
    stops: Vec<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl PerfMonCollector {
    /// The interval for a value of the property `jmeterPlugin.perfmon.interval` in ms. JMeter's collector truncates it
    /// to whole seconds and hangs with less than one second; here the interval is at least one second.
    #[must_use]
    pub fn interval(property_ms: u64) -> Duration {
        Duration::from_secs((property_ms / 1000).max(1))
    }

    /// Starts a thread per agent. Rows of the same host and port are one agent. `interval` is in whole seconds.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(
        rows: &[MetricRow],
        interval: Duration,
        clock: &Clock,
        sink: SampleSink,
    ) -> io::Result<Self> {
        let sink = Arc::new(Mutex::new(sink));
        let mut agents: Vec<Vec<MetricRow>> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for row in rows {
            let at = *known.entry((row.host.clone(), row.port)).or_insert(agents.len());
            if at == agents.len() {
                agents.push(Vec::new());
            }
            agents[at].push(row.clone());
        }
        let mut collector = PerfMonCollector { stops: Vec::new(), threads: Vec::new() };
        for rows in agents {
            let (stop, stopped) = channel();
            let agent = Agent {
                name: format!("{}:{}", rows[0].host, rows[0].port),
                address: (rows[0].host.clone(), rows[0].port),
                rows: rows.len(),
                session: ClientSession::new(&rows, interval),
                interval,
                clock: clock.clone(),
                sink: Arc::clone(&sink),
                stopped,
            };
            collector.stops.push(stop);
            collector.threads.push(Builder::new().name("perfmon".to_owned()).spawn(move || agent.run())?);
        }
        Ok(collector)
    }

    /// Disconnects from all agents and waits until the last sample was passed, at most a few seconds.
    pub fn stop(self) {}
}

impl Drop for PerfMonCollector {
    fn drop(&mut self) {
        self.stops.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Why a connection ended.
#[derive(Debug)]
enum Lost {
    /// The collector stops.
    Stopped,
    Io(io::Error),
    Protocol(ClientError),
    Silent(Duration),
}

struct Agent {
    /// Host and port as text.
    name: String,
    address: (String, u16),
    rows: usize,
    session: ClientSession,
    interval: Duration,
    clock: Clock,
    sink: Arc<Mutex<SampleSink>>,
    /// Disconnected when the collector stops.
    stopped: Receiver<()>,
}

impl Agent {
    fn run(mut self) {
        loop {
            let lost = self.collect();
            if let Lost::Stopped = lost {
                return;
            }
            let text = exception(&lost, &self.address.0);
            let stamp_ms = self.stamp_ms();
            for _ in 0..self.rows {
                self.pass(&PerfMonSample::of_error(stamp_ms, &text, text.clone()));
            }
            if self.stopped.recv_timeout(self.interval) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// Connects and passes values until the connection is lost.
    fn collect(&mut self) -> Lost {
        self.try_collect().unwrap_or_else(Lost::Io)
    }

    fn try_collect(&mut self) -> io::Result<Lost> {
        let mut stream = self.connect()?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        stream.set_write_timeout(Some(CONNECT_TIMEOUT))?;
        stream.write_all(self.session.connect().as_bytes())?;
        let silence_max = (self.interval * 3).max(CONNECT_TIMEOUT);
        let mut last_read = self.clock.now();
        let mut buffer = [0; 4096];
        loop {
            if self.stopped.try_recv() != Err(std::sync::mpsc::TryRecvError::Empty) {
                let _ = stream.write_all(self.session.disconnect().as_bytes());
                return Ok(Lost::Stopped);
            }
            let read = match stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => read,
                Err(error) if is_timeout(&error) => {
                    let silent = self.clock.now().since(last_read);
                    if u128::from(silent) > silence_max.as_nanos() {
                        return Ok(Lost::Silent(silence_max));
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            last_read = self.clock.now();
            let (mut send, mut samples) = (String::new(), Vec::new());
            let stamp_ms = self.stamp_ms();
            let record = |label: &str, value| samples.push(sample(stamp_ms, label, value));
            if let Err(error) = self.session.receive(&buffer[..read], &mut send, record) {
                return Ok(Lost::Protocol(error));
            }
            stream.write_all(send.as_bytes())?;
            for sample in &samples {
                self.pass(sample);
            }
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let (host, port) = &self.address;
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        let addresses = (host.as_str(), *port).to_socket_addrs().map_err(|_| io::ErrorKind::NotFound)?;
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn stamp_ms(&self) -> i64 {
        self.clock.wall_ms(self.clock.now()) as i64
    }

    fn pass(&self, sample: &PerfMonSample) {
        (self.sink.lock().unwrap_or_else(PoisonError::into_inner))(&self.name, sample);
    }
}

fn sample(stamp_ms: i64, label: &str, value: MetricValue) -> PerfMonSample {
    match value {
        MetricValue::Number(value) => PerfMonSample::of_value(stamp_ms, label, value),
        MetricValue::Text(text) => {
            let error = format!("java.lang.NumberFormatException: For input string: \"{text}\"");
            PerfMonSample::of_error(stamp_ms, label, error)
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// The text of the exception that JMeter's collector would have.
fn exception(lost: &Lost, host: &str) -> String {
    match lost {
        Lost::Stopped => String::new(),
        Lost::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => "java.net.ConnectException: Connection refused".to_owned(),
            io::ErrorKind::TimedOut => "java.net.SocketTimeoutException: Connect timed out".to_owned(),
            io::ErrorKind::NotFound => format!("java.net.UnknownHostException: {host}"),
            io::ErrorKind::UnexpectedEof => "java.io.IOException: Agent closed the connection".to_owned(),
            _ => format!("java.io.IOException: {error}"),
        },
        Lost::Protocol(error) => format!("java.io.IOException: {error}"),
        Lost::Silent(time) => format!("java.io.IOException: Agent sent nothing for {} s", time.as_secs()),
    }
}
