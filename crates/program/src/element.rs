//! The elements around a sampler, one trait per kind. Other crates implement them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use busyhour_sample::{AssertionResult, Nanos};

use crate::result::{Retention, SampleResult};
use crate::user::UserState;

/// An element that can make a user wait without blocking the core: a barrier, an empty queue.
pub trait Gate: Send + Sync + fmt::Debug {
    /// Waits until the user may continue or the run is stopped. Does all of the element's work.
    fn wait<'u>(&'u self, user: &'u mut UserState) -> GateWait<'u>;
}

/// A user that waits at a [`Gate`].
pub type GateWait<'u> = Pin<Box<dyn Future<Output = ()> + 'u>>;

/// A pre-processor (before the timers) or post-processor (after the sampler; the result is `user.result`).
pub trait Processor: Send + Sync + fmt::Debug {
    /// Runs the element. Errors are logged, as in JMeter.
    fn process(&self, user: &mut UserState);

    /// The parts of the result that the processor reads.
    fn retention(&self) -> Retention {
        Retention::default()
    }

    /// Whether the processor may access the current sampler or the session, see [`UserState::request`].
    fn accesses_request(&self) -> bool {
        false
    }

    /// The gate of a pre-processor that may have to wait. It is called instead of [`Self::process`].
    fn gate(&self) -> Option<&dyn Gate> {
        None
    }
}

/// An assertion on a result.
pub trait Assertion: Send + Sync + fmt::Debug {
    /// The evaluated name, for the assertion's result.
    fn name(&self, user: &mut UserState) -> String;

    /// The results that the assertion checks.
    fn scope(&self) -> AssertionScope {
        AssertionScope::Parent
    }

    /// Whether the result is set to successful before this assertion checks it, so that an expected failure can
    /// pass.
    fn assumes_success(&self) -> bool {
        false
    }

    /// Checks one result: the main result or a sub-result. The engine has moved it out of the `UserState`.
    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult;

    /// Checks a result that the assertion (a script) may change.
    fn check_and_change(&self, user: &mut UserState, result: &mut SampleResult) -> AssertionResult {
        self.check(user, result)
    }

    /// The parts of the result that the assertion reads.
    fn retention(&self) -> Retention;
}

/// The results that an assertion checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssertionScope {
    /// The main result, or a variable.
    #[default]
    Parent,
    /// The sub-results.
    Children,
    /// The main result and the sub-results.
    All,
}

/// The delay that a timer requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Delay, in nanoseconds.
    pub wait_ns: u64,
    /// The scheduled start that a rate-setting timer has assigned; `None` for think times.
    pub slot: Option<Nanos>,
}

/// A timer before a sampler. The delays of all timers are added.
pub trait Timer: Send + Sync + fmt::Debug {
    /// The delay before the next sample.
    fn delay(&self, user: &mut UserState) -> Delay;

    /// The gate of a timer that waits for other users. It is passed before the delay is computed.
    fn gate(&self) -> Option<&dyn Gate> {
        None
    }
}

/// An element that advances at the start of each pass of its nearest enclosing controller: counters, random
/// variables, CSV rows.
pub trait IterationStep: Send + Sync + fmt::Debug {
    /// Advances the element. An error, such as the end of a CSV file, ends the user, and its text is logged.
    fn step(&self, user: &mut UserState) -> Result<(), StopUser>;
}

/// The reason why an element stops the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopUser(pub String);
