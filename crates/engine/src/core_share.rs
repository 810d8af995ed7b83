//! One core's part of the users of a group that keeps a level.

use std::cell::Cell;

/// The users that one core has of a group.
#[derive(Debug)]
pub(crate) struct CoreShare {
    users: Cell<u32>,
    core: u32,
    cores: u32,
}

impl CoreShare {
    /// No users yet, on core number `core` of `cores`.
    pub(crate) fn new(core: u32, cores: u32) -> Self {
        Self { users: Cell::new(0), core, cores: cores.max(1) }
    }

    /// Users that have started and not ended.
    pub(crate) fn users(&self) -> u32 {
        self.users.get()
    }

    /// Counts a user that starts.
    pub(crate) fn add(&self) {
        self.users.set(self.users.get() + 1);
    }

    /// Counts a user that has ended.
    pub(crate) fn remove(&self) {
        self.users.set(self.users.get() - 1);
    }

    /// This core's part of so many users.
    pub(crate) fn part(&self, users: u32) -> u32 {
        users / self.cores + u32::from(self.core < users % self.cores)
    }

    /// Whether the core has more users than its part of the target.
    pub(crate) fn has_too_many(&self, target: i64) -> bool {
        let target = u32::try_from(target.max(0)).unwrap_or(u32::MAX);
        self.users.get() > self.part(target)
    }
}
