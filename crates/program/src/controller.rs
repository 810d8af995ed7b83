//! What a controller does with its children.

use std::fmt;
use std::sync::Arc;

use crate::element::{Assertion, IterationStep, Processor};
use crate::ids::{Child, ControllerId};
use crate::template::Template;
use crate::user::{StateId, UserState};
use crate::variables::Slot;

/// An element that is notified of each pass of a controller, in the order of the calls.
#[derive(Clone, Debug)]
pub enum IterationListener {
    /// A counter, random variable, CSV row.
    Step(Arc<dyn IterationStep>),
    /// A controller that restarts with each pass of an enclosing one.
    Controller(ControllerId),
}

/// Evaluates a controller's condition.
pub trait Condition: Send + Sync + fmt::Debug {
    /// Whether the condition is true. Errors are logged and count as false.
    fn holds(&self, user: &mut UserState) -> bool;
}

/// How a throughput controller counts.
#[derive(Clone, Debug)]
pub enum Throughput {
    /// This number of executions in all.
    Total(Template),
    /// This percentage of the passes.
    Percent(Template),
}

/// What a controller does with its children.
#[derive(Debug)]
pub enum ControllerKind {
    /// All of them, one after another.
    Simple,
    /// All of them, this number of times; −1: forever. `forever`: usable again in the parent's next pass.
    Loop {
        /// Number of passes.
        count: Template,
        /// JMeter's `continue_forever`.
        forever: bool,
    },
    /// While a condition is true.
    If {
        /// The condition.
        condition: Box<dyn Condition>,
        /// Whether the condition is evaluated before each child, not only at the start of a pass.
        evaluate_all: bool,
    },
    /// Until the text is `false`; blank: until a sample fails; `LAST`: not even started after a failed sample.
    While {
        /// The condition's text.
        condition: Template,
    },
    /// Once for each of `input_1`, `input_2`, ….
    ForEach {
        /// Prefix of the input variables.
        input: Template,
        /// The variable that is set to each value.
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
        /// Whether one sampler of a child controller is run per pass, until the child is done.
        use_sub_controllers: bool,
        /// Whether users start with different children.
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
        /// The number of executions.
        amount: Throughput,
        /// Whether each user counts separately.
        per_user: bool,
        /// Counts of all users: executions and passes.
        shared: Arc<ThroughputCounts>,
    },
    /// Measures its children as one sample.
    Transaction(Box<TransactionSettings>),
    /// One child per pass: the one with this index (from 0) or name.
    Switch {
        /// Index or name; blank: the first; no match: the child named `default`, if there is one.
        selection: Template,
    },
    /// All of them, repeated for some seconds.
    Runtime {
        /// The number of seconds; a text that is not a number counts as 0.
        seconds: Template,
        /// Its start time, in each user.
        begun: StateId,
    },
    /// All of them, while no other user is inside a section of the same lock.
    Critical(CriticalSection),
    /// All of them, after variables have been set.
    Parameterized(Box<[Assignment]>),
    /// One child per pass, in proportion to their weights.
    Weighted(WeightedChoice),
}

impl ControllerKind {
    /// Whether *Start Next Loop* and *Break Loop* apply to it.
    pub fn is_loop(&self) -> bool {
        match self {
            ControllerKind::Loop { .. } | ControllerKind::While { .. } | ControllerKind::ForEach { .. } => {
                true
            }
            ControllerKind::Simple
            | ControllerKind::If { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::Interleave { .. }
            | ControllerKind::Random { .. }
            | ControllerKind::RandomOrder
            | ControllerKind::Throughput { .. }
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Runtime { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => false,
        }
    }
}

/// A section that only one user at a time may run.
#[derive(Debug)]
pub struct CriticalSection {
    /// Name of the lock; empty: no lock.
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

/// The order of children under a Weighted Switch Controller.
#[derive(Debug)]
pub struct WeightedChoice {
    /// Weights of the children, in their order.
    pub weights: Box<[Template]>,
    /// Whether the child is drawn at random by its weight. Otherwise it is the one furthest behind its share.
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
    /// Whether its sample replaces those of its children.
    pub parent: bool,
    /// Whether timers and processors between the children count.
    pub include_timers: bool,
    /// Assertions in its scope (parent mode).
    pub assertions: Box<[Arc<dyn Assertion>]>,
    /// Listeners in its scope (parent mode).
    pub listeners: u32,
    /// Listeners in its scope that run code (parent mode).
    pub sample_listeners: Box<[Arc<dyn Processor>]>,
}

/// A controller.
#[derive(Debug)]
pub struct Controller {
    /// Name.
    pub name: Template,
    /// The variable for the index of the pass (`__jm__<name>__idx`), for loops.
    pub index_slot: Option<Slot>,
    /// What it does.
    pub kind: ControllerKind,
    /// Its children, in order.
    pub children: Box<[Child]>,
    /// The elements that are notified of each of its passes.
    pub listeners: Box<[IterationListener]>,
}
