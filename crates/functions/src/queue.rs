//! Functions of the plugin Inter-Thread Communication: queues that all users of a run share.

use std::sync::Arc;

use busyhour_program::queues::TIMEOUT_PROPERTY;
use busyhour_program::run::Level;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, Made, Target, with_text};

/// What is read from a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// The first text, which stays.
    First,
    /// The first text, which is taken out.
    Pop,
    /// The number of texts.
    Size,
}

#[derive(Debug)]
struct Read {
    queue: Template,
    reading: Reading,
    target: Target,
}

#[derive(Debug)]
struct Put {
    queue: Template,
    value: Template,
}

fn reading(arguments: &mut Arguments<'_, '_>, reading: Reading) -> Made {
    let target = arguments.target(1);
    Ok(Arc::new(Read { queue: arguments.take(0), reading, target }))
}

/// `${__fifoGet(queue, variable)}`
pub(crate) fn get(arguments: &mut Arguments<'_, '_>) -> Made {
    reading(arguments, Reading::First)
}

/// `${__fifoPop(queue, variable)}`
pub(crate) fn pop(arguments: &mut Arguments<'_, '_>) -> Made {
    reading(arguments, Reading::Pop)
}

/// `${__fifoSize(queue, variable)}`
pub(crate) fn size(arguments: &mut Arguments<'_, '_>) -> Made {
    reading(arguments, Reading::Size)
}

/// `${__fifoPut(queue, value)}`
pub(crate) fn put(arguments: &mut Arguments<'_, '_>) -> Made {
    Ok(Arc::new(Put { queue: arguments.take(0), value: arguments.take(1) }))
}

impl Function for Read {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        use std::fmt::Write as _;
        let queue = with_text(&self.queue, user, |user, name| user.run.queues.named(name));
        let start = out.len();
        match self.reading {
            Reading::First => out.push_str(&queue.first().unwrap_or_default()),
            Reading::Size => {
                let _ = write!(out, "{}", queue.len());
            }
            Reading::Pop => match queue.pop() {
                Some(text) => out.push_str(&text),
                None => {
                    if user.run.properties.number(TIMEOUT_PROPERTY, i64::MAX) > 0 {
                        let line = "__fifoPop: the queue is empty, and a function cannot wait here; \
                                    an Inter-Thread Communication PreProcessor can";
                        user.log(Level::Error, line);
                    }
                    // What Java makes of no value.
                    out.push_str("null");
                    self.target.remove(user);
                    return;
                }
            },
        }
        self.target.store(user, &out[start..]);
    }
}

impl Function for Put {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        self.value.render(user, out);
        let value = out[start..].to_owned();
        with_text(&self.queue, user, |user, name| user.run.put_into_queue(name, value));
    }
}
