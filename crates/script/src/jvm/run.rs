//! Runs a parsed script: statements, calls of closures and methods, classes of the script.

mod branches;
mod calls;
mod classes;
mod errors;
mod flow;
mod inherited;
#[cfg(test)]
mod tests;

use super::truth::truth;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use self::flow::Flow;
use super::classes::Class;
use super::fault::{Cause, Fault, Outcome, thrown, unsupported};
use super::model::{Frame, Interpreter, Machine, Role, Variable};
use super::objects::Object;
use super::tree::{Expr, Function, Kind, Name, Stmt, Tree, Type};
use super::value::{Host, V};
use super::{dispatch, library, places, power_assert, print, stack, text_units, types};
use crate::language::Dialect;
use crate::{Scope, ScriptError, Value};

/// The value to which a name is bound before the script runs.
#[derive(Debug, Clone)]
pub enum Binding {
    /// A value.
    Value(Value),
    /// A `String[]`.
    Texts(Vec<String>),
    /// A `byte[]`.
    Bytes(Vec<u8>),
    /// The result of the current sample.
    Sample,
    /// The result of the preceding sample.
    Previous,
    /// The current sampler.
    Sampler,
    /// The assertion's result.
    Assertion,
    /// The listener's event.
    Event,
    /// Standard output, which is written to the log.
    Out,
}

/// The value of a binding.
pub(super) fn value_of(binding: &Binding) -> V {
    match binding {
        Binding::Value(value) => V::from(value.clone()),
        Binding::Texts(texts) => V::array(texts.iter().map(V::text).collect(), super::tree::Base::Text),
        Binding::Bytes(bytes) => V::bytes(bytes),
        Binding::Sample => V::Host(Host::Sample),
        Binding::Previous => V::Host(Host::Previous),
        Binding::Sampler => V::Host(Host::Sampler),
        Binding::Assertion => V::Host(Host::Assertion),
        Binding::Event => V::Host(Host::Event),
        Binding::Out => V::Host(Host::Out),
    }
}

fn bound(name: &str, bindings: &[(&str, Binding)], dialect: Dialect) -> Option<V> {
    if let Some((_, binding)) = bindings.iter().find(|(known, _)| *known == name) {
        return Some(value_of(binding));
    }
    Some(V::Host(match name {
        "vars" => Host::Vars,
        "props" => Host::Props,
        "log" => Host::Log,
        "ctx" => Host::Context,
        "out" if dialect == Dialect::Groovy => Host::Out,
        _ => return None,
    }))
}

/// The variables and methods that a BeanShell interpreter retains between runs.
#[derive(Debug, Default)]
pub struct Memory {
    variables: Vec<(Arc<str>, V, Type)>,
    methods: HashMap<Arc<str>, Arc<Function>>,
}

pub(super) fn run(
    tree: &Tree,
    scope: &mut dyn Scope,
    bindings: &[(&str, Binding)],
    back: &[&str],
    memory: Option<&mut Memory>,
) -> Result<(Value, Vec<Value>), ScriptError> {
    let mut variables = Vec::with_capacity(tree.names.len());
    for (id, name) in tree.names.iter().enumerate() {
        let (name, id) = (&**name, id as Name);
        if let Some(value) = bound(name, bindings, tree.dialect) {
            variables.push(Variable { name: id, value, declared: Type::ANY });
        } else if let Some((_, value, declared)) =
            memory.iter().flat_map(|memory| &memory.variables).find(|(known, ..)| **known == *name)
        {
            variables.push(Variable { name: id, value: value.clone(), declared: *declared });
        }
    }
    let run = stack::begin();
    if run.is_outermost() {
        super::patterns::renew_budget();
    }
    let mut machine = Machine::with_variables(tree, scope, variables);
    if let Some(memory) = &memory {
        machine.methods.clone_from(&memory.methods);
    }
    let outcome = machine.script(back);
    if !machine.jexl() {
        library::host::refresh_objects(&mut machine);
    }
    if let Some(memory) = memory {
        for variable in machine.global.variables.borrow().iter() {
            let name = &tree.names[variable.name as usize];
            // JMeter's objects are bound again in each run.
            if bound(name, bindings, tree.dialect).is_some() || matches!(variable.value, V::Host(_)) {
                continue;
            }
            match memory.variables.iter_mut().find(|(known, ..)| known == name) {
                Some(known) => (known.1, known.2) = (variable.value.clone(), variable.declared),
                None => memory.variables.push((name.clone(), variable.value.clone(), variable.declared)),
            }
        }
        memory.methods.clone_from(&machine.methods);
    }
    let outcome = outcome.map_err(|fault| machine.error(fault));
    machine.release();
    outcome
}

