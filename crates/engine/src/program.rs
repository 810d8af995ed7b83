//! The compiled form of a test plan.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use busyhour_record::{LabelId, Nanos};

use crate::crowd::Crowd;
use crate::element::{Assertion, IterationStep, Processor, Timer};
use crate::open::OpenWorkload;
pub use crate::reporting::DetailWish;
use crate::result::Keep;
use crate::template::Template;
use crate::user::{LogicalAction, StateId, UserState};
use crate::variables::Slot;

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

/// Index of a sampler in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerId(pub u32);

/// Index of a controller in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerId(pub u32);

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

/// A child of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Another controller.
    Controller(ControllerId),
    /// A sampler.
    Sampler(SamplerId),
}

/// Something that hears of each pass of a controller, in the order it is called.
#[derive(Clone, Debug)]
pub enum IterationListener {
    /// A counter, random variable, CSV row.
    Step(Arc<dyn IterationStep>),
    /// A controller that starts afresh with each pass of an enclosing one.
    Controller(ControllerId),
}

/// Evaluates a controller's condition.
pub trait Condition: Send + Sync + fmt::Debug {
    /// Whether it holds; what goes wrong is logged and counts as false.
    fn holds(&self, user: &mut UserState) -> bool;
}

/// How a throughput controller counts.
#[derive(Clone, Debug)]
pub enum Throughput {
    /// So many executions in all.
    Total(Template),
    /// So many percent of the passes.
    Percent(Template),
}

/// What a controller does with its children.
#[derive(Debug)]
pub enum ControllerKind {
    /// All of them, one after another.
    Simple,
    /// All of them, so many times; −1: for ever. `forever`: usable again in the parent's next pass.
    Loop {
        /// Number of passes.
        count: Template,
        /// JMeter's `continue_forever`.
        forever: bool,
    },
    /// While a condition holds.
    If {
        /// The condition.
        condition: Box<dyn Condition>,
        /// Ask before each child, not only at the start of a pass.
        evaluate_all: bool,
    },
    /// Until the text is `false`; blank: until a sample fails; `LAST`: also not to begin with after one.
    While {
        /// The condition's text.
        condition: Template,
    },
    /// Once for each of `input_1`, `input_2`, ….
    ForEach {
        /// Prefix of the variables to go through.
        input: Template,
        /// Variable that receives each.
        output: Template,
        /// Index before the first; empty: 0.
        start: Template,
        /// Last index; empty: no end.
        end: Template,
        /// `_` between prefix and number.
        separator: bool,
    },
    /// Only in the first pass of the thread group.
    OnceOnly,
    /// One child per pass, in turn.
    Interleave {
        /// Take one sampler of a child controller per pass and stay with it until it is done.
        use_sub_controllers: bool,
        /// Users begin with different children.
        across_users: bool,
    },
    /// One child per pass, at random.
    Random {
        /// As for interleave.
        use_sub_controllers: bool,
    },
    /// All of them in random order.
    RandomOrder,
    /// Only some of the passes.
    Throughput {
        /// How many.
        amount: Throughput,
        /// Each user counts for itself.
        per_user: bool,
        /// Counts of all users: executions and passes.
        shared: Arc<ThroughputCounts>,
    },
    /// Measures its children together.
    Transaction(Box<TransactionSettings>),
    /// One child per pass: the one of this number (from 0) or name.
    Switch {
        /// Number or name; blank: the first, of no child: the one called `default`, if there is one.
        selection: Template,
    },
    /// All of them, over and over for some seconds.
    Runtime {
        /// How many; what is no number counts as 0.
        seconds: Template,
        /// When it began, in each user.
        begun: StateId,
    },
    /// All of them, while no other user is inside a section of the same lock.
    Critical(CriticalSection),
    /// All of them, after variables have been set.
    Parameterized(Box<[Assignment]>),
    /// One child per pass, so that each gets its share of the passes.
    Weighted(WeightedChoice),
}

/// A section that one user at a time may be in.
#[derive(Debug)]
pub struct CriticalSection {
    /// Name of the lock; empty: none is taken.
    pub lock: Template,
    /// The lock that a user holds.
    pub held: StateId,
}

/// A variable and the value it is given.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Name.
    pub name: Template,
    /// Value.
    pub value: Template,
}

/// Whose turn it is under a Weighted Switch Controller.
#[derive(Debug)]
pub struct WeightedChoice {
    /// Weights of the children, in their order.
    pub weights: Box<[Template]>,
    /// The child is drawn by its weight; otherwise it is the one that is furthest behind its share.
    pub random: bool,
    /// Each user's counts.
    pub state: StateId,
}

/// Executions and passes of a throughput controller that counts over all users.
#[derive(Debug, Default)]
pub struct ThroughputCounts(pub std::sync::Mutex<(i64, i64)>);

/// A transaction controller's settings and scope.
#[derive(Debug)]
pub struct TransactionSettings {
    /// Its sample takes the place of its children's.
    pub parent: bool,
    /// Timers and processors between the children count.
    pub include_timers: bool,
    /// Assertions in its scope (parent mode).
    pub assertions: Box<[Arc<dyn Assertion>]>,
    /// Listeners in its scope (parent mode).
    pub listeners: u32,
    /// Listeners in its scope that do more than write rows (parent mode).
    pub hearers: Box<[Arc<dyn Processor>]>,
}

/// A controller.
#[derive(Debug)]
pub struct Controller {
    /// Name.
    pub name: Template,
    /// Where the index of the pass is written (`__jm__<name>__idx`), for loops.
    pub index_slot: Option<Slot>,
    /// What it does.
    pub kind: ControllerKind,
    /// Its children, in order.
    pub children: Box<[Child]>,
    /// Who hears of each of its passes.
    pub listeners: Box<[IterationListener]>,
}

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
    pub crowd: Option<Box<Crowd>>,
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
    pub(crate) fn sections(&self) -> impl Iterator<Item = StateId> {
        self.controllers.iter().filter_map(|controller| match &controller.kind {
            ControllerKind::Critical(section) => Some(section.held),
            _ => None,
        })
    }
}

/// A compiled test plan.
#[derive(Debug)]
pub struct Program<P> {
    /// The thread groups, in the plan's order.
    pub groups: Vec<Group<P>>,
    /// Open workloads: the main groups in them are walked by sessions that begin by schedule. The others start their
    /// own users.
    pub open: Vec<OpenWorkload>,
    /// One group after another.
    pub serialize_groups: bool,
    /// TearDown groups run even when the test was stopped.
    pub tear_down_on_stop: bool,
    /// Slots of `sample_variables`, in their order.
    pub sample_variables: Vec<Slot>,
    /// By set of listeners: what they show beyond rows, if anything. Empty: nobody does.
    pub detail_wishes: Vec<Option<DetailWish>>,
}

impl<P> Program<P> {
    /// Whether somebody shows assertions that hold, too.
    pub(crate) fn notes_assertions(&self) -> bool {
        !self.detail_wishes.is_empty()
    }

    /// What the listeners of this set show beyond rows.
    pub(crate) fn detail_wish(&self, listeners: u32) -> Option<DetailWish> {
        self.detail_wishes.get(listeners as usize).copied().flatten()
    }
}
