//! A compiled test plan.

use crate::group::Group;
use crate::open::OpenWorkload;
use crate::result::DetailWish;
use crate::variables::Slot;

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
    /// Whether a function in a text runs a script, a pattern or an expression, which may take long.
    pub evaluates: bool,
    /// Slots of `sample_variables`, in their order.
    pub sample_variables: Vec<Slot>,
    /// By set of listeners: what they show beyond rows, if anything. Empty: nobody does.
    pub detail_wishes: Vec<Option<DetailWish>>,
}

impl<P> Program<P> {
    /// Whether somebody shows assertions that hold, too.
    pub fn notes_assertions(&self) -> bool {
        !self.detail_wishes.is_empty()
    }

    /// What the listeners of this set show beyond rows.
    pub fn detail_wish(&self, listeners: u32) -> Option<DetailWish> {
        self.detail_wishes.get(listeners as usize).copied().flatten()
    }
}
