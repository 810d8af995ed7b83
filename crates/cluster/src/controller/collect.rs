//! Fetches the records of agents after a run.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_record::RunDir;
use futures_util::StreamExt as _;
use futures_util::future::join_all;

use super::follow::Followed;
use super::member::Member;
use super::orders::Orders;
use crate::connection::Say;
use crate::messages::{FileFact, Order};
use crate::parts::{create_private_dir, hash, is_inside};

/// Number of agents from which records are fetched at the same time.
const AT_ONCE: usize = 4;

/// Number of attempts to fetch a part of a file.
const ATTEMPTS: u32 = 30;

/// Pause before the next attempt.
const PAUSE: Duration = Duration::from_millis(500);

/// Directory of the records in the run directory.
pub(super) const AGENTS_DIR: &str = "agents";

/// A run whose records were fetched.
pub(super) struct Collected {
    pub(super) followed: Followed,
    /// For each agent: the reason why its record is missing or incomplete.
    pub(super) problems: Vec<Option<String>>,
}

/// Fetches the records of all agents into the run directory, and releases the agents.
pub(super) async fn collect(
    orders: &Arc<Orders>,
    mut followed: Followed,
    dir: &Path,
    clock: &Clock,
    say: &Say,
) -> Collected {
    let last_clocks = followed.members.iter_mut().filter(|member| !member.is_lost());
    join_all(last_clocks.map(|member| orders.update_clock(member, clock))).await;
    let bytes: u64 = followed
        .members
        .iter()
        .filter_map(|m| m.end.as_ref())
        .flat_map(|end| &end.files)
        .map(|f| f.bytes)
        .sum();
    say(&format!("fetching the records of the agents: {:.1} MB", bytes as f64 / 1e6));
    let fetches = followed.members.iter().map(|member| fetch_record(orders, member, dir));
    let problems: Vec<Option<String>> = futures_util::stream::iter(fetches).buffered(AT_ONCE).collect().await;
    let releases = followed.members.iter().zip(&problems).map(|(member, problem)| {
        let order = Order::Release { is_complete: problem.is_none() };
        async move {
            let _ = orders.give(&member.info.id, &order, Duration::from_secs(1)).await;
        }
    });
    join_all(releases).await;
    for (at, (member, problem)) in followed.members.iter().zip(&problems).enumerate() {
        match problem {
            Some(problem) => say(&format!("warning: {}: {problem}", member.info.name)),
            None => followed.seconds.remove(at),
        }
    }
    Collected { followed, problems }
}

/// Fetches the record of one agent. Returns the reason if it is missing or incomplete.
async fn fetch_record(orders: &Orders, member: &Member, dir: &Path) -> Option<String> {
    let Some(end) = &member.end else {
        return Some(match (&member.failure, member.losses.last()) {
            (Some(failure), _) => failure.clone(),
            (None, Some(loss)) => {
                format!("the agent is lost since {:.1} s, and its record with it", loss.from_ns as f64 / 1e9)
            }
            (None, None) => "the agent did not end its run in time".to_owned(),
        });
    };
    let target = dir.join(AGENTS_DIR).join(member.directory());
    if let Err(error) = create_private_dir(&target) {
        return Some(format!("cannot use {}: {error}", target.display()));
    }
    for file in &end.files {
        if let Err(problem) = fetch_file(orders, &member.info.id, file, &target).await {
            return Some(format!("cannot fetch {} of its record: {problem}", file.path));
        }
    }
    end.is_incomplete.then(|| "some of its results could not be written there".to_owned())
}

/// Fetches a file part by part. After a failure, it goes on where it stopped.
async fn fetch_file(orders: &Orders, agent: &str, file: &FileFact, target: &Path) -> Result<(), String> {
    if !is_inside(&file.path) {
        return Err("its path leaves the run directory".to_owned());
    }
    let path = target.join(&file.path);
    let io = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let mut out = std::fs::File::create(&path).map_err(io)?;
    let (mut from, mut failures) = (0, 0);
    while from < file.bytes {
        match orders.fetch(agent, &file.path, from).await {
            Ok(part) if part.is_empty() => return Err("it became shorter".to_owned()),
            Ok(part) => {
                out.seek(SeekFrom::Start(from)).map_err(io)?;
                out.write_all(&part).map_err(io)?;
                from += part.len() as u64;
                failures = 0;
            }
            Err(error) if failures + 1 >= ATTEMPTS => return Err(error),
            Err(_) => {
                failures += 1;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(out);
    match hash(&path) {
        Ok((bytes, sha256)) if bytes == file.bytes && sha256 == file.sha256 => Ok(()),
        Ok(_) => Err("it arrived damaged".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The directory with the record of an agent.
pub(super) fn record_dir(dir: &Path, member: &Member) -> RunDir {
    RunDir::open(dir.join(AGENTS_DIR).join(member.directory()))
}
