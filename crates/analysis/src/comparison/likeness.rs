//! Whether runs can be compared at all: the same plan, the same labels, the same load.

use std::collections::BTreeMap;

use busyhour_record::SampleKind;

use super::run::MeasuredRun;
use serde::{Deserialize, Serialize};

/// Loads that differ by less than this part are alike.
const LOAD_SLACK: f64 = 0.10;

/// A label that a side lacks is a difference when it makes up this part of the other side's samples.
const LABEL_SHARE: f64 = 0.01;

/// The longest run of a comparison lasts at most this many times as long as the shortest.
const LENGTH_RATIO: f64 = 1.5;

/// Labels that are named.
const NAMED: usize = 5;

/// What is unlike between the runs of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Unlike {
    /// They ran different plans.
    Plans {
        /// For each plan: the beginning of its SHA-256, and the runs.
        plans: Vec<(String, Vec<String>)>,
    },
    /// One side has labels that the other lacks.
    Labels {
        /// Labels that only runs before the change have.
        only_base: Vec<String>,
        /// Labels that only runs after it have.
        only_new: Vec<String>,
    },
    /// They had different numbers of users.
    Users {
        /// Each run's number.
        users: Vec<(String, u64)>,
    },
    /// Different arrivals were offered.
    Arrivals {
        /// Each run's arrival processes.
        processes: Vec<(String, String)>,
    },
    /// Closed workloads are compared with open ones.
    Workloads {
        /// Runs with open workloads.
        open: Vec<String>,
    },
    /// They lasted differently long.
    Lengths {
        /// The shortest run and its length in s.
        shortest: (String, f64),
        /// The longest.
        longest: (String, f64),
    },
}

fn listed(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    let more = names.len().saturating_sub(NAMED);
    some.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

impl std::fmt::Display for Unlike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unlike::Plans { plans } => {
                let plans: Vec<String> =
                    plans.iter().map(|(hash, runs)| format!("{} ran {hash}…", runs.join(", "))).collect();
                write!(f, "the plans differ: {}", plans.join("; "))
            }
            Unlike::Labels { only_base, only_new } => {
                f.write_str("the labels differ: ")?;
                if !only_base.is_empty() {
                    write!(f, "only before: {}", listed(only_base))?;
                }
                if !only_base.is_empty() && !only_new.is_empty() {
                    f.write_str("; ")?;
                }
                if !only_new.is_empty() {
                    write!(f, "only after: {}", listed(only_new))?;
                }
                Ok(())
            }
            Unlike::Users { users } => {
                let users: Vec<String> =
                    users.iter().map(|(run, users)| format!("{run} had {users}")).collect();
                write!(f, "the numbers of users differ: {}", users.join(", "))
            }
            Unlike::Arrivals { processes } => {
                let processes: Vec<String> =
                    processes.iter().map(|(run, process)| format!("{run} had {process}")).collect();
                write!(f, "the offered arrivals differ: {}", processes.join("; "))
            }
            Unlike::Workloads { open } => {
                write!(
                    f,
                    "only some had open workloads, whose arrivals do not wait for responses: {}",
                    open.join(", ")
                )
            }
            Unlike::Lengths { shortest, longest } => write!(
                f,
                "they lasted differently long: {} {:.1} s, {} {:.1} s",
                shortest.0, shortest.1, longest.0, longest.1
            ),
        }
    }
}

/// Whether the difference is one that a comparison can live with, and has only to tell.
impl Unlike {
    /// Whether runs that differ in this measure different things, so that a comparison would mislead.
    #[must_use]
    pub const fn forbids(&self) -> bool {
        !matches!(self, Unlike::Lengths { .. })
    }
}

/// What is unlike between all runs of both sides.
#[must_use]
pub fn differences(base: &[MeasuredRun], new: &[MeasuredRun]) -> Vec<Unlike> {
    let all: Vec<&MeasuredRun> = base.iter().chain(new).collect();
    let mut found = Vec::new();
    found.extend(plans(&all));
    found.extend(labels(base, new));
    found.extend(load(&all));
    found.extend(lengths(&all));
    found
}

fn plans(all: &[&MeasuredRun]) -> Option<Unlike> {
    let mut plans: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for run in all.iter().filter(|run| !run.facts.plan_sha256.is_empty()) {
        plans.entry(&run.facts.plan_sha256).or_default().push(run.name.clone());
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    (plans.len() > 1)
        .then(|| Unlike::Plans { plans: plans.into_iter().map(|(hash, runs)| (short(hash), runs)).collect() })
}

/// Labels of one side that no run of the other has.
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

fn labels(base: &[MeasuredRun], new: &[MeasuredRun]) -> Option<Unlike> {
    // What a side does rarely can be missing on the other by chance.
    let often = |labels: Vec<(String, f64)>| -> Vec<String> {
        labels.into_iter().filter(|(_, share)| *share >= LABEL_SHARE).map(|(label, _)| label).collect()
    };
    let (only_base, only_new) = (often(only_in(base, new)), often(only_in(new, base)));
    (!only_base.is_empty() || !only_new.is_empty()).then_some(Unlike::Labels { only_base, only_new })
}

fn load(all: &[&MeasuredRun]) -> Option<Unlike> {
    let process = |run: &MeasuredRun| -> String {
        let processes: Vec<&str> = run.facts.open.iter().map(|open| open.process.as_str()).collect();
        processes.join(" and ")
    };
    let open: Vec<&&MeasuredRun> = all.iter().filter(|run| !run.facts.open.is_empty()).collect();
    // A result file does not tell; only runs that do can be unlike.
    let told = all.iter().filter(|run| run.facts.has_manifest).count();
    if !open.is_empty() && open.len() < told {
        return Some(Unlike::Workloads { open: open.iter().map(|run| run.name.clone()).collect() });
    }
    if !open.is_empty() {
        let processes: Vec<(String, String)> =
            open.iter().map(|run| (run.name.clone(), process(run))).collect();
        let differ = processes.iter().any(|(_, process)| *process != processes[0].1);
        // How many users an open load takes is a result.
        return differ.then_some(Unlike::Arrivals { processes });
    }
    let users: Vec<(String, u64)> = all
        .iter()
        .filter_map(|run| Some((run.name.clone(), run.facts.load_users().or(run.users)?)))
        .collect();
    let most = users.iter().map(|(_, users)| *users).max()?;
    let fewest = users.iter().map(|(_, users)| *users).min()?;
    let differ = (most - fewest) as f64 > LOAD_SLACK * most as f64;
    differ.then_some(Unlike::Users { users })
}

fn lengths(all: &[&MeasuredRun]) -> Option<Unlike> {
    let by_length = |a: &&&MeasuredRun, b: &&&MeasuredRun| a.length_s().total_cmp(&b.length_s());
    let shortest = all.iter().min_by(by_length)?;
    let longest = all.iter().max_by(by_length)?;
    let told = |run: &MeasuredRun| (run.name.clone(), run.length_s());
    (longest.length_s() > LENGTH_RATIO * shortest.length_s())
        .then(|| Unlike::Lengths { shortest: told(shortest), longest: told(longest) })
}
