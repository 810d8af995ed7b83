//! What a sampler is: its protocol, and everything in its scope.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use busyhour_record::{LabelId, Nanos};

use crate::controller::Assignment;
use crate::element::{Assertion, Processor, Timer};
use crate::ids::ControllerId;
use crate::result::Keep;
use crate::template::Template;
use crate::user::{LogicalAction, UserState};

/// A protocol (or several behind an enum): performs one request and fills in `user.result`.
pub trait Protocol: Sized + Send + Sync + 'static {
    /// What a user keeps between requests: connections, cookies, caches.
    type Session;

    /// The session of a user that is about to start.
    fn session(user: &UserState) -> Self::Session;

    /// An iteration of the thread group begins. `same_user`: the iteration goes on as the same visitor.
    fn iteration_started(session: &mut Self::Session, user: &mut UserState, same_user: bool);

    /// Another visitor takes the user's place: nothing of the one before may be seen, except that connections may be
    /// used again if `keep_connections`.
    fn visitor_changed(session: &mut Self::Session, keep_connections: bool);

    /// A user begins to do several things at once: the session of one of them sees what the user's own has seen.
    fn branch(_session: &Self::Session, _branch: &mut Self::Session) {}

    /// One of them has ended: what was seen there is seen by the user from now on.
    fn rejoin(_session: &mut Self::Session, _branch: &mut Self::Session) {}

    /// Performs the request. Everything that is rendered from variables is rendered first, then
    /// [`UserState::begin_result`] is called, then the request is made.
    fn sample(
        &self,
        user: &mut UserState,
        session: &mut Self::Session,
        label: &Template,
        intended: Nanos,
        keep: Keep,
    ) -> impl Future<Output = ()>;

    /// When the sample just made ended for its user. A sampler that makes up its times may say otherwise than its
    /// result.
    fn ended(&self, user: &UserState) -> Nanos {
        user.result.end
    }

    /// Whether a Sample Timeout can drop its samples in mid-way. One that ends them in a way of its own says no, and goes
    /// by [`UserState::interrupt_at`].
    fn is_interruptible(&self) -> bool {
        true
    }

    /// A sample was given up in mid-way by a Sample Timeout: makes `user.result`, which was begun, what JMeter's sampler
    /// makes of an interrupt. `end` is set afterwards.
    fn interrupted(&self, user: &mut UserState, _session: &mut Self::Session, _keep: Keep) {
        user.result.success = false;
    }
}

/// A sampler that does no I/O (the debug sampler). Fills in `user.result` after calling
/// [`UserState::begin_result`].
pub trait ImmediateSampler: Send + Sync + fmt::Debug {
    /// Makes the sample.
    fn sample(&self, user: &mut UserState, label: &Template, intended: Nanos);
}

/// What a flow control action (JMeter's Test Action) does.
#[derive(Clone, Debug)]
pub enum FlowAction {
    /// Wait so many milliseconds.
    Pause(Template),
    /// Stop this user.
    StopUser,
    /// Stop the test; samples in flight finish.
    StopTest,
    /// Stop the test at once.
    StopTestNow,
    /// Start the thread group's next iteration.
    NextIterationOfThread,
    /// Start the nearest loop's next iteration.
    NextIterationOfLoop,
    /// Leave the nearest loop.
    BreakLoop,
    /// Set variables.
    Set(Box<[Assignment]>),
}

/// What happens after a failed sample, by a Result Status Action Handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureAction {
    /// This user stops.
    StopUser,
    /// The test stops; samples in flight finish.
    StopTest,
    /// The test stops at once.
    StopTestNow,
    /// The user goes on somewhere else.
    Jump(LogicalAction),
}

/// What a sampler does.
#[derive(Debug)]
pub enum SamplerKind<P> {
    /// A request.
    Protocol(P),
    /// A sample without I/O.
    Immediate(Arc<dyn ImmediateSampler>),
    /// No sample: an action on the flow.
    Flow(FlowAction),
    /// Several branches at the same time.
    Parallel(Box<Parallel>),
}

/// What a user does side by side (BlazeMeter's Parallel Controller).
#[derive(Debug)]
pub struct Parallel {
    /// A loop of one pass for each child. They stand below no other controller.
    pub branches: Box<[ControllerId]>,
    /// One sample takes the place of those of the branches, which stand inside of it.
    pub parent: bool,
    /// So many branches at a time; `None`: all.
    pub at_once: Option<Template>,
}

/// Listeners that do more than write rows; they find the sample in `user.result`, after the assertions.
#[derive(Clone, Debug, Default)]
pub struct Hearers {
    /// All in the sampler's scope.
    pub all: Box<[Arc<dyn Processor>]>,
    /// Those that hear its samples and not only the transaction that takes their place.
    pub in_transaction: Box<[Arc<dyn Processor>]>,
}

/// A sampler with all that its scope puts around it.
#[derive(Debug)]
pub struct SamplerPackage<P> {
    /// Name; the sample's label.
    pub label: Template,
    /// The label's number when nothing in it varies.
    pub label_id: Option<LabelId>,
    /// What it does.
    pub kind: SamplerKind<P>,
    /// Pre-processors in the order they run.
    pub before: Box<[Arc<dyn Processor>]>,
    /// Timers; their delays add up.
    pub timers: Box<[Arc<dyn Timer>]>,
    /// Post-processors in the order they run.
    pub after: Box<[Arc<dyn Processor>]>,
    /// Assertions in the order they run.
    pub assertions: Box<[Arc<dyn Assertion>]>,
    /// What these need of the result.
    pub keep: Keep,
    /// Listeners that do more than write rows, in the order they hear of a sample.
    pub hearers: Hearers,
    /// Index of the set of listeners that see its samples.
    pub listeners: u32,
    /// The same without the listeners that see the enclosing parent transaction instead; `None`: nobody is left.
    pub listeners_in_transaction: Option<u32>,
    /// What follows when it fails, in the order of the listeners.
    pub on_failure: Box<[FailureAction]>,
    /// After so many milliseconds its sample is interrupted, for each Sample Timeout of the group.
    pub timeouts_ms: Arc<[Template]>,
    /// Enclosing controllers, nearest first, up to the group's own.
    pub ancestors: Box<[ControllerId]>,
}
