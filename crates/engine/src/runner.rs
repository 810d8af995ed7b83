//! Running a program: the cores, the phases of the thread groups, stopping.

mod starts;
pub(crate) mod supervisor;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as blocking;
use std::thread;

use busyhour_limits::Limit;
use busyhour_program::Program;
use busyhour_program::group::{Group, Phase};
use busyhour_program::open::{NoFreeUser, OpenWorkload};
use busyhour_program::population::{Lifetime, Lifetimes, Population};
use busyhour_program::run::{Level, RunShared, Stop};
use busyhour_program::sampler::Protocol;
use busyhour_program::user::UserState;
use busyhour_record::{AbandonedCore, BatchWriter, Labels, Nanos, Stall};
pub(crate) use starts::Watch;
use starts::{start_lifetimes, start_users};
use supervisor::{CoreSigns, Done, PanicGuard, Supervisor};
use tokio::sync::{Notify, mpsc};
use tokio::task::LocalSet;

use crate::core::Core;
use crate::open::ArrivalCounts;
use crate::open::dispatch::{OpenStart, dispatch};
use crate::stalls::StallLog;
use crate::supply::supply;

/// What a core says of itself when the run is over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoreReport {
    /// CPU time its thread used without that spent watching the clock, in nanoseconds; `None` where the system does not
    /// tell.
    pub cpu_ns: Option<u64>,
    /// Time its thread lived, in nanoseconds.
    pub wall_ns: u64,
    /// Highest share of a second in which the thread had the CPU, between 0 and 1; `None` where the system does not
    /// tell or the run was shorter than a second.
    pub busiest_second: Option<f64>,
    /// How often the recorder had no room for a sample.
    pub stalls: u64,
    /// How long users were held back because the recorder was behind, in nanoseconds.
    pub stalled_ns: u64,
    /// Samples given up because the run was stopped at once.
    pub interrupted: u64,
    /// Users that ended, or never began, because of an error in Busyhour (a panic); each is in the log. 0 in every
    /// healthy run: what they would have done is missing.
    pub died: u64,
    /// Longest time by which the core's own tick came late, in nanoseconds.
    pub lag_ns_max: u64,
    /// The longest times by which it came late.
    pub blocked: StallLog,
    /// What became of the arrivals of open workloads.
    pub arrivals: ArrivalCounts,
    /// Samples lost because the recorder's thread was gone.
    pub lost: u64,
    /// Limits that the work of its users exceeded, and how often.
    pub exceeded: Vec<(Limit, u64)>,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// One per core.
    pub cores: Vec<CoreReport>,
    /// When the last user ended.
    pub end: Nanos,
    /// When the schedule of each open workload began; `None`: never.
    pub open: Vec<Option<Nanos>>,
    /// How far the run was asked to stop before its own end.
    pub stopped: Option<Stop>,
    /// The longest times in which the process or a core did not run, in order of time.
    pub stalls: Vec<Stall>,
    /// Cores that did not respond to a forced end. Their reports are empty but for the time.
    pub abandoned: Vec<AbandonedCore>,
}

/// A thread group about to run.
#[derive(Clone, Debug)]
pub(crate) struct GroupStart {
    group: u32,
    users: u32,
    /// Nanoseconds between the starts of two users.
    spacing_ns: u64,
    first: Nanos,
    end: Option<Nanos>,
    /// Users that begin and end at times of their own, in the order of their beginnings.
    lifetimes: Option<Arc<[Lifetime]>>,
}

/// What runs in a phase.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    /// A group that starts its own users.
    Closed(GroupStart),
    /// A group that keeps a level of users.
    Level(u32),
    /// An open workload.
    Open(OpenStart),
}

enum Command {
    Run(Vec<Start>),
}

/// The threads of the cores and the way to them.
struct Cores {
    commands: Vec<mpsc::UnboundedSender<Command>>,
    threads: Vec<Option<thread::JoinHandle<()>>>,
    supervisor: Supervisor,
    /// Cores that did not respond to a forced end.
    abandoned: BTreeSet<u32>,
}

