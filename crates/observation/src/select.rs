//! Chooses the probes for the requested sources.

use std::path::Path;

use busyhour_observe::database::{DatabaseAddress, MySqlAddress, MySqlProbe, PostgresProbe};
use busyhour_observe::prometheus::ScrapeProbe;
use busyhour_program::clock::Clock;

use crate::local;
use crate::request::ObservationRequest;
use crate::selected::Selected;
use crate::source_line::SourceLine;
use crate::source_spec::SourceSpec;

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
            | SourceSpec::Perf(_)
            | SourceSpec::Stacks(_) => local::select(source, request, clock, &mut selected),
            SourceSpec::Prometheus(url) => add_scrape(&mut selected, url, request),
            SourceSpec::Postgres(address) => add_postgres(&mut selected, address, request),
            SourceSpec::MySql(address) => add_mysql(&mut selected, address, request),
            // The probes of logs are created when the observation starts, because they follow a log from then on.
            SourceSpec::GcLog(path) => selected.add_log(&format!("gc:{}", path.display()), log_about(path)),
            SourceSpec::Log(path) => selected.add_log(&format!("log:{}", path.display()), log_about(path)),
            SourceSpec::Journal(Some(unit)) => selected.add_log(&format!("journal:{unit}"), ""),
            SourceSpec::Journal(None) => selected.add_log("journal", ""),
        }
    }
    selected
}

fn add_scrape(selected: &mut Selected, url: &str, request: &ObservationRequest) {
    match ScrapeProbe::new(url, &request.fetch, request.metrics.clone()) {
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

fn add_mysql(selected: &mut Selected, address: &str, request: &ObservationRequest) {
    match MySqlAddress::parse(address, request.fetch.authorities.clone()) {
        Ok(address) => selected.add_watched(Box::new(MySqlProbe::new(address)), ""),
        Err(error) => selected.refuse(SourceLine::not_watched(
            "mysql",
            error.to_string(),
            "name it like mysql://user:password@host:3306/database",
        )),
    }
}

fn log_about(path: &Path) -> &'static str {
    if path.exists() { "" } else { "it does not exist yet" }
}
