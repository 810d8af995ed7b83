//! The state of a running script: its limits, its variables, and calls through the table of the interpreter.

use std::rc::Rc;

use super::classes::Class;
use super::fault::{limit, thrown_without_message};
use super::model::{Fault, Object, Outcome, Role, V, Variable};
pub(super) use super::model::{Frame, Machine};
use super::stack::{self, MEMORY_BYTES_MAX, Reached, STEPS_MAX};
use super::tree::{Name, Operator, Type};
use crate::language::{Dialect, JavaLike};

/// Maximum length of a string that a script may build, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 16 << 20;

impl Machine<'_> {
    pub(super) fn groovy(&self) -> bool {
        self.tree.dialect == Dialect::Groovy
    }

    pub(super) fn beanshell(&self) -> bool {
        self.tree.dialect == Dialect::BeanShell
    }

    pub(super) fn jexl(&self) -> bool {
        matches!(self.tree.dialect, Dialect::Jexl2 | Dialect::Jexl3)
    }

    /// The language whose conversions of plain values apply: JEXL calls Java's methods, as BeanShell does.
    pub(super) fn language(&self) -> JavaLike {
        if self.groovy() { JavaLike::Groovy } else { JavaLike::BeanShell }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Fault> {
        if stack::spend(steps) { Ok(()) } else { Err(self.reached(Reached::Steps)) }
    }

    /// Counts the steps of copying this number of values, and fails if their memory would exceed the limit.
    pub(super) fn spend_items(&mut self, items: usize) -> Result<(), Fault> {
        self.spend(items / 4)?;
        self.room_for(items)
    }

    /// Fails if the memory of this number of values would exceed the limit.
    pub(super) fn room_for(&mut self, items: usize) -> Result<(), Fault> {
        if stack::has_room_for(items.saturating_mul(size_of::<V>())) {
            Ok(())
        } else {
            Err(self.reached(Reached::Memory))
        }
    }

    /// The error for a limit. If the stack is exhausted, the script is also reported as unsupported, because Java's stack is
    /// larger and the script may run in JMeter.
    pub(super) fn reached(&mut self, reached: Reached) -> Fault {
        match reached {
            Reached::Stack => {
                self.scope.note_unsupported("this depth of nested calls");
                thrown_without_message("StackOverflowError")
            }
            Reached::Steps => limit(format!("{STEPS_MAX} steps")),
            Reached::Memory => limit(format!("{} MiB of values", MEMORY_BYTES_MAX >> 20)),
        }
    }

    /// Fails if an operation that could not return an error has reached a limit.
    pub(super) fn check_limits(&mut self) -> Result<(), Fault> {
        match stack::stopped_early() {
            None => Ok(()),
            Some(reached) => Err(self.reached(reached)),
        }
    }

    /// Fails if the stack is nearly exhausted.
    pub(super) fn check_stack(&mut self) -> Result<(), Fault> {
        if stack::is_exhausted() { Err(self.reached(Reached::Stack)) } else { Ok(()) }
    }

    pub(super) fn spend_text(&mut self, len: usize) -> Result<(), Fault> {
        self.check_text(len)?;
        self.spend(len / 64)
    }

    /// Fails if a string of this length is too long.
    pub(super) fn check_text(&mut self, len: usize) -> Result<(), Fault> {
        if len > TEXT_BYTES_MAX {
            return Err(limit(format!("a string of more than {} MiB", TEXT_BYTES_MAX >> 20)));
        }
        Ok(())
    }

    pub(super) fn child_frame(&self, parent: &Rc<Frame>) -> Rc<Frame> {
        Rc::new(Frame::new(Vec::new(), Some(parent.clone()), Role::Variables))
    }

    pub(super) fn find(&self, frame: &Rc<Frame>, name: Name) -> Option<V> {
        let mut at = Some(frame);
        while let Some(frame) = at {
            if let Some(found) = frame.variables.borrow().iter().rev().find(|known| known.name == name) {
                return Some(found.value.clone());
            }
            at = frame.parent.as_ref();
        }
        None
    }

    pub(super) fn declare(&mut self, frame: &Rc<Frame>, name: Name, declared: Type, value: V) {
        let mut variables = frame.variables.borrow_mut();
        match variables.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.value = value;
                known.declared = declared;
            }
            None => variables.push(Variable { name, value, declared }),
        }
    }

    // Calls of later layers through the interpreter's function table.

    /// Calls a method of an object; fails with Groovy's exception if the method does not exist in Java and Groovy either.
    pub(super) fn invoke(&mut self, object: &V, method: &str, arguments: Vec<V>) -> Outcome {
        (self.interpreter.invoke)(self, object, method, arguments)
    }

    /// Calls a method of an object; fails with [`Cause::Unsupported`] if it is not implemented here.
    pub(super) fn dispatch(&mut self, object: &V, method: &str, arguments: &[V]) -> Outcome {
        (self.interpreter.dispatch)(self, object, method, arguments)
    }

    /// Evaluates `object[index]`.
    pub(super) fn item(&mut self, object: &V, index: &V) -> Outcome {
        (self.interpreter.item)(self, object, index)
    }

    /// The text of an object that is neither a string nor a collection.
    pub(super) fn object_text(&mut self, object: &Object, value: &V) -> Result<String, Fault> {
        (self.interpreter.object_text)(self, object, value)
    }

    /// Calls a closure, or the `call` method of another object.
    pub(super) fn call_value(&mut self, value: &V, arguments: Vec<V>) -> Outcome {
        (self.interpreter.call_value)(self, value, arguments)
    }

    /// Calls a method of an object or class that the script defines; `None` if there is no such method.
    pub(super) fn call_own(&mut self, object: &V, method: &str, arguments: &[V]) -> Option<Outcome> {
        (self.interpreter.call_own)(self, object, method, arguments)
    }

    /// Applies an operator that a class of the script defines; `None` if there is no such class.
    pub(super) fn own_operator(&mut self, left: &V, operator: Operator, right: &V) -> Option<Outcome> {
        (self.interpreter.own_operator)(self, left, operator, right)
    }

    /// Creates an object of a class that the script defines.
    pub(super) fn construct(&mut self, class: Class, arguments: Vec<V>) -> Outcome {
        (self.interpreter.construct)(self, class, arguments)
    }
}
