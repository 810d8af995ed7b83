//! The interpreter of JEXL, which walks a script's tree, and what Groovy and BeanShell share with it: conversions,
//! operators, methods of texts.

mod arithmetic;
pub(crate) mod convert;
mod fault;
mod host;
mod math;
mod parse;
mod pattern;
pub(crate) mod text;

pub(crate) use arithmetic::unary;
pub(crate) use convert::{printed, single_unit, to_decimal, to_double};
pub(crate) use fault::{Fault, Outcome};
pub(crate) use math::math;
pub(crate) use pattern::{check as check_pattern, matches_empty, matches_whole};

use busyhour_slices::tick;

use crate::jexl::arithmetic as jexl_arithmetic;
use crate::syntax::Dialect;
use crate::syntax::ast::{Binary, Expr, Kind, Local, Stmt, Tree, Unary};
use crate::{Place, Scope, ScriptError, Value};

/// Statements, operations and 64-byte pieces of copied text that one evaluation may take: a fraction of a second.
const STEPS_MAX: u32 = 5_000_000;
/// Longest text that a script may build, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// How a statement ended.
enum Flow {
    Next(Value),
    Break,
    Continue,
    Return(Value),
}

struct Machine<'s> {
    tree: &'s Tree,
    scope: &'s mut dyn Scope,
    locals: Vec<Option<Value>>,
    steps_left: u32,
}

/// Runs the script; its value is that of the last statement.
pub(crate) fn run(tree: &Tree, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
    let mut machine = Machine { tree, scope, locals: vec![None; tree.names.len()], steps_left: STEPS_MAX };
    let value = match machine.statements(&tree.statements)? {
        Flow::Next(value) | Flow::Return(value) => value,
        Flow::Break | Flow::Continue => Value::Null,
    };
    if matches!(value, Value::Array(_)) {
        let place = Place { line: 1, column: 1 };
        return Err(ScriptError::Evaluation {
            message: "the script's result is an object without a text".into(),
            place,
        });
    }
    Ok(value)
}

