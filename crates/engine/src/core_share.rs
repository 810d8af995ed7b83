//! The part of the load that one core generates: a part of the share of its process.

use std::cell::Cell;

use busyhour_arrivals::LoadShare;

/// The part of a share that core `core` of `cores` generates; `None` if it generates no load.
pub(crate) fn share_of_core(share: &LoadShare, core: u32, cores: u32) -> Option<LoadShare> {
    match share.part_of(u64::from(core), u64::from(cores.max(1))) {
        Ok(part) => Some(part),
        // A share that is too fine to be divided again runs on one core.
        Err(_) => (core == 0).then(|| share.clone()),
    }
}

/// How many of the `users` users of the whole run belong to a share.
pub(crate) fn users_in(share: &LoadShare, users: u32) -> u32 {
    u32::try_from(share.count_below(u64::from(users))).unwrap_or(users)
}

/// Converts the number of a user within a share to its number in the whole run. Both count from 0.
pub(crate) fn user_number(share: &LoadShare, rank: u32) -> u32 {
    share.nth(u64::from(rank)).and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX)
}

/// The users that one core runs of a group whose number of users is held at a level (`Population::Level`).
#[derive(Debug)]
pub(crate) struct CoreShare {
    users: Cell<u32>,
    /// `None` if the core runs no users.
    share: Option<LoadShare>,
}

impl CoreShare {
    /// The users of a core with this part of the load, before the first one starts.
    pub(crate) fn new(share: Option<LoadShare>) -> Self {
        Self { users: Cell::new(0), share }
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

    /// How many of the `users` users of the whole run belong to this core.
    pub(crate) fn part(&self, users: u32) -> u32 {
        self.share.as_ref().map_or(0, |share| users_in(share, users))
    }

    /// Whether the core has more users than its part of the target of the whole run.
    pub(crate) fn has_too_many(&self, target: i64) -> bool {
        let target = u32::try_from(target.max(0)).unwrap_or(u32::MAX);
        self.users.get() > self.part(target)
    }
}
