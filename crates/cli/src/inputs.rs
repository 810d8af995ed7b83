//! The results that a command line names: files, run directories, and what comes through pipes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use busyhour_record::{ResultsFrom, ResultsInput, RunDir};
use tempfile::NamedTempFile;

use crate::exit::{Exit, say};

/// Results to be read; copies of what came through pipes are gone when this is.
pub(crate) struct Inputs {
    /// Their order is the command line's.
    pub(crate) all: Vec<ResultsInput>,
    copies: Vec<NamedTempFile>,
}

impl Inputs {
    /// To be read once, as they come.
    pub(crate) fn once(paths: &[PathBuf]) -> Result<Inputs, (Exit, String)> {
        Inputs::checked(paths)?;
        Ok(Inputs { all: paths.iter().map(|path| input(path)).collect(), copies: Vec::new() })
    }

    /// To be read as often as needed: what comes through a pipe is copied into a temporary file first.
    pub(crate) fn kept(paths: &[PathBuf]) -> Result<Inputs, (Exit, String)> {
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
                            crate::io_hints::with_hint(&error)
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
            return Err((Exit::Usage, "standard input can be read once: say - once".into()));
        }
        match paths.iter().find(|path| !is_stdin(path) && !path.exists()) {
            Some(missing) => {
                let text = format!("there is no run directory and no result file {}", missing.display());
                Err((Exit::Refused, text))
            }
            None => Ok(()),
        }
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

/// Whether it is standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether what stands there goes by once: standard input, a named pipe, `<(…)` of a shell.
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

/// The names of `paths` as one text.
pub(crate) fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ")
}

/// Says which of the run directories do not tell how their run ended; `done` is what became of the part that is there.
pub(crate) fn tell_unfinished(paths: &[PathBuf], done: &str) {
    for path in paths.iter().filter(|path| path.is_dir()) {
        let manifest = RunDir::open(path).read_manifest();
        if manifest.is_ok_and(|manifest| manifest.outcome.is_none()) {
            let name = path.display();
            say(&format!(
                "warning: the run {name} was cut off, or goes on; {done} is what its record has so far"
            ));
        }
    }
}
