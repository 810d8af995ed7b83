//! Reports sources that fail, and lists those that have never been read as not watched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use busyhour_observe::SourceChange;
use busyhour_record::RunDirError;

use crate::source_line::{LineSink, LineState, SourceLine};
use crate::sources_file;

/// The lines of an observation that is running: where they are printed and stored. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct RunningLines(Arc<Mutex<Content>>);

#[derive(Default)]
struct Content {
    sink: Option<LineSink>,
    run_dir: Option<PathBuf>,
    lines: Vec<SourceLine>,
    /// Why a source could not be read, for each source that has never been read.
    unread: BTreeMap<String, String>,
}

impl RunningLines {
    /// The lines of an observation, which are written into `run_dir` and printed to `sink`.
    pub(crate) fn new(
        lines: Vec<SourceLine>,
        run_dir: Option<&Path>,
        sink: Option<LineSink>,
    ) -> RunningLines {
        let run_dir = run_dir.map(Path::to_owned);
        RunningLines(Arc::new(Mutex::new(Content { sink, run_dir, lines, unread: BTreeMap::new() })))
    }

    /// Replaces the lines, because sources were found, and writes them.
    pub(crate) fn replace(&self, lines: &[SourceLine]) -> Result<(), RunDirError> {
        let mut content = self.lock();
        content.lines = lines.to_vec();
        content.write()
    }

    /// Whether anybody receives the lines.
    pub(crate) fn are_printed(&self) -> bool {
        self.lock().sink.is_some()
    }

    /// Prints a line.
    pub(crate) fn print(&self, line: &str) {
        self.lock().print(line);
    }

    /// Prints the first failure of a source. While a source has not been read yet, it is listed as not watched.
    pub(crate) fn change(&self, source: &str, change: &SourceChange) {
        let mut content = self.lock();
        match change {
            SourceChange::Read => {
                if content.unread.remove(source).is_none() {
                    return;
                }
                content.print(&format!("{source}: watched from now on"));
            }
            SourceChange::Failed { reason, was_read } => {
                let line = match hint(source) {
                    "" => format!("{source}: failed, because {reason}"),
                    hint => format!("{source}: failed, because {reason}; {hint}"),
                };
                content.print(&line);
                if *was_read {
                    return;
                }
                content.unread.insert(source.to_owned(), reason.clone());
            }
        }
        if let Err(error) = content.write() {
            content.print(&format!("warning: cannot write the list of sources: {error}"));
        }
    }

    /// Prints nothing more: a source may fail while the observation ends.
    pub(crate) fn end(&self) {
        self.lock().sink = None;
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Content {
    fn print(&mut self, line: &str) {
        if let Some(sink) = &mut self.sink {
            sink(line);
        }
    }

    fn write(&self) -> Result<(), RunDirError> {
        let Some(run_dir) = &self.run_dir else { return Ok(()) };
        let lines: Vec<SourceLine> = self.lines.iter().map(|line| self.current(line)).collect();
        sources_file::write(run_dir, &lines)
    }

    /// The line of a source with its present state.
    fn current(&self, line: &SourceLine) -> SourceLine {
        let state = match self.unread.get(&line.name) {
            Some(reason) if line.is_watched() => LineState::NotObserved {
                reason: format!("it cannot be read: {reason}"),
                advice: hint(&line.name).to_owned(),
            },
            Some(_) | None => line.state.clone(),
        };
        SourceLine { state, ..line.clone() }
    }
}

/// What usually enables a source of this kind; empty if the reason contains it.
fn hint(source: &str) -> &'static str {
    const DATABASE: &str = "check the host, the port, the user and the password in its address";
    match source.split_once(':').map(|(kind, _)| kind) {
        Some("postgres" | "postgresql" | "mysql" | "mariadb") => DATABASE,
        Some("prometheus") => {
            "check the address; the token of `busyhour observe --serve` is given in BUSYHOUR_OBSERVE_TOKEN"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn the_first_failure_is_printed_and_a_source_without_readings_is_not_watched() {
        let dir = tempfile::tempdir().unwrap();
        let (send, printed) = channel();
        let sink = Box::new(move |line: &str| send.send(line.to_owned()).unwrap());
        let (database, server) = ("mysql://127.0.0.1:3306/shop", "process:7");
        let lines = vec![SourceLine::watched(database, ""), SourceLine::watched(server, "java")];
        let running = RunningLines::new(lines, Some(dir.path()), Some(sink));
        let listed = || {
            let text = std::fs::read_to_string(dir.path().join("sources.json")).unwrap();
            let file: serde_json::Value = serde_json::from_str(&text).unwrap();
            file["sources"].as_array().unwrap().clone()
        };
        let failed = |was_read| SourceChange::Failed { reason: "Access denied".into(), was_read };
        running.change(database, &failed(false));
        running.change(server, &failed(true));
        assert_eq!(listed()[0]["state"], "not-watched");
        assert_eq!(listed()[0]["reason"], "it cannot be read: Access denied");
        assert!(listed()[0]["advice"].as_str().unwrap().contains("password"));
        assert_eq!(listed()[1]["state"], "watched", "it was read before");

        running.change(database, &SourceChange::Read);
        assert_eq!(listed()[0]["state"], "watched");
        running.end();
        running.change(server, &failed(true));
        let expected = [
            format!(
                "{database}: failed, because Access denied; check the host, the port, the user and the password in its address"
            ),
            format!("{server}: failed, because Access denied"),
            format!("{database}: watched from now on"),
        ];
        drop(running);
        assert_eq!(printed.iter().collect::<Vec<String>>(), expected);
    }
}
