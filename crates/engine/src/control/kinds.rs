//! The rules of each kind of controller for running its children.

use busyhour_program::controller::{ControllerKind, Throughput};
use busyhour_program::element::StopUser;
use busyhour_program::ids::ControllerId;
use busyhour_program::population::Population;
use busyhour_program::user::UserState;
use rand::Rng as _;

use super::choosing::{assign, seconds_of};
use super::held_locks::leave_section;
use super::loops::{end_index, start_index};
use super::state::LOOPS_UNKNOWN;
use super::{Entry, Flags, Next, ROOT, Step, Walk};

impl<P> Walk<'_, P> {
    /// The next sampler of a controller.
    pub(crate) fn next(&mut self, id: ControllerId) -> Result<Next, StopUser> {
        let controller = self.group_controller(id);
        if let ControllerKind::Transaction(settings) = &controller.kind {
            return if settings.parent {
                self.next_of_parent_transaction(id, settings.include_timers)
            } else {
                self.next_of_transaction(id, settings.include_timers)
            };
        }
        if let ControllerKind::Weighted(choice) = &controller.kind {
            return self.next_of_weighted(id, choice);
        }
        self.write_index(id);
        let found = loop {
            if self.turn() {
                break Next::Yield;
            }
            match self.enters(id) {
                Entry::Open => {}
                Entry::Closed => break Next::Nothing,
                Entry::Wait => break Next::Yield,
            }
            match self.generic_next(id)? {
                Step::Answer(found) => break found,
                Step::Again => {}
            }
        };
        self.write_index(id);
        Ok(found)
    }

    /// What a controller checks before it searches its children.
    fn enters(&mut self, id: ControllerId) -> Entry {
        let controller = self.group_controller(id);
        match &controller.kind {
            ControllerKind::Loop { forever, .. } => {
                if self.loop_is_over(id) {
                    if !forever {
                        self.set_done(id, true);
                    }
                    self.state(id).flags.remove(Flags::BREAK);
                    return Entry::Closed;
                }
                Entry::Open
            }
            ControllerKind::If { condition, evaluate_all } => {
                let first = self.state(id).flags.contains(Flags::FIRST);
                // If the walk was suspended to wait for a lock, this controller has been checked already.
                let resumed = self.place.waits.is_some();
                if (*evaluate_all || first) && !resumed && !condition.holds(self.user) {
                    self.initialize_children(id);
                    self.start_pass_again(id);
                    return Entry::Closed;
                }
                Entry::Open
            }
            ControllerKind::While { .. } => {
                if self.state(id).flags.contains(Flags::FIRST) && self.while_is_over(id, false) {
                    let state = self.state(id);
                    state.flags.remove(Flags::BREAK);
                    state.iterations = 0;
                    return Entry::Closed;
                }
                Entry::Open
            }
            ControllerKind::ForEach { .. } => {
                if self.state(id).flags.contains(Flags::BREAK) || !self.for_each_has_next(id) {
                    self.state(id).flags.remove(Flags::BREAK);
                    self.start_pass_again(id);
                    self.reset_loop_count(id);
                    return Entry::Closed;
                }
                Entry::Open
            }
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. } => {
                if self.state(id).flags.contains(Flags::SKIP_NEXT) {
                    self.start_pass_again(id);
                    return Entry::Closed;
                }
                Entry::Open
            }
            ControllerKind::Throughput { .. } => {
                if self.state(id).flags.contains(Flags::RUN_NOW) {
                    Entry::Open
                } else {
                    Entry::Closed
                }
            }
            ControllerKind::Simple
            | ControllerKind::OnceOnly
            | ControllerKind::RandomOrder
            | ControllerKind::Transaction(_)
            | ControllerKind::Weighted(_) => Entry::Open,
            ControllerKind::Switch { selection } => {
                if self.state(id).flags.contains(Flags::FIRST) {
                    let selected = self.select(id, selection);
                    self.state(id).current = selected;
                }
                Entry::Open
            }
            ControllerKind::Runtime { seconds, begun } => {
                if self.runtime_is_over(seconds, *begun) {
                    self.start_pass_again(id);
                    self.reset_loop_count(id);
                    return Entry::Closed;
                }
                Entry::Open
            }
            ControllerKind::Critical(section) => self.enter_section(id, section),
            ControllerKind::Parameterized(assignments) => {
                assign(assignments, self.user);
                Entry::Open
            }
        }
    }

    /// Called when no children are left.
    pub(crate) fn next_is_null(&mut self, id: ControllerId) -> Result<Step, StopUser> {
        let controller = self.group_controller(id);
        match &controller.kind {
            ControllerKind::Loop { forever, .. } => {
                self.start_pass_again(id);
                if self.loop_is_over(id) || (id == ROOT && self.is_one_too_many()) {
                    if *forever {
                        self.reset_loop_count(id);
                    } else {
                        self.set_done(id, true);
                    }
                    return Ok(Step::Answer(Next::Nothing));
                }
                if id == ROOT && matches!(self.group.population.as_deref(), Some(Population::Arrivals)) {
                    return Ok(Step::Answer(Next::Nothing));
                }
                self.write_index(id);
                Ok(Step::Again)
            }
            ControllerKind::While { .. } => {
                self.start_pass_again(id);
                if self.while_is_over(id, true) {
                    let state = self.state(id);
                    state.flags.remove(Flags::BREAK);
                    state.iterations = 0;
                    return Ok(Step::Answer(Next::Nothing));
                }
                self.write_index(id);
                Ok(Step::Again)
            }
            ControllerKind::ForEach { end, .. } => {
                self.start_pass_again(id);
                let end = end_index(end, self.user);
                let state = self.state(id);
                let (broken, done) = (state.flags.contains(Flags::BREAK), state.loops_done);
                if broken || !self.for_each_has_next(id) || i64::from(done) >= end {
                    self.state(id).flags.remove(Flags::BREAK);
                    self.reset_loop_count(id);
                    return Ok(Step::Answer(Next::Nothing));
                }
                self.write_index(id);
                Ok(Step::Again)
            }
            ControllerKind::Runtime { seconds, begun } => {
                self.start_pass_again(id);
                if self.runtime_is_over(seconds, *begun) {
                    self.reset_loop_count(id);
                    return Ok(Step::Answer(Next::Nothing));
                }
                Ok(Step::Again)
            }
            ControllerKind::OnceOnly => Ok(Step::Answer(Next::Nothing)),
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. } => {
                self.reset_current(id);
                Ok(Step::Again)
            }
            ControllerKind::Simple
            | ControllerKind::If { .. }
            | ControllerKind::RandomOrder
            | ControllerKind::Throughput { .. }
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => {
                self.start_pass_again(id);
                Ok(Step::Answer(Next::Nothing))
            }
        }
    }

    /// JMeter's `reInitialize`: the next call begins a pass.
    pub(crate) fn start_pass_again(&mut self, id: ControllerId) {
        let controller = self.group_controller(id);
        match &controller.kind {
            ControllerKind::Loop { .. } | ControllerKind::ForEach { .. } | ControllerKind::Runtime { .. } => {
                let state = self.state(id);
                state.flags.insert(Flags::FIRST);
                state.current = 0;
                state.loops_done = state.loops_done.saturating_add(1);
            }
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. } => {
                let state = self.state(id);
                state.flags.insert(Flags::FIRST);
                state.flags.remove(Flags::RETURNED_SAMPLER);
                state.flags.remove(Flags::MOVED);
                state.flags.remove(Flags::SKIP_NEXT);
                state.search_start = None;
                state.iterations = state.iterations.saturating_add(1);
            }
            kind @ (ControllerKind::Simple
            | ControllerKind::If { .. }
            | ControllerKind::While { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::RandomOrder
            | ControllerKind::Throughput { .. }
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_)) => {
                if let ControllerKind::Critical(section) = kind {
                    leave_section(section, self.user);
                }
                let shuffle = matches!(kind, ControllerKind::RandomOrder);
                let state = self.state(id);
                state.current = 0;
                state.iterations = state.iterations.saturating_add(1);
                state.flags.insert(Flags::FIRST);
                if shuffle {
                    self.shuffle(id);
                }
            }
        }
    }

    pub(crate) fn initialize_kind(&mut self, id: ControllerId) {
        let controller = self.group_controller(id);
        match &controller.kind {
            ControllerKind::RandomOrder => self.shuffle(id),
            ControllerKind::ForEach { start, .. } => {
                let start = start_index(start, self.user);
                self.state(id).loops_done = start;
            }
            ControllerKind::Interleave { across_users: true, .. } => {
                let count = u32::try_from(self.child_count(id)).unwrap_or(1).max(1);
                self.state(id).current = self.user.number % count;
            }
            ControllerKind::Simple
            | ControllerKind::Loop { .. }
            | ControllerKind::If { .. }
            | ControllerKind::While { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::Interleave { .. }
            | ControllerKind::Random { .. }
            | ControllerKind::Throughput { .. }
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Runtime { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => {}
        }
    }

    pub(crate) fn reset_current(&mut self, id: ControllerId) {
        let random = matches!(self.group_controller(id).kind, ControllerKind::Random { .. });
        self.state(id).current = 0;
        if random {
            self.draw_current(id);
        }
    }

    pub(crate) fn increment_current(&mut self, id: ControllerId) {
        let kind = &self.group_controller(id).kind;
        let state = self.state(id);
        if matches!(kind, ControllerKind::Interleave { .. } | ControllerKind::Random { .. }) {
            if state.flags.contains(Flags::RETURNED_SAMPLER) {
                state.flags.insert(Flags::SKIP_NEXT);
            }
            state.flags.insert(Flags::MOVED);
        }
        if matches!(kind, ControllerKind::Switch { .. }) {
            // A Switch Controller runs one child per pass, so its other children are skipped.
            state.current = u32::MAX;
            return;
        }
        state.current += 1;
        if matches!(kind, ControllerKind::Random { .. }) {
            self.draw_current(id);
        }
    }

    fn draw_current(&mut self, id: ControllerId) {
        let count = u32::try_from(self.child_count(id)).unwrap_or(u32::MAX);
        if count > 0 {
            let drawn = self.user.random.random_range(0..count);
            self.state(id).current = drawn;
        }
    }

    /// Called when the current child is a sampler, which is the result of the search.
    pub(crate) fn next_is_sampler(&mut self, id: ControllerId) {
        if matches!(
            self.group_controller(id).kind,
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. }
        ) {
            self.state(id).flags.insert(Flags::SKIP_NEXT);
        }
        self.increment_current(id);
    }

    /// Called when the current child controller has found a sampler.
    pub(crate) fn child_found(&mut self, id: ControllerId) {
        match self.group_controller(id).kind {
            ControllerKind::Interleave { use_sub_controllers, .. }
            | ControllerKind::Random { use_sub_controllers } => {
                self.state(id).flags.insert(Flags::RETURNED_SAMPLER);
                if use_sub_controllers {
                    self.state(id).search_start = None;
                } else {
                    self.increment_current(id);
                    self.state(id).flags.insert(Flags::SKIP_NEXT);
                }
            }
            ControllerKind::Simple
            | ControllerKind::Loop { .. }
            | ControllerKind::If { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::RandomOrder
            | ControllerKind::Throughput { .. }
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Runtime { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => {}
        }
    }

    /// Whether the search continues with the next child if a child controller finds no sampler.
    pub(crate) fn continues_after_empty_child(&mut self, id: ControllerId) -> bool {
        match self.group_controller(id).kind {
            ControllerKind::Interleave { use_sub_controllers, .. }
            | ControllerKind::Random { use_sub_controllers } => use_sub_controllers,
            ControllerKind::Simple
            | ControllerKind::Loop { .. }
            | ControllerKind::If { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::RandomOrder
            | ControllerKind::Throughput { .. }
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Runtime { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => true,
        }
    }

    /// Interleave and Random Controller: whether the search has returned to its first child without a sampler.
    pub(crate) fn has_searched_all_children(&mut self, id: ControllerId, place: Option<u16>) -> bool {
        if !matches!(
            self.group_controller(id).kind,
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. }
        ) {
            return false;
        }
        let state = self.state(id);
        if state.search_start.is_none() {
            state.search_start = place;
            false
        } else if state.search_start == place && state.flags.contains(Flags::MOVED) {
            self.start_pass_again(id);
            true
        } else {
            false
        }
    }

    fn shuffle(&mut self, id: ControllerId) {
        let all = self.group_controller(id).children.len();
        let mut order = self
            .state(id)
            .order
            .take()
            .unwrap_or_else(|| (0..u16::try_from(all).unwrap_or(u16::MAX)).collect());
        for last in (1..order.len()).rev() {
            let other = self.user.random.random_range(0..=last);
            order.swap(last, other);
        }
        self.state(id).order = Some(order);
    }

    pub(crate) fn is_done(&mut self, id: ControllerId) -> bool {
        let controller = self.group_controller(id);
        match &controller.kind {
            ControllerKind::If { .. } => false,
            ControllerKind::Runtime { seconds, .. } => {
                seconds_of(seconds, self.user) <= 0
                    || self.child_count(id) == 0
                    || self.state(id).flags.contains(Flags::DONE)
            }
            ControllerKind::ForEach { end, .. } => {
                let end = end_index(end, self.user);
                if i64::from(self.state(id).loops_done) >= end {
                    return true;
                }
                if self.for_each_take(id) {
                    return false;
                }
                self.state(id).flags.contains(Flags::DONE)
            }
            ControllerKind::Throughput { amount, per_user, shared } => {
                if self.child_count(id) == 0 {
                    return true;
                }
                match amount {
                    Throughput::Total(most) => {
                        let most = most_executions(most, *per_user, self.user);
                        let executions = if *per_user {
                            i64::from(*self.state(id).executions())
                        } else {
                            lock(&shared.0).0
                        };
                        let used_up = self.state(id).current as usize >= self.child_count(id);
                        (executions >= most && used_up) || most == 0
                    }
                    Throughput::Percent(percent) => percent_of(percent, self.user) == 0.0,
                }
            }
            ControllerKind::Simple
            | ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::Interleave { .. }
            | ControllerKind::Random { .. }
            | ControllerKind::RandomOrder
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => self.state(id).flags.contains(Flags::DONE),
        }
    }

    pub(crate) fn set_done(&mut self, id: ControllerId, done: bool) {
        let is_loop = matches!(self.group_controller(id).kind, ControllerKind::Loop { .. });
        let state = self.state(id);
        state.flags.set(Flags::DONE, done);
        if is_loop {
            state.flags.remove(Flags::BREAK);
            state.loops = LOOPS_UNKNOWN;
        }
    }

    /// The number of the new pass, which [`Self::pass_started`] gets for the controllers below.
    pub(crate) fn pass_number(&mut self, id: ControllerId) -> i32 {
        let counts_loops = matches!(
            self.group_controller(id).kind,
            ControllerKind::Loop { .. } | ControllerKind::ForEach { .. } | ControllerKind::Runtime { .. }
        );
        let state = self.state(id);
        if counts_loops { state.loops_done.saturating_add(1) } else { state.iterations }
    }

    /// Called when a pass of the enclosing controller begins: loops restart at 0, and Throughput Controllers decide whether to
    /// run.
    pub(crate) fn pass_started(&mut self, id: ControllerId, of_loop: bool, number: i32) {
        let controller = self.group_controller(id);
        match &controller.kind {
            ControllerKind::Loop { .. } | ControllerKind::While { .. } | ControllerKind::ForEach { .. } => {
                self.start_pass_again(id);
                self.reset_loop_count(id);
            }
            ControllerKind::OnceOnly if number == i32::from(of_loop) => self.start_pass_again(id),
            ControllerKind::Throughput { amount, per_user, shared } => {
                if *per_user {
                    // The number of executions is stored in the field that loops use for their pass number; both start at 0.
                    let (mut executions, passes) = {
                        let state = self.state(id);
                        if state.loops == LOOPS_UNKNOWN {
                            state.loops = 0;
                            state.loops_done = -1;
                        }
                        state.loops_done = state.loops_done.saturating_add(1);
                        (i64::from(state.loops), i64::from(state.loops_done))
                    };
                    let run = decide(amount, true, (executions, passes), self.user);
                    executions += i64::from(run);
                    let state = self.state(id);
                    state.loops = i32::try_from(executions).unwrap_or(i32::MAX);
                    state.flags.set(Flags::RUN_NOW, run);
                } else {
                    let mut counts = lock(&shared.0);
                    let passes = counts.1;
                    counts.1 += 1;
                    let run = decide(amount, false, (counts.0, passes), self.user);
                    counts.0 += i64::from(run);
                    drop(counts);
                    self.state(id).flags.set(Flags::RUN_NOW, run);
                }
            }
            ControllerKind::Simple
            | ControllerKind::If { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::Interleave { .. }
            | ControllerKind::Random { .. }
            | ControllerKind::RandomOrder
            | ControllerKind::Transaction(_)
            | ControllerKind::Switch { .. }
            | ControllerKind::Runtime { .. }
            | ControllerKind::Critical(_)
            | ControllerKind::Parameterized(_)
            | ControllerKind::Weighted(_) => {}
        }
    }
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn percent_of(percent: &busyhour_program::template::Template, user: &mut UserState) -> f32 {
    percent.text(user).trim().parse().unwrap_or(100.0)
}

/// The maximum number of executions. If all users count together, it is divided among the shares of the load.
fn most_executions(most: &busyhour_program::template::Template, per_user: bool, user: &mut UserState) -> i64 {
    let most = most.integer(user, 1);
    match u64::try_from(most) {
        Ok(all) if !per_user => i64::try_from(user.run.share_of(user.group).count_below(all)).unwrap_or(most),
        Ok(_) | Err(_) => most,
    }
}

/// JMeter's rule: a controller with p percent runs if (100·executions + 50)/(passes + 1) < p. `counts`: executions and passes.
fn decide(amount: &Throughput, per_user: bool, counts: (i64, i64), user: &mut UserState) -> bool {
    let (executions, passes) = counts;
    match amount {
        Throughput::Total(most) => executions < most_executions(most, per_user, user),
        Throughput::Percent(percent) => {
            let share = (100.0 * executions as f64 + 50.0) / (passes as f64 + 1.0);
            share < f64::from(percent_of(percent, user))
        }
    }
}
