//! Controllers that choose among their children, run for a time or set variables.

use busyhour_program::controller::{Assignment, ControllerKind, WeightedChoice};
use busyhour_program::element::StopUser;
use busyhour_program::ids::{Child, ControllerId};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_sample::Nanos;
use rand::Rng as _;

use super::{Flags, Next, Step, Walk};

/// The state of a Weighted Switch Controller for each user.
#[derive(Debug, Default)]
struct SwitchState {
    /// Whether a child has been chosen for this pass.
    chosen: bool,
    /// Index of the chosen child.
    choice: u32,
    /// Number of passes of each child.
    counts: Vec<u64>,
    /// Number of passes of all children.
    total: u64,
}

impl<P> Walk<'_, P> {
    /// Index of the child that a Switch Controller selects by number or by name; `u32::MAX` if it selects none.
    pub(crate) fn select(&mut self, id: ControllerId, selection: &Template) -> u32 {
        let selection = selection.text(self.user).into_owned();
        let selection = selection.trim();
        if selection.is_empty() {
            return 0;
        }
        // A number too large for Java's int counts as a name.
        if selection.chars().all(char::is_numeric)
            && let Ok(number) = selection.parse::<i32>()
        {
            let count = self.child_count(id);
            return u32::try_from(number).ok().filter(|number| (*number as usize) < count).unwrap_or(0);
        }
        let mut default = u32::MAX;
        for index in 0..self.child_count(id) {
            let at = u32::try_from(index).unwrap_or(u32::MAX);
            let group = self.group;
            let name = match self.child(id, index) {
                Some((_, Child::Controller(child))) => &group.controllers[child.0 as usize].name,
                Some((_, Child::Sampler(child))) => &group.samplers[child.0 as usize].label,
                None => continue,
            };
            let name = name.text(self.user);
            if name == selection {
                return at;
            }
            if name.eq_ignore_ascii_case("default") {
                default = at;
            }
        }
        default
    }

    /// Whether a Runtime Controller's time is over. The first call starts the time. As in JMeter, whole seconds are
    /// compared.
    pub(crate) fn runtime_is_over(&mut self, seconds: &Template, begun: StateId) -> bool {
        let seconds = seconds_of(seconds, self.user);
        let now = self.user.now();
        let begun = *self.user.state(begun, || None::<Nanos>).get_or_insert(now);
        i64::try_from(now.since(begun) / 1_000_000_000).unwrap_or(i64::MAX) >= seconds
    }

    pub(crate) fn next_of_weighted(
        &mut self,
        id: ControllerId,
        choice: &WeightedChoice,
    ) -> Result<Next, StopUser> {
        loop {
            if self.turn() {
                return Ok(Next::Yield);
            }
            let fresh = !self.user.state(choice.state, SwitchState::default).chosen;
            if fresh && !self.choose_weighted_child(id, choice) {
                return Ok(Next::Nothing);
            }
            match self.generic_next(id)? {
                Step::Again => {}
                Step::Answer(Next::Yield) => return Ok(Next::Yield),
                Step::Answer(found) => {
                    let chosen = self.user.state(choice.state, SwitchState::default).choice;
                    if !fresh && (found == Next::Nothing || self.state(id).current != chosen) {
                        self.end_weighted_pass(id, choice);
                        return Ok(Next::Nothing);
                    }
                    return Ok(found);
                }
            }
        }
    }

    /// Chooses the child of this pass; returns `false` if there is no child to choose.
    fn choose_weighted_child(&mut self, id: ControllerId, choice: &WeightedChoice) -> bool {
        let mut weights: Vec<f64> =
            choice.weights.iter().map(|weight| weight.integer(self.user, 0) as f64).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let index = if choice.random {
            let mut left = self.user.random.random::<f64>() * weights.iter().sum::<f64>();
            let drawn = weights.iter().position(|weight| {
                left -= weight;
                left <= 0.0
            });
            Some(drawn.unwrap_or(0))
        } else {
            let weighing = self.user.state(choice.state, SwitchState::default);
            weighing.counts.resize(weights.len(), 0);
            let share =
                |count: u64| if weighing.total > 0 { count as f64 / weighing.total as f64 } else { 0.0 };
            let behind = weights.iter().zip(&weighing.counts).map(|(weight, count)| weight - share(*count));
            // If every child has exactly its share, the child with the largest weight is next.
            furthest(behind).or_else(|| furthest(weights.iter().copied()))
        };
        let Some(index) = index else {
            let line = "Test failed! A Weighted Switch Controller has no weight above 0";
            self.user.log(LogLevel::Error, line);
            self.user.running = false;
            return false;
        };
        let at = u32::try_from(index).unwrap_or(u32::MAX);
        let weighing = self.user.state(choice.state, SwitchState::default);
        weighing.chosen = true;
        weighing.choice = at;
        if !choice.random {
            weighing.total += 1;
            weighing.counts[index] += 1;
        }
        self.state(id).current = at;
        true
    }

    /// Ends the pass of the chosen child. All controllers below start a new pass with their next call.
    fn end_weighted_pass(&mut self, id: ControllerId, choice: &WeightedChoice) {
        self.forget_choice(choice);
        for index in 0..self.child_count(id) {
            if let Some((_, Child::Controller(child))) = self.child(id, index) {
                if let ControllerKind::Weighted(below) = &self.group_controller(child).kind {
                    self.forget_choice(below);
                }
                self.end_below(child);
            }
        }
    }

    fn forget_choice(&mut self, choice: &WeightedChoice) {
        self.user.state(choice.state, SwitchState::default).chosen = false;
    }

    fn end_below(&mut self, id: ControllerId) {
        if matches!(self.group_controller(id).kind, ControllerKind::Transaction(_)) {
            // The samples that the transaction has measured so far are not reported.
            self.state(id).transaction = None;
            self.start_pass_again(id);
            return;
        }
        for index in 0..self.child_count(id) {
            if let Some((_, Child::Controller(child))) = self.child(id, index) {
                self.end_below(child);
            }
        }
        self.leave(id);
    }

    /// Whether a controller begins a pass with its next call.
    pub(crate) fn begins_pass(&mut self, id: ControllerId) -> bool {
        self.state(id).flags.contains(Flags::FIRST)
    }
}

/// Index of the largest number above 0 (as in JMeter, above the smallest positive `f64`); the first one if several are equal.
fn furthest(numbers: impl Iterator<Item = f64>) -> Option<usize> {
    let mut best = None;
    let mut most = f64::from_bits(1);
    for (index, number) in numbers.enumerate() {
        if number > most {
            most = number;
            best = Some(index);
        }
    }
    best
}

/// A Runtime Controller's seconds, parsed as Java parses a long: a number with blanks around it is invalid and counts as 0.
pub(crate) fn seconds_of(seconds: &Template, user: &mut UserState) -> i64 {
    seconds.text(user).parse().unwrap_or(0)
}

/// Gives variables their values. All values are computed before the first variable changes.
pub(crate) fn assign(assignments: &[Assignment], user: &mut UserState) {
    let values: Vec<(String, String)> = assignments
        .iter()
        .map(|assignment| {
            let name = assignment.name.text(user).into_owned();
            (name, assignment.value.text(user).into_owned())
        })
        .collect();
    for (name, value) in values {
        user.variables.set(&name, &value);
    }
}
