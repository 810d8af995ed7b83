//! Judges the arrivals of a run directory.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Log;
use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, ArrivalVerdict, JudgedStarts, KnownRate, LatenessTally, Observed,
    RequestedProcess, Resolution, SameUserGaps, TallySettings, judge,
};
use busyhour_analysis::{RunFacts, Summary};
use busyhour_arrivals::{ArrivalProcess, CumulativeRate, Law, RateChange, ScheduleChanges};
use busyhour_record::{OpenFacts, RunDir, SamplesReader};
use busyhour_sample::{ArrivalOutcome, ArrivalRecord, LoadChange, LogRow, Nanos, RunEnd, RunNames};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::agents::clock_bound_ns;
use crate::error::ReadRunError;
use crate::law_parts::{LawParts, stall_rule};

/// The data that the verdict needs in addition to the samples file.
#[derive(Debug, Clone, Copy)]
pub struct RunLoad<'r> {
    /// Facts about the run.
    pub facts: &'r RunFacts,
    /// Maximum number of users that were active at the same time.
    pub users_max: u32,
    /// Mean service time of a request in s; `None` without requests.
    pub service_mean_s: Option<f64>,
}

/// Maximum time in ns by which the data of one core may follow those of another in the samples file. Cores send their data
/// every tenth of a second.
const CORES_APART_NS: u64 = 5_000_000_000;

/// Seed of the simulations in statistical tests; it is fixed so that the same run always has the same verdict.
const SEED: u64 = 0;

/// Judges the arrivals of the run in `dir`: the session starts of each open workload, and the sampler starts of the closed
/// thread groups (groups without an open workload), both in total and by group.
///
/// # Errors
/// The samples file cannot be read.
pub fn judge_arrivals(dir: &RunDir, load: &RunLoad<'_>) -> Result<Vec<ArrivalVerdict>, ReadRunError> {
    let mut verdicts = Vec::new();
    let reader = SamplesReader::open(&dir.samples_path()).map_err(ReadRunError::Samples)?;
    let names = reader.names().names.clone();
    drop(reader);
    for open in &load.facts.open {
        verdicts.extend(judge_open(dir, load, open, &names)?);
    }
    if load.facts.open.is_empty() || !open_takes_all(load, &names) {
        verdicts.extend(judge_closed(dir, load, &names)?);
    }
    Ok(verdicts)
}

/// Judges the arrivals of the run in `dir` and adds the verdicts and their caveats to its summary.
///
/// # Errors
/// The samples file cannot be read.
pub fn add_arrivals(dir: &RunDir, summary: &mut Summary) -> Result<(), ReadRunError> {
    let service = &summary.total.service;
    let load = RunLoad {
        facts: &summary.run,
        users_max: summary.users_max,
        service_mean_s: (summary.total.samples > 0).then_some(service.mean / 1e3),
    };
    let verdicts = judge_arrivals(dir, &load)?;
    summary.add_arrivals(verdicts);
    Ok(())
}

fn group_name(names: &RunNames, group: u32) -> String {
    names.groups.get(group as usize).map_or_else(|| format!("group {group}"), |group| group.name.clone())
}

/// The CPU share of the busiest core; `None` if it is unknown.
fn generator_busy(facts: &RunFacts) -> Option<f64> {
    facts.generator.cores.iter().filter_map(|core| core.busy).reduce(f64::max)
}

