//! Finds and reads the runs for the paths on the command line.

use std::path::{Path, PathBuf};

use busyhour_analysis::comparison::MeasuredRun;
use busyhour_diagnostic::Diagnostic;
use busyhour_record::RunDir;
use busyhour_results::{RunReading, measure_run};
use busyhour_terminal::exit::{Exit, complain, say};

/// Extensions of result files in directories.
const LOGS: [&str; 3] = ["jtl", "csv", "xml"];

/// Additional extensions of compressed files.
const PACKED: [&str; 3] = ["gz", "zst", "zstd"];

/// The files or directories of a run. There are several if a test has several generators.
pub type RunFiles = Vec<PathBuf>;

/// The runs at `paths`, which are run directories, result files, or directories that contain either. If a path cannot be
/// read or contains no runs, or if a run is given twice, it prints an error and returns the exit code.
pub fn runs_of(paths: &[PathBuf]) -> Result<Vec<RunFiles>, Exit> {
    let mut runs: Vec<RunFiles> = Vec::new();
    let mut known = Vec::new();
    for path in paths {
        let found = match joined(path) {
            Some(files) => vec![files],
            None => runs_in(path)
                .map_err(|error| {
                    let why = busyhour_diagnostic::io_hints::with_hint(&error);
                    complain(Exit::Refused, &format!("cannot read {}: {why}", path.display()))
                })?
                .into_iter()
                .map(|run| vec![run])
                .collect(),
        };
        if found.is_empty() {
            let message = format!(
                "{} contains no runs: neither run directories nor result files (.jtl, .csv, .xml, optionally with .gz or .zst)",
                path.display()
            );
            return Err(complain(Exit::Refused, &message));
        }
        for run in found {
            for file in &run {
                // If the file does not exist, this is reported later, when it is read.
                let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
                if known.contains(&whole) {
                    let message = format!("{} is given twice; give each run once", file.display());
                    return Err(complain(Exit::Usage, &message));
                }
                known.push(whole);
            }
            runs.push(run);
        }
    }
    Ok(runs)
}

/// Splits a path into the files of one run, which are separated by commas; `None` if the whole path is the name of a file,
/// or if none of the files exists.
fn joined(path: &Path) -> Option<RunFiles> {
    let text = path.to_str().filter(|text| text.contains(','))?;
    let files: Vec<PathBuf> = text.split(',').map(PathBuf::from).collect();
    (!path.exists() && files.iter().any(|file| file.exists())).then_some(files)
}

/// The run at `path`, or the runs in the directory `path`: run directories or, if there are none, result files.
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

/// Whether a file name has the extension of a result file.
fn is_log(path: &Path) -> bool {
    let ending = |path: &Path| path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    let has =
        |path: &Path, known: &[&str]| ending(path).is_some_and(|ending| known.contains(&ending.as_str()));
    has(path, &LOGS)
        || (has(path, &PACKED) && path.file_stem().is_some_and(|stem| has(Path::new(stem), &LOGS)))
}

/// Reads runs. If runs cannot be read, it prints an error for each of them and returns `None`.
pub fn read_all(paths: &[RunFiles], reading: &RunReading) -> Option<Vec<MeasuredRun>> {
    let mut runs = Vec::new();
    let mut failed = false;
    for (at, files) in paths.iter().enumerate() {
        // Each run has its own seed, so that its bootstrap does not depend on the other runs compared.
        let seed = reading.seed.map(|seed| seed.wrapping_add(at as u64));
        match measure_run(files, &RunReading { seed, ..reading.clone() }) {
            Ok(run) => {
                warn_about_skipped_rows(&run);
                runs.push(run);
            }
            Err(error) => {
                failed = true;
                let mut diagnostic = Diagnostic::error("run", error.to_string());
                if let Some(cause) = std::error::Error::source(&error) {
                    diagnostic = diagnostic.with_error(cause);
                }
                if !error.hint().is_empty() {
                    diagnostic = diagnostic.with_hint(error.hint());
                }
                say(&diagnostic.to_string());
            }
        }
    }
    (!failed).then_some(runs)
}

/// Warns about rows that were skipped, because the comparison then does not cover the whole run.
fn warn_about_skipped_rows(run: &MeasuredRun) {
    for input in run.facts.inputs.iter().filter(|input| input.bad_rows > 0) {
        let rows = if input.bad_rows == 1 { "1 row".to_owned() } else { format!("{} rows", input.bad_rows) };
        let first = input.first_bad.first().map(|bad| format!("; the first: {bad}")).unwrap_or_default();
        say(&format!("warning: skipped {rows} of {} that cannot be read{first}", input.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_files_are_recognised_by_their_extension() {
        for name in ["a.jtl", "b.CSV", "c.xml.gz", "d.jtl.zst", "e.csv.zstd"] {
            assert!(is_log(Path::new(name)), "{name}");
        }
        for name in ["a.gz", "jtl", "run.log", "a.jtl.bak", "b.tar.gz"] {
            assert!(!is_log(Path::new(name)), "{name}");
        }
    }
}
