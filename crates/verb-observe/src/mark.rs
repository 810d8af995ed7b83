//! `busyhour observe mark`: a mark in a run that is in progress.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use busyhour_observation::{MARK_TEXT_BYTES_MAX, MARKS_FILE_NAME, append_mark, marks_are_read};
use busyhour_record::RunDir;
use busyhour_terminal::exit::{Exit, complain, say};
use clap::Args;

/// Directory of the runs that have no directory of their own.
const RUNS: &str = "busyhour-runs";

/// Maximum number of entries of the directory of runs that are examined.
const RUNS_MAX: usize = 100_000;

#[derive(Debug, Args)]
#[command(after_help = "The mark appears in the plots of the report, at the time of this command.\n\n\
    Examples:\n  busyhour observe mark 'deployed 1.4'\n  busyhour observe mark --dir runs/before 'cache cleared'\n\n\
    Exit codes: 0 success, 1 the mark cannot be written, 2 there is no such run or no text")]
pub(crate) struct MarkArgs {
    /// What happened, in a few words.
    #[arg(value_name = "TEXT")]
    text: String,
    /// Run directory (default: the newest run in busyhour-runs that is in progress).
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Store secrets in the text instead of "[redacted]"; the run needs --keep-secrets, too.
    #[arg(long)]
    keep_secrets: bool,
}

/// Runs the verb.
pub(crate) fn main(args: &MarkArgs) -> Exit {
    if args.text.trim().is_empty() {
        return complain(Exit::Usage, "the mark has no text");
    }
    if args.text.len() > MARK_TEXT_BYTES_MAX {
        return complain(Exit::Usage, &format!("the text is longer than {MARK_TEXT_BYTES_MAX} bytes"));
    }
    let dir = match args.dir.clone().map_or_else(newest_run, |dir| check(&dir).map(|()| dir)) {
        Ok(dir) => dir,
        Err(reason) => return complain(Exit::Usage, &reason),
    };
    match append_mark(&dir, args.text.trim(), args.keep_secrets) {
        Ok(()) => {
            say(&format!("marked in {}", dir.display()));
            Exit::Completed
        }
        Err(error) => complain(Exit::Internal, &format!("cannot write {}: {error}", marks(&dir).display())),
    }
}

fn marks(dir: &Path) -> PathBuf {
    dir.join(MARKS_FILE_NAME)
}

/// Checks that a run is in progress and is observed.
fn check(dir: &Path) -> Result<(), String> {
    let shown = dir.display();
    let run = RunDir::open(dir);
    match run.read_manifest() {
        Ok(manifest) if manifest.outcome.is_some() => Err(format!("the run in {shown} has ended")),
        Ok(_) if !marks(dir).is_file() => Err(format!(
            "the run in {shown} is not observed\n  hint: run it with --observe auto, or --observe os"
        )),
        Ok(_) => check_is_read(dir, "run"),
        // A directory of `busyhour observe --dir` has no manifest; its page is written at the end.
        Err(_) if marks(dir).is_file() && run.report_path().is_file() => {
            Err(format!("the observation in {shown} has ended"))
        }
        Err(_) if marks(dir).is_file() => check_is_read(dir, "observation"),
        Err(error) => Err(busyhour_diagnostic::io_hints::chain(&error)),
    }
}

/// Checks that a process still reads the marks. A process that was killed has not recorded its end.
fn check_is_read(dir: &Path, what: &str) -> Result<(), String> {
    match marks_are_read(dir) {
        Ok(Some(false)) => Err(format!(
            "the {what} in {} no longer reads marks: its process has ended or was killed",
            dir.display()
        )),
        Ok(Some(true) | None) => Ok(()),
        Err(error) => Err(format!("cannot read {}: {error}", marks(dir).display())),
    }
}

/// The newest observed run that is in progress.
fn newest_run() -> Result<PathBuf, String> {
    let hint = "name the run: --dir DIR";
    let entries = std::fs::read_dir(RUNS)
        .map_err(|error| format!("cannot read the directory {RUNS}: {error}\n  hint: {hint}"))?;
    let mut runs: Vec<(SystemTime, PathBuf)> = entries
        .take(RUNS_MAX)
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let changed =
                marks(&path).metadata().ok()?.created().or_else(|_| marks(&path).metadata()?.modified());
            Some((changed.ok()?, path))
        })
        .collect();
    runs.sort_by(|one, other| other.cmp(one));
    runs.into_iter()
        .map(|(_, path)| path)
        .find(|path| check(path).is_ok())
        .ok_or_else(|| format!("no observed run is in progress in {RUNS}\n  hint: {hint}"))
}
