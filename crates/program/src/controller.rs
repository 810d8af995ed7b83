//! Kinds of controllers and their settings.

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
    /// An element such as a counter, a random variable or a CSV data set.
    Step(Arc<dyn IterationStep>),
    /// A controller that restarts with each pass of an enclosing controller.
    Controller(ControllerId),
}

/// Evaluates a controller's condition.
pub trait Condition: Send + Sync + fmt::Debug {
    /// Returns whether the condition is true. Errors are logged and count as false.
    fn holds(&self, user: &mut UserState) -> bool;
}

/// Which passes a throughput controller executes.
#[derive(Clone, Debug)]
pub enum Throughput {
    /// It executes this number of passes in total.
    Total(Template),
    /// It executes this percentage of the passes.
    Percent(Template),
}

/// How a controller executes its children.
#[derive(Debug)]
pub enum ControllerKind {
    /// Executes all children, one after another.
    Simple,
    /// Executes all children this number of times; −1: forever. With `forever`, the loop can run again in the parent's next
    /// pass.
    Loop {
        /// Number of passes.
        count: Template,
        /// JMeter's `continue_forever`.
        forever: bool,
    },
    /// Executes the children if a condition is true.
    If {
        /// The condition.
        condition: Box<dyn Condition>,
        /// Whether the condition is evaluated before each child, not only at the start of a pass.
        evaluate_all: bool,
    },
    /// Executes the children until the text is `false`. A blank text ends the loop when a sample fails. With `LAST`, the
    /// loop does not even start after a failed sample.
    While {
        /// The condition's text.
        condition: Template,
    },
    /// Executes the children once for each of the variables `input_1`, `input_2`, ….
    ForEach {
        /// Prefix of the input variables.
        input: Template,
        /// The variable that is set to each value.
        output: Template,
        /// Index before the first one; empty: 0.
        start: Template,
        /// Last index; empty: no end.
        end: Template,
        /// Whether there is a `_` between prefix and number.
        separator: bool,
    },
    /// Executes the children only in the first pass of the thread group.
    OnceOnly,
    /// Executes one child per pass, in turn.
    Interleave {
        /// Whether one sampler of a child controller is run per pass, until the child is done.
        use_sub_controllers: bool,
        /// Whether users start with different children.
        across_users: bool,
    },
    /// Executes one child per pass, chosen at random.
    Random {
        /// The same setting as that of `Interleave`.
        use_sub_controllers: bool,
    },
    /// Executes all children in random order.
    RandomOrder,
    /// Executes the children only in some of the passes.
    Throughput {
        /// The number or the percentage of the passes that are executed.
        amount: Throughput,
        /// Whether each user counts separately.
        per_user: bool,
        /// Counts of all users: executions and passes.
        shared: Arc<ThroughputCounts>,
    },
    /// Measures its children as one sample.
    Transaction(Box<TransactionSettings>),
    /// Executes one child per pass: the one with this index (from 0) or name.
    Switch {
        /// Index or name; blank: the first child. If no child matches, the child named `default` is executed, if there is
        /// one.
        selection: Template,
    },
    /// Executes all children repeatedly for a number of seconds.
    Runtime {
        /// The number of seconds; a text that is not a number counts as 0.
        seconds: Template,
        /// Where each user stores the time when it entered the controller.
        begun: StateId,
    },
    /// Executes all children while no other user is in a section with the same lock.
    Critical(CriticalSection),
    /// Executes all children after setting variables.
    Parameterized(Box<[Assignment]>),
    /// Executes one child per pass, in proportion to the weights of the children.
    Weighted(WeightedChoice),
}

impl ControllerKind {
    /// Whether *Start Next Loop* and *Break Loop* apply to the controller.
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
    /// Where each user stores the lock that it holds.
    pub held: StateId,
}

/// A variable and the value to which it is set.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Name.
    pub name: Template,
    /// Value.
    pub value: Template,
}

/// How a Weighted Switch Controller chooses its children.
#[derive(Debug)]
pub struct WeightedChoice {
    /// Weights of the children, in their order.
    pub weights: Box<[Template]>,
    /// Whether the child is drawn at random by its weight. Otherwise, the child that is furthest behind its share is chosen.
    pub random: bool,
    /// Where each user stores the number of passes of each child.
    pub state: StateId,
}

/// Numbers of executions and of passes of a throughput controller that counts them over all users.
#[derive(Debug, Default)]
pub struct ThroughputCounts(pub std::sync::Mutex<(i64, i64)>);

/// A transaction controller's settings and scope.
#[derive(Debug)]
pub struct TransactionSettings {
    /// Whether its sample replaces those of its children.
    pub parent: bool,
    /// Whether the time of timers and processors between the children is included.
    pub include_timers: bool,
    /// Assertions in its scope (parent mode).
    pub assertions: Box<[Arc<dyn Assertion>]>,
    /// Index of the set of listeners in its scope (parent mode).
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
    /// The kind of controller, with its settings.
    pub kind: ControllerKind,
    /// Its children, in order.
    pub children: Box<[Child]>,
    /// The elements that are notified of each of its passes.
    pub listeners: Box<[IterationListener]>,
}
