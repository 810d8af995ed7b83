//! The functions `__counter`, `__intSum` and `__longSum`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use busyhour_java::{parse_boolean, trim};
use busyhour_program::template::{Function, Template};
use busyhour_program::user::{StateId, UserState};

use crate::arguments::{Arguments, BuildResult, Target, log_failure, with_text};

#[derive(Debug)]
struct Counter {
    per_user: Template,
    target: Target,
    state: Option<StateId>,
    /// The count that all users share.
    shared: AtomicI32,
}

/// Builds `${__counter(TRUE, variable)}`: each call in the plan has a separate counter.
pub(crate) fn counter(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let shared_only = arguments.literal(0).is_some_and(|text| !parse_boolean(text));
    let state = if shared_only { None } else { arguments.state() };
    let target = arguments.target(1);
    Ok(Arc::new(Counter { per_user: arguments.take(0), target, state, shared: AtomicI32::new(0) }))
}

impl Function for Counter {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let per_user = with_text(&self.per_user, user, |_, text| parse_boolean(text));
        let count = match (per_user, self.state) {
            (true, Some(id)) => {
                let count = user.state(id, || 0_i32);
                *count = count.wrapping_add(1);
                *count
            }
            (true, None) => 1,
            (false, _) => self.shared.fetch_add(1, Ordering::Relaxed).wrapping_add(1),
        };
        let _ = write!(out, "{count}");
        self.target.store(user, &out[start..]);
    }
}

/// Java's integers, which wrap around.
trait Integer: Copy + std::fmt::Display + std::str::FromStr + Send + Sync + std::fmt::Debug + 'static {
    const ZERO: Self;
    const FUNCTION: &'static str;
    /// Whether a blank last argument sets the variable with the empty name.
    const STORES_BLANK: bool;
    fn plus(self, other: Self) -> Self;
}

impl Integer for i32 {
    const ZERO: Self = 0;
    const FUNCTION: &'static str = "__intSum";
    const STORES_BLANK: bool = true;
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Integer for i64 {
    const ZERO: Self = 0;
    const FUNCTION: &'static str = "__longSum";
    const STORES_BLANK: bool = false;
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

/// A sum. The last argument is a summand if it is a number, otherwise the name of a variable.
#[derive(Debug)]
struct Sum<T> {
    summands: Vec<Template>,
    last: Template,
    integer: std::marker::PhantomData<T>,
}

/// Builds `${__intSum(1, 2, variable)}`.
pub(crate) fn int_sum(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    sum::<i32>(arguments)
}

/// Builds `${__longSum(1, 2, variable)}`.
pub(crate) fn long_sum(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    sum::<i64>(arguments)
}

fn sum<T: Integer>(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let last = arguments.count - 1;
    for index in 0..last {
        if let Some(text) = arguments.literal(index).filter(|text| text.parse::<T>().is_err()) {
            let hint = "only the last argument may have blanks around its number";
            return Err(arguments.invalid(format!("{text:?} is not a whole number in range"), hint));
        }
    }
    // A variable with a constant name gets its slot when the plan is compiled.
    if let Some(name) = arguments.literal(last).map(trim).filter(|name| name.parse::<T>().is_err()) {
        let name = name.to_owned();
        arguments.slot(&name);
    }
    let summands = (0..last).map(|index| arguments.take(index)).collect();
    Ok(Arc::new(Sum::<T> { summands, last: arguments.take(last), integer: std::marker::PhantomData }))
}

impl<T: Integer> Function for Sum<T> {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let mut total = T::ZERO;
        for summand in &self.summands {
            let value = with_text(summand, user, |user, text| {
                let value = text.parse::<T>();
                if value.is_err() {
                    log_failure(user, T::FUNCTION, &format!("{text:?} is not a whole number in range"));
                }
                value.ok()
            });
            match value {
                Some(value) => total = total.plus(value),
                None => return,
            }
        }
        let start = out.len();
        with_text(&self.last, user, |user, text| {
            let text = trim(text);
            if let Ok(value) = text.parse::<T>() {
                let _ = write!(out, "{}", total.plus(value));
            } else {
                let _ = write!(out, "{total}");
                if T::STORES_BLANK || !text.is_empty() {
                    user.variables.set(text, &out[start..]);
                }
            }
        });
    }
}