impl Cores {
    /// Starts one core for each writer and waits until all are ready.
    fn start<P: Protocol>(
        program: &Arc<Program<P>>,
        shared: &Arc<RunShared>,
        labels: &Labels,
        writers: Vec<BatchWriter>,
    ) -> io::Result<Self> {
        let (ready, readiness) = blocking::channel();
        let (done, inbox) = blocking::channel();
        let (mut commands, mut threads) = (Vec::new(), Vec::new());
        let cores = u32::try_from(writers.len()).unwrap_or(1).max(1);
        let signs: Vec<Arc<CoreSigns>> = (0..cores).map(|_| Arc::default()).collect();
        for ((index, writer), signs) in (0..).zip(writers).zip(&signs) {
            let (send, receive) = mpsc::unbounded_channel();
            commands.push(send);
            let (program, shared, labels) = (Arc::clone(program), Arc::clone(shared), labels.clone());
            let (ready, done, signs) = (ready.clone(), done.clone(), Arc::clone(signs));
            let body = move || {
                let _guard = PanicGuard { core: index, done: &done };
                let report = core_thread(
                    index, cores, &program, shared, labels, writer, receive, &ready, &done, signs,
                );
                let _ = done.send(Done::Ended(index, Box::new(report)));
            };
            threads.push(Some(thread::Builder::new().name(format!("core-{index}")).spawn(body)?));
        }
        drop(ready);
        for _ in 0..cores {
            readiness.recv().map_err(|_| io::Error::other("a core ended before it began"))??;
        }
        let supervisor = Supervisor::new(Arc::clone(shared), inbox, signs);
        Ok(Self { commands, threads, supervisor, abandoned: BTreeSet::new() })
    }

    fn all(&self) -> BTreeSet<u32> {
        (0..).take(self.threads.len()).collect()
    }

    /// Runs `starts` on every core; false when a core has failed or does not respond to a forced end: without it the run
    /// is not what was asked for, and the others need not finish theirs.
    fn run_phase(&mut self, shared: &RunShared, starts: &[Start]) -> bool {
        for command in &self.commands {
            // A core that is gone has panicked; `end` passes its panic on.
            let _ = command.send(Command::Run(starts.to_vec()));
        }
        let mut waiting_for = self.all();
        while !waiting_for.is_empty() {
            match self.supervisor.next(&waiting_for) {
                Some(Done::Phase(core)) => {
                    waiting_for.remove(&core);
                }
                Some(Done::Failed(_) | Done::Ended(..)) => {
                    shared.ask_to_stop(Stop::Now);
                    return false;
                }
                None => {
                    self.abandoned = waiting_for;
                    return false;
                }
            }
        }
        true
    }

    /// Ends the cores and collects their reports. Cores that do not end after a forced end are left behind: their threads
    /// last until the process ends.
    fn end(mut self) -> (Vec<CoreReport>, Vec<AbandonedCore>, Vec<Stall>) {
        self.commands.clear();
        let mut reports: Vec<Option<CoreReport>> = self.threads.iter().map(|_| None).collect();
        let mut waiting_for: BTreeSet<u32> = self.all().difference(&self.abandoned).copied().collect();
        while !waiting_for.is_empty() {
            match self.supervisor.next(&waiting_for) {
                Some(Done::Ended(core, report)) => {
                    waiting_for.remove(&core);
                    reports[core as usize] = Some(*report);
                }
                Some(Done::Failed(core)) => {
                    if let Some(thread) = self.threads[core as usize].take()
                        && let Err(panic) = thread.join()
                    {
                        std::panic::resume_unwind(panic);
                    }
                    waiting_for.remove(&core);
                }
                // The last of the phase before.
                Some(Done::Phase(_)) => {}
                None => break,
            }
        }
        let mut abandoned = Vec::new();
        let reports: Vec<CoreReport> = (0..)
            .zip(reports)
            .map(|(core, report)| {
                report.unwrap_or_else(|| {
                    let (facts, report) = self.supervisor.abandoned(core);
                    abandoned.push(facts);
                    report
                })
            })
            .collect();
        let logs: Vec<StallLog> = reports.iter().map(|report| report.blocked.clone()).collect();
        let stalls = self.supervisor.stalls().with_cores(&logs);
        (reports, abandoned, stalls)
    }
}

/// Runs a program to its end on as many cores as there are writers, blocking the calling thread.
///
/// # Errors
/// When a thread, a runtime or a kernel timer cannot be had; nothing has been sent then.
pub fn run<P: Protocol>(
    program: &Arc<Program<P>>,
    shared: &Arc<RunShared>,
    labels: &Labels,
    writers: Vec<BatchWriter>,
) -> io::Result<RunReport> {
    let mut cores = Cores::start(program, shared, labels, writers)?;
    shared.begun_ns.store(shared.clock.now().0, Ordering::Relaxed);
    let mut open = vec![None; program.open.len()];
    let mut stopped = Stop::No;
    for phase in [Phase::SetUp, Phase::Main, Phase::TearDown] {
        if phase == Phase::TearDown {
            stopped = shared.stop();
            let is_forced = shared.is_forced(shared.clock.now());
            if stopped != Stop::No && (is_forced || !program.tear_down_on_stop) {
                break;
            }
            if program.groups.iter().any(|group| group.phase == phase) {
                shared.clear_stop();
            }
        }
        let run_phase = |starts: Vec<Start>| cores.run_phase(shared, &starts);
        if !run_groups(program, shared, phase, &mut open, run_phase) {
            break;
        }
    }
    stopped = stopped.max(shared.stop());
    let end = shared.clock.now();
    let (cores, abandoned, stalls) = cores.end();
    let stopped = (stopped != Stop::No).then_some(stopped);
    Ok(RunReport { cores, end, open, stopped, stalls, abandoned })
}

