//! A sampler: its protocol and everything in its scope.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use busyhour_sample::{LabelId, Nanos};

use crate::controller::Assignment;
use crate::element::{Assertion, Processor, Timer};
use crate::ids::ControllerId;
use crate::result::Retention;
use crate::template::Template;
use crate::user::{LogicalAction, UserState};

/// A protocol (or several behind an enum): sends one request and fills in `user.result`.
///
/// The program is generic over its protocol, so that executing a sample needs no dynamic dispatch.
///
/// # Order of calls
///
/// For each user:
///
/// 1. [`session`](Self::session) once, before its first iteration;
/// 2. in an open workload, [`begin_arrival`](Self::begin_arrival) before each arrival that the user serves;
/// 3. [`iteration_started`](Self::iteration_started) at the start of each iteration of the thread group, before its first sampler;
/// 4. for each sampler, after its pre-processors and timers: [`sample`](Self::sample), then [`ended`](Self::ended). Post-processors,
///    assertions and the recorder read `user.result` afterwards.
///
/// If a Sample Timeout expires, the engine drops the future of [`sample`](Self::sample) at its next suspension and calls
/// [`interrupted`](Self::interrupted), then [`ended`](Self::ended). It does so only if
/// [`is_interruptible`](Self::is_interruptible).
///
/// A Parallel Controller runs each branch as a user: [`branch`](Self::branch) before each pass of a branch,
/// [`rejoin`](Self::rejoin) when the branch has ended. Meanwhile the session of the user itself is not used.
///
/// # Threads
///
/// A user never leaves the thread of its core, and neither does its session, which need not be `Send`. The sampler itself is
/// shared by the users of all cores. While [`sample`](Self::sample) waits with `.await`, other users of the core run. No
/// method may block the thread, and no borrow of a thread-local may be held across an `.await`.
///
/// # What a protocol may store
///
/// State that is retained between samples belongs in the [`Session`](Self::Session). Values that all users of a run share
/// belong in [`RunShared::shared`](crate::run::RunShared::shared). Buffers of `user.result` are reused by the next sample; a
/// steady state allocates nothing per sample, except for the parts in `keep`. Dropping the future of a sample must be safe
/// at any suspension: values that it has taken out of the session are then lost.
///
/// # Errors
///
/// A request that fails is a failed sample: `user.result` has `success == false` and JMeter's code and message for the
/// failure. The failure is not an error of the run, and the user continues.
///
/// # Example
///
/// A protocol that counts its samples instead of sending anything:
///
/// ```
/// use busyhour_program::result::Retention;
/// use busyhour_program::sampler::Protocol;
/// use busyhour_program::template::Template;
/// use busyhour_program::user::UserState;
/// use busyhour_sample::Nanos;
///
/// struct Count {
///     text: Template,
/// }
///
/// impl Protocol for Count {
///     type Session = u32;
///
///     fn session(_user: &UserState) -> u32 {
///         0
///     }
///
///     fn iteration_started(session: &mut u32, _user: &mut UserState, same_user: bool) {
///         if !same_user {
///             *session = 0;
///         }
///     }
///
///     fn begin_arrival(session: &mut u32, _keep_connections: bool) {
///         *session = 0;
///     }
///
///     async fn sample(
///         &self,
///         user: &mut UserState,
///         session: &mut u32,
///         label: &Template,
///         intended: Nanos,
///         keep: Retention,
///     ) {
///         // Texts first: they may refer to the previous result.
///         let text = self.text.text(user).into_owned();
///         user.begin_result(label, intended);
///         *session += 1;
///         user.result.outcome.code.push_str("200");
///         user.result.sizes.body_bytes = text.len() as u64;
///         if keep.body {
///             user.result.body.extend_from_slice(text.as_bytes());
///         }
///         user.result.times.end = user.now();
///     }
/// }
///
/// # let clock = busyhour_program::clock::Clock::manual(0);
/// # let mut user = busyhour_program::testing::lone_user(&busyhour_program::testing::run_with_stopped_clock(&clock), 0);
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let sampler = Count { text: Template::literal("ping") };
/// let mut session = Count::session(&user);
/// Count::iteration_started(&mut session, &mut user, true);
/// let label = Template::literal("Ping");
/// runtime.block_on(sampler.sample(&mut user, &mut session, &label, Nanos::ZERO, Retention::ALL));
/// assert_eq!((session, user.result.outcome.success, user.result.body_text().as_ref()), (1, true, "ping"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Protocol: Sized + Send + Sync + 'static {
    /// What a user retains between requests, such as connections, cookies and caches.
    type Session;

    /// Creates the session of a user that is about to start.
    fn session(user: &UserState) -> Self::Session;

    /// Called when an iteration of the thread group starts. With `same_user`, cookies and caches are retained.
    fn iteration_started(session: &mut Self::Session, user: &mut UserState, same_user: bool);

    /// Called before the user serves another arrival of an open workload, as a new user. Data of the previous arrival must not
    /// be visible to it; connections may be reused if `keep_connections` is set.
    fn begin_arrival(session: &mut Self::Session, keep_connections: bool);

    /// Called when a user starts parallel branches: makes the session of a branch a copy of the user's.
    fn branch(_session: &Self::Session, _branch: &mut Self::Session) {}

    /// Called when a branch has ended: merges the data that its session has collected into the user's session.
    fn rejoin(_session: &mut Self::Session, _branch: &mut Self::Session) {}

    /// Sends the request. All texts are rendered first, then [`UserState::begin_result`] is called, then the request is
    /// sent. `user.result.times.end` must be set before the future completes. `keep` contains the parts of the result that
    /// the plan reads; the sampler only counts the bytes of other parts.
    fn sample(
        &self,
        user: &mut UserState,
        session: &mut Self::Session,
        label: &Template,
        intended: Nanos,
        keep: Retention,
    ) -> impl Future<Output = ()>;

    /// When the last sample ended for its user. A sampler that simulates times may return a time that differs from the one
    /// in its result.
    fn ended(&self, user: &UserState) -> Nanos {
        user.result.times.end
    }

    /// Whether a Sample Timeout can drop this sampler's samples. A sampler that ends them itself returns false and checks
    /// [`UserState::interrupt_at`].
    fn is_interruptible(&self) -> bool {
        true
    }

    /// Called when a Sample Timeout has dropped a sample: turns `user.result`, which was started, into the result that
    /// JMeter's sampler has after an interrupt. The caller sets `end` afterwards.
    fn interrupted(&self, user: &mut UserState, _session: &mut Self::Session, _keep: Retention) {
        user.result.outcome.success = false;
    }
}

