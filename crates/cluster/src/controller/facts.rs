//! The outcome of a distributed run: facts of all agents, notes, and `cluster.json`.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::Ordering;

use busyhour_engine::runner::RunReport;
use busyhour_launch::{Generated, RemoteFacts, RemoteRun};
use busyhour_program::run::Stop;
use busyhour_record::{PlanNote, RunDir, SamplesReader};
use busyhour_sample::{AbandonedCore, BatchWriter, CoreFacts, GeneratorFacts, Nanos, Stall};
use serde::Serialize;

use super::collect::{AGENTS_DIR, Collected, record_dir};
use super::follow::Followed;
use super::member::Member;
use super::replay::{Replay, Source, replay_all};
use super::settings::AgentOutcome;
use crate::connection::Say;

/// The file with the agents of a run.
const CLUSTER_FILE: &str = "cluster.json";

/// Version of that file.
const CLUSTER_VERSION: u32 = 1;

/// The contents of `cluster.json`.
#[derive(Serialize)]
struct ClusterFile<'f> {
    version: u32,
    /// Start of the main groups in ns of the run.
    started_ns: u64,
    /// Number of seconds of agents that arrived after they were merged.
    late_seconds: u64,
    agents: &'f [AgentOutcome],
}

impl Collected {
    /// Passes all records to the recorder of the run and determines the outcome.
    pub(super) fn finish(self, mut run: RemoteRun, dir: &Path, leaves_records: bool, say: &Say) -> Generated {
        let Collected { followed, problems } = self;
        let writers = std::mem::take(&mut run.writers);
        let outcomes = replay_records(&followed, &problems, writers, &run, dir, leaves_records);
        let file = ClusterFile {
            version: CLUSTER_VERSION,
            started_ns: followed.started_ns,
            late_seconds: followed.late_seconds,
            agents: &outcomes,
        };
        let json = serde_json::to_vec_pretty(&file).unwrap_or_default();
        if let Err(error) = RunDir::write_whole(&dir.join(CLUSTER_FILE), &json) {
            say(&format!("warning: {error}"));
        }
        generated(&followed, &outcomes, &run)
    }
}

/// Replays the records that were fetched. Missing samples are restored from the seconds that arrived during the run.
fn replay_records(
    followed: &Followed,
    problems: &[Option<String>],
    writers: Vec<BatchWriter>,
    run: &RemoteRun,
    dir: &Path,
    leaves_records: bool,
) -> Vec<AgentOutcome> {
    let mut outcomes: Vec<AgentOutcome> = followed.members.iter().map(Member::outcome).collect();
    let mut replays = Vec::new();
    let mut writers = writers.into_iter();
    for (at, member) in followed.members.iter().enumerate() {
        let outcome = &mut outcomes[at];
        outcome.problem = problems[at].clone().unwrap_or_default();
        outcome.replaces = member.replaces.map(|lost| followed.members[lost].info.name.clone());
        outcome.left_at = member.end.as_ref().filter(|_| leaves_records).map(|end| end.dir.clone());
        let source = source_of(followed, at, dir, outcome);
        replays.push(Replay::new(
            source,
            member.clock.clone(),
            member.start_offset_ns,
            writers.by_ref().take(member.writers()).collect(),
        ));
    }
    replay_all(&mut replays, &run.labels);
    for (outcome, replay) in outcomes.iter_mut().zip(&replays) {
        outcome.samples = replay.samples;
        if let (Some(problem), true) = (&replay.problem, outcome.problem.is_empty()) {
            outcome.problem.clone_from(problem);
        }
        if outcome.record.is_none() && outcome.left_at.is_none() && replay.samples > 0 {
            outcome.problem += &format!(
                "; its {} samples come from the seconds that it sent: their times are accurate to 0.1 %, their users and order \
                 are unknown",
                replay.samples
            );
        }
    }
    outcomes
}

/// The samples of an agent: its record, or the seconds that it sent, if its record is missing or has fewer samples.
fn source_of(followed: &Followed, at: usize, dir: &Path, outcome: &mut AgentOutcome) -> Source {
    let member = &followed.members[at];
    let path = record_dir(dir, member).samples_path();
    let read = |outcome: &mut AgentOutcome| {
        let mut seconds = VecDeque::new();
        if let Err(error) = followed.seconds.read(at, |snapshot| seconds.push_back(snapshot)) {
            outcome.problem += &format!("; its seconds cannot be read: {error}");
        }
        seconds
    };
    let is_damaged = member.end.as_ref().is_some_and(|end| end.is_incomplete);
    match Source::record(&path) {
        Ok(record) => {
            if is_damaged {
                let seconds = read(outcome);
                let sent: u64 =
                    seconds.iter().flat_map(|snapshot| &snapshot.rows).map(|row| row.samples).sum();
                if sent > count_samples(&path) {
                    return Source::Seconds(seconds);
                }
            }
            outcome.record = Some(format!("{AGENTS_DIR}/{}", member.directory()));
            record
        }
        Err(error) => {
            if outcome.problem.is_empty() && outcome.left_at.is_none() {
                outcome.problem = format!("its record cannot be read: {error}");
            }
            Source::Seconds(read(outcome))
        }
    }
}