/// Runs the groups of a phase; false when a core has failed.
fn run_groups<P: Protocol>(
    program: &Arc<Program<P>>,
    shared: &Arc<RunShared>,
    phase: Phase,
    begun: &mut [Option<Nanos>],
    mut run_phase: impl FnMut(Vec<Start>) -> bool,
) -> bool {
    let mut starts = Vec::new();
    for (index, group) in (0..).zip(&program.groups) {
        if group.phase != phase || shared.stop() != Stop::No {
            continue;
        }
        let feeds = |workload: &OpenWorkload| workload.groups.iter().position(|(group, _)| *group == index);
        let open = program.open.iter().zip(0..).find_map(|(workload, at)| Some((at, feeds(workload)?)));
        let planned = match open {
            // The whole workload starts with the first of its groups.
            Some((workload, 0)) => {
                let start = plan_open(program, shared, workload);
                begun[workload as usize] = Some(start.first);
                Ok(Start::Open(start))
            }
            Some(_) => continue,
            None => match group.population.as_deref() {
                Some(Population::Lifetimes(lifetimes)) => {
                    plan_lifetimes(shared, index, lifetimes).map(Start::Closed)
                }
                Some(Population::Level(_)) => Ok(Start::Level(index)),
                Some(Population::Arrivals) | None => plan_group(shared, index, group).map(Start::Closed),
            },
        };
        let start = match planned {
            Ok(start) => start,
            Err(message) => {
                // As in JMeter: this group does not start, the others do.
                shared.log(Level::Error, &message);
                continue;
            }
        };
        if !program.serialize_groups {
            starts.push(start);
        } else if !run_phase(vec![start]) {
            return false;
        }
    }
    starts.is_empty() || run_phase(starts)
}

fn plan_group<P: Protocol>(
    shared: &Arc<RunShared>,
    index: u32,
    group: &Group<P>,
) -> Result<GroupStart, String> {
    let mut user = UserState::new(Arc::clone(shared), None, index, 0);
    let users = u32::try_from(group.users.integer(&mut user, 0).max(0)).unwrap_or(u32::MAX);
    shared.plan_users(index, users);
    let ramp_up_s = group.ramp_up.integer(&mut user, 0).max(0);
    // JMeter computes the spacing in whole milliseconds with a 32-bit float.
    let spacing_ms = if users == 0 { 0.0 } else { (ramp_up_s as f32 * 1000.0 / users as f32).round() };
    let spacing_ns = (spacing_ms as u64).saturating_mul(1_000_000);
    let mut first = shared.clock.now();
    let mut end = None;
    if let Some(schedule) = &group.schedule {
        let delay_s = u64::try_from(schedule.delay.integer(&mut user, 0)).unwrap_or(0);
        let duration_s = schedule.duration.integer(&mut user, 0);
        first = first + Nanos::from_secs(delay_s).0;
        let Some(duration_s) = u64::try_from(duration_s).ok().filter(|s| *s > 0) else {
            let name = &shared.groups[index as usize].name;
            return Err(format!("Invalid duration {duration_s} set in Thread Group:{name}"));
        };
        end = Some(first + Nanos::from_secs(duration_s).0);
    }
    Ok(GroupStart { group: index, users, spacing_ns, first, end, lifetimes: None })
}

/// The users of a group that begin and end at times of their own.
pub(crate) fn plan_lifetimes(
    shared: &Arc<RunShared>,
    index: u32,
    lifetimes: &Lifetimes,
) -> Result<GroupStart, String> {
    let mut user = UserState::new(Arc::clone(shared), None, index, 0);
    let mut all = lifetimes.of(&mut user)?;
    all.sort_by_key(|lifetime| lifetime.begin_ms);
    let users = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let first = shared.clock.now();
    Ok(GroupStart { group: index, users, spacing_ns: 0, first, end: None, lifetimes: Some(all.into()) })
}

/// Time between the decision to start an open workload and the beginning of its schedule, in nanoseconds.
const OPEN_LEAD_NS: u64 = 10_000_000;

