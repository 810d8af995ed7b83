//! Changing the load during a run: its rate, and pauses.
//!
//! A change is posted with the time at which it takes effect, [`CHANGE_LEAD_NS`] from now. Each core receives it before
//! that time: dispatchers check a counter before each arrival, and the tick of the core wakes sleeping users. So all
//! cores change at the same instant, and the schedule of the whole run is a function of the seed and of the changes,
//! which [`busyhour_arrivals::ScheduleChanges`] computes afterwards.
//!
//! | | open workloads | other users |
//! |---|---|---|
//! | rate | arrivals come at a multiple of the requested rate | – (the plan sets the number of users) |
//! | pause | no arrival starts; scheduled ones are skipped; running sessions end | each stops before its next sample |
//! | stop | as [`crate::run::Stop::Graceful`] | the same |

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use busyhour_sample::{LoadChange, Nanos};

/// Interval at which a core checks for changes and sends its samples to the recorder, in nanoseconds.
pub const TICK_NS: u64 = 100_000_000;

/// Time from a request to the moment when the change applies, in nanoseconds: two ticks of a core, within which all cores
/// receive the change.
pub const CHANGE_LEAD_NS: u64 = 2 * TICK_NS;

/// Maximum number of changes of one run: far more than a person makes, and few enough to be stored and searched.
pub const CHANGES_MAX: usize = 1_000;

/// Minimum and maximum factor of a rate.
pub const FACTORS: (f64, f64) = (0.01, 100.0);

/// A change and the time at which it takes effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PostedChange {
    /// The first moment at which it applies.
    pub at: Nanos,
    /// The change; never a stop.
    pub change: LoadChange,
}

/// Why a change was refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LoadChangeError {
    /// The factor is out of range.
    #[error("a rate can change to {least} to {most} times the configured rate, not {0} times", least = FACTORS.0, most = FACTORS.1)]
    Factor(f64),
    /// There were too many changes.
    #[error("the load of a run can be changed at most {CHANGES_MAX} times")]
    TooMany,
}

/// The changes requested during the run.
#[derive(Debug, Default)]
pub struct LoadChanges {
    paused: AtomicBool,
    /// Number of changes, which cores compare with the number that they have applied.
    count: AtomicU32,
    changes: Mutex<Vec<PostedChange>>,
}

impl LoadChanges {
    /// Changes the rate of open workloads to `factor` times the requested rate, [`CHANGE_LEAD_NS`] after `now`.
    ///
    /// # Errors
    /// The factor is out of range, or there were too many changes. The rate stays as it is.
    pub fn set_rate_factor(&self, now: Nanos, factor: f64) -> Result<PostedChange, LoadChangeError> {
        if !(FACTORS.0..=FACTORS.1).contains(&factor) {
            return Err(LoadChangeError::Factor(factor));
        }
        self.post(now, LoadChange::Rate { factor })
    }

    /// Pauses the load; has no effect during a pause.
    ///
    /// # Errors
    /// There were too many changes.
    pub fn pause(&self, now: Nanos) -> Result<Option<PostedChange>, LoadChangeError> {
        if self.is_paused() {
            return Ok(None);
        }
        self.post(now, LoadChange::Pause).map(Some)
    }

    /// Ends a pause; has no effect if there is none.
    ///
    /// # Errors
    /// There were too many changes. A pause can always be ended.
    pub fn resume(&self, now: Nanos) -> Result<Option<PostedChange>, LoadChangeError> {
        if !self.is_paused() {
            return Ok(None);
        }
        self.post(now, LoadChange::Resume).map(Some)
    }

    fn post(&self, now: Nanos, change: LoadChange) -> Result<PostedChange, LoadChangeError> {
        let mut changes = self.locked();
        // One place is reserved for the end of a pause.
        let room = CHANGES_MAX - usize::from(change != LoadChange::Resume);
        if changes.len() >= room {
            return Err(LoadChangeError::TooMany);
        }
        let earliest = changes.last().map_or(Nanos::ZERO, |last| last.at);
        let posted = PostedChange { at: (now + CHANGE_LEAD_NS).max(earliest), change };
        changes.push(posted);
        match change {
            LoadChange::Pause => self.paused.store(true, Ordering::Relaxed),
            LoadChange::Resume => self.paused.store(false, Ordering::Relaxed),
            LoadChange::Rate { .. } | LoadChange::Stop => {}
        }
        self.count.store(u32::try_from(changes.len()).unwrap_or(u32::MAX), Ordering::Release);
        Ok(posted)
    }

    /// Whether users outside open workloads must pause.
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Number of changes so far.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// The changes from index `from` on.
    pub fn since(&self, from: u32) -> Vec<PostedChange> {
        self.locked().get(from as usize..).unwrap_or_default().to_vec()
    }

    /// The factor of the requested rate after the last change, which applies now or within [`CHANGE_LEAD_NS`].
    pub fn rate_factor(&self) -> f64 {
        let changes = self.locked();
        let last = changes.iter().rev().find_map(|posted| match posted.change {
            LoadChange::Rate { factor } => Some(factor),
            _ => None,
        });
        last.unwrap_or(1.0)
    }

    fn locked(&self) -> MutexGuard<'_, Vec<PostedChange>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Nanos = Nanos(5_000_000_000);

    #[test]
    fn changes_keep_their_order_and_their_lead() {
        let control = LoadChanges::default();
        assert_eq!((control.rate_factor(), control.is_paused(), control.count()), (1.0, false, 0));
        let first = control.set_rate_factor(AT, 2.0).unwrap();
        assert_eq!(first.at, AT + CHANGE_LEAD_NS);
        // A change with an earlier time, from a thread that read the clock before, is not ordered before the first change.
        let second = control.pause(Nanos(4_000_000_000)).unwrap().unwrap();
        assert_eq!(second.at, first.at);
        assert_eq!((control.pause(AT), control.is_paused()), (Ok(None), true));
        assert_eq!(control.since(1), [second]);
        assert!(control.resume(AT).unwrap().is_some() && control.resume(AT).unwrap().is_none());
        assert_eq!((control.rate_factor(), control.count()), (2.0, 3));
    }

    #[test]
    fn invalid_factors_and_too_many_changes_are_refused() {
        let control = LoadChanges::default();
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 100.1] {
            let refused = control.set_rate_factor(AT, factor);
            assert!(matches!(refused, Err(LoadChangeError::Factor(_))), "{factor}: {refused:?}");
        }
        assert_eq!(control.count(), 0);
        for _ in 0..CHANGES_MAX - 2 {
            control.set_rate_factor(AT, 0.5).unwrap();
        }
        control.pause(AT).unwrap();
        assert_eq!(control.set_rate_factor(AT, 1.0), Err(LoadChangeError::TooMany));
        assert!(control.resume(AT).is_ok_and(|posted| posted.is_some()), "a pause can be ended");
    }
}
