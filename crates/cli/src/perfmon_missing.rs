//! The PerfMon Metrics Collectors of a plan in a program that was built without the feature `observe`: they are left out.

use busyhour_launch::{Prepared, RunEvent, RunObserver as _};
use busyhour_terminal::command_error::CommandError;

use crate::events::ShownEvents;
use crate::missing::build_hint;
use crate::observing::ObservedSeries;

/// Warns if the plan has collectors.
#[allow(clippy::unnecessary_wraps, reason = "the collectors of a program with the feature can fail")]
pub(crate) fn attach(
    prepared: &Prepared,
    events: &ShownEvents,
    _observed: Option<ObservedSeries>,
) -> Result<(), CommandError> {
    let count = prepared.perfmon_listeners().len();
    if count > 0 {
        let text = format!(
            "this program was built without the observation of systems: {count} PerfMon Metrics Collectors of the plan do \
             nothing\n  hint: {}",
            build_hint("observe")
        );
        events.clone().event(&RunEvent::Warning(text));
    }
    Ok(())
}
