//! Which runs are meant by the paths on a command line.

use std::path::{Path, PathBuf};

use busyhour_record::RunDir;

use crate::exit::{Exit, complain};

/// Endings of result files that are looked for in directories.
const LOGS: [&str; 3] = ["jtl", "csv", "xml"];

/// Endings of packed files, behind those.
const PACKED: [&str; 3] = ["gz", "zst", "zstd"];

/// The files or directories of a run: several when several generators made it.
pub(crate) type RunFiles = Vec<PathBuf>;

/// The runs that `paths` name: run directories, result files, and what directories hold of either. Says what is wrong and
/// gives the exit code when one cannot be read, holds none, or a run is named twice: it would count as two.
pub(crate) fn runs_of(paths: &[PathBuf]) -> Result<Vec<RunFiles>, Exit> {
    let mut runs: Vec<RunFiles> = Vec::new();
    let mut known = Vec::new();
    for path in paths {
        let found = match joined(path) {
            Some(files) => vec![files],
            None => runs_in(path)
                .map_err(|error| {
                    let why = crate::io_hints::with_hint(&error);
                    complain(Exit::Refused, &format!("cannot read {}: {why}", path.display()))
                })?
                .into_iter()
                .map(|run| vec![run])
                .collect(),
        };
        if found.is_empty() {
            let message = format!(
                "{} holds no runs: neither run directories nor result files (.jtl, .csv, .xml, packed with .gz or .zst or not)",
                path.display()
            );
            return Err(complain(Exit::Refused, &message));
        }
        for run in found {
            for file in &run {
                // What is not there is complained about when it is read.
                let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
                if known.contains(&whole) {
                    let message = format!("{} is named twice; a run counts once", file.display());
                    return Err(complain(Exit::Usage, &message));
                }
                known.push(whole);
            }
            runs.push(run);
        }
    }
    Ok(runs)
}

/// Files of one run that are joined by commas; `None` when a file has that name, or one of them is not there.
fn joined(path: &Path) -> Option<RunFiles> {
    let text = path.to_str().filter(|text| text.contains(','))?;
    let files: Vec<PathBuf> = text.split(',').map(PathBuf::from).collect();
    (!path.exists() && files.iter().any(|file| file.exists())).then_some(files)
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
    Ok(entries.into_iter().filter(|entry| entry.is_file() && is_log(entry)).collect())
}

/// Whether a file's name is one of a result file.
fn is_log(path: &Path) -> bool {
    let ending = |path: &Path| path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    let has =
        |path: &Path, known: &[&str]| ending(path).is_some_and(|ending| known.contains(&ending.as_str()));
    has(path, &LOGS)
        || (has(path, &PACKED) && path.file_stem().is_some_and(|stem| has(Path::new(stem), &LOGS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_files_are_known_by_their_endings() {
        for name in ["a.jtl", "b.CSV", "c.xml.gz", "d.jtl.zst", "e.csv.zstd"] {
            assert!(is_log(Path::new(name)), "{name}");
        }
        for name in ["a.gz", "jtl", "run.log", "a.jtl.bak", "b.tar.gz"] {
            assert!(!is_log(Path::new(name)), "{name}");
        }
    }
}
