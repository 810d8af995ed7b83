//! Members that classes of a script inherit from exceptions and enumerations.

use std::rc::Rc;

use super::super::fault::{Outcome, thrown};
use super::super::model::{Frame, Machine};
use super::super::print;
use super::super::tree::Base;
use super::super::value::V;
use crate::Value;

impl Machine<'_> {
    /// Sets message and cause of an exception from the arguments of its constructor.
    pub(super) fn set_message(&mut self, object: &V, arguments: &[V]) -> Outcome {
        let is_exception = |value: &V| matches!(value, V::Object(_)) && value.as_text().is_none();
        let (message, cause) = match arguments {
            [] => (V::NULL, V::NULL),
            [cause] if is_exception(cause) => (V::text(print::java(self, cause)?), cause.clone()),
            [message] => (message.clone(), V::NULL),
            [message, cause, ..] => (message.clone(), cause.clone()),
        };
        self.set_own_field(object, "$message", &message).transpose()?;
        self.set_own_field(object, "$cause", &cause).transpose()?;
        Ok(V::NULL)
    }

    /// Calls a method that a subclass of an exception inherits.
    pub(super) fn method_of_exception(
        &mut self,
        object: &V,
        method: &str,
        arguments: &[V],
    ) -> Option<Outcome> {
        let message = self.own_field(object, "$message")?;
        Some(Ok(match (method, arguments) {
            ("getMessage" | "getLocalizedMessage", []) => message,
            ("getCause", []) => self.own_field(object, "$cause").unwrap_or(V::NULL),
            ("getStackTrace", []) => V::array(Vec::new(), Base::Any),
            ("printStackTrace", []) => V::NULL,
            ("toString", []) => {
                let V::Object(inner) = object else { return None };
                let name = inner.class().name();
                match message {
                    V::Plain(Value::Null) => V::text(name),
                    message => match print::java(self, &message) {
                        Ok(message) => V::text(format!("{name}: {message}")),
                        Err(fault) => return Some(Err(fault)),
                    },
                }
            }
            _ => return None,
        }))
    }

    /// Calls a method that every enumeration has.
    pub(super) fn method_of_enumeration(
        &mut self,
        frame: &Rc<Frame>,
        object: &V,
        method: &str,
        arguments: &[V],
    ) -> Option<Outcome> {
        let definition = frame.definition()?.clone();
        if definition.constants.is_empty() {
            return None;
        }
        let ordinal = |machine: &mut Self, value: &V| {
            machine.own_field(value, "$ordinal").and_then(|value| value.as_long()).unwrap_or(-1)
        };
        Some(Ok(match (object, method, arguments) {
            (V::Class(_), "values", []) => {
                let names = definition.constants.iter();
                V::array(names.filter_map(|(name, _)| self.find(frame, *name)).collect(), Base::Any)
            }
            (V::Class(class), "valueOf", [name]) => {
                let wanted = name.as_text().unwrap_or_default().to_owned();
                let found =
                    definition.constants.iter().find(|(name, _)| *self.tree.names[*name as usize] == *wanted);
                match found.and_then(|(name, _)| self.find(frame, *name)) {
                    Some(constant) => constant,
                    None => {
                        let message = format!("No enum constant {}.{wanted}", class.name());
                        return Some(Err(thrown("IllegalArgumentException", message)));
                    }
                }
            }
            (V::Object(_), "name" | "toString", []) => self.own_field(object, "$name")?,
            (V::Object(_), "ordinal", []) => V::int(ordinal(self, object)),
            (V::Object(_), "compareTo", [other]) => V::int(ordinal(self, object) - ordinal(self, other)),
            _ => return None,
        }))
    }
}
