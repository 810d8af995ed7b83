//! Sources on a machine that does not run Linux; they cannot be watched.

use std::collections::BTreeSet;

use busyhour_program::clock::Clock;

use crate::neighbours_file::{NeighbourSink, NeighboursSoFar};
use crate::request::ObservationRequest;
use crate::selected::Selected;
use crate::source_line::SourceLine;
use crate::source_spec::SourceSpec;

/// Adds a line that states that the source is not available.
pub(crate) fn select(
    source: &SourceSpec,
    _request: &ObservationRequest,
    _clock: &Clock,
    selected: &mut Selected,
) {
    let name = match source {
        SourceSpec::Auto | SourceSpec::Os => "os",
        SourceSpec::Process(_) => "process",
        SourceSpec::Jvm(_) => "jvm",
        SourceSpec::Rdt => "rdt",
        SourceSpec::Perf(_) => "perf",
        SourceSpec::Stacks(_) => "stacks",
        SourceSpec::Prometheus(_)
        | SourceSpec::Postgres(_)
        | SourceSpec::MySql(_)
        | SourceSpec::GcLog(_)
        | SourceSpec::Log(_)
        | SourceSpec::Journal(_) => return,
    };
    selected.refuse(SourceLine::not_watched(name, "it is only available on Linux", ""));
}

/// Finds no neighbours.
pub(crate) fn add_neighbours(
    _selected: &mut Selected,
    _sink: Option<NeighbourSink>,
) -> Option<NeighboursSoFar> {
    None
}

/// Finds nothing.
pub(crate) fn add_new_processes(_request: &ObservationRequest, _clock: &Clock, _selected: &mut Selected) {}

/// Finds nothing, and does not search again.
pub(crate) fn look_for_jvms(
    _request: &ObservationRequest,
    _seen: &mut BTreeSet<u32>,
    _selected: &mut Selected,
) -> bool {
    false
}
