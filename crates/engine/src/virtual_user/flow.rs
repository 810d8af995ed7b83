//! Flow control: pauses, stops and jumps out of controllers.

use busyhour_program::group::Group;
use busyhour_program::run::Stop;
use busyhour_program::sampler::{FlowAction, Protocol, SamplerPackage};
use busyhour_program::user::LogicalAction;
use busyhour_sample::Nanos;

use super::state::VirtualUser;
use crate::control::{ROOT, Walk, assign};
use crate::transaction::Transaction;

impl<P: Protocol> VirtualUser<P> {
    /// Performs a flow control action.
    pub(super) async fn act(&mut self, package: &SamplerPackage<P>, action: &FlowAction) {
        match action {
            FlowAction::Pause(ms) => {
                let ms = ms.integer(&mut self.user, 0);
                if let Some(ms) = u64::try_from(ms).ok().filter(|ms| *ms > 0) {
                    let now = self.user.now();
                    let mut until = now + Nanos::from_millis(ms).0;
                    if let Some(end) = self.user.end_time {
                        until = until.min(end.max(now));
                    }
                    if let Some(limit_ns) = self.limit_of(package) {
                        until = until.min(now + limit_ns);
                    }
                    self.core.timers.sleep_until(until).await;
                    self.steps = 0;
                }
                self.next_intended_start = self.user.now();
            }
            FlowAction::StopUser => {
                self.stop(None, "Stop Thread");
                self.stop_parent_user();
            }
            FlowAction::StopTest => self.stop(Some(Stop::Graceful), "Shutdown Test"),
            FlowAction::StopTestNow => self.stop(Some(Stop::Now), "Stop Test Now"),
            FlowAction::NextIterationOfThread => self.user.action = LogicalAction::NextIterationOfThread,
            FlowAction::NextIterationOfLoop => self.user.action = LogicalAction::NextIterationOfLoop,
            FlowAction::BreakLoop => self.user.action = LogicalAction::BreakLoop,
            FlowAction::Set(assignments) => assign(assignments, &mut self.user),
        }
    }

    /// Leaves the controllers around the last sampler, as the action requires.
    pub(super) fn jump(&mut self, group: &Group<P>, action: LogicalAction) {
        let Some(last) = self.last_package else { return };
        let ancestors = &group.samplers[last.0 as usize].ancestors;
        let root = self.root();
        if root != ROOT && action == LogicalAction::NextIterationOfThread {
            self.leave_branch();
        }
        let mut walk = Walk::new(group, &mut self.place, &mut self.user);
        for &id in ancestors {
            let at_root = id == root;
            match action {
                LogicalAction::Continue => return,
                LogicalAction::NextIterationOfThread if at_root => walk.start_next_loop(id),
                LogicalAction::NextIterationOfLoop if at_root || walk.iterates(id) => {
                    walk.start_next_loop(id);
                    break;
                }
                LogicalAction::BreakLoop if at_root || walk.iterates(id) => {
                    walk.break_loop(id);
                    break;
                }
                _ => walk.leave(id),
            }
            if at_root {
                break;
            }
        }
        self.report_made(group);
        for (id, transaction) in std::mem::take(&mut self.place.ended) {
            let Transaction { result, .. } = *transaction;
            self.end_transaction(group, id, result, false);
        }
    }
}
