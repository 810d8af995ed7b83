//! Passes of loops: their number, and the variables they set at the start.

use busyhour_program::controller::ControllerKind;
use busyhour_program::ids::ControllerId;
use busyhour_program::population::Population;
use busyhour_program::symbols::LAST_SAMPLE_OK;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;

use super::state::LOOPS_UNKNOWN;
use super::{Flags, Walk};

impl<P> Walk<'_, P> {
    /// Whether the core has more users than the level of the group requires, so that a user ends after its pass.
    pub(crate) fn is_one_too_many(&mut self) -> bool {
        let Some(Population::Level(level)) = self.group.population.as_deref() else { return false };
        let target = level.target.integer(self.user, 0);
        self.place.level.as_ref().is_some_and(|share| share.has_too_many(target))
    }

    pub(crate) fn reset_loop_count(&mut self, id: ControllerId) {
        let controller = self.group_controller(id);
        match &controller.kind {
            ControllerKind::ForEach { start, .. } => {
                let start = start_index(start, self.user);
                self.state(id).loops_done = start;
            }
            ControllerKind::While { .. } => self.state(id).iterations = 0,
            ControllerKind::Runtime { begun, .. } => {
                *self.user.state(*begun, || None::<Nanos>) = None;
                self.state(id).loops_done = 0;
            }
            ControllerKind::Simple
            | ControllerKind::Loop { .. }
            | ControllerKind::If { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::Interleave { .. }
            | ControllerKind::Random { .. }
            | ControllerKind::RandomOrder
            | ControllerKind::Throughput { .. }
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => {
                let state = self.state(id);
                state.loops_done = 0;
                state.loops = LOOPS_UNKNOWN;
            }
        }
    }

    pub(super) fn loop_is_over(&mut self, id: ControllerId) -> bool {
        let controller = self.group_controller(id);
        let ControllerKind::Loop { count, .. } = &controller.kind else { return false };
        let state = self.state(id);
        let broken = state.flags.contains(Flags::BREAK);
        let mut loops = state.loops;
        if matches!(loops, LOOPS_UNKNOWN | 0 | -1) {
            loops = i32::try_from(count.integer(self.user, 0)).unwrap_or(i32::MAX);
            self.state(id).loops = loops;
        }
        broken || (loops > -1 && self.state(id).loops_done >= loops)
    }

    pub(super) fn while_is_over(&mut self, id: ControllerId, at_end: bool) -> bool {
        let controller = self.group_controller(id);
        let ControllerKind::While { condition } = &controller.kind else { return false };
        if self.state(id).flags.contains(Flags::BREAK) {
            return true;
        }
        let text = condition.text(self.user);
        let text = text.trim();
        if (at_end && text.is_empty()) || text.eq_ignore_ascii_case("LAST") {
            let ok = self.user.variables.get(LAST_SAMPLE_OK);
            ok.is_some_and(|ok| ok.eq_ignore_ascii_case("false"))
        } else {
            text.eq_ignore_ascii_case("false")
        }
    }

    fn for_each_input(&mut self, id: ControllerId) -> Option<String> {
        use std::fmt::Write as _;
        let controller = self.group_controller(id);
        let ControllerKind::ForEach { input, separator, .. } = &controller.kind else { return None };
        let mut name = self.user.take_buffer();
        input.render(self.user, &mut name);
        if *separator {
            name.push('_');
        }
        let _ = write!(name, "{}", self.state(id).loops_done.saturating_add(1));
        Some(name)
    }

    pub(super) fn for_each_has_next(&mut self, id: ControllerId) -> bool {
        let Some(name) = self.for_each_input(id) else { return false };
        let found = self.user.variables.value(&name).is_some();
        self.user.give_back(name);
        found
    }

    /// Copies the next element to the output variable; returns `false` if there is none.
    pub(super) fn for_each_take(&mut self, id: ControllerId) -> bool {
        let controller = self.group_controller(id);
        let ControllerKind::ForEach { output, .. } = &controller.kind else { return false };
        let Some(name) = self.for_each_input(id) else { return false };
        let value = self.user.variables.value(&name).cloned();
        self.user.give_back(name);
        let Some(value) = value else { return false };
        let output = output.text(self.user);
        self.user.variables.set_value(&output, value);
        true
    }

    /// Writes the number of the pass to the loop's variable.
    pub(super) fn write_index(&mut self, id: ControllerId) {
        use std::fmt::Write as _;
        let controller = self.group_controller(id);
        let Some(slot) = controller.index_slot else { return };
        let state = self.state(id);
        let index = if matches!(controller.kind, ControllerKind::While { .. }) {
            state.iterations
        } else {
            state.loops_done
        };
        self.user.variables.write_slot(slot, |text| {
            let _ = write!(text, "{index}");
        });
    }
}

pub(super) fn start_index(start: &busyhour_program::template::Template, user: &mut UserState) -> i32 {
    i32::try_from(start.integer(user, 0)).unwrap_or(0)
}

pub(super) fn end_index(end: &busyhour_program::template::Template, user: &mut UserState) -> i64 {
    end.integer(user, i64::from(i32::MAX))
}
