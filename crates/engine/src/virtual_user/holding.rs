//! Pauses a user, limits the duration of its samples, and performs actions after failures.

use std::future::Future;
use std::pin::Pin;

use busyhour_program::run::Stop;
use busyhour_program::sampler::{FailureAction, Protocol, SamplerPackage};
use busyhour_sample::Nanos;

use super::state::VirtualUser;
use crate::core::Core;

/// Maximum length of one sleep, in nanoseconds. A stop of the run wakes sleepers early.
const SLEEP_NS_MAX: u64 = 3_600_000_000_000;

/// Returns when a stop of the run is requested.
async fn stopped(core: &Core) {
    while core.run.stop() == Stop::No {
        core.timers.sleep_until(core.run.clock.now() + SLEEP_NS_MAX).await;
    }
}

/// Runs a sample; returns whether it ends before `limit`.
pub(super) async fn within(core: &Core, limit: Nanos, sampling: Pin<&mut impl Future<Output = ()>>) -> bool {
    let over = async {
        // A stop of the run wakes sleepers early; samples in flight then continue.
        while core.run.clock.now() < limit {
            core.timers.sleep_until(limit).await;
        }
    };
    tokio::select! {
        biased;
        () = sampling => true,
        () = over => false,
    }
}

impl<P: Protocol> VirtualUser<P> {
    /// Waits while the run is paused, or until this user must end. The pause contains no intended start, so requests after
    /// it do not count as late.
    pub(super) async fn hold(&mut self) {
        while self.user.run.control.is_paused() && self.continues_iterating() {
            let now = self.user.now();
            let until = (now + SLEEP_NS_MAX).min(self.user.end_time.unwrap_or(Nanos::MAX));
            if until <= now {
                self.user.running = false;
                break;
            }
            tokio::select! {
                () = self.core.load_changed.notified() => {}
                () = self.core.timers.sleep_until(until) => {}
            }
        }
        self.steps = 0;
        self.pause_end = self.user.now();
        self.next_intended_start = self.pause_end;
    }

    /// Waits for the lock that the user's walk through the plan needs next.
    pub(super) async fn wait_for_lock(&mut self) {
        let Some(mut waits) = self.place.waits.take() else { return };
        tokio::select! {
            () = waits.acquire() => {}
            () = stopped(&self.core) => {}
        }
        self.place.waits = Some(waits);
        self.steps = 0;
        // The wait is part of the plan, so the intended start of the next sample counts from here.
        self.next_intended_start = self.user.now() - self.late_ns;
    }

    /// The number of nanoseconds after which a sample must be interrupted; `None` if there is no limit.
    pub(super) fn limit_of(&mut self, package: &SamplerPackage<P>) -> Option<u64> {
        if package.timeouts_ms.is_empty() {
            return None;
        }
        let limits = package.timeouts_ms.iter().filter_map(|ms| {
            let ms = u64::try_from(ms.integer(&mut self.user, 0)).ok().filter(|ms| *ms > 0)?;
            Some(Nanos::from_millis(ms).0)
        });
        limits.min()
    }

    /// Records in the result that the sample was interrupted.
    pub(super) fn interrupt(
        &mut self,
        package: &SamplerPackage<P>,
        protocol: &P,
        begun: Nanos,
        intended: Nanos,
    ) {
        if self.user.result.times.start < begun {
            self.user.begin_result(&package.label, intended);
        }
        protocol.interrupted(&mut self.user, &mut self.session, package.keep);
        self.user.result.times.end = self.user.now();
    }

    /// Performs the actions of Result Status Action Handlers after a failed sample.
    pub(super) fn react_to_failure(&mut self, actions: &[FailureAction]) {
        for action in actions {
            if matches!(action, FailureAction::StopTest | FailureAction::StopTestNow) {
                self.note_failed_sample(
                    "a Result Status Action Handler stops the test after a failed sample",
                );
            }
            match action {
                FailureAction::StopUser => self.user.result.after.stop_user = true,
                FailureAction::StopTest => self.user.result.after.stop_test = true,
                FailureAction::StopTestNow => self.user.result.after.stop_test_now = true,
                FailureAction::Jump(action) => self.user.action = *action,
            }
        }
    }
}

#[cfg(test)]
mod tests;
