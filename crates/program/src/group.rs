//! A thread group: when its users start and end, and what they run.

use crate::controller::{Controller, ControllerKind};
pub use crate::phase::Phase;
use crate::population::Population;
use crate::sampler::SamplerPackage;
use crate::template::Template;
use crate::user::StateId;

/// What to do when a sample fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Continue.
    #[default]
    Continue,
    /// Start the thread group's next iteration.
    StartNextLoop,
    /// Stop this user.
    StopUser,
    /// Stop the test; samples in flight finish.
    StopTest,
    /// Stop the test immediately; samples in flight are abandoned.
    StopTestNow,
}

/// Duration and delay of a group, evaluated when it starts.
#[derive(Clone, Debug)]
pub struct GroupTimes {
    /// Duration, in seconds.
    pub duration: Template,
    /// Delay before the first user starts, in seconds.
    pub delay: Template,
}

/// A thread group.
#[derive(Debug)]
pub struct Group<P> {
    /// The phase in which it runs.
    pub phase: Phase,
    /// Number of users, evaluated when the group starts.
    pub users: Template,
    /// Ramp-up time, in seconds.
    pub ramp_up: Template,
    /// Duration and delay, if scheduled.
    pub schedule: Option<GroupTimes>,
    /// The number of users over time, as in the thread groups of jmeter-plugins. It replaces `users`, `ramp_up` and `schedule`.
    pub population: Option<Box<Population>>,
    /// JMeter's setting to create a user's resources when the user starts rather than when the group starts. (This program
    /// always does so.)
    pub delayed_start: bool,
    /// What to do when a sample fails.
    pub on_error: OnError,
    /// Whether iterations continue as the same user: cookies and caches are retained.
    pub same_user: bool,
    /// Its controllers; index 0 is the group's own controller.
    pub controllers: Box<[Controller]>,
    /// Its samplers.
    pub samplers: Box<[SamplerPackage<P>]>,
}

impl<P> Group<P> {
    /// The ids of the states in which users store the critical sections that they are in.
    pub fn sections(&self) -> impl Iterator<Item = StateId> {
        self.controllers.iter().filter_map(|controller| match &controller.kind {
            ControllerKind::Critical(section) => Some(section.held),
            _ => None,
        })
    }
}
