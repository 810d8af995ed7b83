//! A simulated agent at work for one run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Message, Subscriber};
use busyhour_program::clock::{Clock, monotonic_ns};
use busyhour_record::RunOutcome;
use futures_util::StreamExt as _;

use super::load::{RECORD_FILES, write_record};
use super::site::Site;
use crate::agent::reports::ReportQueue;
use crate::messages::{
    AgentUsers, ClockReading, EndReport, FileFact, LoadOrder, Order, OrderAnswer, PrepareOrder, Report,
};
use crate::parts::{file_fact, is_inside, part_message, reason_message};
use crate::wire::encode;
use crate::{seal, subjects};

/// Interval at which the agent reports that it is working.
const ALIVE: Duration = Duration::from_millis(500);

/// Lease before the controller has set one.
const FIRST_LEASE_S: u64 = 30;

/// The state of a run.
struct State {
    reports: ReportQueue,
    record: Option<PathBuf>,
    clock: Option<Clock>,
    phase: Duration,
    lease_s: u64,
    /// Time of the last message of the controller, by the clock of the process in ns.
    last_message_ns: u64,
    has_begun: bool,
    /// Length of the load in seconds.
    length: u64,
    /// The seconds of the run that are sent; `None` before the start.
    seconds: Option<std::ops::Range<u64>>,
    /// The next second.
    next: u64,
    has_ended: bool,
    is_released: bool,
}

/// Works for a run until the controller releases the agent, or its lease ends.
pub(super) async fn work(site: Site, run: String, mut orders: Subscriber, mut all: Subscriber) {
    let (reports, sending) = ReportQueue::start(site.client.clone(), subjects::up(&run, &site.id));
    let mut state = State {
        reports,
        record: site.dir.as_ref().map(|dir| dir.join(&run)),
        clock: None,
        phase: Duration::ZERO,
        lease_s: FIRST_LEASE_S,
        last_message_ns: monotonic_ns(),
        has_begun: false,
        length: site.templates.load.seconds.max(1),
        seconds: None,
        next: 0,
        has_ended: false,
        is_released: false,
    };
    let mut alive = tokio::time::interval(ALIVE);
    while !state.is_released {
        let wait = state.time_to_next();
        tokio::select! {
            Some(message) = orders.next() => obey(&site, &run, &message, &mut state).await,
            Some(_) = all.next() => state.last_message_ns = monotonic_ns(),
            _ = alive.tick() => report_alive(&site, &run, &mut state).await,
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {
                send_second(&site, &mut state).await;
            }
            else => break,
        }
    }
    sending.abort();
}

impl State {
    /// Time until the next second is over; `None` if no second is expected.
    fn time_to_next(&self) -> Option<Duration> {
        let (clock, seconds) = (self.clock.as_ref()?, self.seconds.as_ref()?);
        if self.has_ended || seconds.is_empty() {
            return None;
        }
        let end_ns = (self.next + 1).saturating_mul(1_000_000_000);
        Some(Duration::from_nanos(end_ns.saturating_sub(clock.now().0)))
    }
}

async fn report_alive(site: &Site, run: &str, state: &mut State) {
    let active = u64::from(state.seconds.is_some() && !state.has_ended);
    let users = AgentUsers {
        started: u64::from(state.seconds.is_some()),
        finished: u64::from(state.has_ended),
        active,
    };
    if let Ok(bytes) = encode(&Report::Alive { users }) {
        let _ = site.client.publish(subjects::up(run, &site.id), bytes.into()).await;
    }
    let silent_s = monotonic_ns().saturating_sub(state.last_message_ns) / 1_000_000_000;
    state.is_released |= silent_s >= state.lease_s;
}

/// Sends the second that is over, and the end of the run after the last one.
async fn send_second(site: &Site, state: &mut State) {
    let Some(seconds) = state.seconds.clone() else { return };
    let snapshot = site.templates.second(site.number, state.next, state.record.is_some());
    state.reports.send_second(Report::Second { snapshot: Box::new(snapshot) }, state.phase);
    state.next += 1;
    if state.next >= seconds.end {
        end(site, state).await;
    }
}

