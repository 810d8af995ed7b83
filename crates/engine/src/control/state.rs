//! The little state each controller has in each user.

use crate::transaction::Transaction;

/// Truths about a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Will not run again.
    pub const DONE: Flags = Flags(1);
    /// The next call begins a pass.
    pub const FIRST: Flags = Flags(2);
    /// The loop is to be left.
    pub const BREAK: Flags = Flags(4);
    /// A throughput controller runs in this pass.
    pub const RUN_NOW: Flags = Flags(8);
    /// An interleave controller has given this pass's child.
    pub const SKIP_NEXT: Flags = Flags(16);
    /// The current child of an interleave controller gave a sampler.
    pub const GAVE_ONE: Flags = Flags(32);
    /// An interleave controller has moved on since its search began.
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

/// Number of passes of a loop, read once per round.
pub(crate) const LOOPS_UNKNOWN: i32 = i32::MIN;

/// The state of one controller in one user.
#[derive(Debug)]
pub struct ControllerState {
    /// Index of the next child.
    pub current: u32,
    /// Passes begun since it was initialised (controllers that do not loop).
    pub iterations: i32,
    /// Passes made in this round (loops), or the index of the last element (for each).
    pub loops_done: i32,
    /// Passes to make in this round, or [`LOOPS_UNKNOWN`].
    pub(crate) loops: i32,
    /// Truths.
    pub flags: Flags,
    /// Where an interleave controller's search began.
    pub(crate) search_start: Option<u16>,
    /// Order of the children when it is not the plan's: shuffled, or some removed.
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
    /// Executions so far of a throughput controller that counts per user (kept where loops keep theirs).
    pub(crate) fn executions(&mut self) -> &mut i32 {
        &mut self.loops
    }
}
