//! A compiled test plan.

use crate::group::Group;
use crate::open::OpenWorkload;
use crate::result::ShownDetails;
use crate::variables::Slot;

/// A compiled test plan.
#[derive(Debug)]
pub struct Program<P> {
    /// The thread groups, in the plan's order.
    pub groups: Vec<Group<P>>,
    /// Open workloads, whose groups run the scheduled sessions. All other groups start their own users.
    pub open: Vec<OpenWorkload>,
    /// Whether groups run one after another.
    pub serialize_groups: bool,
    /// Whether tearDown groups run even when the test was stopped.
    pub tear_down_on_stop: bool,
    /// Whether a function in a text evaluates a script, a regular expression or an expression, which may take long.
    pub evaluates: bool,
    /// Slots of `sample_variables`, in their order.
    pub sample_variables: Vec<Slot>,
    /// For each set of listeners, the details that they show in addition to rows. Empty if no listener shows details.
    pub shown_details: Vec<Option<ShownDetails>>,
}

impl<P> Program<P> {
    /// Whether a listener also shows assertions that passed.
    pub fn notes_assertions(&self) -> bool {
        !self.shown_details.is_empty()
    }

    /// The details that the listeners of this set show in addition to rows.
    pub fn details_shown_by(&self, listeners: u32) -> Option<ShownDetails> {
        self.shown_details.get(listeners as usize).copied().flatten()
    }
}
