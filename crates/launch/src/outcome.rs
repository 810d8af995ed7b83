//! Determines the outcome of a run for its manifest.

use std::collections::BTreeMap;

use busyhour_compile::Started;
use busyhour_engine::runner::{self, RunReport};
use busyhour_program::run::Stop;
use busyhour_record::{OpenFacts, RunOutcome};
use busyhour_sample::{ArrivalCounts, CoreFacts, GeneratorFacts, RunEnd, RunTotals};

use crate::system;

/// Facts about the end of a run that determine its outcome.
pub(crate) struct Ending {
    /// The strongest stop request from outside the plan before the run ended.
    pub(crate) requested: Stop,
    /// Whether a threshold stopped the run.
    pub(crate) by_threshold: bool,
    /// Whether the engine failed because of an internal error.
    pub(crate) has_failed: bool,
}

/// The outcome of a run.
pub(crate) fn outcome(
    report: &RunReport,
    started: &Started,
    ending: &Ending,
    totals: &RunTotals,
) -> RunOutcome {
    use std::sync::atomic::Ordering::Relaxed;
    let shared = &started.shared;
    let end = match (ending.has_failed, ending.requested, report.stopped) {
        (true, ..) => RunEnd::Failed,
        // The grace period has passed.
        (_, Stop::Graceful, Some(Stop::Now)) => RunEnd::Aborted,
        (_, Stop::Graceful, _) => RunEnd::Interrupted,
        (_, Stop::Now, _) => RunEnd::Aborted,
        (_, Stop::No, _) if ending.by_threshold => RunEnd::StoppedByThreshold,
        (_, Stop::No, _) if shared.stop_error().is_some() => RunEnd::StoppedByError,
        (_, Stop::No, Some(_)) => RunEnd::StoppedByPlan,
        (_, Stop::No, None) => RunEnd::Completed,
    };
    let cores = report
        .cores
        .iter()
        .map(|core| CoreFacts {
            busy: core.cpu_ns.map(|cpu| cpu as f64 / core.wall_ns.max(1) as f64),
            busy_second_max: core.busiest_second,
            lag_ns_max: Some(core.lag_ns_max),
        })
        .collect();
    let sum = |part: fn(&runner::CoreReport) -> u64| report.cores.iter().map(part).sum::<u64>();
    RunOutcome {
        end,
        stopped_by: None,
        error: shared.stop_error().map(str::to_owned).filter(|_| end == RunEnd::StoppedByError),
        duration_ns: if ending.has_failed { shared.clock.now().0 } else { report.end.0 },
        users_started: shared.started.load(Relaxed),
        users_finished: shared.finished.load(Relaxed),
        users_without_load: users_without_load(started, totals),
        generator: GeneratorFacts {
            cores,
            recorder_stalls: sum(|core| core.stalls),
            recorder_stall_ns: sum(|core| core.stalled_ns),
            lost_samples: sum(|core| core.lost),
            interrupted_samples: sum(|core| core.interrupted),
            exceeded_limits: exceeded_limits(&report.cores),
            memory_bytes_max: system::memory_bytes_max(),
            cpu_stolen: None,
            cpu_throttled: None,
            stalls: report.stalls.clone(),
            abandoned: report.abandoned.clone(),
        },
        open: open_facts(report, started),
        arrivals: (!started.program.open.is_empty()).then(|| {
            let mut counts = ArrivalCounts::default();
            report.cores.iter().for_each(|core| counts.add(&core.arrivals));
            counts
        }),
        recorder_events: totals.events.clone(),
    }
}

/// Number of users that generated no load: those of setUp and tearDown thread groups, and of groups that sent nothing.
fn users_without_load(started: &Started, totals: &RunTotals) -> u64 {
    let groups = started.shared.groups.iter().zip(0..);
    let is_apart = |number: &u32| {
        started.names.set_up_and_tear_down.contains(number) || !totals.active_groups.contains(number)
    };
    let apart = groups.filter(|(_, number)| is_apart(number));
    apart.map(|(group, _)| group.started.load(std::sync::atomic::Ordering::Relaxed)).sum()
}

/// How often each limit was exceeded, in total over all cores.
fn exceeded_limits(cores: &[runner::CoreReport]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (limit, count) in cores.iter().flat_map(|core| &core.exceeded) {
        *counts.entry(limit.name().to_owned()).or_default() += count;
    }
    counts
}

/// Facts about the open workloads that were started.
fn open_facts(report: &RunReport, started: &Started) -> Vec<OpenFacts> {
    let workloads = started.program.open.iter().zip(&report.open).zip(0..);
    workloads
        .filter_map(|((open, first), number)| {
            Some(OpenFacts {
                seed: open.schedule_seed(started.shared.seed, number),
                process: open.process.to_string(),
                groups: open.groups.iter().map(|(group, _)| *group).collect(),
                first_ns: (*first)?.0,
            })
        })
        .collect()
}
