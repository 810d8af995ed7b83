//! An agent at work for one run: orders, reports, the lease.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use async_nats::{Client, Message, Subscriber};
use busyhour_launch::{CommandHandler as _, CommandSource, RunControl};
use busyhour_program::clock::monotonic_ns;
use busyhour_sample::Nanos;
use futures_util::StreamExt as _;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::reports::ReportQueue;
use super::run_thread::{PreparedRun, RunThread, ThreadEvent};
use super::settings::AgentSettings;
use super::stop::AgentStop;
use crate::connection::Say;
use crate::messages::{AgentUsers, ClockReading, LoadOrder, Order, OrderAnswer, PrepareOrder, Report};
use crate::parts::{is_inside, part_message, reason_message};
use crate::wire::encode;
use crate::{seal, subjects};

/// Interval at which the agent reports that it is working.
const ALIVE: Duration = Duration::from_millis(500);

/// Lease before the controller has set one.
const FIRST_LEASE_S: u64 = 30;

/// The run for which an agent works.
pub(super) struct RunSite {
    pub(super) client: Client,
    pub(super) run: String,
    pub(super) id: String,
    pub(super) settings: Arc<AgentSettings>,
    pub(super) say: Say,
    pub(super) stop: AgentStop,
}

/// The state of the run.
struct RunState {
    dir: PathBuf,
    reports: ReportQueue,
    events: UnboundedSender<ThreadEvent>,
    prepared: Option<PreparedRun>,
    /// Starts the run; `None` before it is prepared, and after it has begun.
    begin: Option<Sender<()>>,
    is_preparing: bool,
    has_ended: bool,
    lease_s: u64,
    /// Time of the last message of the controller, by the clock of the process in ns.
    last_message_ns: u64,
    /// Whether the lease has ended and the run is being stopped.
    is_abandoned: bool,
    is_released: bool,
}

/// Works for a run until the controller releases the agent, or its lease ends.
pub(super) async fn work(site: RunSite, mut orders: Subscriber, mut all: Subscriber) {
    let (events, mut inbox) = unbounded_channel();
    let (reports, sending) = ReportQueue::start(site.client.clone(), subjects::up(&site.run, &site.id));
    (site.say)(&format!("working for the run {}", site.run));
    let mut state = RunState {
        // Several agents can share a directory, and an agent that was started again can take part in the run again.
        dir: site.settings.dir.join(format!("{}-{}", site.run, site.id)),
        reports,
        events,
        prepared: None,
        begin: None,
        is_preparing: false,
        has_ended: false,
        lease_s: FIRST_LEASE_S,
        last_message_ns: monotonic_ns(),
        is_abandoned: false,
        is_released: false,
    };
    let mut tick = tokio::time::interval(ALIVE);
    let mut stops = 0;
    while !state.is_released {
        tokio::select! {
            Some(message) = orders.next() => site.obey(&message, &mut state).await,
            Some(_) = all.next() => state.last_message_ns = monotonic_ns(),
            Some(event) = inbox.recv() => site.thread_event(event, &mut state),
            _ = tick.tick() => site.tick(&mut state).await,
            () = site.stop.requested(stops + 1) => {
                stops += 1;
                match &state.prepared {
                    Some(run) if !state.has_ended && stops == 1 => interrupt(run, &state.reports),
                    _ => break,
                }
            }
            else => break,
        }
    }
    sending.abort();
    (site.say)(&format!("the run {} is over for this agent", site.run));
}

fn change_load(control: &RunControl, change: LoadOrder) -> Result<(), String> {
    let executed = control.execute(change.command(), CommandSource::Program);
    if change == LoadOrder::Abandon {
        // The second interrupt abandons everything.
        let _ = control.execute(change.command(), CommandSource::Program);
    }
    executed.map_err(|refused| refused.to_string())
}

/// Stops the agent's part of the run, and tells the controller that this part of the load is missing from now on.
fn interrupt(run: &PreparedRun, reports: &ReportQueue) {
    reports.send(Report::Interrupted { at_ns: run.clock.now().0 });
    let _ = run.control.execute(LoadOrder::Stop.command(), CommandSource::Program);
}

impl RunSite {
    /// Carries out an order and answers it.
    async fn obey(&self, message: &Message, state: &mut RunState) {
        let received_ns = monotonic_ns();
        let trusted = &self.settings.invitation.controllers;
        let recipient = format!("{}/{}", self.run, self.id);
        let order = match seal::open::<Order>(trusted, &recipient, &message.payload) {
            Ok(order) => order,
            Err(error) => {
                (self.say)(&format!("warning: refused an order: {error}"));
                self.reply(message, &OrderAnswer::Refused { reason: error.to_string() }).await;
                return;
            }
        };
        state.last_message_ns = received_ns;
        if let Order::Fetch { file, from } = &order {
            self.send_part(message, state.dir.join("record"), file, *from).await;
            return;
        }
        let answer = match order {
            Order::Clock => OrderAnswer::Clock(ClockReading::since(received_ns)),
            order => match self.carry_out(order, state) {
                Ok(()) => OrderAnswer::Done,
                Err(reason) => OrderAnswer::Refused { reason },
            },
        };
        self.reply(message, &answer).await;
    }