/// Number of samples in a record, up to its damaged end.
fn count_samples(path: &Path) -> u64 {
    let mut count = 0;
    let Ok(mut reader) = SamplesReader::open(path) else { return 0 };
    while let Ok(true) = reader.next_segment(&mut |_, _| count += 1, &mut |_, _| {}) {}
    count
}

/// The outcome of the load.
fn generated(followed: &Followed, outcomes: &[AgentOutcome], run: &RemoteRun) -> Generated {
    let members = &followed.members;
    let ends = || members.iter().filter_map(|member| Some((member, member.end.as_ref()?)));
    let sum = |part: fn(&busyhour_record::RunOutcome) -> u64| {
        ends().map(|(_, end)| part(&end.outcome)).sum::<u64>()
    };
    let lost_users = |part: fn(&Member) -> u64| {
        members.iter().filter(|member| member.end.is_none()).map(part).sum::<u64>()
    };
    let shared = &run.shared;
    let started = sum(|outcome| outcome.users_started) + lost_users(|member| member.users.started);
    let finished = sum(|outcome| outcome.users_finished) + lost_users(|member| member.users.finished);
    shared.started.store(started, Ordering::Relaxed);
    shared.finished.store(finished, Ordering::Relaxed);
    shared.active.store(0, Ordering::Relaxed);
    let end_ns = ends().map(|(_, end)| end.outcome.duration_ns).max();
    let stop = shared.stop();
    let report = RunReport {
        end: Nanos(end_ns.unwrap_or_else(|| shared.clock.now().0)),
        open: run.open_groups.iter().map(|groups| schedule_start(followed, groups)).collect(),
        stopped: (stop != Stop::No).then_some(stop),
        ..RunReport::default()
    };
    let mut arrivals: Option<busyhour_sample::ArrivalCounts> = None;
    for counts in ends().filter_map(|(_, end)| end.outcome.arrivals) {
        arrivals.get_or_insert_with(Default::default).add(&counts);
    }
    let end = report.end.0;
    let lost: Vec<Option<String>> = members
        .iter()
        .zip(outcomes)
        .enumerate()
        .map(|(at, (member, outcome))| {
            let joined = |other: &&Member| other.replaces == Some(at) && other.joined_ns > 0;
            let replacement = members.iter().find(joined);
            lost_load(member, outcome, followed.started_ns, (end, replacement))
        })
        .collect();
    let remote = RemoteFacts {
        generator: generator_facts(members),
        arrivals,
        users_without_load: sum(|outcome| outcome.users_without_load),
        notes: notes(members, outcomes, &lost, followed),
        is_incomplete: members
            .iter()
            .zip(outcomes)
            .any(|(member, outcome)| member.end.is_some() && !outcome.problem.is_empty()),
        lost_load: lost.into_iter().flatten().reduce(|all, one| format!("{all}; {one}")),
    };
    let failures =
        ends().filter_map(|(member, end)| Some(format!("{}: {}", member.info.name, end.failure.as_ref()?)));
    let failure = failures.collect::<Vec<_>>().join("; ");
    Generated { report, remote: Some(remote), failure: (!failure.is_empty()).then_some(failure) }
}

/// When the schedule of the open workload with these groups began; `None` if it began on no agent. All agents start schedules
/// together; agents that start one group after the other begin later ones by themselves.
fn schedule_start(followed: &Followed, groups: &[u32]) -> Option<Nanos> {
    followed.members.iter().find_map(|member| {
        let open = &member.end.as_ref()?.outcome.open;
        let facts = open.iter().find(|open| open.groups == groups)?;
        Some(Nanos(facts.first_ns.saturating_add_signed(-member.start_offset_ns)))
    })
}

/// The part of the load of an agent that is missing; `None` if nothing is missing.
fn lost_load(
    member: &Member,
    outcome: &AgentOutcome,
    started_ns: u64,
    (end_ns, replacement): (u64, Option<&Member>),
) -> Option<String> {
    let (name, share) = (&member.info.name, &member.share);
    if member.has_never_begun() {
        // The share is missing since the loss of the agent that it was to replace.
        return None;
    }
    if member.end.is_some() && member.left_ns.is_none() {
        // An agent that was lost and returned has generated its load, and its record shows the stalls of its machine.
        return None;
    }
    let end_ns = replacement.map_or(end_ns, |other| other.joined_ns);
    let lost_ns = member.losses.last().map(|loss| loss.from_ns);
    let since_ns = member.left_ns.or(lost_ns).unwrap_or(started_ns).max(started_ns);
    let (since, until) = (since_ns as f64 / 1e9, end_ns.max(since_ns) as f64 / 1e9);
    let rate = member.rate();
    Some(format!(
        "the share {share} of the agent {name} is missing from {since:.1} to {until:.1} s, about {:.0} requests at {rate:.0}/s \
         ({})",
        rate * (until - since),
        match (member.left_ns, outcome.problem.is_empty()) {
            (Some(_), true) => "the agent was interrupted",
            _ => &outcome.problem,
        }
    ))
}

