//! Follows a run from its start to its end: orders, reports, losses.

mod losses;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::{Message, Subscriber};
use busyhour_launch::{Command, CommandHandler as _, CommandSource, RemoteRun};
use busyhour_program::clock::Clock;
use busyhour_program::run::Stop;
use busyhour_sample::{RunEnd, Snapshot};
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::attachment::{Progress, StoredRun};
use super::figures;
use super::incoming::{acknowledge, agent_of};
use super::member::Member;
use super::replacement::Recruiting;
use super::seconds_file::SecondsFiles;
use super::settings::ControllerSettings;
use crate::clock_table::ClockOffset;
use crate::connection::Say;
use crate::merge::SecondMerger;
use crate::messages::{LoadOrder, Order, Report};
use crate::orders::Orders;
use crate::subjects;
use crate::wire::decode;

/// Interval of the controller's own work.
const TICK: Duration = Duration::from_millis(50);

/// Interval in ns between signs of life to the agents.
const ALIVE_NS: u64 = 1_000_000_000;

/// Interval in ns between estimates of the clocks.
const CLOCK_NS: u64 = 10_000_000_000;

/// Least time in ns between the order to start and the start.
const START_NS: u64 = 2_000_000_000;

/// Least time in ns between a change of the load and the time at which it applies.
const CHANGE_NS: u64 = 100_000_000;

/// Time for an order during a run, including repetitions.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time in ns for lost agents to return after all others have ended.
const RETURN_NS: u64 = 5_000_000_000;

/// Time in ns for agents to end after a forced end of the run.
const FORCED_NS: u64 = 5_000_000_000;

/// The parts that are needed to follow a run.
pub(super) struct Follow<'f> {
    pub(super) orders: &'f Arc<Orders>,
    pub(super) settings: &'f ControllerSettings,
    pub(super) clock: Clock,
    pub(super) has_tear_down: bool,
    pub(super) seconds: SecondsFiles,
    pub(super) recruiting: Option<Recruiting>,
    pub(super) say: &'f Say,
}

/// A run that has ended.
pub(super) struct Followed {
    pub(super) members: Vec<Member>,
    /// The seconds that agents have sent.
    pub(super) seconds: SecondsFiles,
    /// When the main groups started, in ns of the run.
    pub(super) started_ns: u64,
    /// Number of seconds that arrived after they were merged.
    pub(super) late_seconds: u64,
}

/// The state of a run in progress.
struct Course<'r> {
    run: &'r RemoteRun,
    members: Vec<Member>,
    merger: SecondMerger,
    seconds: SecondsFiles,
    /// The load orders that were given last.
    stop: Stop,
    is_abandoned: bool,
    is_paused: bool,
    factor: f64,
    has_torn_down: bool,
    alive_ns: u64,
    clock_ns: u64,
    /// When only lost agents were left.
    rest_lost_ns: Option<u64>,
    forced_ns: Option<u64>,
    started_ns: u64,
    offsets: (UnboundedSender<(usize, ClockOffset)>, UnboundedReceiver<(usize, ClockOffset)>),
    /// For each agent, whether another one takes over its share.
    replaced: BTreeSet<usize>,
    recruits: (UnboundedSender<Member>, UnboundedReceiver<Member>),
    recruiters: Vec<tokio::task::JoinHandle<()>>,
    /// What another controller needs if this one ends.
    stored: &'r mut StoredRun,
}

