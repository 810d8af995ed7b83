//! Evaluation of expressions.

use super::truth::truth;
use std::rc::Rc;

use super::fault::{Cause, Fault, Outcome, evaluation_fault, thrown, unsupported};
use super::machine::{Frame, Machine};
use super::objects::Object;
use super::tree::{Base, Expr, Item, Jexl, Kind, Name, Operator, Type};
use super::value::{Host, V};
use super::{known, library, operators, places, print, types};
use crate::Value;
use crate::language::Dialect;
use crate::plain::Binary;

/// Evaluates a call of an object's method. The calls of a chain are evaluated in a loop: a long chain is a deep tree, for
/// which recursion would need a deep stack.
fn call_chain(machine: &mut Machine<'_>, expr: &Expr, object: &Expr, frame: &Rc<Frame>) -> Outcome {
    let (mut inner, mut links) = (object, Vec::new());
    while let Kind::Call(Some(object), ..) = &inner.kind {
        links.push(inner);
        inner = object;
    }
    let mut value = machine.value(inner, frame)?;
    for link in links.into_iter().rev() {
        machine.spend(1)?;
        value = call_method(machine, link, &value, frame).map_err(|fault| fault.at(link.at))?;
        machine.note_value(link, &value);
    }
    call_method(machine, expr, &value, frame)
}

/// Calls the method that `expr` names.
fn call_method(machine: &mut Machine<'_>, expr: &Expr, object: &V, frame: &Rc<Frame>) -> Outcome {
    let Kind::Call(receiver, name, items, safe, spread) = &expr.kind else {
        return Err(unsupported("this call"));
    };
    if object.is_null() && *safe {
        return Ok(V::NULL);
    }
    let arguments = match (object, &**name, &**items) {
        // A shortcut for the most frequent call.
        (V::Host(Host::Vars), "get", [Item { spread: false, expr }]) if !*spread => {
            let name = machine.value(expr, frame)?;
            if let Some(name) = name.as_text() {
                return Ok(library::host::text_of_variable(machine, name));
            }
            vec![name]
        }
        _ => arguments(machine, items, frame)?,
    };
    if *spread {
        return places::spread(machine, object, |machine, item| {
            machine.invoke(&item, name, arguments.clone())
        });
    }
    if machine.groovy() {
        return machine.invoke(object, name, arguments);
    }
    if machine.jexl() {
        super::jexl::methods::check(object, name, &arguments)?;
        return machine.invoke(object, name, arguments);
    }
    let receiver = receiver.as_ref().and_then(|receiver| path(machine, receiver));
    if matches!(object, V::Void) {
        let receiver = receiver.unwrap_or_default();
        let message =
            format!("Attempt to resolve method: {name}() on undefined variable or class name: {receiver}");
        return Err(Fault { cause: Cause::Evaluation(message), at: Some(expr.at) });
    }
    let outcome = machine.invoke(object, name, arguments);
    if let Err(Fault { cause: Cause::Thrown(_), .. }) = &outcome {
        machine.origin = Some(match receiver {
            Some(receiver) => format!("Method Invocation {receiver}.{name}"),
            None => "target exception".into(),
        });
    }
    outcome
}

/// The text of names joined by dots; `None` for other expressions.
fn path(machine: &Machine<'_>, expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Name(name) => Some(machine.tree.names[*name as usize].to_string()),
        Kind::Property(object, name, false, false) => Some(format!("{}.{name}", path(machine, object)?)),
        _ => None,
    }
}

