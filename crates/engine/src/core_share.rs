//! One core's part of the share of the load that a run generates.

use std::cell::Cell;

use busyhour_arrivals::LoadShare;

/// The part of a share that core `core` of `cores` runs; `None` if it runs nothing.
pub(crate) fn share_of_core(share: &LoadShare, core: u32, cores: u32) -> Option<LoadShare> {
    match share.part_of(u64::from(core), u64::from(cores.max(1))) {
        Ok(part) => Some(part),
        // A share that is too fine to be divided again runs on one core.
        Err(_) => (core == 0).then(|| share.clone()),
    }
}

/// How many of so many users of the whole run belong to a share.
pub(crate) fn users_in(share: &LoadShare, users: u32) -> u32 {
    u32::try_from(share.count_below(u64::from(users))).unwrap_or(users)
}

/// The number in the whole run of a user that is the `rank`-th of its share, both from 0.
pub(crate) fn user_number(share: &LoadShare, rank: u32) -> u32 {
    share.nth(u64::from(rank)).and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX)
}

/// The users that one core has of a group that keeps a level.
#[derive(Debug)]
pub(crate) struct CoreShare {
    users: Cell<u32>,
    /// `None`: the core has none.
    share: Option<LoadShare>,
}

impl CoreShare {
    /// No users yet, on a core with this part of the load.
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

    /// This core's part of so many users of the whole run.
    pub(crate) fn part(&self, users: u32) -> u32 {
        self.share.as_ref().map_or(0, |share| users_in(share, users))
    }

    /// Whether the core has more users than its part of the target of the whole run.
    pub(crate) fn has_too_many(&self, target: i64) -> bool {
        let target = u32::try_from(target.max(0)).unwrap_or(u32::MAX);
        self.users.get() > self.part(target)
    }
}
