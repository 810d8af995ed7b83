//! The probes for the requested sources, and a line about each source.

use std::collections::BTreeSet;

use busyhour_observe::Probe;
use busyhour_observe::database::{DatabaseAddress, PostgresProbe};
use busyhour_observe::prometheus::{MetricSelection, ScrapeProbe};
use busyhour_program::clock::Clock;

use crate::request::ObservationRequest;
use crate::source_line::SourceLine;
use crate::source_spec::SourceSpec;

/// Probes that have been chosen and not been started.
#[derive(Default)]
pub(crate) struct Selected {
    pub(crate) probes: Vec<Box<dyn Probe>>,
    pub(crate) lines: Vec<SourceLine>,
    /// The names of sources that are watched: each is watched once.
    known: BTreeSet<String>,
}

impl Selected {
    /// Adds a probe with its line, unless its source is watched.
    pub(crate) fn add(&mut self, probe: Box<dyn Probe>, line: SourceLine) {
        if self.known.insert(probe.source().to_owned()) {
            self.probes.push(probe);
            self.lines.push(line);
        }
    }

    /// Adds a probe that is watched completely.
    pub(crate) fn add_watched(&mut self, probe: Box<dyn Probe>, about: &str) {
        let line = SourceLine::watched(probe.source(), about);
        self.add(probe, line);
    }

    /// Adds the line of a source that is not watched, unless there is such a line.
    pub(crate) fn refuse(&mut self, line: SourceLine) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// The numbers of the processes that are watched.
    pub(crate) fn watched_pids(&self) -> Vec<u32> {
        self.known.iter().filter_map(|source| source.strip_prefix("process:")?.parse().ok()).collect()
    }

    /// Whether a source is watched.
    pub(crate) fn has(&self, source: &str) -> bool {
        self.known.contains(source)
    }
}

/// Chooses the probes of all requested sources.
pub(crate) fn select(request: &ObservationRequest, clock: &Clock) -> Selected {
    let mut selected = Selected::default();
    for source in &request.sources {
        match source {
            SourceSpec::Auto
            | SourceSpec::Os
            | SourceSpec::Process(_)
            | SourceSpec::Jvm(_)
            | SourceSpec::Rdt
            | SourceSpec::Perf(_) => crate::local::select(source, request, clock, &mut selected),
            SourceSpec::Prometheus(url) => add_scrape(&mut selected, url, request),
            SourceSpec::Postgres(address) => add_postgres(&mut selected, address, request),
            // Files are followed by their own probes, which the observation adds when it starts.
            SourceSpec::GcLog(_) | SourceSpec::Log(_) | SourceSpec::Journal(_) => {}
        }
    }
    selected
}

fn add_scrape(selected: &mut Selected, url: &str, request: &ObservationRequest) {
    match ScrapeProbe::new(url, &request.fetch, MetricSelection::default()) {
        Ok(probe) => selected.add_watched(Box::new(probe), ""),
        Err(error) => selected.refuse(SourceLine::not_watched(
            "prometheus",
            busyhour_diagnostic::io_hints::chain(&error),
            "name it like prometheus:http://host:9100/metrics",
        )),
    }
}

fn add_postgres(selected: &mut Selected, address: &str, request: &ObservationRequest) {
    match DatabaseAddress::parse(address, request.fetch.authorities.clone()) {
        Ok(address) => selected.add_watched(Box::new(PostgresProbe::new(address)), ""),
        Err(error) => selected.refuse(SourceLine::not_watched(
            "postgres",
            error.to_string(),
            "name it like postgres://user:password@host:5432/database",
        )),
    }
}