/// Evaluates an expression that is not a variable.
#[allow(clippy::too_many_lines, reason = "one arm for each form")]
pub(super) fn value(machine: &mut Machine<'_>, expr: &Expr, frame: &Rc<Frame>) -> Outcome {
    match &expr.kind {
        Kind::Literal(value) => Ok(V::Plain(value.clone())),
        Kind::Join(parts) => join(machine, parts, frame),
        Kind::LazyJoin(parts) => lazy_join(machine, parts, frame),
        Kind::Name(name) => undefined(machine, *name, frame),
        Kind::Class(class) => Ok(V::Class(*class)),
        Kind::This => Ok(machine.this(frame)),
        Kind::List(items) => Ok(V::list(arguments(machine, items, frame)?)),
        Kind::Map(entries) => map(machine, entries, frame),
        Kind::Range(from, to, open) => {
            let from = machine.value(from, frame)?;
            let to = machine.value(to, frame)?;
            operators::range(machine, &from, &to, *open)
        }
        Kind::Not(operand) => {
            let value = machine.condition(operand, frame)?;
            Ok(V::truth(!value))
        }
        Kind::Minus(operand) => {
            let value = machine.value(operand, frame)?;
            operators::minus(machine, &value)
        }
        Kind::Plus(operand) => {
            let value = machine.value(operand, frame)?;
            operators::plus(machine, value)
        }
        Kind::Complement(operand) => {
            let value = machine.value(operand, frame)?;
            operators::complement(machine, &value)
        }
        Kind::Binary(operator, left, right) => {
            let left = machine.value(left, frame)?;
            let right = machine.value(right, frame)?;
            operators::binary(machine, *operator, &left, &right)
        }
        Kind::And(left, right) => {
            Ok(V::truth(machine.condition(left, frame)? && machine.condition(right, frame)?))
        }
        Kind::Or(left, right) => {
            Ok(V::truth(machine.condition(left, frame)? || machine.condition(right, frame)?))
        }
        Kind::Ternary(condition, then, otherwise) => {
            if machine.condition(condition, frame)? {
                machine.value(then, frame)
            } else {
                machine.value(otherwise, frame)
            }
        }
        Kind::Elvis(value, otherwise) => {
            let value = machine.value(value, frame)?;
            let is_true = !value.is_null() && truth(machine, &value)?;
            if is_true { Ok(value) } else { machine.value(otherwise, frame) }
        }
        Kind::Jexl(kind) => jexl_value(machine, kind, frame),
        Kind::Assign(target, operator, value) => assign(machine, target, *operator, value, frame),
        Kind::Step(target, step, new) => self::step(machine, target, *step, *new, frame),
        Kind::Property(object, name, safe, spread) => {
            property(machine, object, name, (*safe, *spread), frame)
        }
        Kind::Field(object, name, safe, spread) => field(machine, object, name, (*safe, *spread), frame),
        Kind::Index(object, index) => {
            let object = machine.value(object, frame)?;
            let index = machine.value(index, frame)?;
            places::index(machine, &object, &index)
        }
        Kind::Call(object, name, items, ..) => match object {
            Some(object) => call_chain(machine, expr, object, frame),
            None => call_function(machine, name, items, frame),
        },
        Kind::Invoke(object, items) => {
            let object = machine.value(object, frame)?;
            let arguments = arguments(machine, items, frame)?;
            machine.call_value(&object, arguments)
        }
        Kind::Dynamic(object, name, items, safe) => {
            let object = machine.value(object, frame)?;
            if object.is_null() && *safe {
                return Ok(V::NULL);
            }
            let name = machine.value(name, frame)?;
            let name = print::groovy(machine, &name)?;
            match items {
                Some(items) => {
                    let arguments = arguments(machine, items, frame)?;
                    machine.invoke(&object, &name, arguments)
                }
                None => places::property(machine, &object, &name),
            }
        }
        Kind::SafeIndex(object, index) => {
            let object = machine.value(object, frame)?;
            if object.is_null() {
                return Ok(V::NULL);
            }
            let index = machine.value(index, frame)?;
            places::index(machine, &object, &index)
        }
        Kind::Super(class, name, items) => {
            let arguments = arguments(machine, items, frame)?;
            machine.call_super(frame, *class, name.as_deref(), &arguments)
        }
        Kind::New(class, items) => {
            let arguments = arguments(machine, items, frame)?;
            if class.is_own() {
                return machine.construct(*class, arguments);
            }
            library::create::new(machine, *class, &arguments)
        }
        Kind::NewArray(item_type, sizes) => sized_array(machine, *item_type, sizes, frame),
        Kind::Array(of, items) => array(machine, *of, items, frame),
        Kind::Cast(target, operand) => {
            let value = machine.value(operand, frame)?;
            types::cast(machine, value, *target)
        }
        Kind::As(target, operand) => {
            let value = machine.value(operand, frame)?;
            types::converted(machine, value, *target)
        }
        Kind::InstanceOf(target, operand, negated) => {
            let value = machine.value(operand, frame)?;
            Ok(V::truth(types::is_instance(&value, *target) != *negated))
        }
        Kind::Closure(function) => Ok(machine.closure(function, frame)),
    }
}

/// The value of a name that is not a variable.
fn undefined(machine: &mut Machine<'_>, name: Name, frame: &Rc<Frame>) -> Outcome {
    let text = machine.tree.names[name as usize].clone();
    match machine.tree.dialect {
        Dialect::Groovy => machine.implicit_property(frame, &text),
        Dialect::BeanShell => Ok(V::Void),
        Dialect::Jexl2 | Dialect::Jexl3 => Err(evaluation_fault(format!("`{text}` is not defined"))),
    }
}