static INTERPRETER: Interpreter = Interpreter {
    invoke: dispatch::call,
    dispatch: dispatch::dispatch,
    item: places::index,
    object_text: library::object_text::object_text,
    call_value: |machine, value, arguments| machine.run_callable(value, arguments),
    call_own: |machine, object, method, arguments| machine.run_own_method(object, method, arguments),
    own_operator: |machine, left, operator, right| machine.run_own_operator(left, operator, right),
    construct: |machine, class, arguments| machine.create_own(class, arguments),
};

impl<'s> Machine<'s> {
    /// Creates the state of a script without variables.
    pub(super) fn new(tree: &'s Tree, scope: &'s mut dyn Scope) -> Machine<'s> {
        Machine::with_variables(tree, scope, Vec::new())
    }

    /// Creates the state before the first statement.
    fn with_variables(tree: &'s Tree, scope: &'s mut dyn Scope, variables: Vec<Variable>) -> Machine<'s> {
        let it = tree.names.iter().position(|name| &**name == "it").map(|at| at as Name);
        let global = Rc::new(Frame::new(variables, None, Role::Variables));
        if !stack::is_running() {
            super::patterns::renew_budget();
        }
        Machine {
            interpreter: &INTERPRETER,
            tree,
            scope,
            global,
            methods: HashMap::new(),
            statics: HashMap::new(),
            it,
            captured: RefCell::default(),
            leaves_objects: false,
            reads_objects: false,
            builders: Vec::new(),
            delegates: Vec::new(),
            time_categories: 0,
            added_results: Vec::new(),
            measured: None,
            recorded: None,
            origin: None,
        }
    }
}

