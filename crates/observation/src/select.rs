//! Chooses the probes for the requested sources.

use busyhour_observe::database::{DatabaseAddress, PostgresProbe};
use busyhour_observe::prometheus::{MetricSelection, ScrapeProbe};
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
            | SourceSpec::Perf(_) => local::select(source, request, clock, &mut selected),
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