/// A sampler that does no I/O (the debug sampler). Fills in `user.result` after calling
/// [`UserState::begin_result`].
pub trait ImmediateSampler: Send + Sync + fmt::Debug {
    /// Runs the sampler.
    fn sample(&self, user: &mut UserState, label: &Template, intended: Nanos);
}

/// An action of a flow control element (JMeter's Test Action).
#[derive(Clone, Debug)]
pub enum FlowAction {
    /// Wait for this number of milliseconds.
    Pause(Template),
    /// Stop this user.
    StopUser,
    /// Stop the test; samples in flight finish.
    StopTest,
    /// Stop the test immediately; samples in flight are abandoned.
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

/// An action that a Result Status Action Handler performs after a failed sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureAction {
    /// This user stops.
    StopUser,
    /// The test stops; samples in flight finish.
    StopTest,
    /// The test stops immediately; samples in flight are abandoned.
    StopTestNow,
    /// The user continues at another place of the plan.
    Jump(LogicalAction),
}

/// The kind of a sampler.
#[derive(Debug)]
pub enum SamplerKind<P> {
    /// A request.
    Protocol(P),
    /// A sampler without I/O.
    Immediate(Arc<dyn ImmediateSampler>),
    /// A flow control action, which produces no sample.
    Flow(FlowAction),
    /// Several branches in parallel.
    Parallel(Box<Parallel>),
}

/// Parallel branches (BlazeMeter's Parallel Controller).
#[derive(Debug)]
pub struct Parallel {
    /// For each child, a loop with one pass. These loops have no other parent controller.
    pub branches: Box<[ControllerId]>,
    /// Whether one sample replaces those of the branches, which become its sub-results.
    pub parent: bool,
    /// Maximum number of branches that run at the same time; `None`: all.
    pub at_once: Option<Template>,
}

/// Listeners that run code rather than only writing rows. They read the sample from `user.result`, after the assertions.
#[derive(Clone, Debug, Default)]
pub struct SampleListeners {
    /// All such listeners in the sampler's scope.
    pub all: Box<[Arc<dyn Processor>]>,
    /// Those that receive the sampler's samples even if a parent transaction replaces them.
    pub in_transaction: Box<[Arc<dyn Processor>]>,
}

/// A sampler with all elements in its scope.
#[derive(Debug)]
pub struct SamplerPackage<P> {
    /// Name; the label of its samples.
    pub label: Template,
    /// The label's index if it is constant.
    pub label_id: Option<LabelId>,
    /// The kind of sampler.
    pub kind: SamplerKind<P>,
    /// Pre-processors in the order in which they run.
    pub before: Box<[Arc<dyn Processor>]>,
    /// Timers; their delays are added.
    pub timers: Box<[Arc<dyn Timer>]>,
    /// Post-processors in the order in which they run.
    pub after: Box<[Arc<dyn Processor>]>,
    /// Assertions in the order in which they run.
    pub assertions: Box<[Arc<dyn Assertion>]>,
    /// The parts of the result that post-processors, assertions and listeners read.
    pub keep: Retention,
    /// Listeners that run code, in the order in which they receive a sample.
    pub sample_listeners: SampleListeners,
    /// Index of the set of listeners that receive its samples.
    pub listeners: u32,
    /// Index of that set without the listeners that receive the enclosing parent transaction instead; `None`: no listener is
    /// left.
    pub listeners_in_transaction: Option<u32>,
    /// The actions after a failed sample, in the order of their elements.
    pub on_failure: Box<[FailureAction]>,
    /// For each Sample Timeout of the group, the milliseconds after which a sample is interrupted.
    pub timeouts_ms: Arc<[Template]>,
    /// Enclosing controllers, nearest first, up to the group's own.
    pub ancestors: Box<[ControllerId]>,
}
