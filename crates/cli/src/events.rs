//! The events of a run as texts for the user.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use busyhour_launch::{RunEvent, RunObserver};
use busyhour_sample::LoadChange;
use busyhour_terminal::exit::{is_verbose, say};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Shows the events of a run. They are printed at once or, while a thread shows progress, sent to that thread. Clones refer
/// to the same run.
#[derive(Clone)]
pub(crate) struct ShownEvents {
    grace: Duration,
    display: Arc<Mutex<Option<UnboundedSender<RunEvent>>>>,
}

impl ShownEvents {
    /// `grace` is the time for users to finish their samples.
    pub(crate) fn new(grace: Duration) -> Self {
        Self { grace, display: Arc::default() }
    }

    fn display(&self) -> MutexGuard<'_, Option<UnboundedSender<RunEvent>>> {
        self.display.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends events to the receiver from now on.
    pub(crate) fn divert(&self) -> UnboundedReceiver<RunEvent> {
        let (sender, events) = unbounded_channel();
        *self.display() = Some(sender);
        events
    }

    /// Prints events at once from now on.
    pub(crate) fn print(&self) {
        *self.display() = None;
    }

    /// The text of an event for the user; `None` if the event is not shown.
    pub(crate) fn text(&self, event: &RunEvent) -> Option<String> {
        Some(match event {
            RunEvent::Finding(finding) => format!("{finding}\n"),
            RunEvent::Warning(text) => format!("warning: {text}"),
            RunEvent::Notice(text) | RunEvent::Neighbour(text) => text.clone(),
            RunEvent::StopRequested { is_immediate: true } => {
                "stopping now; requests in flight are discarded".into()
            }
            RunEvent::StopRequested { is_immediate: false } => format!(
                "stopping: users finish their current sample, for at most {} (repeat to stop now)",
                seconds(self.grace)
            ),
            RunEvent::GraceOver { grace } => format!(
                "the grace period of {} is over: stopping now; requests in flight are discarded",
                seconds(*grace)
            ),
            RunEvent::LoadChanged(event) => match event.change {
                LoadChange::Stop => format!(
                    "stopping (from the {}): users finish their current sample; Ctrl-C stops at once",
                    event.from.name()
                ),
                LoadChange::Rate { .. } | LoadChange::Pause | LoadChange::Resume => {
                    format!("from the {}: {}", event.from.name(), event.description())
                }
            },
            RunEvent::ThresholdFailed(order) => format!(
                "stopping: the threshold `{}` failed at {} s; users finish their current sample",
                order.text,
                order.second + 1
            ),
            RunEvent::BackedOff(true) => {
                "all requests failed for 10 s: each user now waits 1 s after a failure (--no-back-off keeps the load)"
                    .into()
            }
            RunEvent::BackedOff(false) => {
                "a request succeeded: users no longer wait after failures".into()
            }
            // Such failures are counted in the progress line, and are a caveat of the result.
            RunEvent::FileLost { .. } => return None,
            RunEvent::PhaseChanged(phase) if is_verbose() => format!("phase: {}", phase.name()),
            RunEvent::PhaseChanged(_) => return None,
        })
    }
}

impl RunObserver for ShownEvents {
    fn event(&mut self, event: &RunEvent) {
        let display = self.display();
        match &*display {
            Some(display) => {
                let _ = display.send(event.clone());
            }
            None => {
                drop(display);
                if let Some(text) = self.text(event) {
                    say(&text);
                }
            }
        }
    }

    fn seconds_waiting_max(&self) -> usize {
        0
    }
}

/// Formats a time in seconds: `30 s`.
fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
