//! What a controller does with its children.

use std::fmt;
use std::sync::Arc;

use crate::element::{Assertion, IterationStep, Processor};
use crate::ids::{Child, ControllerId};
use crate::template::Template;
use crate::user::{StateId, UserState};
use crate::variables::Slot;

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