/// How many users an open workload begins with, and may have.
fn plan_open<P: Protocol>(program: &Program<P>, shared: &Arc<RunShared>, workload: u32) -> OpenStart {
    let open = &program.open[workload as usize];
    let users = |index: u32| {
        let mut user = UserState::new(Arc::clone(shared), None, index, 0);
        let number = open.users.as_ref().unwrap_or(&program.groups[index as usize].users);
        let number = u32::try_from(number.integer(&mut user, 0).max(1)).unwrap_or(u32::MAX);
        match open.no_free_user {
            NoFreeUser::Queue | NoFreeUser::Drop => (number, number),
            NoFreeUser::Grow(most) | NoFreeUser::GrowOrDrop(most) => (0, most.max(1)),
        }
    };
    let users = open.groups.iter().map(|(group, _)| users(*group)).collect();
    // The cores need a moment to take the command up; without it the first arrivals would be late.
    OpenStart { workload, first: shared.clock.now() + OPEN_LEAD_NS, users }
}

fn core_thread<P: Protocol>(
    index: u32,
    cores: u32,
    program: &Arc<Program<P>>,
    shared: Arc<RunShared>,
    labels: Labels,
    writer: BatchWriter,
    mut commands: mpsc::UnboundedReceiver<Command>,
    ready: &blocking::Sender<io::Result<()>>,
    done: &blocking::Sender<Done>,
    signs: Arc<CoreSigns>,
) -> CoreReport {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = ready.send(Err(error));
            return CoreReport::default();
        }
    };
    crate::turns::ask_for_short_turns();
    let began = shared.clock.now();
    runtime.block_on(async {
        let core = match Core::new(index, shared, labels, writer) {
            Ok(core) => Rc::new(core.with_signs(signs)),
            Err(error) => {
                let _ = ready.send(Err(error));
                return CoreReport::default();
            }
        };
        let _ = ready.send(Ok(()));
        while let Some(Command::Run(starts)) = commands.recv().await {
            phase(&core, cores, program, starts).await;
            core.flush();
            if done.send(Done::Phase(index)).is_err() {
                break;
            }
        }
        core.signs.set_ending(true);
        if core.is_behind() {
            tokio::select! {
                () = core.timers.drive() => {}
                () = core.settle() => {}
            }
        }
        let (stalls, lost) = core.recorder_stalls();
        CoreReport {
            cpu_ns: core.cpu_ns(),
            wall_ns: core.run.clock.now().since(began),
            busiest_second: core.busiest_second(),
            stalls,
            stalled_ns: core.stalled_ns.get(),
            interrupted: core.interrupted.get(),
            died: core.died.get(),
            lag_ns_max: core.lag_ns_max.get(),
            blocked: core.stalls.take(),
            arrivals: core.arrivals(),
            lost,
            exceeded: busyhour_limits::take(),
        }
    })
}

/// Users of this core that are still to end.
pub(crate) struct Living {
    count: Cell<u64>,
    none_left: Notify,
}

pub(crate) struct Life(Rc<Living>);

impl Drop for Life {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
        if self.0.count.get() == 0 {
            self.0.none_left.notify_one();
        }
    }
}

impl Living {
    /// One more.
    pub(crate) fn begin(self: &Rc<Self>) -> Life {
        self.count.set(self.count.get() + 1);
        Life(Rc::clone(self))
    }
}

/// Runs this core's share of some groups until all of its users have ended or the run is stopped at once.
pub(crate) async fn phase<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    starts: Vec<Start>,
) {
    core.signs.set_ending(false);
    let set = LocalSet::new();
    let living = Rc::new(Living { count: Cell::new(0), none_left: Notify::new() });
    for start in starts {
        let life = living.begin();
        let (core, program, living) = (Rc::clone(core), Arc::clone(program), Rc::clone(&living));
        set.spawn_local(async move {
            match start {
                Start::Closed(start) if start.lifetimes.is_some() => {
                    start_lifetimes(&core, cores, &program, start, &living).await;
                }
                Start::Closed(start) => start_users(&core, cores, &program, start, &living).await,
                Start::Level(group) => supply(&core, cores, &program, group, &living).await,
                Start::Open(start) => dispatch(&core, cores, &program, start, &living).await,
            }
            drop(life);
        });
    }
    set.run_until(async {
        tokio::select! {
            () = core.timers.drive() => {}
            () = core.tick() => {}
            () = living.none_left.notified() => core.measure_lag(core.run.clock.now()),
        }
    })
    .await;
    drop(set);
}

#[cfg(test)]
mod tests;
