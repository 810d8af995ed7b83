//! The PerfMon Metrics Collectors of a plan.

use busyhour_diagnostic::io_hints::chain;
use busyhour_launch::{Prepared, RunEvent, RunObserver as _};
use busyhour_observation::PerfMonObserver;

use crate::command_error::CommandError;
use crate::events::ShownEvents;

/// Runs the collectors of the plan during its run.
pub(crate) fn attach(prepared: &Prepared, events: &ShownEvents) -> Result<(), CommandError> {
    for listener in prepared.perfmon_listeners() {
        let mut events = events.clone();
        let warn = move |text: &str| events.event(&RunEvent::Warning(text.to_owned()));
        let name = format!("the collector {:?}", listener.name);
        let observer = PerfMonObserver::new(listener.clone(), prepared.clock().clone(), Box::new(warn));
        prepared.observe(&name, Box::new(observer)).map_err(|error| chain(&error))?;
    }
    Ok(())
}
