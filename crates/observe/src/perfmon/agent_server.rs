//! The agent as a TCP server: one thread for all clients.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_program::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, sleep, timeout};

use super::agent_session::{AgentAction, AgentSession, RejectedAgentRequest};
use super::system::SystemCounters;
use crate::proc_root::ProcRoot;

/// The largest number of clients at a time; further ones are disconnected.
const CLIENTS_MAX: usize = 64;

/// Maximum time that a client may be connected without requesting values.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// Maximum time for sending a text to a client.
const WRITE_MAX: Duration = Duration::from_secs(5);

/// Delay before the next attempt to accept a connection when the system has no file descriptors left.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// The largest number of problems that are passed to the user.
const PROBLEMS_MAX: usize = 100;

/// Receives each different problem once, on the thread of the server.
pub type ProblemSink = Box<dyn FnMut(&RejectedAgentRequest) + Send>;

/// An agent for JMeter's PerfMon Metrics Collector; it ends when it is dropped.
///
/// It reads values for its clients, and nothing else: no command runs a program, reads other files or ends the agent. Every client
/// that reaches the port can read the values, because the protocol has no password.
#[derive(Debug)]
pub struct AgentServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state that all connections share.
struct Shared {
    root: ProcRoot,
    clock: Clock,
    problems: Mutex<(HashSet<String>, ProblemSink)>,
}

impl AgentServer {
    /// Serves a listener, usually on port 4444, on a separate thread.
    ///
    /// # Errors
    /// The thread cannot be started, or the listener cannot be set to non-blocking mode.
    pub fn start(
        listener: std::net::TcpListener,
        root: ProcRoot,
        clock: Clock,
        problems: ProblemSink,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _context = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let shared = Arc::new(Shared { root, clock, problems: Mutex::new((HashSet::new(), problems)) });
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("perfmon-agent".to_owned())
            .spawn(move || runtime.block_on(accept(listener, shared, stopped)))?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// The address of the listener.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for AgentServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: oneshot::Receiver<()>) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = &mut stopped => break,
            Some(_) = clients.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if clients.len() < CLIENTS_MAX => {
                    clients.spawn(serve(stream, Arc::clone(&shared)));
                }
                Ok(_) => {}
                Err(_) => sleep(ACCEPT_AGAIN).await,
            },
        }
    }
    clients.shutdown().await;
}

/// Serves one client until it disconnects.
async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut session = AgentSession::default();
    let mut buffer = [0; 4096];
    let mut actions = Vec::new();
    loop {
        let started = session.interval();
        let read = match started {
            None => timeout(IDLE_MAX, stream.read(&mut buffer)).await.unwrap_or(Ok(0)),
            Some(interval) => send_values(&mut stream, &mut session, &shared, interval, &mut buffer).await,
        };
        let read = match read {
            Ok(0) | Err(_) => return,
            Ok(read) => read,
        };
        session.receive(&buffer[..read], &shared.snapshot(), &mut actions);
        for action in actions.drain(..) {
            let text = match action {
                AgentAction::Send(text) => text,
                AgentAction::SendValues => session.values_line(&shared.snapshot()),
                AgentAction::Problem(problem) => {
                    shared.report(&problem);
                    continue;
                }
                AgentAction::Close => return,
            };
            if !write(&mut stream, &text).await {
                return;
            }
        }
    }
}

/// Sends a line of values per interval until the client sends something; returns the number of bytes that the client sent.
async fn send_values(
    stream: &mut TcpStream,
    session: &mut AgentSession,
    shared: &Shared,
    interval: Duration,
    buffer: &mut [u8],
) -> io::Result<usize> {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is due immediately, but the first interval has only just begun.
    ticks.tick().await;
    loop {
        tokio::select! {
            read = stream.read(buffer) => return read,
            _ = ticks.tick() => {
                let line = session.values_line(&shared.snapshot());
                if !write(stream, &line).await {
                    return Ok(0);
                }
            }
        }
    }
}

/// Sends a text; returns whether the client accepted it in time.
async fn write(stream: &mut TcpStream, text: &str) -> bool {
    matches!(timeout(WRITE_MAX, stream.write_all(text.as_bytes())).await, Ok(Ok(())))
}

impl Shared {
    fn snapshot(&self) -> SystemCounters<'_> {
        SystemCounters::new(&self.root, Duration::from_nanos(self.clock.now().0))
    }

    fn report(&self, problem: &RejectedAgentRequest) {
        let (known, sink) = &mut *self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < PROBLEMS_MAX && known.insert(problem.to_string()) {
            sink(problem);
        }
    }
}