impl Machine<'_> {
    fn dialect(&self) -> Dialect {
        self.tree.dialect
    }

    fn fault(&self, at: u32, fault: Fault) -> ScriptError {
        match fault {
            Fault::Failed(message) => {
                ScriptError::Evaluation { message, place: Place::of(&self.tree.text, at as usize) }
            }
            Fault::Limit(limit) => ScriptError::LimitReached { limit },
        }
    }

    fn fail<T>(&self, at: u32, message: impl Into<String>) -> Result<T, ScriptError> {
        Err(self.fault(at, Fault::new(message)))
    }

    fn spend(&mut self, steps: u32) -> Result<(), ScriptError> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                tick(steps as usize);
                Ok(())
            }
            None => Err(ScriptError::LimitReached { limit: format!("{STEPS_MAX} steps") }),
        }
    }

    fn spend_text(&mut self, len: usize) -> Result<(), ScriptError> {
        if len > TEXT_BYTES_MAX {
            return Err(ScriptError::LimitReached {
                limit: format!("a text of {} MiB", TEXT_BYTES_MAX >> 20),
            });
        }
        self.spend((len / 64) as u32)
    }

    // Statements.

    fn statements(&mut self, statements: &[Stmt]) -> Result<Flow, ScriptError> {
        let mut last = Value::Null;
        for statement in statements {
            if matches!(statement, Stmt::Empty) {
                continue;
            }
            match self.statement(statement)? {
                Flow::Next(value) => last = value,
                other => return Ok(other),
            }
        }
        Ok(Flow::Next(last))
    }

    fn statement(&mut self, statement: &Stmt) -> Result<Flow, ScriptError> {
        self.spend(1)?;
        match statement {
            Stmt::Empty => Ok(Flow::Next(Value::Null)),
            Stmt::Expr(expr) => Ok(Flow::Next(self.value(expr)?)),
            Stmt::Declare(local, value) => {
                let value = match value {
                    Some(expr) => self.value(expr)?,
                    None => Value::Null,
                };
                self.locals[*local as usize] = Some(value.clone());
                Ok(Flow::Next(value))
            }
            Stmt::If(condition, then, otherwise) => {
                if self.condition(condition)? {
                    self.statement(then)
                } else if let Some(otherwise) = otherwise {
                    self.statement(otherwise)
                } else {
                    Ok(Flow::Next(Value::Null))
                }
            }
            Stmt::Block(statements) => self.statements(statements),
            Stmt::While(condition, body) => {
                let mut last = Value::Null;
                while self.condition(condition)? {
                    if let Some(flow) = self.pass(body, &mut last)? {
                        return Ok(flow);
                    }
                }
                Ok(Flow::Next(last))
            }
            Stmt::ForEach(local, items, body) => self.for_each(*local, items, body),
            Stmt::Return(value) => Ok(Flow::Return(self.value(value)?)),
            Stmt::Break => Ok(Flow::Break),
            Stmt::Continue => Ok(Flow::Continue),
        }
    }

    /// Runs the body of a loop once; `Some` if the loop ends.
    fn pass(&mut self, body: &Stmt, last: &mut Value) -> Result<Option<Flow>, ScriptError> {
        self.spend(1)?;
        match self.statement(body)? {
            Flow::Next(value) => *last = value,
            Flow::Continue => {}
            Flow::Break => return Ok(Some(Flow::Next(std::mem::replace(last, Value::Null)))),
            Flow::Return(value) => return Ok(Some(Flow::Return(value))),
        }
        Ok(None)
    }

    fn for_each(&mut self, local: Local, items: &Expr, body: &Stmt) -> Result<Flow, ScriptError> {
        let at = items.at;
        let items = match self.value(items)? {
            Value::List(items) | Value::Array(items) => items,
            Value::Null => return Ok(Flow::Next(Value::Null)),
            other => return self.fail(at, format!("a loop over {} is not supported", other.type_name())),
        };
        let mut last = Value::Null;
        for item in items.iter() {
            self.locals[local as usize] = Some(item.clone());
            if let Some(flow) = self.pass(body, &mut last)? {
                return Ok(flow);
            }
        }
        Ok(Flow::Next(last))
    }

    // Expressions.

    fn condition(&mut self, expr: &Expr) -> Result<bool, ScriptError> {
        let value = self.value(expr)?;
        convert::truth(&value, self.dialect()).map_err(|fault| self.fault(expr.at, fault))
    }

    /// The value, but null for an undefined name where JEXL 3 allows one.
    fn protected(&mut self, expr: &Expr) -> Result<Value, ScriptError> {
        match expr.kind {
            Kind::Local(local) => Ok(self.locals[local as usize].clone().unwrap_or(Value::Null)),
            _ => self.value(expr),
        }
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, ScriptError> {
        self.spend(1)?;
        let dialect = self.dialect();
        match &expr.kind {
            Kind::Literal(value) => Ok(value.clone()),
            Kind::Local(local) => self.read(*local, expr.at),
            Kind::ThreadName => Ok(Value::Text(self.scope.thread_name().into())),
            Kind::SampleIsPresent => {
                // Compared with null only: any other value will do.
                Ok(if self.scope.sample().is_some() { Value::Boolean(true) } else { Value::Null })
            }
            Kind::Unary(operator, operand) => self.unary(*operator, operand, expr.at),
            Kind::Binary(operator, left, right) => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                self.binary(*operator, &left, &right, expr.at)
            }
            Kind::And(left, right) => Ok(Value::Boolean(self.condition(left)? && self.condition(right)?)),
            Kind::Or(left, right) => Ok(Value::Boolean(self.condition(left)? || self.condition(right)?)),
            Kind::Ternary(condition, then, otherwise) => {
                let value = self.protected(condition)?;
                let truth = if matches!(value, Value::Null) {
                    false
                } else {
                    convert::truth(&value, dialect).map_err(|fault| self.fault(expr.at, fault))?
                };
                self.value(if truth { then } else { otherwise })
            }
            Kind::Elvis(value, otherwise) => {
                let value = self.protected(value)?;
                let truth = !matches!(value, Value::Null)
                    && convert::truth(&value, dialect).map_err(|fault| self.fault(expr.at, fault))?;
                if truth { Ok(value) } else { self.value(otherwise) }
            }
            Kind::Coalesce(value, otherwise) => match self.protected(value)? {
                Value::Null => self.value(otherwise),
                value => Ok(value),
            },
            Kind::Assign(local, operator, value) => self.assign(*local, *operator, value, expr.at),
            Kind::HostCall(method, arguments) => {
                let arguments = self.arguments(arguments)?;
                self.host_call(*method, &arguments).map_err(|fault| self.fault(expr.at, fault))
            }
            Kind::Call(receiver, method, arguments, safe) => {
                self.call(receiver, method, arguments, *safe, expr.at)
            }
            Kind::Index(value, index) => {
                let value = self.value(value)?;
                let index = self.value(index)?;
                convert::index(&value, &index, dialect).map_err(|fault| self.fault(expr.at, fault))
            }
            Kind::List(items) => Ok(Value::Array(self.arguments(items)?.into())),
        }
    }

    fn read(&self, local: Local, at: u32) -> Result<Value, ScriptError> {
        match &self.locals[local as usize] {
            Some(value) => Ok(value.clone()),
            None => self.fail(at, format!("`{}` is not defined", self.tree.names[local as usize])),
        }
    }

    fn arguments(&mut self, arguments: &[Expr]) -> Result<Vec<Value>, ScriptError> {
        arguments.iter().map(|argument| self.value(argument)).collect()
    }

    fn assign(
        &mut self,
        local: Local,
        operator: Option<Binary>,
        value: &Expr,
        at: u32,
    ) -> Result<Value, ScriptError> {
        let value = match operator {
            None => self.value(value)?,
            Some(operator) => {
                let old = self.read(local, at)?;
                let operand = self.value(value)?;
                self.binary(operator, &old, &operand, at)?
            }
        };
        self.locals[local as usize] = Some(value.clone());
        Ok(value)
    }

    fn unary(&mut self, operator: Unary, operand: &Expr, at: u32) -> Result<Value, ScriptError> {
        if matches!(operator, Unary::Empty | Unary::Size) {
            let operand_value =
                if self.dialect() == Dialect::Jexl3 { self.protected(operand) } else { self.value(operand) };
            let value = match operand_value {
                Ok(value) => value,
                // Whatever goes wrong inside is as good as nothing.
                Err(ScriptError::Evaluation { .. }) if self.dialect() == Dialect::Jexl3 => Value::Null,
                Err(error) => return Err(error),
            };
            let outcome = arithmetic::jexl_function(operator, &value, self.dialect());
            return outcome.map_err(|fault| self.fault(at, fault));
        }
        let value = self.value(operand)?;
        arithmetic::unary(operator, &value, self.dialect()).map_err(|fault| self.fault(at, fault))
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &Value,
        right: &Value,
        at: u32,
    ) -> Result<Value, ScriptError> {
        if let (Value::Text(a), Value::Text(b), Binary::Add) = (left, right, operator) {
            self.spend_text(a.len() + b.len())?;
        }
        let value = jexl_arithmetic::binary(operator, left, right, self.dialect())
            .map_err(|fault| self.fault(at, fault))?;
        if let (Value::Text(text), Binary::Add | Binary::Multiply) = (&value, operator) {
            self.spend_text(text.len())?;
        }
        Ok(value)
    }

    fn call(
        &mut self,
        receiver: &Expr,
        method: &'static str,
        arguments: &[Expr],
        safe: bool,
        at: u32,
    ) -> Result<Value, ScriptError> {
        let receiver = self.value(receiver)?;
        if matches!(receiver, Value::Null) {
            if safe {
                return Ok(Value::Null);
            }
            return self.fail(at, format!("`{method}` is called on null"));
        }
        let arguments = self.arguments(arguments)?;
        if let Value::Text(text) = &receiver {
            self.spend_text(text.len())?;
        }
        let outcome = text::call(&receiver, method, &arguments, self.dialect());
        outcome.map_err(|fault| self.fault(at, fault))
    }
}
