//! Runs a program: its cores, the phases of its thread groups, and stopping.

mod core_thread;
mod planning;
mod report;
mod starts;
mod supervisor;

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use busyhour_program::Program;
use busyhour_program::group::Phase;
use busyhour_program::open::OpenWorkload;
use busyhour_program::population::Population;
use busyhour_program::run::{LogLevel, RunShared, Stop};
use busyhour_program::sampler::Protocol;
use busyhour_sample::{AbandonedCore, BatchWriter, Labels, Nanos, Stall};
use core_thread::CoreThread;
#[cfg(test)]
pub(crate) use core_thread::phase;
pub(crate) use planning::Start;
#[cfg(test)]
pub(crate) use planning::plan_lifetimes;
use planning::{plan_group, plan_open};
pub use report::{CoreReport, RunReport};
use supervisor::{Done, PanicGuard, Supervisor};
use tokio::sync::mpsc;

use crate::signs::CoreActivity;
use crate::stalls::StallLog;

/// The threads of the cores and the channels to them.
struct Cores {
    commands: Vec<mpsc::UnboundedSender<Vec<Start>>>,
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
        let signs: Vec<Arc<CoreActivity>> = (0..cores).map(|_| Arc::default()).collect();
        for ((index, writer), signs) in (0..).zip(writers).zip(&signs) {
            let (send, receive) = mpsc::unbounded_channel();
            commands.push(send);
            let thread = CoreThread {
                index,
                cores,
                program: Arc::clone(program),
                shared: Arc::clone(shared),
                labels: labels.clone(),
                writer,
                commands: receive,
                ready: ready.clone(),
                done: done.clone(),
                signs: Arc::clone(signs),
            };
            let done = done.clone();
            let body = move || {
                let _guard = PanicGuard { core: index, done: &done };
                let report = thread.run();
                let _ = done.send(Done::Ended(index, Box::new(report)));
            };
            threads.push(Some(thread::Builder::new().name(format!("core-{index}")).spawn(body)?));
        }
        drop(ready);
        for _ in 0..cores {
            readiness
                .recv()
                .map_err(|_| io::Error::other("the thread of a core ended before it was ready"))??;
        }
        let supervisor = Supervisor::new(Arc::clone(shared), inbox, signs);
        Ok(Self { commands, threads, supervisor, abandoned: BTreeSet::new() })
    }

    fn all(&self) -> BTreeSet<u32> {
        (0..).take(self.threads.len()).collect()
    }

    /// Runs `starts` on every core. Returns `false` if a core has failed or does not respond to a forced end: the run is then
    /// incomplete, and the other cores need not finish.
    fn run_phase(&mut self, shared: &RunShared, starts: &[Start]) -> bool {
        for command in &self.commands {
            // If the receiver is gone, the core has panicked; `end` propagates its panic.
            let _ = command.send(starts.to_vec());
        }
        let mut waiting_for = self.all();
        while !waiting_for.is_empty() {
            match self.supervisor.next(&waiting_for) {
                Some(Done::Phase(core)) => {
                    waiting_for.remove(&core);
                }
                Some(Done::Failed(_) | Done::Ended(..)) => {
                    shared.stop_by_plan(Stop::Now);
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

    /// Ends the cores and collects their reports. Cores that do not respond to a forced end are abandoned: their threads
    /// continue until the process ends.
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
                // The last report of the previous phase.
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

/// Runs a program to its end on as many cores as there are writers. Blocks the calling thread.
///
/// # Errors
/// If a thread, a runtime or a kernel timer cannot be created. No request has been sent in this case.
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
        if shared.part.skips_phase(phase) {
            continue;
        }
        let planned = shared.pass_gate(phase);
        if let Some(at) = planned.filter(|_| phase == Phase::Main) {
            shared.begun_ns.store(at.0, Ordering::Relaxed);
        }
        let run_phase = |starts: Vec<Start>| cores.run_phase(shared, &starts);
        if !run_groups(program, shared, (phase, planned), &mut open, run_phase) {
            break;
        }
    }
    stopped = stopped.max(shared.stop());
    let end = shared.clock.now();
    let (cores, abandoned, stalls) = cores.end();
    let stopped = (stopped != Stop::No).then_some(stopped);
    Ok(RunReport { cores, end, open, stopped, stalls, abandoned })
}

/// Runs the groups of a phase, which start at the planned time or at once; returns `false` if a core has failed.
fn run_groups<P: Protocol>(
    program: &Arc<Program<P>>,
    shared: &Arc<RunShared>,
    (phase, mut at): (Phase, Option<Nanos>),
    begun: &mut [Option<Nanos>],
    mut run_phase: impl FnMut(Vec<Start>) -> bool,
) -> bool {
    let mut starts = Vec::new();
    for (index, group) in (0..).zip(&program.groups) {
        if group.phase != phase || shared.stop() != Stop::No {
            continue;
        }
        if !shared.runs_group(index) {
            let (name, share) = (&shared.groups[index as usize].name, shared.share());
            let line = format!("the thread group {name} does not run in the share {share} of the load");
            shared.log(LogLevel::Info, &line);
            continue;
        }
        let feeds = |workload: &OpenWorkload| workload.groups.iter().position(|(group, _)| *group == index);
        let open = program.open.iter().zip(0..).find_map(|(workload, at)| Some((at, feeds(workload)?)));
        let planned = match open {
            // The whole workload starts with the first of its groups.
            Some((workload, 0)) => {
                let start = plan_open(program, shared, workload, at);
                begun[workload as usize] = Some(start.first);
                Ok(Start::Open(start))
            }
            Some(_) => continue,
            None => match group.population.as_deref() {
                Some(Population::Lifetimes(lifetimes)) => {
                    planning::plan_lifetimes(shared, index, lifetimes, at).map(Start::Closed)
                }
                Some(Population::Level(_)) => {
                    wait_until(shared, at);
                    Ok(Start::Level(index))
                }
                Some(Population::Arrivals) | None => plan_group(shared, index, group, at).map(Start::Closed),
            },
        };
        let start = match planned {
            Ok(start) => start,
            Err(message) => {
                // As in JMeter, this group does not start, but the others do.
                shared.log(LogLevel::Error, &message.to_string());
                continue;
            }
        };
        if !program.serialize_groups {
            starts.push(start);
        } else if !run_phase(vec![start]) {
            return false;
        } else {
            // The next group starts when this one has ended.
            at = None;
        }
    }
    starts.is_empty() || run_phase(starts)
}

/// Waits until a planned time, or until the run is stopped.
fn wait_until(shared: &RunShared, planned: Option<Nanos>) {
    const STEP_NS: u64 = 50_000_000;
    let Some(at) = planned else { return };
    while shared.stop() == Stop::No {
        let left = at.since(shared.clock.now());
        if left == 0 || shared.clock.is_manual() {
            return;
        }
        thread::park_timeout(Duration::from_nanos(left.min(STEP_NS)));
    }
}

#[cfg(test)]
mod share_tests;
#[cfg(test)]
mod tests;
