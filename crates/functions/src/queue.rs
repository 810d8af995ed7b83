//! Functions of the Inter-Thread Communication plugin: queues that all users of a run share.

use std::sync::Arc;

use busyhour_program::queues::TIMEOUT_PROPERTY;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, BuildResult, Target, with_text};

/// An operation that reads from a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// Returns the first text without removing it.
    First,
    /// Returns and removes the first text.
    Pop,
    /// Returns the number of texts.
    Size,
}

#[derive(Debug)]
struct ReadQueue {
    queue: Template,
    operation: Operation,
    target: Target,
}

#[derive(Debug)]
struct PutIntoQueue {
    queue: Template,
    value: Template,
}

fn read_queue(arguments: &mut Arguments<'_, '_>, operation: Operation) -> BuildResult {
    let target = arguments.target(1);
    Ok(Arc::new(ReadQueue { queue: arguments.take(0), operation, target }))
}

/// Builds `${__fifoGet(queue, variable)}`.
pub(crate) fn get(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    read_queue(arguments, Operation::First)
}

/// Builds `${__fifoPop(queue, variable)}`.
pub(crate) fn pop(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    read_queue(arguments, Operation::Pop)
}

/// Builds `${__fifoSize(queue, variable)}`.
pub(crate) fn size(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    read_queue(arguments, Operation::Size)
}

/// Builds `${__fifoPut(queue, value)}`.
pub(crate) fn put(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(PutIntoQueue { queue: arguments.take(0), value: arguments.take(1) }))
}

impl Function for ReadQueue {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        use std::fmt::Write as _;
        let queue = with_text(&self.queue, user, |user, name| user.run.queues.named(name));
        let start = out.len();
        match self.operation {
            Operation::First => out.push_str(&queue.first().unwrap_or_default()),
            Operation::Size => {
                let _ = write!(out, "{}", queue.len());
            }
            Operation::Pop => match queue.pop() {
                Some(text) => out.push_str(&text),
                None => {
                    if user.run.properties.number(TIMEOUT_PROPERTY, i64::MAX) > 0 {
                        let line = "__fifoPop: the queue is empty, and a function cannot wait here; \
                                    an Inter-Thread Communication PreProcessor can";
                        user.log(LogLevel::Error, line);
                    }
                    // Java's null as text.
                    out.push_str("null");
                    self.target.remove(user);
                    return;
                }
            },
        }
        self.target.store(user, &out[start..]);
    }
}

impl Function for PutIntoQueue {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        self.value.render(user, out);
        let value = out[start..].to_owned();
        with_text(&self.queue, user, |user, name| user.run.put_into_queue(name, value));
    }
}
