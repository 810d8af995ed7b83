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
/// The program is generic over its protocol, so that the path of a sample has no dynamic call.
///
/// # Order of calls
///
/// For each user:
///
/// 1. [`session`](Self::session) once, before its first iteration;
/// 2. in an open workload, [`visitor_changed`](Self::visitor_changed) before each arrival that the user serves;
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
/// shared by the users of all cores. [`sample`](Self::sample) may wait with `.await`, and other users of the core run meanwhile; no method may
/// block the thread, and no borrow of a thread-local may be held across an `.await`.
///
/// # What may be kept
///
/// Between samples, everything in the [`Session`](Self::Session). Values that all users of a run share belong into
/// [`RunShared::shared`](crate::run::RunShared::shared). Buffers of `user.result` are reused by the next sample; a steady
/// state allocates nothing per sample, except for the parts in `keep`. The future of a sample must be correct to drop at any
/// suspension: what it has taken out of the session is then lost.
///
/// # Errors
///
/// A request that fails is a failed sample: `user.result` has `success == false` and JMeter's code and message for
/// the failure. It is not an error of the run, and the user goes on.
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
///     fn visitor_changed(session: &mut u32, _keep_connections: bool) {
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
/// # let mut user = busyhour_program::testing::lone_user(&busyhour_program::testing::still(&clock), 0);
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

    /// The session of a user that is about to start.
    fn session(user: &UserState) -> Self::Session;

    /// An iteration of the thread group starts. `same_user`: cookies and caches are retained.
    fn iteration_started(session: &mut Self::Session, user: &mut UserState, same_user: bool);

    /// A new session starts on this user. It must not see anything of the previous one; connections may be
    /// reused if `keep_connections`.
    fn visitor_changed(session: &mut Self::Session, keep_connections: bool);

    /// A user starts parallel branches: the session of a branch starts as a copy of the user's.
    fn branch(_session: &Self::Session, _branch: &mut Self::Session) {}

    /// A branch has ended: what its session has collected is merged into the user's.
    fn rejoin(_session: &mut Self::Session, _branch: &mut Self::Session) {}

    /// Sends the request. All texts are rendered first, then [`UserState::begin_result`] is called, then the request is
    /// sent. `user.result.times.end` is set before the future is ready. `keep` are the parts of the result that
    /// the plan reads; the sampler only counts the bytes of others.
    fn sample(
        &self,
        user: &mut UserState,
        session: &mut Self::Session,
        label: &Template,
        intended: Nanos,
        keep: Retention,
    ) -> impl Future<Output = ()>;

    /// When the last sample ended for its user. A sampler that simulates times may return another time than its
    /// result has.
    fn ended(&self, user: &UserState) -> Nanos {
        user.result.times.end
    }

    /// Whether a Sample Timeout can drop its samples. A sampler that ends them itself returns false and
    /// checks [`UserState::interrupt_at`].
    fn is_interruptible(&self) -> bool {
        true
    }

    /// A Sample Timeout has dropped a sample: turns `user.result`, which was started, into the result that JMeter's sampler has
    /// after an interrupt. `end` is set afterwards.
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

/// What a flow control action (JMeter's Test Action) does.
#[derive(Clone, Debug)]
pub enum FlowAction {
    /// Wait for this number of milliseconds.
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
    /// The user continues somewhere else.
    Jump(LogicalAction),
}

/// What a sampler does.
#[derive(Debug)]
pub enum SamplerKind<P> {
    /// A request.
    Protocol(P),
    /// A sampler without I/O.
    Immediate(Arc<dyn ImmediateSampler>),
    /// No sample: a flow control action.
    Flow(FlowAction),
    /// Several branches in parallel.
    Parallel(Box<Parallel>),
}

/// Parallel branches (BlazeMeter's Parallel Controller).
#[derive(Debug)]
pub struct Parallel {
    /// For each child, a loop with one pass. They have no other parent controller.
    pub branches: Box<[ControllerId]>,
    /// One sample replaces those of the branches, which become its sub-results.
    pub parent: bool,
    /// The greatest number of branches at a time; `None`: all.
    pub at_once: Option<Template>,
}

/// Listeners that run code (not only write rows); they read the sample from `user.result`, after the assertions.
#[derive(Clone, Debug, Default)]
pub struct SampleListeners {
    /// All in the sampler's scope.
    pub all: Box<[Arc<dyn Processor>]>,
    /// Those that receive its samples also when a parent transaction replaces them.
    pub in_transaction: Box<[Arc<dyn Processor>]>,
}

/// A sampler with all elements in its scope.
#[derive(Debug)]
pub struct SamplerPackage<P> {
    /// Name; the label of its samples.
    pub label: Template,
    /// The label's index if it is constant.
    pub label_id: Option<LabelId>,
    /// What it does.
    pub kind: SamplerKind<P>,
    /// Pre-processors in the order they run.
    pub before: Box<[Arc<dyn Processor>]>,
    /// Timers; their delays are added.
    pub timers: Box<[Arc<dyn Timer>]>,
    /// Post-processors in the order they run.
    pub after: Box<[Arc<dyn Processor>]>,
    /// Assertions in the order they run.
    pub assertions: Box<[Arc<dyn Assertion>]>,
    /// The parts of the result that these read.
    pub keep: Retention,
    /// Listeners that run code, in the order in which they receive a sample.
    pub sample_listeners: SampleListeners,
    /// Index of the set of listeners that see its samples.
    pub listeners: u32,
    /// The same without the listeners that receive the enclosing parent transaction instead; `None`: no listener is left.
    pub listeners_in_transaction: Option<u32>,
    /// What happens when it fails, in the order of the listeners.
    pub on_failure: Box<[FailureAction]>,
    /// For each Sample Timeout of the group, the milliseconds after which a sample is interrupted.
    pub timeouts_ms: Arc<[Template]>,
    /// Enclosing controllers, nearest first, up to the group's own.
    pub ancestors: Box<[ControllerId]>,
}
