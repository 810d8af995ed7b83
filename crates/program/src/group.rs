//! A thread group: when its users come and go, and what they walk.

use crate::controller::{Controller, ControllerKind};
use crate::population::Population;
use crate::sampler::SamplerPackage;
use crate::template::Template;
use crate::user::StateId;

/// What to do when a sample fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Go on.
    #[default]
    Continue,
    /// Start the thread group's next iteration.
    StartNextLoop,
    /// Stop this user.
    StopUser,
    /// Stop the test; samples in flight finish.
    StopTest,
    /// Stop the test at once.
    StopTestNow,
}

/// When a group runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before the main groups.
    SetUp,
    /// The main groups.
    Main,
    /// After them.
    TearDown,
}

/// Duration and delay of a group, evaluated when it starts.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Seconds.
    pub duration: Template,
    /// Seconds before the first user starts.
    pub delay: Template,
}

/// A thread group.
#[derive(Debug)]
pub struct Group<P> {
    /// When it runs.
    pub phase: Phase,
    /// Number of users, evaluated when the group starts.
    pub users: Template,
    /// Seconds over which they start.
    pub ramp_up: Template,
    /// Duration and delay, if scheduled.
    pub schedule: Option<Schedule>,
    /// Another plan by which users come and go; number, ramp-up and schedule do not count then.
    pub population: Option<Box<Population>>,
    /// A user's resources are made when it starts, not when its group does. (Here they always are.)
    pub delayed_start: bool,
    /// What to do when a sample fails.
    pub on_error: OnError,
    /// Iterations go on as the same visitor.
    pub same_user: bool,
    /// Its controllers; number 0 is the group's own.
    pub controllers: Box<[Controller]>,
    /// Its samplers.
    pub samplers: Box<[SamplerPackage<P>]>,
}

impl<P> Group<P> {
    /// Where users keep what they hold of each critical section.
    pub fn sections(&self) -> impl Iterator<Item = StateId> {
        self.controllers.iter().filter_map(|controller| match &controller.kind {
            ControllerKind::Critical(section) => Some(section.held),
            _ => None,
        })
    }
}
