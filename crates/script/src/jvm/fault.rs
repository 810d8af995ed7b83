//! Errors of a running script.

use super::classes::Class;
pub(super) use super::model::{Cause, Fault, Outcome};
use super::model::{Object, V};

impl Fault {
    pub fn at(mut self, at: u32) -> Fault {
        self.at.get_or_insert(at);
        self
    }

    /// The exception, if a script can catch the error.
    pub fn exception(&self) -> Option<V> {
        match &self.cause {
            Cause::Thrown(exception) => Some(exception.clone()),
            Cause::Unsupported(what) => {
                let class = Class::known("UnsupportedOperationException");
                Some(V::object(Object::Exception(class, Some(format!("{what} is not supported")), V::NULL)))
            }
            Cause::Evaluation(_) | Cause::Limit(_) => None,
        }
    }
}

pub(super) fn thrown(class: &str, message: impl Into<String>) -> Fault {
    let exception = Object::Exception(Class::known(class), Some(message.into()), V::NULL);
    Fault { cause: Cause::Thrown(V::object(exception)), at: None }
}

pub(super) fn thrown_without_message(class: &str) -> Fault {
    let exception = Object::Exception(Class::known(class), None, V::NULL);
    Fault { cause: Cause::Thrown(V::object(exception)), at: None }
}

/// An error of the interpreter of BeanShell or JEXL, which is not an exception of a called method.
pub(super) fn evaluation_fault(message: impl Into<String>) -> Fault {
    Fault { cause: Cause::Evaluation(message.into()), at: None }
}

pub(super) fn unsupported(what: impl Into<String>) -> Fault {
    Fault { cause: Cause::Unsupported(what.into()), at: None }
}

pub(super) fn limit(what: impl Into<String>) -> Fault {
    Fault { cause: Cause::Limit(what.into()), at: None }
}

impl From<crate::plain::Fault> for Fault {
    fn from(fault: crate::plain::Fault) -> Fault {
        match fault {
            crate::plain::Fault::Limit(what) => limit(what),
            crate::plain::Fault::Failed(message) => {
                let class = if message.contains("is not a number") {
                    "NumberFormatException"
                } else if ["Division by zero", "Division undefined", "/ by zero"].contains(&message.as_str())
                {
                    "ArithmeticException"
                } else if message.starts_with("there ") {
                    "IndexOutOfBoundsException"
                } else {
                    "RuntimeException"
                };
                thrown(class, message)
            }
        }
    }
}
