//! Runs the controllers of a thread group, pass by pass, as JMeter does.
//!
//! A controller returns its next sampler, or nothing when its pass is over. The state consists of a few numbers per controller
//! and user; a step does not allocate memory.

mod choosing;
mod critical;
mod held_locks;
mod kinds;
mod leaving;
mod loops;
mod state;
mod transactions;

use std::rc::Rc;

pub use crate::next::Next;
use busyhour_program::controller::{ControllerKind, IterationListener};
use busyhour_program::element::StopUser;
use busyhour_program::group::Group;
use busyhour_program::ids::{Child, ControllerId};
use busyhour_program::user::UserState;
pub(crate) use choosing::assign;
pub use held_locks::Hold;
pub(crate) use held_locks::{LockWait, release};
pub use state::{ControllerState, Flags};

use crate::core_share::CoreShare;
use crate::transaction::Transaction;

/// Number of turns without a sampler after which a walk lets other users run. Otherwise a While Controller without samplers
/// would keep its core busy forever (in JMeter, its recursion overflows the stack).
const TURNS_PER_CALL: u32 = 2_000;

/// A user's position in the program of its group.
#[derive(Debug)]
pub struct UserPosition {
    /// State of each controller of the group.
    pub states: Box<[ControllerState]>,
    /// Transactions ended by a jump (next loop, break), to be reported.
    pub ended: Vec<(ControllerId, Box<Transaction>)>,
    /// Transaction samples created by the walk, to be recorded.
    pub made: Vec<Box<Transaction>>,
    /// Iterations of the group that began since the user last read this number.
    pub iterations_begun: u32,
    /// The lock that the walk waits for.
    pub(crate) waits: Option<Box<LockWait>>,
    /// The users of this user's group on its core, if the group's number of users is held at a level.
    pub(crate) level: Option<Rc<CoreShare>>,
}

impl UserPosition {
    /// The position of a user before its first iteration.
    pub fn new(controllers: usize) -> Self {
        Self {
            states: (0..controllers).map(|_| ControllerState::default()).collect(),
            ended: Vec::new(),
            made: Vec::new(),
            iterations_begun: 0,
            waits: None,
            level: None,
        }
    }

    /// Resets the position to that of a user before its first iteration.
    pub(crate) fn begin_again(&mut self) {
        self.states.fill_with(ControllerState::default);
        self.ended.clear();
        self.made.clear();
        self.iterations_begun = 0;
        self.waits = None;
    }
}

/// One walk: a user's position, its state, and its group.
pub struct Walk<'a, P> {
    /// The group.
    pub group: &'a Group<P>,
    /// The user's position in the group.
    pub place: &'a mut UserPosition,
    /// The user.
    pub user: &'a mut UserState,
    turns: u32,
}

impl<P> std::fmt::Debug for Walk<'_, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk").field("place", &self.place).finish_non_exhaustive()
    }
}

/// The group's own controller.
pub const ROOT: ControllerId = ControllerId(0);

impl<'a, P> Walk<'a, P> {
    /// A walk that continues from the user's position.
    pub fn new(group: &'a Group<P>, place: &'a mut UserPosition, user: &'a mut UserState) -> Self {
        Self { group, place, user, turns: 0 }
    }

    /// The next sampler below `root`, which is the group's own controller or the root of a branch.
    ///
    /// # Errors
    /// If a step at the start of a pass ends the user (end of a CSV file).
    pub fn next_sampler(&mut self, root: ControllerId) -> Result<Next, StopUser> {
        self.turns = 0;
        self.next(root)
    }

    /// Whether the next call begins a pass of the group's own controller.
    pub fn is_between_passes(&mut self) -> bool {
        self.state(ROOT).flags.contains(Flags::FIRST)
    }

    /// Whether the controller `root`, where the walk begins, is done.
    pub fn is_over(&mut self, root: ControllerId) -> bool {
        self.is_done(root)
    }

    pub(crate) fn state(&mut self, id: ControllerId) -> &mut ControllerState {
        &mut self.place.states[id.0 as usize]
    }

    /// Number of children that a controller still has for this user.
    fn child_count(&mut self, id: ControllerId) -> usize {
        let all = self.group.controllers[id.0 as usize].children.len();
        self.state(id).order.as_ref().map_or(all, Vec::len)
    }

