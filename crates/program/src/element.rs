//! What may stand around a sampler, one trait per axis. Implementations live in the adapter crates.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use busyhour_record::Nanos;

use crate::result::{AssertionResult, Keep, SampleResult};
use crate::user::UserState;

/// What may hold a user back without holding up its core: a barrier, an empty queue.
pub trait Gate: Send + Sync + fmt::Debug {
    /// Lets the user pass when its time has come, or when the run is stopped. Does all of its element's work.
    fn pass<'u>(&'u self, user: &'u mut UserState) -> Passing<'u>;
}

/// A user on its way through a [`Gate`].
pub type Passing<'u> = Pin<Box<dyn Future<Output = ()> + 'u>>;

/// A pre-processor (before the timers) or post-processor (after the sampler; the result is `user.result`).
pub trait Processor: Send + Sync + fmt::Debug {
    /// Does its work; what goes wrong is logged, as in JMeter.
    fn process(&self, user: &mut UserState);

    /// What it needs to be kept of the result.
    fn keep(&self) -> Keep {
        Keep::default()
    }

    /// Whether it may look at the sampler at hand or its cookies, see [`UserState::request`].
    fn opens_request(&self) -> bool {
        false
    }

    /// A pre-processor that may have to wait: it is passed instead of [`Self::process`] being called.
    fn gate(&self) -> Option<&dyn Gate> {
        None
    }
}

/// An assertion on a result.
pub trait Assertion: Send + Sync + fmt::Debug {
    /// Name as rendered, for the assertion's result.
    fn name(&self, user: &mut UserState) -> String;

    /// Which results it looks at.
    fn scope(&self) -> AssertionScope {
        AssertionScope::Parent
    }

    /// Whether the result counts as successful before this assertion looks at it, so that a failure can be what
    /// is expected.
    fn assumes_success(&self) -> bool {
        false
    }

    /// Looks at one result (the main one or a sub-result, which the engine has taken out of the user).
    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult;

    /// The same for an assertion that may change the result (a script).
    fn check_and_change(&self, user: &mut UserState, result: &mut SampleResult) -> AssertionResult {
        self.check(user, result)
    }

    /// What it needs to be kept of the result.
    fn keep(&self) -> Keep;
}

/// Which results an assertion looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssertionScope {
    /// The main result (also: a variable).
    #[default]
    Parent,
    /// The sub-results.
    Children,
    /// Both.
    All,
}

/// A timer's wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// How long to wait, in nanoseconds.
    pub wait_ns: u64,
    /// The slot a rate-setting timer gave the sample; `None` for think times.
    pub slot: Option<Nanos>,
}

/// A timer before a sampler; the delays of all its timers add up.
pub trait Timer: Send + Sync + fmt::Debug {
    /// The delay for the sample to come.
    fn delay(&self, user: &mut UserState) -> Delay;

    /// A timer that waits for others: it is passed before its delay is asked for.
    fn gate(&self) -> Option<&dyn Gate> {
        None
    }
}

/// Something that steps at the start of each pass of its nearest enclosing controller: counters, random
/// variables, CSV rows.
pub trait IterationStep: Send + Sync + fmt::Debug {
    /// Steps. An error ends the user (for instance at the end of a CSV file), its text is logged.
    fn step(&self, user: &mut UserState) -> Result<(), StopUser>;
}

/// Why a user stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopUser(pub String);