/// Evaluates an expression that exists only in JEXL.
fn jexl_value(machine: &mut Machine<'_>, kind: &Jexl, frame: &Rc<Frame>) -> Outcome {
    match kind {
        Jexl::Optional(name) => Ok(machine.find(frame, *name).unwrap_or(V::NULL)),
        Jexl::Coalesce(value, otherwise) => {
            let value = machine.value(value, frame)?;
            if value.is_null() { machine.value(otherwise, frame) } else { Ok(value) }
        }
        Jexl::Empty(operand) => {
            let value = measured_operand(machine, operand, frame)?;
            operators::is_empty(machine, &value).map(V::truth)
        }
        Jexl::Size(operand) => {
            let value = measured_operand(machine, operand, frame)?;
            operators::size(machine, &value).map(V::int)
        }
    }
}

/// Evaluates the operand of `empty` or `size`. In JEXL 3, an operand whose evaluation fails counts as null.
fn measured_operand(machine: &mut Machine<'_>, operand: &Expr, frame: &Rc<Frame>) -> Outcome {
    match machine.value(operand, frame) {
        Err(Fault { cause: Cause::Thrown(_) | Cause::Evaluation(_), .. })
            if machine.tree.dialect == Dialect::Jexl3 =>
        {
            Ok(V::NULL)
        }
        outcome => outcome,
    }
}

/// Evaluates an array literal.
fn array(machine: &mut Machine<'_>, of: Type, items: &[Expr], frame: &Rc<Frame>) -> Outcome {
    let mut values = Vec::new();
    for item in items {
        let value = machine.value(item, frame)?;
        values.push(types::assigned(machine, value, of)?);
    }
    Ok(V::array(values, of.base))
}

/// Evaluates a map literal; the entries have the order of the source.
fn map(machine: &mut Machine<'_>, entries: &[(Expr, Expr)], frame: &Rc<Frame>) -> Outcome {
    let mut values = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let key = machine.value(key, frame)?;
        values.push((key, machine.value(value, frame)?));
    }
    Ok(V::map(values))
}

/// Joins the parts of a string with `${…}`.
fn join(machine: &mut Machine<'_>, parts: &[Expr], frame: &Rc<Frame>) -> Outcome {
    let mut text = String::new();
    for part in parts {
        let value = machine.value(part, frame)?;
        text.push_str(&print::groovy(machine, &value)?);
        machine.spend_text(text.len())?;
    }
    Ok(V::text(text))
}

/// Creates a string whose closures (`${-> …}`) are called each time it is used.
fn lazy_join(machine: &mut Machine<'_>, parts: &[Expr], frame: &Rc<Frame>) -> Outcome {
    let mut values = Vec::with_capacity(parts.len());
    for part in parts {
        let value = machine.value(part, frame)?;
        values.push(match value {
            V::Closure(_) => value,
            value => V::text(print::groovy(machine, &value)?),
        });
    }
    Ok(V::object(Object::LazyText(values)))
}

/// Evaluates `x++` and `--x`. With `new`, the result is the new value.
fn step(machine: &mut Machine<'_>, target: &Expr, step: i32, new: bool, frame: &Rc<Frame>) -> Outcome {
    let old = machine.value(target, frame)?;
    let stepped = if let (V::Plain(Value::Text(_)), true) = (&old, machine.groovy()) {
        machine.invoke(&old, if step > 0 { "next" } else { "previous" }, Vec::new())?
    } else {
        if old.is_null() && machine.groovy() {
            let method = if step > 0 { "next" } else { "previous" };
            let message = format!("Cannot invoke method {method}() on null object");
            return Err(thrown("NullPointerException", message));
        }
        let add = Operator::Plain(Binary::Add);
        operators::binary(machine, add, &old, &V::int(i64::from(step)))?
    };
    let stepped = match (&old, stepped) {
        (V::Plain(Value::Character(_)), V::Plain(Value::Integer(value))) => {
            V::Plain(Value::Character(value as u16))
        }
        (_, stepped) => stepped,
    };
    places::store(machine, target, stepped.clone(), frame)?;
    Ok(if new { stepped } else { old })
}

