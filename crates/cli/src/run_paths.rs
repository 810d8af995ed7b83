//! Which runs are meant by the paths on a command line.

use std::path::{Path, PathBuf};

use busyhour_record::RunDir;

use crate::exit::{Exit, complain};

/// Endings of result files that are looked for in directories.
const LOGS: [&str; 3] = ["jtl", "csv", "xml"];

/// The runs that `paths` name: run directories, result files, and what directories hold of either. Says what is wrong and
/// gives the exit code when one cannot be read, holds none, or a run is named twice: it would count as two.
pub(crate) fn runs_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Exit> {
    let mut runs: Vec<PathBuf> = Vec::new();
    let mut known = Vec::new();
    for path in paths {
        let found = runs_in(path)
            .map_err(|error| complain(Exit::Refused, &format!("cannot read {}: {error}", path.display())))?;
        if found.is_empty() {
            return Err(complain(Exit::Refused, &format!("{} holds no runs", path.display())));
        }
        for run in found {
            // What is not there is complained about when it is read.
            let whole = std::fs::canonicalize(&run).unwrap_or_else(|_| run.clone());
            if known.contains(&whole) {
                let message = format!("{} is named twice; a run counts once", run.display());
                return Err(complain(Exit::Usage, &message));
            }
            known.push(whole);
            runs.push(run);
        }
    }
    Ok(runs)
}

/// The run at `path`, or those in it: run directories, and result files when there are none.
fn runs_in(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let is_run = |path: &Path| RunDir::open(path).samples_path().exists();
    if !path.is_dir() || is_run(path) {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = std::fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<PathBuf>>>()?;
    entries.sort();
    let runs: Vec<PathBuf> = entries.iter().filter(|entry| is_run(entry)).cloned().collect();
    if !runs.is_empty() {
        return Ok(runs);
    }
    let is_log = |entry: &PathBuf| {
        let ending = entry.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        entry.is_file() && LOGS.contains(&ending)
    };
    Ok(entries.into_iter().filter(is_log).collect())
}
