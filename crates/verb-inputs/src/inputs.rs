//! Results named on the command line: files, run directories and pipes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use busyhour_record::RunDir;
use busyhour_results::{ResultsFrom, ResultsInput};
use busyhour_terminal::exit::{Exit, say};
use tempfile::NamedTempFile;

/// Results to read. Dropping this value deletes the temporary copies of pipes.
pub struct Inputs {
    /// All results, in the order of the command line.
    pub all: Vec<ResultsInput>,
    copies: Vec<NamedTempFile>,
}

impl Inputs {
    /// Inputs that are read once.
    pub fn once(paths: &[PathBuf]) -> Result<Inputs, (Exit, String)> {
        Inputs::checked(paths)?;
        Ok(Inputs { all: paths.iter().map(|path| input(path)).collect(), copies: Vec::new() })
    }

    /// Inputs that can be read several times. Pipes are first copied to temporary files.
    pub fn kept(paths: &[PathBuf]) -> Result<Inputs, (Exit, String)> {
        Inputs::checked(paths)?;
        let mut inputs = Inputs { all: Vec::new(), copies: Vec::new() };
        for path in paths {
            let input = match is_pipe(path) {
                true => inputs.copied(path).map_err(|error| {
                    (
                        Exit::Internal,
                        format!(
                            "cannot copy {} to read it: {}",
                            shown(path),
                            busyhour_diagnostic::io_hints::with_hint(&error)
                        ),
                    )
                })?,
                false => input(path),
            };
            inputs.all.push(input);
        }
        Ok(inputs)
    }

    fn checked(paths: &[PathBuf]) -> Result<(), (Exit, String)> {
        if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
            return Err((Exit::Usage, "standard input can be read only once; give - once".into()));
        }
        if let Some(missing) = paths.iter().find(|path| !is_stdin(path) && !path.exists()) {
            let text = format!("no such file or run directory: {}", missing.display());
            return Err((Exit::Refused, text));
        }
        Ok(())
    }

    fn copied(&mut self, path: &Path) -> io::Result<ResultsInput> {
        let mut copy = NamedTempFile::with_prefix("busyhour-")?;
        if is_stdin(path) {
            io::copy(&mut io::stdin().lock(), &mut copy)?;
        } else {
            io::copy(&mut File::open(path)?, &mut copy)?;
        }
        let from = ResultsFrom::Path(copy.path().to_owned());
        self.copies.push(copy);
        Ok(ResultsInput { name: shown(path), from })
    }
}

/// Whether the path is `-`, standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether the path can be read only once: standard input, a named pipe, or a shell's `<(…)`.
fn is_pipe(path: &Path) -> bool {
    is_stdin(path) || std::fs::metadata(path).is_ok_and(|found| !found.is_dir() && !found.is_file())
}

fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".into() } else { path.display().to_string() }
}

fn input(path: &Path) -> ResultsInput {
    if is_stdin(path) {
        return ResultsInput { name: shown(path), from: ResultsFrom::Stream(Box::new(io::stdin())) };
    }
    ResultsInput::path(path)
}

/// The names of `paths`, separated by commas.
pub fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ")
}

/// Warns about run directories that do not contain the outcome of their run. `done` describes what was done with the results
/// that they contain.
pub fn warn_about_unfinished_runs(paths: &[PathBuf], done: &str) {
    for path in paths.iter().filter(|path| path.is_dir()) {
        let manifest = RunDir::open(path).read_manifest();
        if manifest.is_ok_and(|manifest| manifest.outcome.is_none()) {
            let name = path.display();
            say(&format!(
                "warning: the run {name} was cut off or is still running; the recorded part was {done}"
            ));
        }
    }
}