/// The health of all generators. Cores are numbered in the order of the agents.
fn generator_facts(members: &[Member]) -> GeneratorFacts {
    let mut all = GeneratorFacts::default();
    for member in members {
        let Some(end) = &member.end else { continue };
        let facts = &end.outcome.generator;
        let first = u32::try_from(all.cores.len()).unwrap_or(u32::MAX);
        let at = |ns: u64| {
            let correction = member.clock.correction_ns(i64::try_from(ns).unwrap_or(i64::MAX));
            ns.saturating_add_signed(-correction)
        };
        all.stalls.extend(facts.stalls.iter().map(|stall| Stall {
            // A stall of a whole process is attributed to the first core of the agent, because other agents were not stalled.
            core: Some(first.saturating_add(stall.core.unwrap_or(0))),
            at_ns: at(stall.at_ns),
            ..*stall
        }));
        all.abandoned.extend(facts.abandoned.iter().map(|core| AbandonedCore {
            core: first.saturating_add(core.core),
            last_seen_ns: at(core.last_seen_ns),
        }));
        all.cores.extend(facts.cores.iter().copied().map(|core: CoreFacts| core));
        all.recorder_stalls += facts.recorder_stalls;
        all.recorder_stall_ns += facts.recorder_stall_ns;
        all.lost_samples += facts.lost_samples;
        all.interrupted_samples += facts.interrupted_samples;
        for (limit, count) in &facts.exceeded_limits {
            *all.exceeded_limits.entry(limit.clone()).or_default() += count;
        }
        all.memory_bytes_max = all.memory_bytes_max.max(facts.memory_bytes_max);
        all.cpu_stolen = all.cpu_stolen.into_iter().chain(facts.cpu_stolen).reduce(f64::max);
        all.cpu_throttled = all.cpu_throttled.into_iter().chain(facts.cpu_throttled).reduce(f64::max);
    }
    all.stalls.sort_by_key(|stall| stall.at_ns);
    all
}

/// Notes for the manifest: losses, clocks, and the notes of the agents.
fn notes(
    members: &[Member],
    outcomes: &[AgentOutcome],
    lost: &[Option<String>],
    followed: &Followed,
) -> Vec<PlanNote> {
    let mut notes = Vec::new();
    for ((member, outcome), lost) in members.iter().zip(outcomes).zip(lost) {
        if let Some(lost) = lost.clone() {
            notes.push(PlanNote { code: "agent-lost".into(), message: lost, hint: None });
        } else if !outcome.problem.is_empty() && !member.has_never_begun() {
            let message =
                format!("the record of the agent {} is incomplete: {}", member.info.name, outcome.problem);
            notes.push(PlanNote { code: "agent-record".into(), message, hint: None });
        }
        for loss in &member.losses {
            let Some(to_ns) = loss.to_ns else { continue };
            notes.push(PlanNote {
                code: "agent-silent".into(),
                message: format!(
                    "no message of the agent {} arrived from {:.1} to {:.1} s; its load continued unless it was paused",
                    member.info.name,
                    loss.from_ns as f64 / 1e9,
                    to_ns as f64 / 1e9
                ),
                hint: None,
            });
        }
        let of_agent = member.end.iter().flat_map(|end| &end.notes);
        for note in of_agent.filter(|note| AGENT_NOTES.contains(&note.code.as_str())) {
            let message = format!("{}: {}", member.info.name, note.message);
            notes.push(PlanNote { message, ..note.clone() });
        }
    }
    if followed.late_seconds > 0 {
        notes.push(PlanNote {
            code: "late-seconds".into(),
            message: format!(
                "{} seconds of agents arrived late; figures during the run lacked them, the results contain them",
                followed.late_seconds
            ),
            hint: None,
        });
    }
    let bound_ns = members.iter().filter_map(|member| member.clock.bound_ns()).max();
    if let Some(bound_ns) = bound_ns.filter(|ns| *ns >= CLOCK_NOTE_NS) {
        notes.push(PlanNote {
            code: "clock-bound".into(),
            message: format!(
                "the clocks of the agents are known to {:.1} ms: gaps between arrivals of different agents that are shorter cannot be \
                 judged",
                bound_ns as f64 / 1e6
            ),
            hint: None,
        });
    }
    notes
}

/// Codes of notes that agents find during a run. Notes about the plan are the same on the controller.
const AGENT_NOTES: [&str; 4] = ["missed-starts", "unsupported-in-script", "script-cached-text", "backed-off"];

/// Bound of a clock in ns from which it is noted.
const CLOCK_NOTE_NS: i64 = 1_000_000;
