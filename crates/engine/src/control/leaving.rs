//! Jumps out of controllers during a pass.

use busyhour_program::controller::ControllerKind;
use busyhour_program::ids::ControllerId;
use busyhour_program::symbols::LAST_SAMPLE_OK;

use super::{Flags, Next, Walk};

impl<P> Walk<'_, P> {
    /// JMeter's `triggerEndOfLoop`: a jump ends the current pass of this controller.
    pub(crate) fn leave(&mut self, id: ControllerId) {
        let controller = self.group_controller(id);
        match &controller.kind {
            ControllerKind::If { .. } => {
                self.initialize_children(id);
                self.start_pass_again(id);
            }
            ControllerKind::Loop { .. } | ControllerKind::ForEach { .. } | ControllerKind::Runtime { .. } => {
                self.start_pass_again(id);
                self.reset_loop_count(id);
            }
            ControllerKind::While { .. } => {
                self.start_pass_again(id);
                // JMeter evaluates the condition here once more, for its side effects.
                let _ = self.while_is_over(id, true);
                self.reset_loop_count(id);
            }
            ControllerKind::Transaction(settings) => {
                let now = self.user.now();
                if let Some(mut transaction) = self.state(id).transaction.take() {
                    if settings.parent {
                        if let Next::Transaction(child) = transaction.sub
                            && let Some(at) = self.place.ended.iter().position(|(id, _)| *id == child)
                        {
                            let (_, child) = self.place.ended.remove(at);
                            transaction.add_child(child.result, true);
                        }
                        transaction.finish_parent(now, settings.include_timers);
                        self.place.ended.push((id, transaction));
                    } else {
                        transaction.result.times.idle_ns += transaction.time_ns;
                        transaction.result.times.end = now;
                        let ok = self.user.variables.get(LAST_SAMPLE_OK);
                        transaction.result.outcome.success = ok == Some("true");
                        transaction.write_message();
                        transaction.open = false;
                        self.place.made.push(transaction);
                    }
                }
                self.start_pass_again(id);
            }
            ControllerKind::Simple
            | ControllerKind::OnceOnly
            | ControllerKind::Interleave { .. }
            | ControllerKind::Random { .. }
            | ControllerKind::RandomOrder
            | ControllerKind::Throughput { .. }
            | ControllerKind::Switch { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => self.start_pass_again(id),
        }
    }

    /// Ends the current pass of a loop and starts the next one.
    pub(crate) fn start_next_loop(&mut self, id: ControllerId) {
        self.start_pass_again(id);
    }

    /// Leaves a loop during a pass.
    pub(crate) fn break_loop(&mut self, id: ControllerId) {
        {
            let state = self.state(id);
            state.flags.insert(Flags::BREAK);
            state.flags.insert(Flags::FIRST);
            state.current = 0;
        }
        self.reset_loop_count(id);
    }

    /// Whether a controller is a loop in the sense of JMeter's "current loop".
    pub(crate) fn iterates(&self, id: ControllerId) -> bool {
        self.group_controller(id).kind.is_loop()
    }
}