    fn carry_out(&self, order: Order, state: &mut RunState) -> Result<(), String> {
        match order {
            Order::Prepare(order) => self.prepare(*order, state),
            Order::Begin => match state.begin.take() {
                Some(begin) => begin.send(()).map_err(|_| "the run has failed".to_owned()),
                // The order was repeated.
                None if state.prepared.is_some() => Ok(()),
                None => Err("the run is not prepared".to_owned()),
            },
            Order::Start { at_ns, join_ns, properties } => {
                let run = state.prepared.as_ref().ok_or("the run is not prepared")?;
                let (at, now) = (Nanos(at_ns), run.clock.now());
                let first = join_ns.map_or(at, Nanos);
                if first <= now && !run.gate.is_started() {
                    // Users that start late would all start at once.
                    return Err(format!("the start was {} ms ago", now.since(first) / 1_000_000));
                }
                if join_ns.is_some() && !run.gate.is_started() {
                    (run.join)(first);
                }
                run.gate.start(at, &properties);
                Ok(())
            }
            Order::TearDown => {
                state.prepared.as_ref().ok_or("the run is not prepared")?.gate.tear_down();
                Ok(())
            }
            Order::Change { change, at_ns } => {
                let run = state.prepared.as_ref().ok_or("the run is not prepared")?;
                let wait_ns = at_ns.map_or(0, |at_ns| Nanos(at_ns).since(run.clock.now()));
                if wait_ns == 0 {
                    return change_load(&run.control, change);
                }
                let control = run.control.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_nanos(wait_ns)).await;
                    let _ = change_load(&control, change);
                });
                Ok(())
            }
            Order::Release { is_complete } => {
                state.is_released = true;
                if is_complete && state.has_ended {
                    let _ = std::fs::remove_dir_all(&state.dir);
                }
                Ok(())
            }
            Order::Repeat => {
                state.reports.repeat();
                Ok(())
            }
            Order::Alive | Order::Clock | Order::Fetch { .. } => Ok(()),
        }
    }

    /// Starts the thread that prepares the run.
    fn prepare(&self, order: PrepareOrder, state: &mut RunState) -> Result<(), String> {
        if std::mem::replace(&mut state.is_preparing, true) {
            return Ok(());
        }
        state.lease_s = order.lease_s.max(1);
        let (begin, begun) = channel();
        state.begin = Some(begin);
        let thread = RunThread {
            client: self.client.clone(),
            runtime: tokio::runtime::Handle::current(),
            run: self.run.clone(),
            settings: Arc::clone(&self.settings),
            dir: state.dir.clone(),
            reports: state.reports.clone(),
            events: state.events.clone(),
            begin: begun,
        };
        let spawned = std::thread::Builder::new().name("run".into()).spawn(move || thread.execute(order));
        spawned.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
    }

    fn thread_event(&self, event: ThreadEvent, state: &mut RunState) {
        match event {
            ThreadEvent::Prepared(run) => {
                state.prepared = Some(run);
                state.reports.send(Report::Ready);
            }
            ThreadEvent::Failed(reason) => {
                (self.say)(&format!("the run {} failed: {reason}", self.run));
                state.has_ended = true;
                state.reports.send(Report::Failed { reason });
            }
            ThreadEvent::Ended(report) => {
                state.has_ended = true;
                state.reports.send(Report::Ended(report));
            }
        }
    }

    /// Reports that the agent is working, and ends the run when the lease has expired: load must not outlive its owner.
    async fn tick(&self, state: &mut RunState) {
        let counts = state.prepared.as_ref().map(|run| (run.users)()).unwrap_or_default();
        let users = AgentUsers { started: counts.started, finished: counts.finished, active: counts.active };
        if let Ok(bytes) = encode(&Report::Alive { users }) {
            let _ = self.client.publish(subjects::up(&self.run, &self.id), bytes.into()).await;
        }
        let silent_s = monotonic_ns().saturating_sub(state.last_message_ns) / 1_000_000_000;
        if silent_s < state.lease_s {
            return;
        }
        let running = state.prepared.as_ref().filter(|_| state.begin.is_none() && !state.has_ended);
        if let Some(run) = running {
            if !std::mem::replace(&mut state.is_abandoned, true) {
                (self.say)(&format!(
                    "warning: the controller of the run {} was silent for {silent_s} s; the run is stopped",
                    self.run
                ));
                interrupt(run, &state.reports);
            }
        } else if silent_s >= 2 * state.lease_s || !state.has_ended {
            (self.say)(&format!(
                "the run {} was abandoned by its controller; its records remain in {}",
                self.run,
                state.dir.display()
            ));
            state.is_released = true;
        }
    }

    /// Answers with a part of a file of the record.
    async fn send_part(&self, to: &Message, record: PathBuf, file: &str, from: u64) {
        let Some(inbox) = to.reply.clone() else { return };
        let client = self.client.clone();
        let bytes = if is_inside(file) {
            let path = record.join(file);
            tokio::task::spawn_blocking(move || part_message(&path, from)).await.unwrap_or_default()
        } else {
            reason_message("the file is not in the run directory")
        };
        let _ = client.publish(inbox, bytes.into()).await;
    }

    async fn reply(&self, to: &Message, answer: &OrderAnswer) {
        if let (Some(inbox), Ok(bytes)) = (&to.reply, encode(answer)) {
            let _ = self.client.publish(inbox.clone(), bytes.into()).await;
        }
    }
}
