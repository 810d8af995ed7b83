//! The events before, during and after a run.

use std::time::Duration;

use busyhour_analysis::thresholds::ThresholdStop;
use busyhour_diagnostic::Diagnostic;
use busyhour_sample::ControlEvent;

use crate::order::RunPhase;

/// An event that a user of the run may want to see. Completed seconds are not events: an observer receives them in
/// [`RunObserver::second`](crate::RunObserver::second).
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// A finding about the plan, reported when the plan is compiled.
    Finding(Diagnostic),
    /// A problem that does not prevent the run. The text may have a second line with a hint.
    Warning(String),
    /// Information, such as the address of a metrics server.
    Notice(String),
    /// A neighbour harms the observed system: the sentence about it.
    Neighbour(String),
    /// The run entered a phase.
    PhaseChanged(RunPhase),
    /// A stop of the run was requested.
    StopRequested {
        /// Whether requests in flight are abandoned.
        is_immediate: bool,
    },
    /// The grace period is over, and the end of the run is forced.
    GraceOver {
        /// The length of the grace period.
        grace: Duration,
    },
    /// The load was changed from outside the plan: the run was paused, resumed or stopped, or its rate was changed.
    LoadChanged(ControlEvent),
    /// A threshold failed and stops the run.
    ThresholdFailed(ThresholdStop),
    /// `true`: every request has failed for a while, so users wait after each failure from now on. `false`: a request
    /// succeeded, so users no longer wait.
    BackedOff(bool),
    /// Results could not be written.
    FileLost {
        /// Number of failed writes so far.
        failures: usize,
    },
}