    fn child(&mut self, id: ControllerId, index: usize) -> Option<(u16, Child)> {
        let group = self.group;
        let children = &group.controllers[id.0 as usize].children;
        let place = match &self.state(id).order {
            Some(order) => *order.get(index)?,
            None => u16::try_from(index).ok()?,
        };
        children.get(place as usize).map(|child| (place, *child))
    }

    fn remove_current(&mut self, id: ControllerId) {
        let all = self.group.controllers[id.0 as usize].children.len();
        let state = self.state(id);
        let order = state.order.get_or_insert_with(|| (0..u16::try_from(all).unwrap_or(u16::MAX)).collect());
        if (state.current as usize) < order.len() {
            order.remove(state.current as usize);
        }
    }

    /// Resets a controller and all controllers below it to their state before the first pass.
    pub fn initialize(&mut self, id: ControllerId) {
        {
            let state = self.state(id);
            state.iterations = 0;
            state.flags.remove(Flags::DONE);
            state.flags.insert(Flags::FIRST);
        }
        self.reset_current(id);
        self.initialize_children(id);
        self.initialize_kind(id);
    }

    fn initialize_children(&mut self, id: ControllerId) {
        for index in 0..self.child_count(id) {
            if let Some((_, Child::Controller(child))) = self.child(id, index) {
                self.initialize(child);
            }
        }
    }

    /// Finds the next sampler among the children of a controller, without the special rules of its kind.
    fn generic_next(&mut self, id: ControllerId) -> Result<Step, StopUser> {
        if self.state(id).flags.contains(Flags::FIRST) {
            self.fire_pass_start(id)?;
            self.state(id).flags.remove(Flags::FIRST);
        }
        if self.is_done(id) {
            return Ok(Step::Answer(Next::Nothing));
        }
        if self.child_count(id) == 0 {
            self.set_done(id, true);
            return Ok(Step::Answer(Next::Nothing));
        }
        let current = self.state(id).current as usize;
        let Some((place, child)) = self.child(id, current) else {
            if self.has_searched_all_children(id, None) {
                return Ok(Step::Answer(Next::Nothing));
            }
            return self.next_is_null(id);
        };
        if self.has_searched_all_children(id, Some(place)) {
            return Ok(Step::Answer(Next::Nothing));
        }
        match child {
            Child::Sampler(sampler) => {
                self.next_is_sampler(id);
                Ok(Step::Answer(Next::Sampler(sampler)))
            }
            Child::Controller(child) => match self.next(child)? {
                Next::Nothing => {
                    self.current_returned_nothing(id, child);
                    Ok(Step::Again)
                }
                Next::Yield => Ok(Step::Answer(Next::Yield)),
                found => {
                    self.child_found(id);
                    Ok(Step::Answer(found))
                }
            },
        }
    }

    fn current_returned_nothing(&mut self, id: ControllerId, child: ControllerId) {
        if self.is_done(child) {
            self.remove_current(id);
        } else if self.continues_after_empty_child(id) {
            self.increment_current(id);
        }
    }

    fn fire_pass_start(&mut self, id: ControllerId) -> Result<(), StopUser> {
        let group = self.group;
        let controller = &group.controllers[id.0 as usize];
        let count = self.pass_number(id);
        let is_loop = matches!(controller.kind, ControllerKind::Loop { .. });
        if id == ROOT {
            self.user.begin_iteration();
            self.place.iterations_begun += 1;
        }
        for listener in &controller.listeners {
            match listener {
                IterationListener::Step(step) => step.step(self.user)?,
                IterationListener::Controller(child) => self.pass_started(*child, is_loop, count),
            }
        }
        Ok(())
    }

    /// Counts a turn of a loop over children without a sampler; returns `true` if other users should run first.
    fn turn(&mut self) -> bool {
        self.turns += 1;
        self.turns > TURNS_PER_CALL
    }

    /// The controller with this number.
    pub(crate) fn group_controller(&self, id: ControllerId) -> &'a busyhour_program::controller::Controller {
        &self.group.controllers[id.0 as usize]
    }
}

/// Whether a controller runs its children.
pub(crate) enum Entry {
    /// The children run.
    Open,
    /// The children do not run: the pass is over.
    Closed,
    /// Not decided yet: the controller waits for a lock.
    Wait,
}

/// The result of one step of a controller's search for a sampler.
pub(crate) enum Step {
    /// The result that the controller returns to its parent.
    Answer(Next),
    /// Nothing found yet: search again.
    Again,
}

#[cfg(test)]
mod tests;
