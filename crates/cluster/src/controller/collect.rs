//! Fetches the records of agents after a run.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_record::RunDir;
use futures_util::StreamExt as _;
use futures_util::future::join_all;

use super::follow::Followed;
use super::member::Member;
use crate::connection::Say;
use crate::messages::{EndReport, FileFact, Order};
use crate::orders::Orders;
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
    leaves_records: bool,
    say: &Say,
) -> Collected {
    let last_clocks = followed.members.iter_mut().filter(|member| !member.is_lost());
    join_all(last_clocks.map(|member| member.update_clock(orders, clock))).await;
    let problems: Vec<Option<String>> = if leaves_records {
        let left = |member: &Member| match &member.end {
            Some(end) => {
                say(&format!("the record of the agent {} stays there: {}", member.info.name, end.dir));
                store_end(dir, member).err()
            }
            None => Some(missing(member)),
        };
        followed.members.iter().map(left).collect()
    } else {
        let ends = followed.members.iter().filter_map(|member| member.end.as_ref());
        let bytes: u64 = ends.flat_map(|end| &end.files).map(|file| file.bytes).sum();
        say(&format!("fetching the records of the agents: {:.1} MB", bytes as f64 / 1e6));
        let fetches = followed.members.iter().map(|member| fetch_record(orders, member, dir));
        futures_util::stream::iter(fetches).buffered(AT_ONCE).collect().await
    };
    let releases = followed.members.iter().zip(&problems).map(|(member, problem)| {
        let order = Order::Release { is_complete: problem.is_none() && !leaves_records };
        async move {
            let _ = orders.give(&member.info.id, &order, Duration::from_secs(1)).await;
        }
    });
    join_all(releases).await;
    for (at, (member, problem)) in followed.members.iter().zip(&problems).enumerate() {
        match problem {
            Some(problem) => say(&format!("warning: {}: {problem}", member.info.name)),
            None if leaves_records => {}
            None => followed.seconds.remove(at),
        }
    }
    Collected { followed, problems }
}

/// Why an agent has no complete record.
fn missing(member: &Member) -> String {
    match (&member.failure, member.losses.last()) {
        (Some(failure), _) => failure.clone(),
        (None, Some(loss)) => {
            format!("the agent is lost since {:.1} s, and its record with it", loss.from_ns as f64 / 1e9)
        }
        (None, None) => "the agent did not end its run in time".to_owned(),
    }
}

/// Fetches the record of one agent. Returns the reason if it is missing or incomplete.
async fn fetch_record(orders: &Orders, member: &Member, dir: &Path) -> Option<String> {
    let Some(end) = &member.end else { return Some(missing(member)) };
    let target = dir.join(AGENTS_DIR).join(member.directory());
    if let Err(error) = create_private_dir(&target) {
        return Some(format!("cannot use {}: {error}", target.display()));
    }
    for file in &end.files {
        if let Err(problem) = fetch_file(orders, &member.info.id, file, &target).await {
            return Some(format!("cannot fetch {} of its record: {problem}", file.path));
        }
    }
    if let Err(error) = store_end(dir, member) {
        return Some(format!("cannot store its end: {error}"));
    }
    end.is_incomplete.then(|| "some of its results could not be written there".to_owned())
}

/// The file with the end of an agent's run whose record was fetched.
fn end_path(dir: &Path, member: &Member) -> PathBuf {
    dir.join(AGENTS_DIR).join(format!("{}.end.json", member.directory()))
}

/// The end of an agent's run, if its record was fetched by a controller that has ended.
pub(super) fn fetched_end(dir: &Path, member: &Member) -> Option<EndReport> {
    serde_json::from_slice(&std::fs::read(end_path(dir, member)).ok()?).ok()
}

/// Stores the end of an agent's run for another controller, because the agent may be released already.
fn store_end(dir: &Path, member: &Member) -> Result<(), String> {
    let Some(end) = &member.end else { return Ok(()) };
    let json = serde_json::to_vec(end).map_err(|error| error.to_string())?;
    create_private_dir(&dir.join(AGENTS_DIR)).map_err(|error| error.to_string())?;
    RunDir::write_whole(&end_path(dir, member), &json).map_err(|error| error.to_string())
}

/// Removes the files that only another controller would need.
pub(super) fn remove_ends(dir: &Path) {
    for entry in std::fs::read_dir(dir.join(AGENTS_DIR)).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().ends_with(".end.json") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Fetches a file part by part. After a failure, it goes on where it stopped.
async fn fetch_file(orders: &Orders, agent: &str, file: &FileFact, target: &Path) -> Result<(), String> {
    if !is_inside(&file.path) {
        return Err("its path leaves the run directory".to_owned());
    }
    let path = target.join(&file.path);
    let io = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let is_fetched =
        |path: &Path| hash(path).is_ok_and(|(bytes, sha256)| bytes == file.bytes && sha256 == file.sha256);
    if is_fetched(&path) {
        return Ok(());
    }
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
    match is_fetched(&path) {
        true => Ok(()),
        false => Err("it arrived damaged".to_owned()),
    }
}

/// The directory with the record of an agent.
pub(super) fn record_dir(dir: &Path, member: &Member) -> RunDir {
    RunDir::open(dir.join(AGENTS_DIR).join(member.directory()))
}
