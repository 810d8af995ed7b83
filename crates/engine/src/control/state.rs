//! The state of each controller for each user.

use crate::transaction::Transaction;

/// Flags of a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// The controller will not run again.
    pub const DONE: Flags = Flags(1);
    /// The next call begins a pass.
    pub const FIRST: Flags = Flags(2);
    /// A jump has requested the end of the loop.
    pub const BREAK: Flags = Flags(4);
    /// A Throughput Controller runs in this pass.
    pub const RUN_NOW: Flags = Flags(8);
    /// An Interleave Controller has returned the child of this pass.
    pub const SKIP_NEXT: Flags = Flags(16);
    /// The current child of an Interleave Controller has returned a sampler.
    pub const RETURNED_SAMPLER: Flags = Flags(32);
    /// An Interleave Controller has moved to another child since its search began.
    pub const MOVED: Flags = Flags(64);

    /// Whether the flag is set.
    pub fn contains(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    /// Sets the flag.
    pub fn insert(&mut self, flag: Flags) {
        self.0 |= flag.0;
    }

    /// Clears the flag.
    pub fn remove(&mut self, flag: Flags) {
        self.0 &= !flag.0;
    }

    /// Sets or clears the flag.
    pub fn set(&mut self, flag: Flags, on: bool) {
        if on { self.insert(flag) } else { self.remove(flag) }
    }
}

/// The number of passes of a loop has not been evaluated yet. It is evaluated once per round, which is one run of the loop from
/// its first to its last pass.
pub(crate) const LOOPS_UNKNOWN: i32 = i32::MIN;

/// The state of one controller for one user.
#[derive(Debug)]
pub struct ControllerState {
    /// Index of the next child.
    pub current: u32,
    /// For controllers that do not loop: number of passes begun since the controller was initialized.
    pub iterations: i32,
    /// For loops: number of passes in this round. For ForEach Controllers: index of the last element.
    pub loops_done: i32,
    /// For loops: number of passes requested in this round, or [`LOOPS_UNKNOWN`].
    pub(crate) loops: i32,
    /// Flags of the controller.
    pub flags: Flags,
    /// The child at which an Interleave Controller's search began.
    pub(crate) search_start: Option<u16>,
    /// Order of the children if it differs from the plan: they are shuffled, or some are removed.
    pub order: Option<Vec<u16>>,
    /// The transaction being measured.
    pub transaction: Option<Box<Transaction>>,
}

impl Default for ControllerState {
    fn default() -> Self {
        Self {
            current: 0,
            iterations: 0,
            loops_done: 0,
            loops: LOOPS_UNKNOWN,
            flags: Flags::FIRST,
            search_start: None,
            order: None,
            transaction: None,
        }
    }
}

impl ControllerState {
    /// Number of executions of a Throughput Controller that counts per user. It is stored in the field that loops use for their
    /// passes.
    pub(crate) fn executions(&mut self) -> &mut i32 {
        &mut self.loops
    }
}