impl Machine<'_> {
    fn script(&mut self, back: &[&str]) -> Result<(Value, Vec<Value>), Fault> {
        let frame = if self.groovy() { self.child_frame(&self.global.clone()) } else { self.global.clone() };
        self.hoist(&self.tree.statements);
        let value = match self.statements(&self.tree.statements, &frame)? {
            Flow::Next(value) | Flow::Return(value) => value,
            Flow::Break | Flow::Continue | Flow::Leave(..) => V::NULL,
        };
        let value = self.plain(value)?;
        let mut values = Vec::new();
        for name in back {
            let id = self.tree.names.iter().position(|known| **known == **name);
            let value = id.and_then(|id| self.find(&self.global.clone(), id as Name)).unwrap_or(V::Void);
            values.push(self.plain(value)?);
        }
        self.check_limits()?;
        Ok((value, values))
    }

    /// The value of the script, without conversion.
    #[cfg(test)]
    pub(super) fn last_value(&mut self) -> Outcome {
        let frame = self.child_frame(&self.global.clone());
        match self.statements(&self.tree.statements, &frame)? {
            Flow::Next(value) | Flow::Return(value) => Ok(value),
            Flow::Break | Flow::Continue | Flow::Leave(..) => Ok(V::NULL),
        }
    }

    /// Empties the frames to which closures refer, after the script has ended. A frame may contain a closure that refers to
    /// it, and such a cycle would never be freed.
    fn release(&mut self) {
        if self.leaves_objects {
            return;
        }
        for frame in self.captured.take() {
            if let Some(frame) = frame.upgrade() {
                let variables = frame.variables.take();
                drop(variables);
            }
        }
    }

    /// Converts a value for the script's caller: numbers and strings are unchanged, objects become their text.
    fn plain(&mut self, value: V) -> Result<Value, Fault> {
        match value {
            V::Plain(value) => Ok(value),
            V::Void => Ok(Value::Null),
            // Java's text contains the object's address, which is arbitrary.
            V::Array(_) | V::Closure(_) | V::Host(_) => {
                Ok(Value::text(format!("{}@6ccccc3c", super::missing::class_name(&value))))
            }
            other => Ok(Value::text(print::java(self, &other)?)),
        }
    }

    // Variables.

    /// Assigns to the nearest variable with this name. If there is none, declares one: in the current frame in BeanShell, else
    /// in the script's global frame.
    pub(super) fn assign(&mut self, frame: &Rc<Frame>, name: Name, value: V) -> Result<V, Fault> {
        let mut at = Some(frame);
        while let Some(frame) = at {
            let found = frame.variables.borrow().iter().rposition(|known| known.name == name);
            if let Some(place) = found {
                let declared = frame.variables.borrow()[place].declared;
                let value = types::assigned(self, value, declared)?;
                if let Some(known) = frame.variables.borrow_mut().get_mut(place) {
                    known.value = value.clone();
                }
                return Ok(value);
            }
            if let (Role::Statics(_), None) = (&frame.role, &frame.parent) {
                return Err(classes::missing_property(frame, &self.tree.names[name as usize]));
            }
            at = frame.parent.as_ref();
        }
        let home = if self.beanshell() { frame.clone() } else { self.global.clone() };
        self.declare(&home, name, Type::ANY, value.clone());
        Ok(value)
    }

    // Statements.

    /// Declares the methods of a script before its first statement runs.
    fn hoist(&mut self, statements: &[Stmt]) {
        for statement in statements {
            if let Stmt::Method(function) = statement {
                self.methods.insert(function.name.clone(), function.clone());
            }
        }
    }

    fn statements(&mut self, statements: &[Stmt], frame: &Rc<Frame>) -> Result<Flow, Fault> {
        let mut last = V::NULL;
        for statement in statements {
            if matches!(statement, Stmt::Empty) {
                continue;
            }
            match self.statement(statement, frame)? {
                Flow::Next(value) => last = value,
                other => return Ok(other),
            }
        }
        Ok(Flow::Next(last))
    }

    fn block(&mut self, statements: &[Stmt], frame: &Rc<Frame>) -> Result<Flow, Fault> {
        let inner = self.scope_within(frame);
        self.statements(statements, &inner)
    }

    /// The frame for the variables of a block. In JEXL, each declaration has a unique name, so all blocks share one frame.
    fn scope_within(&self, frame: &Rc<Frame>) -> Rc<Frame> {
        if self.jexl() { frame.clone() } else { self.child_frame(frame) }
    }

    fn statement(&mut self, statement: &Stmt, frame: &Rc<Frame>) -> Result<Flow, Fault> {
        self.spend(1)?;
        // In BeanShell, only an expression statement has a value.
        if self.beanshell() && !matches!(statement, Stmt::Expr(_)) {
            return Ok(match self.statement_within(statement, frame)? {
                Flow::Next(_) => Flow::Next(V::NULL),
                flow => flow,
            });
        }
        self.statement_within(statement, frame)
    }

    fn statement_within(&mut self, statement: &Stmt, frame: &Rc<Frame>) -> Result<Flow, Fault> {
        match statement {
            Stmt::Empty => Ok(Flow::Next(V::NULL)),
            Stmt::Expr(expr) => Ok(Flow::Next(self.value(expr, frame)?)),
            Stmt::Method(function) => {
                self.methods.insert(function.name.clone(), function.clone());
                Ok(Flow::Next(V::NULL))
            }
            Stmt::Declare(name, declared, value) => {
                let value = self.initial_value(value.as_ref(), *declared, frame)?;
                self.declare(frame, *name, *declared, value.clone());
                Ok(Flow::Next(value))
            }
            Stmt::Field(name, declared, value) => {
                let value = self.initial_value(value.as_ref(), *declared, frame)?;
                let global = self.global.clone();
                self.declare(&global, *name, *declared, value.clone());
                Ok(Flow::Next(value))
            }
            Stmt::DeclareAll(targets, expr) => self.declare_all(targets, expr, frame),
            Stmt::If(condition, then, otherwise) => {
                if self.condition(condition, frame)? {
                    self.branch(then, frame)
                } else if let Some(otherwise) = otherwise {
                    self.branch(otherwise, frame)
                } else {
                    Ok(Flow::Next(V::NULL))
                }
            }
            Stmt::Block(statements) => self.block(statements, frame),
            Stmt::While(condition, body) => {
                let mut last = V::NULL;
                while self.condition(condition, frame)? {
                    if let Some(flow) = self.run_loop_body(body, frame, &mut last)? {
                        return Ok(flow);
                    }
                }
                Ok(Flow::Next(last))
            }
            Stmt::DoWhile(body, condition) => {
                let mut last = V::NULL;
                loop {
                    if let Some(flow) = self.run_loop_body(body, frame, &mut last)? {
                        return Ok(flow);
                    }
                    if !self.condition(condition, frame)? {
                        return Ok(Flow::Next(last));
                    }
                }
            }
            Stmt::For(first, condition, steps, body) => {
                self.run_for(first, condition.as_ref(), steps, body, frame)
            }
            Stmt::ForEach(name, declared, items, body) => {
                self.run_for_each((*name, *declared), items, body, frame)
            }
            Stmt::Switch(value, cases) => self.switch(value, cases, frame),
            Stmt::Try(body, catches, last) => self.run_try(body, catches, last.as_deref(), frame),
            Stmt::Throw(expr) => self.throw(expr, frame),
            Stmt::Assert(condition, message, source, from) => {
                self.check_assertion(condition, message.as_ref(), (source, *from), frame)
            }
            Stmt::Return(value) => Ok(Flow::Return(match value {
                Some(value) => self.value(value, frame)?,
                None => V::NULL,
            })),
            Stmt::Break => Ok(Flow::Break),
            Stmt::Continue => Ok(Flow::Continue),
            Stmt::AssignAll(names, expr) => {
                let value = self.value(expr, frame)?;
                let items = value.items().unwrap_or_default();
                for (at, name) in names.iter().enumerate() {
                    let item = items.get(at).cloned().unwrap_or(V::NULL);
                    self.assign(frame, *name, item).map_err(|fault| fault.at(expr.at))?;
                }
                Ok(Flow::Next(value))
            }
            Stmt::Labelled(label, is_body, statement) => Ok(match self.statement(statement, frame)? {
                Flow::Leave(to, is_break) if to == *label && is_break != *is_body => Flow::Next(V::NULL),
                flow => flow,
            }),
            Stmt::Leave(label, is_break) => Ok(Flow::Leave(*label, *is_break)),
        }
    }

    /// Executes `for (first; condition; steps) body`.
    fn run_for(
        &mut self,
        first: &[Stmt],
        condition: Option<&Expr>,
        steps: &[Expr],
        body: &Stmt,
        frame: &Rc<Frame>,
    ) -> Result<Flow, Fault> {
        let inner = self.child_frame(frame);
        for statement in first {
            self.statement(statement, &inner)?;
        }
        let mut last = V::NULL;
        while match condition {
            Some(condition) => self.condition(condition, &inner)?,
            None => true,
        } {
            if let Some(flow) = self.run_loop_body(body, &inner, &mut last)? {
                return Ok(flow);
            }
            for step in steps {
                self.value(step, &inner)?;
            }
        }
        Ok(Flow::Next(last))
    }

    /// Executes `for (name in items) body`.
    fn run_for_each(
        &mut self,
        (name, declared): (Name, Type),
        items: &Expr,
        body: &Stmt,
        frame: &Rc<Frame>,
    ) -> Result<Flow, Fault> {
        let value = self.value(items, frame)?;
        let items = self.loop_items(&value).map_err(|fault| fault.at(items.at))?;
        let mut last = V::NULL;
        for item in items {
            let inner = self.scope_within(frame);
            let item = types::declared(self, item, declared)?;
            self.declare(&inner, name, declared, item);
            if let Some(flow) = self.run_loop_body(body, &inner, &mut last)? {
                return Ok(flow);
            }
        }
        Ok(Flow::Next(last))
    }

    /// Executes `throw expr`.
    fn throw(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<Flow, Fault> {
        let value = self.value(expr, frame)?;
        let is_exception =
            matches!(&value, V::Object(object) if object.class().is_a(Class::known("Exception")));
        if !self.groovy() && !is_exception {
            let cause = Cause::Evaluation("Expression in 'throw' must be Exception type".into());
            return Err(Fault { cause, at: Some(expr.at) });
        }
        self.origin = Some("TargetError".into());
        Err(Fault { cause: Cause::Thrown(value), at: Some(expr.at) })
    }

    /// Executes `assert condition : message`.
    fn check_assertion(
        &mut self,
        condition: &Expr,
        message: Option<&Expr>,
        (source, from): (&str, u32),
        frame: &Rc<Frame>,
    ) -> Result<Flow, Fault> {
        let outer = self.recorded.replace(Vec::new());
        let holds = self.condition(condition, frame);
        let values = std::mem::replace(&mut self.recorded, outer).unwrap_or_default();
        if holds? {
            return Ok(Flow::Next(V::NULL));
        }
        Err(match message {
            Some(message) => {
                let value = self.value(message, frame)?;
                let text = print::groovy(self, &value)?;
                let text = super::asserted::failure(self, &text, condition, source, frame)?;
                thrown("AssertionError", text)
            }
            None if from == power_assert::NOT_IN_ONE_LINE => {
                thrown("PowerAssertionError", format!("assert {source}"))
            }
            None => thrown("PowerAssertionError", power_assert::message(self, source, from, values)),
        }
        .at(condition.at))
    }

    /// Executes `def (a, b) = expr`.
    fn declare_all(
        &mut self,
        targets: &[(Name, Type)],
        expr: &Expr,
        frame: &Rc<Frame>,
    ) -> Result<Flow, Fault> {
        let value = self.value(expr, frame)?;
        let items = value.items().unwrap_or_default();
        for (at, (name, declared)) in targets.iter().enumerate() {
            let item = items.get(at).cloned().unwrap_or(V::NULL);
            let item = types::declared(self, item, *declared).map_err(|fault| fault.at(expr.at))?;
            self.declare(frame, *name, *declared, item);
        }
        Ok(Flow::Next(value))
    }

    /// The initial value of a declared variable.
    fn initial_value(&mut self, value: Option<&Expr>, declared: Type, frame: &Rc<Frame>) -> Outcome {
        let Some(expr) = value else { return Ok(types::default_of(declared)) };
        let value = self.value(expr, frame)?;
        types::declared(self, value, declared).map_err(|fault| fault.at(expr.at))
    }

    fn branch(&mut self, statement: &Stmt, frame: &Rc<Frame>) -> Result<Flow, Fault> {
        self.statement(statement, frame)
    }

    /// The items over which a loop iterates.
    fn loop_items(&mut self, value: &V) -> Result<Vec<V>, Fault> {
        if let Some(items) = value.items() {
            return Ok(items);
        }
        match value {
            V::Plain(Value::Null) if !self.beanshell() => Ok(Vec::new()),
            V::Plain(Value::Null) => Err(thrown("NullPointerException", "a loop over null")),
            V::Plain(Value::Text(text)) if self.groovy() => text_units::characters(self, text),
            V::Plain(_) if self.groovy() => Ok(vec![value.clone()]),
            V::Object(object) => match &**object {
                Object::Matcher(matcher) => Ok(matcher
                    .all()?
                    .iter()
                    .map(|groups| library::regex::match_value(&matcher.text, groups))
                    .collect()),
                _ => Err(unsupported(format!("a loop over {}", value.kind()))),
            },
            V::Host(Host::Vars) => Ok(library::host::variables(self)),
            other => Err(unsupported(format!("a loop over {}", other.kind()))),
        }
    }

    /// Runs the body of a loop once; returns `Some` if the loop ends. `last` is the current value of a loop in JEXL.
    fn run_loop_body(&mut self, body: &Stmt, frame: &Rc<Frame>, last: &mut V) -> Result<Option<Flow>, Fault> {
        self.spend(1)?;
        Ok(match self.statement(body, frame)? {
            Flow::Next(value) => {
                if self.jexl() {
                    *last = value;
                }
                None
            }
            Flow::Continue => None,
            Flow::Break => Some(Flow::Next(std::mem::replace(last, V::NULL))),
            flow @ (Flow::Return(_) | Flow::Leave(..)) => Some(flow),
        })
    }

    pub(super) fn condition(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<bool, Fault> {
        let value = self.value(expr, frame)?;
        if let V::Plain(Value::Boolean(value)) = value {
            return Ok(value);
        }
        truth(self, &value).map_err(|fault| fault.at(expr.at))
    }

    pub(super) fn value(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Outcome {
        self.spend(1)?;
        match &expr.kind {
            Kind::Literal(value) => return Ok(V::Plain(value.clone())),
            Kind::Name(name) => {
                if let Some(value) = self.find(frame, *name) {
                    self.note_value(expr, &value);
                    return Ok(value);
                }
            }
            _ => {}
        }
        if stack::is_exhausted() {
            return Err(self.reached(stack::Reached::Stack).at(expr.at));
        }
        let mut outcome = super::evaluate::value(self, expr, frame);
        // A limit takes precedence over an error, which it may have caused.
        self.check_limits().map_err(|fault| fault.at(expr.at))?;
        match &mut outcome {
            Err(fault) => {
                fault.at.get_or_insert(expr.at);
            }
            Ok(value) => self.note_value(expr, value),
        }
        outcome
    }
}
