//! Numbers of users.

use std::sync::atomic::Ordering::Relaxed;

use busyhour_program::run::RunShared;

/// Numbers of users of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunUserCounts {
    /// Number of users that have started but not finished.
    pub active: u64,
    /// Number of users started so far.
    pub started: u64,
    /// Number of users finished so far.
    pub finished: u64,
}

impl RunUserCounts {
    pub(crate) fn of(shared: &RunShared) -> Self {
        Self {
            active: u64::from(shared.active.load(Relaxed)),
            started: shared.started.load(Relaxed),
            finished: shared.finished.load(Relaxed),
        }
    }
}