/// Judges an open workload as a whole. If its stages have different laws, each stretch with one law is then judged, too.
fn judge_open(
    dir: &RunDir,
    load: &RunLoad<'_>,
    open: &OpenFacts,
    names: &RunNames,
) -> Result<Vec<ArrivalVerdict>, ReadRunError> {
    let process = ArrivalProcess::parse(&open.process).ok();
    // If the schedule comes from a file (replay), it is known only from the samples file.
    let known = process.filter(|process| process.unresolved().is_none());
    let law = known.as_ref().map_or(Law::Replay, ArrivalProcess::law);
    let end_ns = match &known {
        Some(process) => made_ns(dir, load.facts, open, process.duration_ns())?,
        None => 0,
    };
    // Changes during the run are part of the expected schedule.
    let changes = changes(load.facts, open);
    let rate = known.as_ref().map(|process| changes.expected(process));
    let clock_bound_ns = clock_bound_ns(dir.path());
    let settings =
        settings(rate.as_ref(), end_ns).with_stall_rule(stall_rule(law)).with_clock_bound(clock_bound_ns);
    let mut delivered = ArrivalTally::new(settings.clone());
    let (mut lateness, mut waits) = (LatenessTally::new(), LatenessTally::new());
    let mut parts = known
        .as_ref()
        .zip(rate.as_ref())
        .map(|(process, rate)| LawParts::new(process, rate, end_ns, clock_bound_ns));
    let mut planned: Vec<u64> = Vec::new();
    let (mut drops, mut waited, mut last_ns) = (0, 0, 0);
    in_order(dir, |arrival| {
        if !open.groups.contains(&arrival.group) {
            return;
        }
        last_ns = last_ns.max(arrival.scheduled.0);
        if known.is_none() {
            planned.push(arrival.scheduled.since(Nanos(open.first_ns)));
        }
        match arrival.outcome {
            ArrivalOutcome::Discarded => drops += 1,
            ArrivalOutcome::Waited { until } => {
                waited += 1;
                waits.add(arrival.scheduled.0, until.0);
            }
            ArrivalOutcome::Started { at } => lateness.add(arrival.scheduled.0, at.0),
        }
        if let Some(began) = arrival.started_at() {
            let first = Nanos(open.first_ns);
            delivered.add(began.since(first));
            if let Some(parts) = &mut parts {
                parts.delivered(arrival.scheduled.since(first), began.since(first));
            }
        }
    })?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    // The comparison of scheduled and actual arrivals shows the effect of late delivery. Laws without a theory are also
    // judged by this comparison.
    let schedule: Observed = {
        let mut tally = ArrivalTally::new(settings);
        match &known {
            Some(process) => changes
                .schedule(process, open.seed)
                .map(|arrival| arrival.at_ns)
                .take_while(|at| open.first_ns.saturating_add(*at) <= last_ns)
                .for_each(|at| {
                    tally.add(at);
                    parts.iter_mut().for_each(|parts| parts.scheduled(at));
                }),
            None => {
                planned.sort_unstable();
                planned.iter().for_each(|at| tally.add(*at));
            }
        }
        tally.finish(&mut random)
    };
    let several = load.facts.open.len() > 1 || !open_takes_all(load, names);
    let circumstances = ArrivalContext {
        of: several.then(|| {
            open.groups.iter().map(|group| group_name(names, *group)).collect::<Vec<_>>().join(" + ")
        }),
        scope: JudgedStarts::SessionStarts,
        requested_per_s: rate.as_ref().and_then(|rate| mean_rate(rate, end_ns)),
        schedule: Some(&schedule),
        lateness: lateness.finish(),
        discarded: Some(drops),
        waited: Some(waited),
        waits: waits.finish(),
        same_user: None,
        rate_timers: Vec::new(),
        generator_busy: generator_busy(load.facts),
    };
    let mut verdicts =
        vec![judge(delivered.finish(&mut random), RequestedProcess::from(law), &circumstances)];
    if let Some(parts) = parts {
        verdicts.extend(parts.verdicts(
            circumstances.of.as_deref(),
            circumstances.generator_busy,
            &mut random,
        ));
    }
    Ok(verdicts)
}

/// Whether all thread groups of the main part belong to open workloads.
fn open_takes_all(load: &RunLoad<'_>, names: &RunNames) -> bool {
    let open: usize = load.facts.open.iter().map(|open| open.groups.len()).sum();
    open + names.set_up_and_tear_down.len() >= names.groups.len()
}

