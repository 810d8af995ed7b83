//! Finds differences between runs that would make a comparison misleading: plan, labels, load and length.

use std::collections::BTreeMap;

use busyhour_sample::SampleKind;

use super::run::MeasuredRun;
use serde::{Deserialize, Serialize};

/// Maximum relative difference between the numbers of users.
const LOAD_SLACK: f64 = 0.10;

/// A label that occurs on one side only is a difference if it has at least this share of that side's samples.
const LABEL_SHARE: f64 = 0.01;

/// Maximum ratio of the lengths of the longest and the shortest run.
const LENGTH_RATIO: f64 = 1.5;

/// Maximum number of labels that a message lists.
const NAMED: usize = 5;

/// A difference between the runs of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RunDifference {
    /// The plans differ.
    Plans {
        /// For each plan, the beginning of its SHA-256 and its runs.
        plans: Vec<(String, Vec<String>)>,
    },
    /// The same requests went to different servers.
    Servers {
        /// The server of each run.
        servers: Vec<(String, String)>,
    },
    /// The labels differ.
    Labels {
        /// Labels that occur only before the change.
        only_base: Vec<String>,
        /// Labels that occur only after the change.
        only_new: Vec<String>,
    },
    /// The numbers of users differ.
    Users {
        /// The number of users of each run.
        users: Vec<(String, u64)>,
    },
    /// The offered arrivals differ.
    Arrivals {
        /// The arrival processes of each run.
        processes: Vec<(String, String)>,
    },
    /// Some runs have open workloads, others only closed ones.
    Workloads {
        /// Runs with open workloads.
        open: Vec<String>,
    },
    /// The lengths differ.
    Lengths {
        /// The shortest run and its length in s.
        shortest: (String, f64),
        /// The longest run and its length in s.
        longest: (String, f64),
    },
}

fn join_names(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    let more = names.len().saturating_sub(NAMED);
    some.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

impl std::fmt::Display for RunDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunDifference::Plans { plans } => {
                let plans: Vec<String> =
                    plans.iter().map(|(hash, runs)| format!("{} ran {hash}…", runs.join(", "))).collect();
                write!(f, "the plans differ: {}", plans.join("; "))
            }
            RunDifference::Servers { servers } => {
                let servers: Vec<String> =
                    servers.iter().map(|(run, server)| format!("{run} requested {server}")).collect();
                write!(f, "the servers differ: {}", servers.join(", "))
            }
            RunDifference::Labels { only_base, only_new } => {
                f.write_str("the labels differ: ")?;
                if !only_base.is_empty() {
                    write!(f, "only before: {}", join_names(only_base))?;
                }
                if !only_base.is_empty() && !only_new.is_empty() {
                    f.write_str("; ")?;
                }
                if !only_new.is_empty() {
                    write!(f, "only after: {}", join_names(only_new))?;
                }
                Ok(())
            }
            RunDifference::Users { users } => {
                let users: Vec<String> =
                    users.iter().map(|(run, users)| format!("{run} had {users}")).collect();
                write!(f, "the numbers of users differ: {}", users.join(", "))
            }
            RunDifference::Arrivals { processes } => {
                let processes: Vec<String> =
                    processes.iter().map(|(run, process)| format!("{run} had {process}")).collect();
                write!(f, "the offered arrivals differ: {}", processes.join("; "))
            }
            RunDifference::Workloads { open } => {
                write!(
                    f,
                    "only some runs had open workloads, whose arrivals do not wait for responses: {}",
                    open.join(", ")
                )
            }
            RunDifference::Lengths { shortest, longest } => write!(
                f,
                "the lengths differ: {} {:.1} s, {} {:.1} s",
                shortest.0, shortest.1, longest.0, longest.1
            ),
        }
    }
}

impl RunDifference {
    /// Whether runs with this difference measure different things, so that a comparison would be misleading. Other differences only
    /// raise a caveat.
    #[must_use]
    pub const fn prevents_comparison(&self) -> bool {
        !matches!(self, RunDifference::Lengths { .. } | RunDifference::Servers { .. })
    }
}

/// Finds all differences between the runs of both sides.
#[must_use]
pub fn differences(base: &[MeasuredRun], new: &[MeasuredRun]) -> Vec<RunDifference> {
    let all: Vec<&MeasuredRun> = base.iter().chain(new).collect();
    let mut found = Vec::new();
    found.extend(plans(&all));
    found.extend(labels(base, new));
    found.extend(load(&all));
    found.extend(lengths(&all));
    found
}