impl Follow<'_> {
    fn now(&self) -> u64 {
        self.clock.now().0
    }

    /// Starts the run and follows it until all agents have ended or are lost.
    pub(super) async fn follow(
        self,
        members: Vec<Member>,
        reports: &mut Subscriber,
        run: &RemoteRun,
        stored: &mut StoredRun,
    ) -> Followed {
        let mut course = Course {
            run,
            merger: SecondMerger::new(members.len()),
            members,
            seconds: self.seconds.clone(),
            stop: Stop::No,
            is_abandoned: false,
            is_paused: false,
            factor: 1.0,
            has_torn_down: false,
            alive_ns: 0,
            clock_ns: self.now(),
            rest_lost_ns: None,
            forced_ns: None,
            started_ns: stored.state.started_ns,
            offsets: unbounded_channel(),
            replaced: BTreeSet::new(),
            recruits: unbounded_channel(),
            recruiters: Vec::new(),
            stored,
        };
        // A run that was taken over may have started already.
        let mut is_started = course.started_ns > 0;
        if is_started {
            self.resume(&mut course);
        } else {
            self.begin(&mut course).await;
        }
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                message = reports.next() => match message {
                    Some(message) => self.take(&message, &mut course).await,
                    None => break,
                },
                _ = tick.tick() => {
                    self.tick(&mut course).await;
                    let is_set_up = |member: &Member| member.is_set_up || member.is_over() || member.is_lost();
                    if !is_started && course.members.iter().all(is_set_up) {
                        is_started = true;
                        self.start(&mut course).await;
                    }
                    if self.is_over(&mut course) {
                        break;
                    }
                }
            }
        }
        course.recruiters.iter().for_each(tokio::task::JoinHandle::abort);
        let rest = course.merger.close_all();
        course.pass_on(rest);
        if course.merger.is_inexact()
            && let Some(seconds) = &run.seconds
        {
            seconds.note_loss();
        }
        let Course { members, merger, seconds, started_ns, .. } = course;
        Followed { members, seconds, started_ns, late_seconds: merger.late_seconds() }
    }

    /// Gives an order to all agents at the same time. Returns the failures.
    async fn give_all(&self, members: &[Member], order: impl Fn(&Member) -> Order) -> Vec<(usize, String)> {
        let given = members.iter().enumerate().map(|(at, member)| {
            let order = order(member);
            async move {
                let given = self.orders.give(&member.info.id, &order, Duration::from_millis(1_500)).await;
                given.err().map(|error| (at, error.to_string()))
            }
        });
        join_all(given).await.into_iter().flatten().collect()
    }

    /// Continues a run that has started: reads the seconds that the former controller stored, and restores changes of the load.
    fn resume(&self, course: &mut Course<'_>) {
        let now = self.now();
        for at in 0..course.members.len() {
            let (member, merger) = (&mut course.members[at], &mut course.merger);
            let resumed = course.seconds.resume(at, |snapshot| {
                member.count_second(snapshot.second, snapshot.total().samples);
                merger.add(at, snapshot, now);
            });
            if let Err(error) = resumed {
                (self.say)(&format!("warning: the stored seconds of an agent cannot be read: {error}"));
            }
            if course.members[at].is_over() {
                course.merger.end(at);
            }
        }
        let state = &course.stored.state;
        (course.is_paused, course.factor) = (state.is_paused, state.factor);
        let control = &course.run.control;
        if course.is_paused {
            let _ = control.execute(Command::Pause, CommandSource::Program);
        }
        if course.factor.to_bits() != 1.0_f64.to_bits() {
            let _ = control.execute(Command::Rate { factor: course.factor }, CommandSource::Program);
        }
    }

    /// Stores what another controller needs if this one ends.
    fn store(&self, course: &mut Course<'_>) {
        let Course { stored, members, started_ns, is_paused, factor, .. } = course;
        let progress = Progress { started_ns: *started_ns, is_paused: *is_paused, factor: *factor };
        if let Err(error) = stored.update(members, progress) {
            (self.say)(&format!("warning: {error}: the run cannot be taken over if this process ends"));
        }
    }

    /// Starts the threads of the run on all agents, and setUp groups.
    async fn begin(&self, course: &mut Course<'_>) {
        for (at, cause) in self.give_all(&course.members, |_| Order::Begin).await {
            self.fail(course, at, &cause);
        }
    }

    /// Orders the common start of the main groups.
    async fn start(&self, course: &mut Course<'_>) {
        if course.run.shared.stop() != Stop::No {
            // The run was stopped during its setUp groups. Agents that were stopped do not start main groups.
            return;
        }
        let expected = course.members.iter_mut().filter(|member| !member.is_over() && !member.is_lost());
        join_all(expected.map(|member| member.update_clock(self.orders, &self.clock))).await;
        let worst = course.members.iter().map(|member| member.round_trip_ns).max().unwrap_or(0);
        let at = self.now() + START_NS.max(10 * worst);
        course.started_ns = at;
        let first = course.members.iter().find(|member| member.share.is_first());
        let properties = first.map(|member| member.properties.clone()).unwrap_or_default();
        let at_signed = i64::try_from(at).unwrap_or(i64::MAX);
        course.members.iter_mut().for_each(|m| m.start_offset_ns = m.clock.correction_ns(at_signed));
        self.store(course);
        let order = |member: &Member| Order::Start {
            at_ns: at.saturating_add_signed(member.start_offset_ns),
            join_ns: None,
            properties: properties.clone(),
        };
        for (member, cause) in self.give_all(&course.members, order).await {
            self.fail(course, member, &format!("it did not receive the start in time: {cause}"));
        }
        // Reports that arrived meanwhile have not been taken yet.
        let now = self.now();
        let expected = course.members.iter_mut().filter(|member| !member.is_lost());
        expected.for_each(|member| member.last_message_ns = now);
        let bound = course.members.iter().filter_map(|member| member.clock.bound_ns()).max();
        let bound = bound.map_or("unknown".to_owned(), |ns| format!("{:.2} ms", ns as f64 / 1e6));
        let agents = course.members.iter().filter(|member| !member.is_over()).count();
        if agents == 0 {
            return;
        }
        (self.say)(&format!("{agents} agents start together; their clocks agree within {bound}"));
    }

    /// Takes a report. It is acknowledged when its contents are stored.
    async fn take(&self, message: &Message, course: &mut Course<'_>) {
        let now = self.now();
        let id = agent_of(&message.subject).unwrap_or_default();
        let Some(at) = course.members.iter().position(|member| member.info.id == id) else { return };
        self.note_message(course, at, now);
        match decode::<Report>(&message.payload) {
            Ok(report) => self.report(course, at, report, now, &message.payload),
            Err(error) => (self.say)(&format!("warning: a report of the agent {id} cannot be read: {error}")),
        }
        acknowledge(&self.orders.client, message).await;
    }

    fn note_message(&self, course: &mut Course<'_>, at: usize, now: u64) {
        let member = &mut course.members[at];
        member.last_message_ns = now;
        if member.is_lost() {
            if let Some(loss) = member.losses.last_mut() {
                loss.to_ns = Some(now);
            }
            course.merger.set_lost(at, false);
            (self.say)(&format!("the agent {} is back at {:.1} s", member.info.name, now as f64 / 1e9));
        }
    }

    fn report(&self, course: &mut Course<'_>, at: usize, report: Report, now: u64, payload: &[u8]) {
        let member = &mut course.members[at];
        match report {
            Report::Alive { users } => member.users = users,
            Report::Ready => {
                if member.replaces.is_some() && member.joined_ns == 0 {
                    self.let_join(course, at);
                }
            }
            Report::Failed { reason } => self.fail(course, at, &reason),
            Report::SetUpDone { properties } => {
                member.is_set_up = true;
                member.properties = properties;
            }
            Report::MainDone => member.is_main_done = true,
            Report::Second { snapshot } => {
                member.count_second(snapshot.second, snapshot.total().samples);
                if !course.merger.add(at, *snapshot, now) {
                    (self.say)(&format!("warning: {}: a second of the future was ignored", member.info.name));
                } else if let Err(error) = course.seconds.add(at, payload) {
                    (self.say)(&format!("warning: the seconds of an agent cannot be stored: {error}"));
                }
            }
            Report::Interrupted { at_ns } => self.leave(course, at, at_ns),
            Report::Said { text } => (self.say)(&format!("{}: {text}", member.info.name)),
            Report::Ended(end) => {
                let (outcome, has_failed) = (end.outcome.end, end.failure.is_some());
                let error = end.outcome.error.clone();
                member.is_main_done = true;
                if let Some(failure) = &end.failure {
                    (self.say)(&format!("warning: {}: {failure}", member.info.name));
                }
                member.end = Some(*end);
                course.merger.end(at);
                let shared = &course.run.shared;
                match outcome {
                    RunEnd::StoppedByPlan => shared.stop_by_plan(Stop::Graceful),
                    RunEnd::StoppedByError => {
                        let why = error.unwrap_or_else(|| "an error on an agent".to_owned());
                        shared.stop_because_of_error(Stop::Graceful, why);
                    }
                    _ if has_failed => self.on_loss(course, at),
                    _ => {}
                }
            }
        }
    }

    /// The regular work: orders, signs of life, losses, merged seconds.
    async fn tick(&self, course: &mut Course<'_>) {
        let now = self.now();
        self.pass_changes(course, now);
        if now.saturating_sub(course.alive_ns) >= ALIVE_NS {
            course.alive_ns = now;
            let _ = self.orders.client.publish(subjects::down_all(&self.orders.run), Vec::new().into()).await;
        }
        self.find_losses(course, now);
        self.replace_lost(course, now);
        self.read_clocks(course, now);
        let closed = course.merger.close(now);
        course.pass_on(closed);
        course.count_users();
        self.tear_down(course);
    }

    /// Passes stop requests, pauses and the factor of the rate on to the agents.
    fn pass_changes(&self, course: &mut Course<'_>, now: u64) {
        let shared = Arc::clone(&course.run.shared);
        let stop = shared.stop();
        if stop > course.stop {
            course.stop = stop;
            let change = if stop == Stop::Now { LoadOrder::StopNow } else { LoadOrder::Stop };
            self.change_all(course, change);
        }
        if !course.is_abandoned && stop == Stop::Now && shared.is_forced(self.clock.now()) {
            course.is_abandoned = true;
            course.forced_ns = Some(now);
            self.change_all(course, LoadOrder::Abandon);
        }
        let (is_paused, factor) = (shared.control.is_paused(), shared.control.rate_factor());
        let (was_paused, old_factor) = (course.is_paused, course.factor);
        if is_paused != course.is_paused {
            course.is_paused = is_paused;
            self.change_all(course, if is_paused { LoadOrder::Pause } else { LoadOrder::Resume });
        }
        if factor.to_bits() != course.factor.to_bits() {
            course.factor = factor;
            self.change_all(course, LoadOrder::Rate { factor });
        }
        if is_paused != was_paused || factor.to_bits() != old_factor.to_bits() {
            self.store(course);
        }
    }

    /// Gives a load order to all agents, without waiting for their answers. Stop requests apply immediately, others to all agents
    /// at the same time.
    fn change_all(&self, course: &Course<'_>, change: LoadOrder) {
        let worst = course.members.iter().map(|member| member.round_trip_ns).max().unwrap_or(0);
        let at = self.now() + CHANGE_NS.max(3 * worst);
        for member in course.members.iter().filter(|member| !member.is_over()) {
            let there =
                at.saturating_add_signed(member.clock.correction_ns(i64::try_from(at).unwrap_or(i64::MAX)));
            let at_ns = (!change.is_urgent()).then_some(there);
            self.give_later(member, Order::Change { change, at_ns });
        }
    }

    fn give_later(&self, member: &Member, order: Order) {
        let (orders, id, name) = (Arc::clone(self.orders), member.info.id.clone(), member.info.name.clone());
        let say = Arc::clone(self.say);
        tokio::spawn(async move {
            if let Err(error) = orders.give(&id, &order, PATIENCE).await {
                say(&format!("warning: the agent {name} did not follow an order: {error}"));
            }
        });
    }

    /// Estimates the clocks at intervals, without waiting for the answers.
    fn read_clocks(&self, course: &mut Course<'_>, now: u64) {
        while let Ok((at, offset)) = course.offsets.1.try_recv() {
            let member = &mut course.members[at];
            let offset_ns = offset.offset_ns - member.origin_ns;
            member.clock.add(ClockOffset { offset_ns, ..offset });
        }
        if now.saturating_sub(course.clock_ns) < CLOCK_NS {
            return;
        }
        course.clock_ns = now;
        self.store(course);
        for (at, member) in course.members.iter().enumerate() {
            if member.is_over() || member.is_lost() {
                continue;
            }
            let (orders, id, clock) = (Arc::clone(self.orders), member.info.id.clone(), self.clock.clone());
            let send = course.offsets.0.clone();
            tokio::spawn(async move {
                if let Ok((offset, _)) = orders.read_clock(&id, &clock).await {
                    let _ = send.send((at, offset));
                }
            });
        }
    }

    /// Starts tearDown groups when the main groups of all agents have ended.
    fn tear_down(&self, course: &mut Course<'_>) {
        let is_done = |member: &Member| member.is_main_done || member.is_over() || member.is_lost();
        if !self.has_tear_down || course.has_torn_down || !course.members.iter().all(is_done) {
            return;
        }
        course.has_torn_down = true;
        if let Some(first) = course.members.iter().find(|member| member.share.is_first() && !member.is_over())
        {
            self.give_later(first, Order::TearDown);
        }
    }

    /// Whether nothing more is expected.
    fn is_over(&self, course: &mut Course<'_>) -> bool {
        let now = self.now();
        if course.members.iter().all(Member::is_over) {
            return true;
        }
        if course.forced_ns.is_some_and(|forced| now.saturating_sub(forced) >= FORCED_NS) {
            return true;
        }
        if !course.members.iter().all(|member| member.is_over() || member.is_lost()) {
            course.rest_lost_ns = None;
            return false;
        }
        let since = *course.rest_lost_ns.get_or_insert(now);
        now.saturating_sub(since) >= RETURN_NS
    }
}

impl Course<'_> {
    /// Passes merged seconds to the observers of the run.
    fn pass_on(&self, closed: Vec<Snapshot>) {
        for snapshot in closed {
            figures::add_second(&self.run.figures, &snapshot);
            if let Some(seconds) = &self.run.seconds {
                seconds.send(&Arc::new(snapshot));
            }
        }
    }

    /// Adds up the numbers of users.
    fn count_users(&self) {
        let sum = |part: fn(&Member) -> u64| self.members.iter().map(part).sum::<u64>();
        let shared = &self.run.shared;
        shared.started.store(sum(|member| member.users.started), Ordering::Relaxed);
        shared.finished.store(sum(|member| member.users.finished), Ordering::Relaxed);
        let active = sum(|member| if member.is_lost() { 0 } else { member.users.active });
        shared.active.store(u32::try_from(active).unwrap_or(u32::MAX), Ordering::Relaxed);
    }
}
