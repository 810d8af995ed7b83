//! The Counter.

use std::sync::{Mutex, PoisonError};

use busyhour_program::element::{IterationStep, StopUser};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};

use crate::java;
use crate::number_format::NumberFormat;

/// Settings of a counter.
#[derive(Clone, Debug, Default)]
pub struct CounterSettings {
    /// `CounterConfig.start`: the first value.
    pub start: Template,
    /// `CounterConfig.end`: the last value; if empty, there is no end.
    pub end: Template,
    /// `CounterConfig.incr`: the difference between two values.
    pub increment: Template,
    /// `CounterConfig.name`: the variable.
    pub variable: Template,
    /// `CounterConfig.format`: a pattern of `DecimalFormat`.
    pub format: Template,
    /// `CounterConfig.per_user`: each user has a separate count.
    pub per_user: bool,
    /// `CounterConfig.reset_on_tg_iteration`: each iteration of the group restarts the user's count.
    pub reset_on_iteration: bool,
}

/// A counter. As in JMeter, all groups in its scope must share one instance.
#[derive(Debug)]
pub struct CounterStep {
    settings: CounterSettings,
    format: NumberFormat,
    /// The next value for all users; `None` before the first value.
    shared: Mutex<Option<i64>>,
    state: StateId,
}

/// The count of a user.
#[derive(Debug)]
struct UserCount {
    next: i64,
    iteration: u32,
}

impl CounterStep {
    /// Creates the counter from its settings.
    pub fn new(settings: CounterSettings, symbols: &mut Symbols) -> Self {
        if let Some(name) = settings.variable.as_literal() {
            symbols.slot(name);
        }
        let format = NumberFormat::new(&settings.format);
        Self { settings, format, shared: Mutex::new(None), state: symbols.state() }
    }
}

impl IterationStep for CounterStep {
    fn step(&self, user: &mut UserState) -> Result<(), StopUser> {
        let settings = &self.settings;
        let start = java::long(&settings.start.text(user));
        let end = match settings.end.text(user).as_ref() {
            "" => i64::MAX,
            text => java::long(text),
        };
        let increment = java::long(&settings.increment.text(user));
        let value = if settings.per_user {
            let iteration = user.iteration;
            let count = user.state(self.state, || UserCount { next: start, iteration: 1 });
            if settings.reset_on_iteration {
                if iteration != count.iteration {
                    count.next = start;
                }
                count.iteration = iteration;
            }
            let value = count.next;
            let next = value.wrapping_add(increment);
            count.next = if next > end { start } else { next };
            value
        } else {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            let value = shared.filter(|value| *value <= end).unwrap_or(start);
            *shared = Some(value.wrapping_add(increment));
            value
        };
        let name = settings.variable.text(user);
        self.format.set(user, &name, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{user, user_logging};

    fn counter(
        start: &str,
        end: &str,
        increment: &str,
        format: &str,
        per_user: bool,
    ) -> (CounterStep, Symbols) {
        let literal = Template::literal;
        let mut symbols = Symbols::default();
        let settings = CounterSettings {
            start: literal(start),
            end: literal(end),
            increment: literal(increment),
            variable: literal("n"),
            format: literal(format),
            per_user,
            reset_on_iteration: per_user,
        };
        (CounterStep::new(settings, &mut symbols), symbols)
    }

    fn values(counter: &CounterStep, user: &mut UserState, count: usize) -> String {
        let mut values = Vec::new();
        for _ in 0..count {
            counter.step(user).expect("counts");
            values.push(user.variables.get("n").unwrap_or("unset").to_owned());
        }
        values.join(" ")
    }

    #[test]
    fn counts_for_all_users() {
        let (step, symbols) = counter("1", "5", "2", "000", false);
        let mut first = user(&symbols);
        let mut second = user_logging(&symbols, 1, std::sync::Arc::default());
        assert_eq!(values(&step, &mut first, 2), "001 003");
        assert_eq!(values(&step, &mut second, 3), "005 001 003");
    }

    #[test]
    fn counts_for_each_user() {
        let (step, symbols) = counter("7", "", "1", "", true);
        let mut first = user(&symbols);
        first.iteration = 1;
        assert_eq!(values(&step, &mut first, 3), "7 8 9");
        first.iteration = 2;
        assert_eq!(values(&step, &mut first, 2), "7 8");
        let mut second = user_logging(&symbols, 1, std::sync::Arc::default());
        second.iteration = 1;
        assert_eq!(values(&step, &mut second, 1), "7");
    }

    #[test]
    fn empty_settings_give_zeros() {
        let (step, symbols) = counter("", "", "", "", false);
        assert_eq!(values(&step, &mut user(&symbols), 2), "0 0");
    }
}