fn plans(all: &[&MeasuredRun]) -> Option<RunDifference> {
    let mut plans: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for run in all.iter().filter(|run| !run.facts.plan_sha256.is_empty()) {
        plans.entry(&run.facts.plan_sha256).or_default().push(run.name.clone());
    }
    if plans.len() > 1
        && let Some(servers) = servers(all)
    {
        return Some(RunDifference::Servers { servers });
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    (plans.len() > 1).then(|| RunDifference::Plans {
        plans: plans.into_iter().map(|(hash, runs)| (short(hash), runs)).collect(),
    })
}

/// The server of each run; `None` unless the plans of all runs were made from a URL and are equal apart from the server.
fn servers(all: &[&MeasuredRun]) -> Option<Vec<(String, String)>> {
    let plans: Vec<_> = all.iter().map(|run| run.facts.url_plan.as_ref()).collect::<Option<_>>()?;
    let first = plans.first()?;
    let is_same = plans.iter().all(|plan| plan.sha256_without_server == first.sha256_without_server);
    is_same
        .then(|| all.iter().zip(&plans).map(|(run, plan)| (run.name.clone(), plan.server.clone())).collect())
}

/// Labels that occur only in `these`, with their share of the samples.
pub(super) fn only_in(these: &[MeasuredRun], those: &[MeasuredRun]) -> Vec<(String, f64)> {
    let mut shares: BTreeMap<(&str, SampleKind), u64> = BTreeMap::new();
    for row in these.iter().flat_map(|run| &run.labels) {
        if !those.iter().any(|run| run.label(&row.label, row.kind).is_some()) {
            *shares.entry((&row.label, row.kind)).or_default() += row.samples;
        }
    }
    let all: u64 = these.iter().map(|run| run.total.samples).sum();
    let share = |samples| samples as f64 / all.max(1) as f64;
    shares.into_iter().map(|((label, _), samples)| (label.to_owned(), share(samples))).collect()
}

fn labels(base: &[MeasuredRun], new: &[MeasuredRun]) -> Option<RunDifference> {
    // Rare labels can be missing on the other side by chance.
    let often = |labels: Vec<(String, f64)>| -> Vec<String> {
        labels.into_iter().filter(|(_, share)| *share >= LABEL_SHARE).map(|(label, _)| label).collect()
    };
    let (only_base, only_new) = (often(only_in(base, new)), often(only_in(new, base)));
    (!only_base.is_empty() || !only_new.is_empty()).then_some(RunDifference::Labels { only_base, only_new })
}

fn load(all: &[&MeasuredRun]) -> Option<RunDifference> {
    let process = |run: &MeasuredRun| -> String {
        let processes: Vec<&str> = run.facts.open.iter().map(|open| open.process.as_str()).collect();
        processes.join(" and ")
    };
    let open: Vec<&&MeasuredRun> = all.iter().filter(|run| !run.facts.open.is_empty()).collect();
    // Result files do not contain the workload, so only runs with a manifest are compared.
    let known = all.iter().filter(|run| run.facts.has_manifest).count();
    if !open.is_empty() && open.len() < known {
        return Some(RunDifference::Workloads { open: open.iter().map(|run| run.name.clone()).collect() });
    }
    if !open.is_empty() {
        let processes: Vec<(String, String)> =
            open.iter().map(|run| (run.name.clone(), process(run))).collect();
        let differ = processes.iter().any(|(_, process)| *process != processes[0].1);
        // The number of users of an open load is a result, not a setting.
        return differ.then_some(RunDifference::Arrivals { processes });
    }
    let users: Vec<(String, u64)> = all
        .iter()
        .filter_map(|run| Some((run.name.clone(), run.facts.load_users().or(run.users)?)))
        .collect();
    let most = users.iter().map(|(_, users)| *users).max()?;
    let fewest = users.iter().map(|(_, users)| *users).min()?;
    let differ = (most - fewest) as f64 > LOAD_SLACK * most as f64;
    differ.then_some(RunDifference::Users { users })
}

fn lengths(all: &[&MeasuredRun]) -> Option<RunDifference> {
    let by_length = |a: &&&MeasuredRun, b: &&&MeasuredRun| a.length_s().total_cmp(&b.length_s());
    let shortest = all.iter().min_by(by_length)?;
    let longest = all.iter().max_by(by_length)?;
    let named = |run: &MeasuredRun| (run.name.clone(), run.length_s());
    (longest.length_s() > LENGTH_RATIO * shortest.length_s())
        .then(|| RunDifference::Lengths { shortest: named(shortest), longest: named(longest) })
}