/// Duration in ns of the part of a schedule of `duration_ns` that was offered. It is the whole schedule if the run completed.
/// Otherwise it ends with the last arrival, so that the expected rate does not include the time after the end of the run.
fn made_ns(dir: &RunDir, facts: &RunFacts, open: &OpenFacts, duration_ns: u64) -> Result<u64, ReadRunError> {
    if facts.end == Some(RunEnd::Completed) {
        return Ok(duration_ns);
    }
    let mut last = Nanos::ZERO;
    in_order(dir, |arrival| {
        if open.groups.contains(&arrival.group) {
            last = last.max(arrival.scheduled).max(arrival.started_at().unwrap_or(Nanos::ZERO));
        }
    })?;
    Ok(last.since(Nanos(open.first_ns)).min(duration_ns))
}

/// The changes that the run made to the schedule of an open workload: its share of the load, rate changes and pauses, by the
/// time of the schedule. A pause without an end lasts until the end of the run.
fn changes(facts: &RunFacts, open: &OpenFacts) -> ScheduleChanges {
    // A manifest that was edited by hand may contain anything. If its share is invalid, the run is judged as the whole load.
    let share = facts.share.as_deref().and_then(|share| share.parse().ok()).unwrap_or_default();
    let mut changes = ScheduleChanges::of_share(share);
    let mut paused_ns = None;
    for event in &facts.events {
        let at_ns = event.at_ns.since(Nanos(open.first_ns));
        match event.change {
            LoadChange::Rate { factor } => changes.change_rate(RateChange { at_ns, factor }),
            LoadChange::Pause => paused_ns = Some(at_ns),
            LoadChange::Resume => {
                if let Some(from_ns) = paused_ns.take() {
                    changes.pause(from_ns, at_ns);
                }
            }
            LoadChange::Stop => {}
        }
    }
    if let Some(from_ns) = paused_ns {
        changes.pause(from_ns, u64::MAX);
    }
    changes
}

fn mean_rate(rate: &CumulativeRate, end_ns: u64) -> Option<f64> {
    (end_ns > 0).then(|| rate.cumulative(end_ns) / (end_ns as f64 / 1e9))
}

fn settings(known: Option<&CumulativeRate>, end_ns: u64) -> TallySettings {
    let settings = TallySettings::new(Resolution::Nanosecond);
    // If the schedule is known only from the samples file, the whole time is judged.
    let Some(rate) = known else { return settings.judging_all() };
    let copy = rate.clone();
    match KnownRate::new(Arc::new(move |at_ns| copy.cumulative(at_ns)), end_ns) {
        Some(rate) => settings.with_known_rate(rate),
        None => settings,
    }
}

/// The sampler starts of one closed thread group, or of all of them.
struct ClosedStarts {
    tally: ArrivalTally,
    lateness: LatenessTally,
    same_user: SameUserGaps,
}

impl ClosedStarts {
    fn add(&mut self, start_ns: u64, row: &LogRow) {
        self.tally.add(start_ns);
        self.same_user.add(start_ns, row.user);
        row.late_ns.iter().for_each(|late_ns| self.lateness.add(0, *late_ns));
    }
}