/// Evaluates `new int[2][3]`.
fn sized_array(machine: &mut Machine<'_>, item_type: Type, sizes: &[Expr], frame: &Rc<Frame>) -> Outcome {
    let mut counts = Vec::new();
    for size in sizes {
        let value = machine.value(size, frame)?;
        let count = value.as_long().and_then(|count| usize::try_from(count).ok());
        let Some(count) = count.filter(|count| *count <= 1 << 20) else {
            return Err(thrown("RuntimeException", "this is not a valid array size"));
        };
        counts.push(count);
    }
    let (_, all) = counts.iter().fold((1, 0_usize), |(rows, all), count| {
        let rows = usize::saturating_mul(rows, *count);
        (rows, all.saturating_add(rows))
    });
    machine.spend_items(all)?;
    Ok(new_array(item_type, &counts))
}

/// Evaluates `object.name`, `object?.name` and `object*.name`.
fn property(
    machine: &mut Machine<'_>,
    object: &Expr,
    name: &str,
    (safe, spread): (bool, bool),
    frame: &Rc<Frame>,
) -> Outcome {
    let is_inside = matches!(object.kind, Kind::This);
    let object = machine.value(object, frame)?;
    if is_inside && let Some(value) = machine.own_field(&object, name) {
        return Ok(value);
    }
    if object.is_null() && safe {
        return Ok(V::NULL);
    }
    if spread {
        return places::spread(machine, &object, |machine, item| places::property(machine, &item, name));
    }
    places::property(machine, &object, name)
}

/// Evaluates `object.@name`.
fn field(
    machine: &mut Machine<'_>,
    object: &Expr,
    name: &str,
    (safe, spread): (bool, bool),
    frame: &Rc<Frame>,
) -> Outcome {
    let object = machine.value(object, frame)?;
    if object.is_null() && safe {
        return Ok(V::NULL);
    }
    if spread {
        return places::spread(machine, &object, |machine, item| places::field(machine, &item, name));
    }
    places::field(machine, &object, name)
}

/// Calls a function of the script or of its language, or a closure in a variable.
fn call_function(machine: &mut Machine<'_>, name: &str, items: &[Item], frame: &Rc<Frame>) -> Outcome {
    let arguments = arguments(machine, items, frame)?;
    if let Some(outcome) = machine.call_inside_class(frame, name, &arguments) {
        return outcome;
    }
    if let Some(function) = machine.method(name) {
        return machine.call_method(&function, arguments);
    }
    let id = machine.tree.names.iter().position(|known| **known == *name);
    let found = id.and_then(|id| machine.find(frame, id as u32));
    let is_called = |value: &V| machine.groovy() || matches!(value, V::Closure(_) | V::Object(_));
    if let Some(value) = found.filter(is_called) {
        return machine.call_value(&value, arguments);
    }
    if !known::is_function(name, machine.groovy())
        && let Some(outcome) = library::json_builder::member(machine, name, &arguments)
    {
        return outcome;
    }
    if machine.groovy() && !known::is_function(name, true) {
        if let Some(delegate) = machine.delegates.last().cloned() {
            return machine.invoke(&delegate, name, arguments);
        }
        return Err(super::missing::script_exception(machine, name, &arguments));
    }
    if !known::is_function(name, machine.groovy()) {
        return Err(super::missing::unknown_command(name, &arguments));
    }
    library::statics::call_function(machine, name, arguments)
}

fn new_array(of: Type, counts: &[usize]) -> V {
    match counts {
        [] => types::default_of(of),
        [count] => V::array(vec![types::default_of(of); *count], of.base),
        [count, rest @ ..] => V::array((0..*count).map(|_| new_array(of, rest)).collect(), Base::Any),
    }
}

fn arguments(
    machine: &mut Machine<'_>,
    items: &[Item],
    frame: &Rc<Frame>,
) -> Result<Vec<V>, super::fault::Fault> {
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        let value = machine.value(&item.expr, frame)?;
        if item.spread {
            values.extend(value.items().unwrap_or_default());
        } else {
            values.push(value);
        }
    }
    Ok(values)
}

fn assign(
    machine: &mut Machine<'_>,
    target: &Expr,
    operator: Option<Operator>,
    value: &Expr,
    frame: &Rc<Frame>,
) -> Outcome {
    let value = match operator {
        None => machine.value(value, frame)?,
        Some(operator) => {
            let old = machine.value(target, frame)?;
            let operand = machine.value(value, frame)?;
            let value = operators::binary(machine, operator, &old, &operand)?;
            // In Java, a compound assignment narrows the result to the type of the variable.
            match (&old, &value) {
                (V::Plain(Value::Integer(_)), V::Plain(Value::Long(wide))) if machine.beanshell() => {
                    V::int(*wide)
                }
                _ => value,
            }
        }
    };
    places::store(machine, target, value, frame)
}
