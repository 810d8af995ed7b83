//! A user that serves arrivals: session after session, each as a new user.

use std::rc::Rc;
use std::sync::Arc;

use busyhour_program::run::Stop;
use busyhour_program::sampler::Protocol;
use busyhour_sample::{ArrivalOutcome, ArrivalRecord};

use super::Active;
use super::state::VirtualUser;
use crate::control::{ROOT, Walk};
use crate::idle_pool::{Assignment, NextAssignment, PoolUser};

impl<P: Protocol> VirtualUser<P> {
    /// Serves arrivals until the pool closes. The state of the previous session (variables, cookies, caches, state of elements)
    /// is cleared. Connections are reused if the iterations of the group continue as the same user.
    #[expect(clippy::manual_async_fn, reason = "the future of an async fn has space for the user twice")]
    pub(crate) fn serve(mut self, mut pool: PoolUser) -> impl Future<Output = ()> {
        async move {
            let run = Arc::clone(&self.user.run);
            let program = Arc::clone(&self.program);
            let group = &program.groups[self.user.group as usize];
            let core = Rc::clone(&self.core);
            let is_stopped = || run.stop() != Stop::No;
            while let Some(call) = pool.next(is_stopped).await {
                let (NextAssignment::Now(assignment) | NextAssignment::Ahead(assignment)) = call;
                // Everything possible is done before the intended start, so that little work remains, with warm caches.
                self.start_session(&assignment);
                P::begin_arrival(&mut self.session, group.same_user);
                if matches!(call, NextAssignment::Ahead(_))
                    && !pool.hold(assignment, &core.timers, is_stopped).await
                {
                    continue;
                }
                let _active = Active::enter(&core, self.user.group);
                self.start_arrival(&assignment);
                self.live(group).await;
            }
        }
    }

    /// Serves arrivals until the pool closes, as in the groups of jmeter-plugins: the same user makes one further pass for each
    /// arrival and is idle in between. Ends early when all passes have been used or the user is stopped.
    #[expect(clippy::manual_async_fn, reason = "the future of an async fn has space for the user twice")]
    pub(crate) fn serve_on(mut self, mut pool: PoolUser) -> impl Future<Output = ()> {
        async move {
            let run = Arc::clone(&self.user.run);
            let core = Rc::clone(&self.core);
            let program = Arc::clone(&self.program);
            let group = &program.groups[self.user.group as usize];
            self.set_last_sample_ok(true);
            Walk::new(group, &mut self.place, &mut self.user).initialize(ROOT);
            while let Some(call) = pool.next(|| run.stop() != Stop::No).await {
                let (NextAssignment::Now(assignment) | NextAssignment::Ahead(assignment)) = call;
                let _active = Active::enter(&core, self.user.group);
                self.user.serve_arrival(assignment.arrival);
                self.start_arrival(&assignment);
                loop {
                    self.iterate(group).await;
                    let mut walk = Walk::new(group, &mut self.place, &mut self.user);
                    if walk.is_over(ROOT) || !self.continues_iterating() {
                        return;
                    }
                    if Walk::new(group, &mut self.place, &mut self.user).is_between_passes() {
                        break;
                    }
                }
            }
        }
    }

    fn start_session(&mut self, assignment: &Assignment) {
        self.user.begin_session(assignment.arrival);
        self.place.begin_again();
        self.side = None;
        self.last_package = None;
    }

    fn start_arrival(&mut self, assignment: &Assignment) {
        self.steps = 0;
        self.next_intended_start = assignment.scheduled;
        let now = self.user.now();
        self.late_ns = now.since(assignment.scheduled);
        let outcome = if assignment.waited {
            ArrivalOutcome::Waited { until: now }
        } else {
            ArrivalOutcome::Started { at: now }
        };
        let record = ArrivalRecord { group: self.user.group, scheduled: assignment.scheduled, outcome };
        self.core.record_arrival(&record);
    }
}