/// Writes the record and reports the end.
async fn end(site: &Site, state: &mut State) {
    state.has_ended = true;
    state.reports.send(Report::MainDone);
    let seconds = state.seconds.clone().unwrap_or_default().start..state.next;
    let outcome = RunOutcome {
        duration_ns: seconds.end.saturating_mul(1_000_000_000),
        users_started: 1,
        users_finished: 1,
        ..RunOutcome::default()
    };
    let mut report = EndReport { outcome, ..EndReport::default() };
    if let (Some(dir), Some(clock)) = (state.record.clone(), &state.clock) {
        let (templates, number, outcome) = (Arc::clone(&site.templates), site.number, report.outcome.clone());
        let wall_start_ms = clock.wall_start_ms();
        report.dir = dir.display().to_string();
        let written = tokio::task::spawn_blocking(move || -> Result<Vec<FileFact>, String> {
            write_record(&templates.load, number, seconds, &dir, wall_start_ms, outcome)?;
            RECORD_FILES.iter().map(|file| file_fact(&dir, file).map_err(|error| error.to_string())).collect()
        });
        match written.await.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(files) => report.files = files,
            Err(error) => report.failure = Some(error),
        }
    }
    state.reports.send(Report::Ended(Box::new(report)));
}

/// Answers an order.
async fn obey(site: &Site, run: &str, message: &Message, state: &mut State) {
    let received_ns = monotonic_ns();
    let recipient = format!("{run}/{}", site.id);
    let order = match seal::open::<Order>(&site.trusted, &recipient, &message.payload) {
        Ok(order) => order,
        Err(error) => {
            return site.reply(message, &OrderAnswer::Refused { reason: error.to_string() }).await;
        }
    };
    state.last_message_ns = received_ns;
    match order {
        Order::Clock => site.reply(message, &OrderAnswer::Clock(ClockReading::since(received_ns))).await,
        Order::Fetch { file, from } => send_part(site, message, state.record.clone(), &file, from).await,
        order => {
            let stops = matches!(
                order,
                Order::Change { change: LoadOrder::Stop | LoadOrder::StopNow | LoadOrder::Abandon, .. }
            );
            let answer = match carry_out(order, state) {
                Ok(()) => OrderAnswer::Done,
                Err(reason) => OrderAnswer::Refused { reason },
            };
            site.reply(message, &answer).await;
            if stops && state.has_begun && !state.has_ended {
                end(site, state).await;
            }
        }
    }
}

fn carry_out(order: Order, state: &mut State) -> Result<(), String> {
    match order {
        Order::Prepare(order) => prepare(&order, state),
        Order::Begin => {
            if !std::mem::replace(&mut state.has_begun, true) {
                state.reports.send(Report::SetUpDone { properties: Vec::new() });
            }
            Ok(())
        }
        Order::Start { at_ns, .. } => start(at_ns, state),
        Order::Repeat => {
            state.reports.repeat();
            Ok(())
        }
        Order::Release { .. } => {
            state.is_released = true;
            Ok(())
        }
        // Seconds are synthetic: they follow no change of the load, and there are no tearDown groups.
        Order::TearDown | Order::Change { .. } | Order::Alive | Order::Clock | Order::Fetch { .. } => Ok(()),
    }
}

fn prepare(order: &PrepareOrder, state: &mut State) -> Result<(), String> {
    if state.clock.is_some() {
        return Ok(());
    }
    let clock = Clock::with_origin(order.origin_ns, order.wall_start_ms);
    state.clock = Some(clock.ok_or("the run started before this machine was started")?);
    state.phase = Duration::from_millis(order.phase_ms);
    state.lease_s = order.lease_s.max(1);
    state.reports.send(Report::Ready);
    Ok(())
}

/// Starts the load with the first whole second after `at_ns`.
fn start(at_ns: u64, state: &mut State) -> Result<(), String> {
    let clock = state.clock.as_ref().ok_or("the run is not prepared")?;
    if state.seconds.is_some() {
        return Ok(());
    }
    let now = clock.now().0;
    if at_ns <= now {
        return Err(format!("the start was {} ms ago", (now - at_ns) / 1_000_000));
    }
    let first = at_ns.div_ceil(1_000_000_000);
    state.next = first;
    state.seconds = Some(first..first + state.length);
    Ok(())
}

/// Answers with a part of a file of the record.
async fn send_part(site: &Site, to: &Message, record: Option<PathBuf>, file: &str, from: u64) {
    let Some(inbox) = to.reply.clone() else { return };
    let path = record.filter(|_| is_inside(file)).map(|record| record.join(file));
    let bytes = match path {
        Some(path) => {
            tokio::task::spawn_blocking(move || part_message(&path, from)).await.unwrap_or_default()
        }
        None => reason_message("there is no such file"),
    };
    let _ = site.client.publish(inbox, bytes.into()).await;
}
