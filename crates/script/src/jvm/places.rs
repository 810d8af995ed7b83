//! Reading and assigning of properties and items.

use std::rc::Rc;

use super::fault::{Cause, Fault, Outcome, evaluation_fault, thrown, unsupported};
use super::library;
use super::machine::{Frame, Machine};
use super::objects::Object;
use super::tree::{Expr, Kind, Name};
use super::value::{Host, List, V};
use super::{durations, missing, print, text_units, types};
use crate::Value;

fn null_property(name: &str) -> Fault {
    thrown("NullPointerException", format!("Cannot get property '{name}' on null object"))
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// The name of the getter of a property.
pub(super) fn getter(name: &str) -> String {
    format!("get{}", capitalized(name))
}

/// Evaluates `object.name`.
pub(super) fn property(machine: &mut Machine<'_>, object: &V, name: &str) -> Outcome {
    match object {
        V::Plain(Value::Null) => return Err(null_property(name)),
        V::Map(map) => return Ok(map.get(&V::text(name)).unwrap_or(V::NULL)),
        V::Array(array) if name == "length" => return Ok(V::int(array.items.borrow().len() as i64)),
        V::Class(class) if class.is_own() => return machine.own_property(object, name),
        V::Class(class) => {
            // Groovy reads a static getter as a property: `FileServer.fileServer`.
            let getter = format!("get{}", capitalized(name));
            if machine.groovy() && super::known::has_static(class.name(), &getter) {
                return library::statics::call(machine, *class, &getter, &[]);
            }
            return library::statics::constant(*class, name);
        }
        V::Host(Host::Sample | Host::Previous) if name == "TEXT" => return Ok(V::text("text")),
        V::Host(Host::Sample | Host::Previous) if name == "BINARY" => return Ok(V::text("bin")),
        V::Host(Host::Vars) if machine.groovy() => {
            return Ok(library::host::text_of_variable(machine, name));
        }
        V::Host(Host::Props) if machine.groovy() => {
            return machine.dispatch(object, "get", &[V::text(name)]);
        }
        V::Object(object) => {
            if let Some(outcome) = object.library().and_then(|instance| instance.property(machine, name)) {
                return outcome;
            }
            if let Object::Own(_) = &**object
                && name != "class"
            {
                return machine.own_property(&V::Object(object.clone()), name);
            }
            if let (Object::Slurper, _) | (Object::Json(_), false) = (&**object, name == "content") {
                return Err(unsupported(format!("the property `{name}`")));
            }
        }
        _ => {}
    }
    if name == "class" {
        if let V::Array(array) = object {
            return Ok(library::array_class::of_items(array.of));
        }
        return match types::class_of(object) {
            Some(class) => Ok(V::Class(class)),
            None => Err(unsupported(format!("the class of {}", object.kind()))),
        };
    }
    let getters = [format!("get{}", capitalized(name)), format!("is{}", capitalized(name))];
    if let Some(value) = durations::of_number(machine, object, &getters[0]) {
        return Ok(value);
    }
    for getter in &getters {
        match machine.dispatch(object, getter, &[]) {
            Err(Fault { cause: Cause::Unsupported(_), .. }) => {}
            outcome => return outcome,
        }
    }
    match object {
        V::List(_) | V::Array(_) if machine.groovy() => {
            let name = name.to_owned();
            spread(machine, object, move |machine, item| property(machine, &item, &name))
        }
        V::Plain(_) if machine.groovy() => Err(missing_property(object, name)),
        _ if lacks(machine, object, &getters, 0) => Err(missing_property(object, name)),
        _ => Err(unsupported(format!("the property `{name}` of {}", object.kind()))),
    }
}

/// Whether the object's class in Groovy does not have any of these methods either.
fn lacks(machine: &Machine<'_>, object: &V, methods: &[String], arguments: usize) -> bool {
    let rows = missing::rows_of(object);
    let has = |method: &String| missing::original_has(rows, method, arguments, machine.groovy());
    machine.groovy() && methods.iter().all(|method| has(method) == Some(false))
}

fn missing_property(object: &V, name: &str) -> Fault {
    let class = missing::class_name(object);
    thrown("MissingPropertyException", format!("No such property: {name} for class: {class}"))
}

/// Evaluates `list*.name`: returns the list of the values of `of_item` for each item.
pub(super) fn spread(
    machine: &mut Machine<'_>,
    object: &V,
    mut of_item: impl FnMut(&mut Machine<'_>, V) -> Outcome,
) -> Outcome {
    machine.check_stack()?;
    if object.is_null() {
        return Ok(V::NULL);
    }
    let Some(items) = object.items() else {
        return Err(unsupported(format!("`*.` of {}", object.kind())));
    };
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.push(if item.is_null() { V::NULL } else { of_item(machine, item)? });
    }
    Ok(V::list(values))
}

/// The place of an index in a sequence. Groovy counts negative indices from the end.
fn place(index: i64, len: usize, groovy: bool) -> Option<usize> {
    let index = if index < 0 && groovy { index + len as i64 } else { index };
    usize::try_from(index).ok().filter(|at| *at < len)
}

/// Evaluates `object[index]`.
pub(super) fn index(machine: &mut Machine<'_>, object: &V, index: &V) -> Outcome {
    let groovy = machine.groovy();
    if let (V::List(picks), true) = (index, groovy)
        && matches!(object, V::List(_) | V::Array(_) | V::Plain(Value::Text(_)))
    {
        return index_by_list(machine, object, picks);
    }
    if groovy && index.is_null() && matches!(object, V::List(_) | V::Plain(Value::Text(_))) {
        let class = missing::class_name(object);
        let message = format!(
            "Ambiguous method overloading for method {class}#getAt.\nCannot resolve which method to invoke for \
             [null] due to overlapping prototypes between:\n\t[interface groovy.lang.Range]\n\t[interface \
             java.util.Collection]"
        );
        return Err(thrown("GroovyRuntimeException", message));
    }
    match object {
        V::Plain(_) | V::Host(_) | V::Object(_) if machine.jexl() => {
            Err(evaluation_fault(format!("unsolvable property of {}", object.kind())))
        }
        V::Plain(Value::Null) => {
            Err(thrown("NullPointerException", "Cannot invoke method getAt() on null object"))
        }
        V::List(list) if groovy => {
            let Some(at) = index.as_long() else {
                return Err(unsupported(format!("an index of {}", index.kind())));
            };
            let items = match list.set {
                None => list.items.borrow(),
                Some(_) => {
                    let items = V::list(list.ordered());
                    return self::index(machine, &items, index);
                }
            };
            match place(at, items.len(), true) {
                Some(at) => Ok(items[at].clone()),
                None if at >= 0 => Ok(V::NULL),
                None => Err(thrown(
                    "ArrayIndexOutOfBoundsException",
                    format!("Negative array index [{at}] too large for array size {}", items.len()),
                )),
            }
        }
        V::Array(array) => {
            let Some(at) = index.as_long() else {
                return Err(unsupported(format!("an index of {}", index.kind())));
            };
            let items = array.items.borrow();
            place(at, items.len(), groovy).map(|at| items[at].clone()).ok_or_else(|| {
                thrown(
                    "ArrayIndexOutOfBoundsException",
                    format!("Index {at} out of bounds for length {}", items.len()),
                )
            })
        }
        V::Map(map) if groovy => Ok(map.get(index).unwrap_or(V::NULL)),
        V::Plain(Value::Text(text)) if groovy => match index {
            V::Plain(index) => {
                if let Some(found) = text_units::character_at(machine, text, index) {
                    return Ok(found);
                }
                machine.spend_text(text.len())?;
                Ok(V::from(crate::plain::convert::character(text, index)?))
            }
            _ => Err(unsupported(format!("an index of {}", index.kind()))),
        },
        V::Host(Host::Vars) if groovy && index.as_text().is_some() => {
            Ok(library::host::text_of_variable(machine, index.as_text().unwrap_or("")))
        }
        V::Host(Host::Props) if groovy && index.as_text().is_some() => {
            machine.dispatch(object, "get", std::slice::from_ref(index))
        }
        V::Object(found) if groovy => match &**found {
            Object::Library(instance) => instance
                .index(machine, index)
                .unwrap_or_else(|| Err(unsupported(format!("an index into {}", object.kind())))),
            Object::Date(_) | Object::Calendar(..) => {
                machine.dispatch(object, "getAt", std::slice::from_ref(index))
            }
            Object::Matcher(matcher) => {
                let Some(at) = index.as_long() else {
                    return Err(unsupported(format!("an index of {}", index.kind())));
                };
                let all = matcher.all()?;
                let found =
                    place(at, all.len(), true).map(|at| library::regex::match_value(&matcher.text, &all[at]));
                found
                    .ok_or_else(|| thrown("IndexOutOfBoundsException", format!("index is out of range {at}")))
            }
            _ => Err(unsupported(format!("an index into {}", object.kind()))),
        },
        V::Plain(plain) if groovy && !matches!(plain, Value::Text(_)) => {
            Err(missing::exception(machine, object, "getAt", std::slice::from_ref(index)))
        }
        other => Err(unsupported(format!("an index into {}", other.kind()))),
    }
}

/// The part of a sequence of this length that a range of integers selects, as in Groovy's `IntRange.subListBorders`: first place,
/// place after the last, and whether the part is reversed. Negative numbers count from the end.
fn range_borders(range: &str, len: usize) -> Option<(i64, i64, bool)> {
    let (from, to) = range.split_once("..")?;
    let (to, inclusive) = to.strip_prefix('<').map_or((to, 1), |to| (to, 0));
    let place = |text: &str| text.parse::<i64>().ok().map(|at| if at < 0 { at + len as i64 } else { at });
    let (from, to) = (place(from)?, place(to)?);
    Some(if from > to { (to + 1 - inclusive, from + 1, true) } else { (from, to + inclusive, false) })
}

/// The items that `object[1..3]` selects.
fn part<T: Clone>(items: &[T], range: &str, outside: impl Fn(i64, i64) -> Fault) -> Result<Vec<T>, Fault> {
    let Some((from, to, is_reverse)) = range_borders(range, items.len()) else {
        return Err(unsupported("this index"));
    };
    let found =
        usize::try_from(from).ok().zip(usize::try_from(to).ok()).and_then(|(from, to)| items.get(from..to));
    let mut part = found.ok_or_else(|| outside(from, to))?.to_vec();
    if is_reverse {
        part.reverse();
    }
    Ok(part)
}

/// Evaluates `object[1..3]` and `object[0, 2]`.
fn index_by_list(machine: &mut Machine<'_>, object: &V, picks: &List) -> Outcome {
    machine.check_stack()?;
    if let V::Plain(Value::Text(text)) = object {
        machine.spend_text(text.len())?;
        let units: Vec<u16> = text.encode_utf16().collect();
        let outside = |from: i64, to: i64| {
            let message = format!("begin {from}, end {to}, length {}", units.len());
            thrown("StringIndexOutOfBoundsException", message)
        };
        if let Some(range) = &picks.range {
            return Ok(V::text(String::from_utf16_lossy(&part(&units, range, outside)?)));
        }
        let mut picked = Vec::new();
        for pick in picks.ordered() {
            let Some(at) = pick.as_long() else { return Err(unsupported("this index")) };
            picked.push(place(at, units.len(), true).map(|at| units[at]).ok_or_else(|| outside(at, at + 1))?);
        }
        return Ok(V::text(String::from_utf16_lossy(&picked)));
    }
    if let Some(range) = &picks.range {
        let items = object.items().unwrap_or_default();
        let outside = |from: i64, to: i64| {
            let message = if from < 0 { format!("fromIndex = {from}") } else { format!("toIndex = {to}") };
            thrown("IndexOutOfBoundsException", message)
        };
        return Ok(V::list(part(&items, range, outside)?));
    }
    let mut picked = Vec::new();
    for pick in picks.ordered() {
        match (index(machine, object, &pick)?, &pick) {
            // A nested list of indices selects several items.
            (V::List(items), V::List(_)) => picked.extend(items.ordered()),
            (item, _) => picked.push(item),
        }
    }
    Ok(V::list(picked))
}

/// Sets a property of an object that defines its own properties; `None` if the object has only setters.
fn own_setter(machine: &mut Machine<'_>, object: &V, name: &str, value: &V) -> Option<Outcome> {
    if let V::Class(class) = object
        && class.is_own()
    {
        return Some(machine.set_own_property(object, name, value));
    }
    let V::Object(inner) = object else { return None };
    if let Object::Own(_) = &**inner {
        return Some(machine.set_own_property(object, name, value));
    }
    inner.library()?.set_property(machine, name, value)
}

fn missing_field(object: &V, name: &str) -> Fault {
    let class = missing::class_name(object);
    thrown("MissingFieldException", format!("No such field: {name} for class: {class}"))
}

/// Evaluates `object.@name`.
pub(super) fn field(machine: &mut Machine<'_>, object: &V, name: &str) -> Outcome {
    if object.is_null() {
        return Err(null_property(name));
    }
    let found = match object {
        V::Object(inner) if matches!(**inner, Object::Own(_)) => machine.own_field(object, name).map(Ok),
        V::Object(inner) => {
            inner.library().and_then(|instance| instance.property(machine, &format!("@{name}")))
        }
        _ => None,
    };
    found.unwrap_or_else(|| Err(missing_field(object, name)))
}

/// Assigns to a variable, property or item, and returns the value.
pub(super) fn store(machine: &mut Machine<'_>, target: &Expr, value: V, frame: &Rc<Frame>) -> Outcome {
    match &target.kind {
        Kind::Name(name) => store_named(machine, *name, value, frame),
        Kind::Property(object, name, ..) => {
            let is_inside = matches!(object.kind, Kind::This);
            let object = machine.value(object, frame)?;
            if is_inside && let Some(outcome) = machine.set_own_field(&object, name, &value) {
                return outcome;
            }
            set_property(machine, &object, name, value)
        }
        Kind::Field(object, name, ..) => {
            let object = machine.value(object, frame)?;
            if let Some(outcome) = machine.set_own_field(&object, name, &value) {
                return outcome;
            }
            own_setter(machine, &object, &format!("@{name}"), &value)
                .unwrap_or_else(|| Err(missing_field(&object, name)))
        }
        Kind::Index(object, index) => {
            let object = machine.value(object, frame)?;
            let index = machine.value(index, frame)?;
            store_item(machine, &object, index, value)
        }
        _ => Err(unsupported("assigning to this")),
    }
}

/// Evaluates `object.name = value` and returns the value.
fn set_property(machine: &mut Machine<'_>, object: &V, name: &str, value: V) -> Outcome {
    match object {
        V::Plain(Value::Null) => {
            return Err(thrown(
                "NullPointerException",
                format!("Cannot set property '{name}' on null object"),
            ));
        }
        V::Map(map) => {
            map.put(V::text(name), value.clone());
        }
        V::Host(Host::Props) if machine.groovy() => {
            machine.invoke(object, "put", vec![V::text(name), value.clone()])?;
        }
        V::Host(Host::Vars) => {
            return Err(thrown(
                "MissingPropertyException",
                format!("No such property: {name} for class: org.apache.jmeter.threads.JMeterVariables"),
            ));
        }
        _ => {
            if let Some(outcome) = own_setter(machine, object, name, &value) {
                return outcome;
            }
            let setter = format!("set{}", capitalized(name));
            let given = library::sample_result::assigned(machine, object, &setter, &value)?;
            match machine.dispatch(object, &setter, std::slice::from_ref(&given)) {
                Err(Fault { cause: Cause::Unsupported(_), .. }) if lacks(machine, object, &[setter], 1) => {
                    return Err(missing_property(object, name));
                }
                outcome => outcome?,
            };
        }
    }
    Ok(value)
}

/// Executes `name = value`. In a closure of `with`, sets a property of the delegate if there is no variable with this name.
fn store_named(machine: &mut Machine<'_>, name: Name, value: V, frame: &Rc<Frame>) -> Outcome {
    let delegate = machine.delegates.last().cloned().filter(|_| machine.groovy());
    if let Some(delegate) = delegate
        && machine.find(frame, name).is_none()
    {
        let property = machine.tree.names[name as usize].clone();
        match set_property(machine, &delegate, &property, value.clone()) {
            Err(fault) if is_missing_property(&fault) => {}
            outcome => return outcome,
        }
    }
    machine.assign(frame, name, value)
}

fn is_missing_property(fault: &Fault) -> bool {
    match &fault.cause {
        Cause::Unsupported(_) => true,
        Cause::Thrown(V::Object(exception)) => exception.class().name() == "MissingPropertyException",
        _ => false,
    }
}

fn store_item(machine: &mut Machine<'_>, object: &V, index: V, value: V) -> Outcome {
    match object {
        V::Array(array) => {
            let len = array.items.borrow().len();
            let Some(at) = index.as_long().and_then(|at| place(at, len, machine.groovy())) else {
                return Err(thrown(
                    "ArrayIndexOutOfBoundsException",
                    format!("index out of bounds for an array of length {len}"),
                ));
            };
            let of = super::tree::Type { base: array.of, boxed: true, arrays: 0 };
            let converted =
                if array.of == super::tree::Base::Any { value } else { types::assigned(machine, value, of)? };
            array.items.borrow_mut()[at] = converted.clone();
            Ok(converted)
        }
        V::List(list) if machine.groovy() => {
            let len = list.items.borrow().len();
            let Some(at) = index.as_long() else {
                return Err(unsupported(format!("an index of {}", index.kind())));
            };
            let at = if at < 0 { at + len as i64 } else { at };
            let Ok(at) = usize::try_from(at) else {
                return Err(thrown("ArrayIndexOutOfBoundsException", "Negative array index"));
            };
            if at > 1 << 20 {
                return Err(unsupported("an index of this size"));
            }
            machine.spend_items((at + 1).saturating_sub(len))?;
            let mut items = list.items.borrow_mut();
            while items.len() <= at {
                items.push(V::NULL);
            }
            items[at] = value.clone();
            Ok(value)
        }
        V::Map(map) if machine.groovy() => {
            map.put(index, value.clone());
            Ok(value)
        }
        V::Host(Host::Props) if machine.groovy() => {
            machine.invoke(object, "put", vec![index, value.clone()])?;
            Ok(value)
        }
        V::Host(Host::Vars) => {
            let name = print::java(machine, &index)?;
            Err(thrown(
                "MissingPropertyException",
                format!("No such property: {name} for class: org.apache.jmeter.threads.JMeterVariables"),
            ))
        }
        V::Object(inner) if inner.library().is_some() => {
            let item = self::index(machine, object, &index)?;
            machine.invoke(&item, "replaceBody", vec![value.clone()])?;
            Ok(value)
        }
        other => Err(unsupported(format!("assigning to an item of {}", other.kind()))),
    }
}
