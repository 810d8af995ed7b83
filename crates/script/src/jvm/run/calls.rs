//! Calls of methods and closures.

use std::rc::Rc;
use std::sync::Arc;

use super::super::fault::{Cause, Fault, Outcome, unsupported};
use super::super::model::{Frame, Machine};
use super::super::objects::Object;
use super::super::tree::{Function, Type};
use super::super::value::{Closure, V};
use super::super::{missing, tree, types};
use super::flow::Flow;
use crate::Value;

/// Whether a method or closure can be called with this number of arguments. If the only argument is omitted, it is null.
pub(super) fn accepts_count(function: &Function, count: usize) -> bool {
    let parameters = &function.parameters;
    let required =
        parameters.iter().filter(|parameter| parameter.default.is_none() && !parameter.is_rest).count();
    if parameters.last().is_some_and(|last| last.is_rest) {
        return count >= required;
    }
    let is_null_passed = parameters.len() == 1 && parameters[0].declared.boxed && count == 0;
    is_null_passed || (required..=parameters.len()).contains(&count)
}

/// Whether Groovy passes the value to a parameter of this type. Only values that are certainly not strings are rejected for a
/// parameter of type `String`; other conversions are checked by the assignment.
pub(super) fn accepts(value: &V, declared: Type) -> bool {
    let is_text = declared.base == tree::Base::Text && declared.arrays == 0;
    !is_text || matches!(value, V::Plain(Value::Text(_) | Value::Null) | V::Object(_))
}

impl Machine<'_> {
    pub fn method(&self, name: &str) -> Option<Arc<Function>> {
        self.methods.get(name).cloned()
    }

    /// Calls a method of the script.
    pub fn call_method(&mut self, function: &Arc<Function>, arguments: Vec<V>) -> Outcome {
        let frame = self.child_frame(&self.global.clone());
        self.call_function(function, arguments, &frame)
    }

    /// Calls a closure.
    pub fn call_closure(&mut self, closure: &Closure, arguments: Vec<V>) -> Outcome {
        let frame = self.child_frame(&closure.frame);
        let function = closure.function.clone();
        if function.implicit {
            if arguments.len() > 1 {
                let closure = V::Closure(Rc::new(closure.clone()));
                return Err(missing::exception(self, &closure, "doCall", &arguments));
            }
            if let Some(it) = self.it {
                let value = arguments.into_iter().next().unwrap_or(V::NULL);
                self.declare(&frame, it, Type::ANY, value);
            }
            return self.run_body(&function, &frame);
        }
        let has_rest = function.parameters.last().is_some_and(|last| last.is_rest);
        let spreads = !accepts_count(&function, 1) && function.parameters.len() > 1 && !has_rest;
        let arguments = match arguments.as_slice() {
            [list @ (V::List(_) | V::Array(_))] if spreads => {
                let items = list.items().unwrap_or_default();
                if accepts_count(&function, items.len()) { items } else { arguments }
            }
            [V::Object(object)] if spreads && accepts_count(&function, 2) => match &**object {
                Object::Entry(key, value) => vec![key.clone(), value.clone()],
                _ => arguments,
            },
            _ => arguments,
        };
        let fits = has_rest
            || arguments.iter().zip(&function.parameters).all(|(value, to)| accepts(value, to.declared));
        if self.groovy() && (!fits || !accepts_count(&function, arguments.len())) {
            let closure = V::Closure(Rc::new(closure.clone()));
            return Err(missing::exception(self, &closure, "doCall", &arguments));
        }
        self.call_function(&function, arguments, &frame)
    }

    pub(super) fn call_function(
        &mut self,
        function: &Arc<Function>,
        arguments: Vec<V>,
        frame: &Rc<Frame>,
    ) -> Outcome {
        if !accepts_count(function, arguments.len()) {
            if self.groovy() {
                return Err(missing::script_exception(self, &function.name, &arguments));
            }
            let message = format!(
                "`{}` takes {} arguments, not {}",
                function.name,
                function.parameters.len(),
                arguments.len()
            );
            return Err(Fault { cause: Cause::Evaluation(message), at: None });
        }
        let mut arguments = arguments.into_iter();
        for parameter in &function.parameters {
            if parameter.is_rest {
                let rest: Vec<V> = arguments.by_ref().collect();
                let value = match rest.as_slice() {
                    [array @ V::Array(_)] => array.clone(),
                    _ => V::array(rest, parameter.declared.base),
                };
                self.declare(frame, parameter.name, parameter.declared, value);
                continue;
            }
            let value = match (arguments.next(), &parameter.default) {
                (Some(value), _) => types::assigned(self, value, parameter.declared)?,
                (None, Some(default)) => self.value(default, frame)?,
                (None, None) => V::NULL,
            };
            self.declare(frame, parameter.name, parameter.declared, value);
        }
        self.run_body(function, frame)
    }

    fn run_body(&mut self, function: &Arc<Function>, frame: &Rc<Frame>) -> Outcome {
        // Expressions inside the function are not parts of an assertion that calls it.
        let recorded = self.recorded.take();
        let outcome = self.statements(&function.body, frame);
        self.recorded = recorded;
        let value = match outcome? {
            Flow::Return(value) => value,
            Flow::Next(value) if self.groovy() => value,
            _ => V::NULL,
        };
        if function.result == Type::ANY {
            return Ok(value);
        }
        if function.result.base == tree::Base::Void {
            return Ok(V::NULL);
        }
        types::assigned(self, value, function.result)
    }

    /// Calls a closure, or the `call` method of another object.
    pub fn run_callable(&mut self, value: &V, arguments: Vec<V>) -> Outcome {
        // A curried closure calls the closure that it wraps without evaluating an expression, which would check the stack.
        self.check_stack()?;
        match value {
            V::Closure(closure) => {
                let closure = closure.clone();
                self.call_closure(&closure, arguments)
            }
            other if self.groovy() => self.invoke(other, "call", arguments),
            other => Err(unsupported(format!("a call of {}", other.kind()))),
        }
    }

    pub fn closure(&self, function: &Arc<Function>, frame: &Rc<Frame>) -> V {
        self.note_captured(frame);
        V::Closure(Rc::new(Closure { function: function.clone(), frame: frame.clone() }))
    }

    fn note_captured(&self, frame: &Rc<Frame>) {
        let mut captured = self.captured.borrow_mut();
        if captured.last().is_some_and(|last| last.as_ptr() == Rc::as_ptr(frame)) {
            return;
        }
        // Most frames are freed when their call ends. Freed frames are removed, so that the list does not grow with the number
        // of calls.
        if captured.len() == captured.capacity() {
            captured.retain(|known| known.strong_count() > 0);
        }
        captured.push(Rc::downgrade(frame));
    }
}
