//! Execution of `switch` and `try`.

use std::rc::Rc;

use super::super::classes::Class;
use super::super::fault::{Cause, Fault};
use super::super::model::{Frame, Machine};
use super::super::operators;
use super::super::tree::{Base, Catch, Expr, Stmt, Type};
use super::super::types;
use super::super::value::V;
use super::flow::Flow;

impl Machine<'_> {
    pub(super) fn switch(
        &mut self,
        value: &Expr,
        cases: &[(Option<Expr>, Vec<Stmt>)],
        frame: &Rc<Frame>,
    ) -> Result<Flow, Fault> {
        let value = self.value(value, frame)?;
        let mut from = None;
        for (at, (label, _)) in cases.iter().enumerate() {
            let Some(label) = label else { continue };
            let label_value = self.value(label, frame)?;
            let fits = if self.groovy() {
                operators::is_case(self, &label_value, &value)
            } else {
                operators::java_case(&label_value, &value)
            };
            if fits.map_err(|fault| fault.at(label.at))? {
                from = Some(at);
                break;
            }
        }
        let from = from.or_else(|| cases.iter().position(|(label, _)| label.is_none()));
        let Some(from) = from else { return Ok(Flow::Next(V::NULL)) };
        // In BeanShell, a `switch` does not have its own scope.
        let inner = if self.beanshell() { frame.clone() } else { self.child_frame(frame) };
        let mut last = V::NULL;
        for (_, body) in &cases[from..] {
            match self.statements(body, &inner)? {
                Flow::Next(value) => last = value,
                Flow::Break => return Ok(Flow::Next(last)),
                other => return Ok(other),
            }
        }
        Ok(Flow::Next(last))
    }

    pub(super) fn run_try(
        &mut self,
        body: &[Stmt],
        catches: &[Catch],
        last: Option<&[Stmt]>,
        frame: &Rc<Frame>,
    ) -> Result<Flow, Fault> {
        let mut outcome = self.block(body, frame);
        if let Err(fault) = &outcome
            && let Some(exception) = fault.exception()
        {
            let class = match &exception {
                V::Object(object) => object.class(),
                _ => Class::known("Exception"),
            };
            let fits = |known: &Class| {
                let target = Type { base: Base::Class(*known), boxed: true, arrays: 0 };
                class.is_a(*known) || types::is_instance(&exception, target)
            };
            let found = catches.iter().find(|known| {
                known.classes.iter().any(fits)
                    || (known.classes.is_empty() && fits(&Class::known("Exception")))
            });
            if let Some(found) = found {
                if let Cause::Unsupported(what) = &fault.cause {
                    self.scope.note_unsupported(what);
                }
                let inner = self.child_frame(frame);
                self.declare(&inner, found.name, Type::ANY, exception);
                outcome = self.statements(&found.body, &inner);
            }
        }
        if let Some(last) = last {
            match self.block(last, frame)? {
                Flow::Next(_) => {}
                other => return Ok(other),
            }
        }
        outcome
    }
}