/// Judges the sampler starts of the closed thread groups in the main part of the run: in total if there are such groups, and
/// also by group if there are several.
fn judge_closed(
    dir: &RunDir,
    load: &RunLoad<'_>,
    names: &RunNames,
) -> Result<Vec<ArrivalVerdict>, ReadRunError> {
    let is_elsewhere = |group: u32| {
        names.set_up_and_tear_down.contains(&group)
            || load.facts.open.iter().any(|open| open.groups.contains(&group))
    };
    let groups = names.groups.len();
    let settings = TallySettings::new(Resolution::Nanosecond).with_clock_bound(clock_bound_ns(dir.path()));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let new = || {
        let new = || ClosedStarts {
            tally: ArrivalTally::new(settings.clone()),
            lateness: LatenessTally::new(),
            same_user: SameUserGaps::default(),
        };
        (0..=groups).map(|_| new()).collect()
    };
    let log = Log::open(dir.path()).map_err(ReadRunError::Log)?;
    let origin_ns = load.facts.wall_anchor_ms.saturating_mul(1_000_000);
    let (tallies, _): (Vec<ClosedStarts>, _) = log
        .scan_in_order(
            new,
            |tallies: &mut Vec<ClosedStarts>, row, _| {
                let Some(group) = row.group.filter(|group| !is_elsewhere(*group)) else { return };
                let stamp = u64::try_from(row.start_ns.saturating_sub(origin_ns)).unwrap_or(0);
                let last = tallies.len() - 1;
                for at in [group as usize, last] {
                    if let Some(starts) = tallies.get_mut(at) {
                        starts.add(stamp, row);
                    }
                }
            },
            &mut |_| {},
        )
        .map_err(ReadRunError::Log)?;
    let busy: Vec<usize> = (0..groups).filter(|group| tallies[*group].tally.arrivals() > 0).collect();
    let total = tallies.len() - 1;
    if tallies[total].tally.arrivals() == 0 {
        return Ok(Vec::new());
    }
    let asked = RequestedProcess::Closed {
        // If the run also has an open workload, users and times include those of both workloads and are not used.
        users: (load.facts.open.is_empty() && load.users_max > 0).then(|| f64::from(load.users_max)),
        response_s: load.service_mean_s.filter(|_| load.facts.open.is_empty()),
        think_s: None,
    };
    let verdict =
        |tally: usize, of: Option<String>, asked: RequestedProcess, random: &mut Xoshiro256PlusPlus| {
            let circumstances = ArrivalContext {
                of,
                scope: JudgedStarts::SamplerStarts,
                lateness: tallies[tally].lateness.finish(),
                same_user: Some(tallies[tally].same_user.clone()),
                rate_timers: load.facts.rate_timers.clone(),
                generator_busy: generator_busy(load.facts),
                ..ArrivalContext::default()
            };
            judge(tallies[tally].tally.finish(random), asked, &circumstances)
        };
    let of_total = (!load.facts.open.is_empty()).then(|| "closed thread groups".to_owned());
    let mut verdicts = vec![verdict(total, of_total, asked, &mut random)];
    if busy.len() > 1 {
        // The number of users and the response time are known only for all groups together.
        let asked = RequestedProcess::Closed { users: None, response_s: None, think_s: None };
        for group in busy {
            verdicts.push(verdict(group, Some(group_name(names, group as u32)), asked, &mut random));
        }
    }
    Ok(verdicts)
}

/// Calls `see` with the arrivals of the samples file, in the order in which they were started or discarded.
fn in_order(dir: &RunDir, mut see: impl FnMut(&ArrivalRecord)) -> Result<(), ReadRunError> {
    let time = |arrival: &ArrivalRecord| arrival.started_at().unwrap_or(arrival.scheduled);
    // The arrivals of each core are in order. They are merged up to the time before which no other core can have further
    // arrivals.
    let mut cores: Vec<VecDeque<ArrivalRecord>> = Vec::new();
    let mut newest = Nanos::ZERO;
    let mut pass_on = |cores: &mut Vec<VecDeque<ArrivalRecord>>, until: Nanos| {
        loop {
            let heads = cores.iter().enumerate().filter_map(|(core, held)| Some((time(held.front()?), core)));
            let Some((_, core)) = heads.min().filter(|(at, _)| *at <= until) else { return };
            if let Some(arrival) = cores[core].pop_front() {
                see(&arrival);
            }
        }
    };
    let reader = SamplesReader::open(&dir.samples_path()).map_err(ReadRunError::Samples)?.without_samples();
    let mut since = 0;
    reader
        .read_with_arrivals(
            |_, _| {},
            |core, arrival| {
                if cores.len() <= core {
                    cores.resize_with(core + 1, VecDeque::new);
                }
                newest = newest.max(time(arrival));
                cores[core].push_back(*arrival);
                since += 1;
                if since >= 4_096 {
                    since = 0;
                    pass_on(&mut cores, newest - CORES_APART_NS);
                }
            },
        )
        .map_err(ReadRunError::Samples)?;
    pass_on(&mut cores, Nanos::MAX);
    Ok(())
}
