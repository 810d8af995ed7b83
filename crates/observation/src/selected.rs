//! The chosen probes, and a line about each source.

use std::collections::BTreeSet;

use busyhour_observe::Probe;
#[cfg(target_os = "linux")]
use busyhour_observe::WatchedProcesses;
use busyhour_observe::jvm::WatchedJvms;

use crate::source_line::SourceLine;
use crate::stack_probe::StackReader;

/// Probes that have been chosen but not started.
#[derive(Default)]
pub(crate) struct Selected {
    pub(crate) probes: Vec<Box<dyn Probe>>,
    pub(crate) lines: Vec<SourceLine>,
    /// The processes whose stacks are recorded, if the observation has a run directory.
    pub(crate) stacks: Vec<Box<dyn StackReader>>,
    /// The names of the sources that are watched. No source is watched twice.
    known: BTreeSet<String>,
    /// The JVMs that the probes read at the moment.
    pub(crate) watched_jvms: WatchedJvms,
    /// The processes that the probes read at the moment.
    #[cfg(target_os = "linux")]
    pub(crate) watched_processes: WatchedProcesses,
}

impl Selected {
    /// Adds a probe with its line, unless its source is already watched.
    pub(crate) fn add(&mut self, probe: Box<dyn Probe>, line: SourceLine) {
        if self.known.insert(probe.source().to_owned()) {
            self.probes.push(probe);
            self.lines.push(line);
        }
    }

    /// Adds a probe whose source is watched completely.
    pub(crate) fn add_watched(&mut self, probe: Box<dyn Probe>, about: &str) {
        let line = SourceLine::watched(probe.source(), about);
        self.add(probe, line);
    }

    /// Adds the line of a log, whose probe is made later.
    pub(crate) fn add_log(&mut self, name: &str, about: &str) {
        if self.known.insert(name.to_owned()) {
            self.lines.push(SourceLine::watched(name, about));
        }
    }

    /// Adds a process whose stacks are recorded.
    pub(crate) fn add_stacks(&mut self, reader: Box<dyn StackReader>, about: &str) {
        if self.known.insert(reader.source().to_owned()) {
            self.lines.push(SourceLine::watched(reader.source(), about));
            self.stacks.push(reader);
        }
    }

    /// Adds the line of a source that is not watched, unless there already is an equal line.
    pub(crate) fn refuse(&mut self, line: SourceLine) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// The IDs of the processes that are watched.
    pub(crate) fn watched_pids(&self) -> Vec<u32> {
        self.known.iter().filter_map(|source| source.strip_prefix("process:")?.parse().ok()).collect()
    }

    /// Number of JVMs that have been watched.
    pub(crate) fn jvms(&self) -> usize {
        self.known.iter().filter(|source| source.starts_with("jvm:")).count()
    }

    /// Whether a source is watched.
    pub(crate) fn has(&self, source: &str) -> bool {
        self.known.contains(source)
    }
}
