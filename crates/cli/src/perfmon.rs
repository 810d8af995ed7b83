//! The PerfMon Metrics Collectors of a plan.

use busyhour_diagnostic::io_hints::chain;
use busyhour_launch::{Prepared, RunEvent, RunObserver as _};
use busyhour_observation::{ObservedSeries, PerfMonObserver, PerfMonSeries};
use busyhour_terminal::command_error::CommandError;

use crate::events::ShownEvents;

/// Runs the collectors of the plan during its run. Their values are also recorded as series if the run is observed.
pub(crate) fn attach(
    prepared: &Prepared,
    events: &ShownEvents,
    observed: Option<ObservedSeries>,
) -> Result<(), CommandError> {
    let series = observed.map(|observed| PerfMonSeries::new(observed, prepared.clock().clone()));
    for listener in prepared.perfmon_listeners() {
        let mut events = events.clone();
        let warn = move |text: &str| events.event(&RunEvent::Warning(text.to_owned()));
        let name = format!("the collector {:?}", listener.name);
        let (listener, clock) = (listener.clone(), prepared.clock().clone());
        let observer = PerfMonObserver::new(listener, clock, series.clone(), Box::new(warn));
        prepared.observe(&name, Box::new(observer)).map_err(|error| chain(&error))?;
    }
    Ok(())
}
