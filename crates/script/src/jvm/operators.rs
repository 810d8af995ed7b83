//! Operators on values of all types.

mod cases;
mod equality;
mod jexl;
mod refused;
mod same_as;

use std::rc::Rc;

pub(super) use self::cases::{is_case, java_case};
pub(super) use self::equality::{compare, same};
pub(super) use self::jexl::{is_empty, size};
use self::refused::{is_defined, name, refused};
pub(super) use self::same_as::SameAs;
use super::fault::{Fault, Outcome, limit, thrown, unsupported};
use super::machine::Machine;
use super::objects::Object;
use super::patterns::{self, Matcher};
use super::tree::{Operator, Shift};
use super::value::V;
use super::{curry, durations, missing, print, types};
use crate::Value;
use crate::decimal::Decimal;
use crate::plain::Binary;
use crate::plain::{beanshell, groovy};

/// The Groovy method that implements an operator.
pub(super) fn method(operator: Operator) -> &'static str {
    name(operator)
}

pub(super) fn binary(machine: &mut Machine<'_>, operator: Operator, left: &V, right: &V) -> Outcome {
    if let (true, Operator::Plain(operator)) = (machine.jexl(), operator) {
        return jexl::binary(machine, operator, left, right);
    }
    if matches!(left, V::Void) || matches!(right, V::Void) {
        return match operator {
            Operator::Plain(Binary::Equal) => Ok(V::truth(left.equals(right))),
            Operator::Plain(Binary::NotEqual) => Ok(V::truth(!left.equals(right))),
            _ => Err(thrown("RuntimeException", "illegal use of an undefined variable or `void`")),
        };
    }
    if print::is_lazy(left) || print::is_lazy(right) {
        let (left, right) = (print::evaluated(machine, left)?, print::evaluated(machine, right)?);
        return binary(machine, operator, &left, &right);
    }
    if let Some(outcome) = machine.own_operator(left, operator, right) {
        return outcome;
    }
    match operator {
        Operator::Plain(binary) if machine.groovy() => plain_groovy(machine, binary, left, right),
        Operator::Plain(binary) => plain_java(machine, binary, left, right),
        Operator::Shift(shift) => shifted(machine, shift, left, right),
        Operator::Power => power(machine, left, right),
        Operator::Spaceship => Ok(V::int(compare(left, right)? as i64)),
        Operator::Same | Operator::NotSame => {
            let same = match (left, right) {
                (V::Plain(Value::Null), V::Plain(Value::Null)) => true,
                (V::List(a), V::List(b)) => Rc::ptr_eq(a, b),
                (V::Map(a), V::Map(b)) => Rc::ptr_eq(a, b),
                (V::Object(a), V::Object(b)) => Rc::ptr_eq(a, b),
                (V::Plain(Value::Boolean(a)), V::Plain(Value::Boolean(b))) => a == b,
                (V::Plain(Value::Null), _) | (_, V::Plain(Value::Null)) => false,
                _ => return Err(unsupported("comparing by identity")),
            };
            Ok(V::truth(same == (operator == Operator::Same)))
        }
        Operator::Find => {
            let text = print::groovy(machine, left)?;
            let pattern = pattern_of(machine, right)?;
            machine.spend_text(text.len())?;
            patterns::compiled(&pattern)?;
            Ok(V::object(Object::Matcher(Matcher::new(&pattern, &text))))
        }
        Operator::In => Ok(V::truth(is_case(machine, right, left)?)),
        Operator::NotIn => Ok(V::truth(!is_case(machine, right, left)?)),
    }
}

/// The regular expression of a `Pattern`; for other values, their text.
pub(super) fn pattern_of(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    match value {
        V::Object(object) => match &**object {
            Object::Pattern(pattern) => Ok(pattern.clone()),
            _ => print::groovy(machine, value),
        },
        _ => print::groovy(machine, value),
    }
}

fn plain_groovy(machine: &mut Machine<'_>, binary: Binary, left: &V, right: &V) -> Outcome {
    match binary {
        Binary::Equal => return Ok(V::truth(same(left, right)?)),
        Binary::NotEqual => return Ok(V::truth(!same(left, right)?)),
        Binary::Less => return Ok(V::truth(compare(left, right)?.is_lt())),
        Binary::LessOrEqual => return Ok(V::truth(compare(left, right)?.is_le())),
        Binary::Greater => return Ok(V::truth(compare(left, right)?.is_gt())),
        Binary::GreaterOrEqual => return Ok(V::truth(compare(left, right)?.is_ge())),
        Binary::Matches | Binary::NotMatches => {
            if left.is_null() {
                return Ok(V::truth(binary == Binary::NotMatches));
            }
            let text = print::groovy(machine, left)?;
            let pattern = pattern_of(machine, right)?;
            let found = patterns::whole(&pattern, &text)?.is_some();
            return Ok(V::truth(found == (binary == Binary::Matches)));
        }
        _ => {}
    }
    if let Some(outcome) = durations::binary(machine, binary, left, right) {
        return outcome;
    }
    let atomic = |value: &V| match value {
        V::Object(object) => match &**object {
            Object::Atomic(number, class) if class.name() == "AtomicInteger" => V::int(number.get()),
            Object::Atomic(number, _) => V::long(number.get()),
            _ => value.clone(),
        },
        _ => value.clone(),
    };
    let (left, right) = (&atomic(left), &atomic(right));
    match (binary, left, right) {
        (Binary::Add, V::Plain(Value::Text(text)), other) => {
            let joined = format!("{text}{}", print::groovy(machine, other)?);
            machine.spend_text(joined.len())?;
            Ok(V::text(joined))
        }
        (Binary::Subtract, V::Plain(Value::Text(text)), V::Object(object)) => match &**object {
            Object::Pattern(pattern) => Ok(V::text(patterns::replace(text, pattern, "", false)?)),
            _ => Err(refused(machine, Operator::Plain(binary), left, right)),
        },
        (Binary::Add, V::List(list), other) => {
            let mut items = list.ordered();
            match other {
                V::List(_) | V::Array(_) => items.extend(other.items().unwrap_or_default()),
                other => items.push(other.clone()),
            }
            machine.room_for(items.len())?;
            Ok(match list.set {
                Some(order) => V::set(items, order),
                None => V::list(items),
            })
        }
        (Binary::Add, V::Array(array), V::List(_) | V::Array(_)) => {
            let mut items = left.items().unwrap_or_default();
            items.extend(right.items().unwrap_or_default());
            Ok(V::array(items, array.of))
        }
        (Binary::Subtract, V::List(list), other) => {
            let removed = match other {
                V::List(_) | V::Array(_) => other.items().unwrap_or_default(),
                other => vec![other.clone()],
            };
            let mut all = list.ordered();
            let before = all.len();
            all.extend(removed);
            let mut known = SameAs::new(&all);
            for other in all.drain(before..) {
                known.add(other);
            }
            let mut items = Vec::new();
            for item in all {
                if !known.contains(machine, &item)? {
                    items.push(item);
                }
            }
            Ok(match list.set {
                Some(order) => V::set(items, order),
                None => V::list(items),
            })
        }
        _ => other_groovy(machine, binary, left, right),
    }
}

/// Evaluates Groovy's operators for maps, dates and plain values, and the repetition of lists.
fn other_groovy(machine: &mut Machine<'_>, binary: Binary, left: &V, right: &V) -> Outcome {
    match (binary, left, right) {
        (Binary::Multiply, V::List(list), V::Plain(Value::Integer(times))) => {
            let items = list.ordered();
            let times = usize::try_from(*times).unwrap_or(0);
            machine.spend_items(items.len().saturating_mul(times))?;
            Ok(V::list(items.iter().cloned().cycle().take(items.len() * times).collect()))
        }
        (Binary::Add, V::Map(map), V::Map(other)) => {
            let mut entries = map.ordered();
            entries.extend(other.ordered());
            Ok(V::map(entries))
        }
        (Binary::Subtract, V::Object(later), V::Object(earlier))
            if matches!((&**later, &**earlier), (Object::Date(_), Object::Date(_))) =>
        {
            machine.invoke(left, "minus", vec![right.clone()])
        }
        (Binary::Add | Binary::Subtract, V::Object(object), V::Plain(Value::Integer(days))) => {
            match &**object {
                Object::Date(ms) => {
                    let days = if binary == Binary::Add { i64::from(*days) } else { -i64::from(*days) };
                    Ok(V::object(Object::Date((ms.get() + days * 86_400_000).into())))
                }
                _ => machine.invoke(left, name(Operator::Plain(binary)), vec![right.clone()]),
            }
        }
        (Binary::Add, V::Object(object), V::Plain(Value::Text(text))) => match &**object {
            Object::Builder(own, _) => Ok(V::text(format!("{}{text}", own.borrow()))),
            _ => machine.invoke(left, name(Operator::Plain(binary)), vec![right.clone()]),
        },
        (Binary::Subtract, V::Map(_), V::Plain(Value::Null)) => Ok(left.clone()),
        (Binary::BitAnd, V::Plain(Value::Boolean(_)), V::Plain(Value::Null)) => Ok(V::truth(false)),
        (Binary::BitOr | Binary::BitXor, V::Plain(Value::Boolean(_)), V::Plain(Value::Null)) => {
            Ok(left.clone())
        }
        (Binary::Subtract, V::Map(map), V::Map(other)) => {
            let mut kept = Vec::new();
            for (key, value) in map.ordered() {
                let is_removed = match other.get(&key) {
                    Some(found) => same(&value, &found)?,
                    None => false,
                };
                if !is_removed {
                    kept.push((key, value));
                }
            }
            Ok(V::map(kept))
        }
        (Binary::Add, V::Plain(Value::Null), V::Plain(Value::Text(text))) => {
            Ok(V::text(format!("null{text}")))
        }
        (_, V::Plain(a), V::Plain(b)) => {
            if left.is_null() || !is_defined(binary, a, b) {
                return Err(refused(machine, Operator::Plain(binary), left, right));
            }
            if let Some(value) = big(binary, a, b)? {
                return Ok(V::Plain(value));
            }
            if let (Value::Text(text), Binary::Multiply, Value::Integer(times)) = (a, binary, b) {
                machine.spend_text(text.len().saturating_mul(usize::try_from(*times).unwrap_or(0)))?;
            }
            Ok(V::from(groovy::binary(binary, a, b)?))
        }
        _ => Err(refused(machine, Operator::Plain(binary), left, right)),
    }
}

/// Evaluates arithmetic with a `BigInteger`, limited to 128 bits; `None` for other operands and operators.
fn big(binary: Binary, left: &Value, right: &Value) -> Result<Option<Value>, Fault> {
    let whole = |value: &Value| match value {
        Value::BigInteger(value) => Some(*value),
        Value::Integer(value) => Some(i128::from(*value)),
        Value::Long(value) => Some(i128::from(*value)),
        _ => None,
    };
    if !matches!(left, Value::BigInteger(_)) && !matches!(right, Value::BigInteger(_)) {
        return Ok(None);
    }
    let (Some(a), Some(b)) = (whole(left), whole(right)) else { return Ok(None) };
    let result = match binary {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        Binary::Remainder if b != 0 => Some(a % b),
        Binary::Remainder => return Err(thrown("ArithmeticException", "BigInteger divide by zero")),
        _ => return Ok(None),
    };
    match result {
        Some(value) => Ok(Some(Value::BigInteger(value))),
        None => Err(unsupported("a number of more than 128 bits")),
    }
}

fn plain_java(machine: &mut Machine<'_>, binary: Binary, left: &V, right: &V) -> Outcome {
    let operator = Operator::Plain(binary);
    let is_text = |value: &V| matches!(value, V::Plain(Value::Text(_)));
    if binary == Binary::Add && (is_text(left) || is_text(right)) {
        let joined = print::java(machine, left)? + &print::java(machine, right)?;
        machine.spend_text(joined.len())?;
        return Ok(V::text(joined));
    }
    if let (V::Plain(Value::Text(a)), V::Plain(Value::Text(b))) = (left, right)
        && matches!(binary, Binary::Equal | Binary::NotEqual)
    {
        // Strings are compared by the identity of their objects.
        return Ok(V::truth(std::sync::Arc::ptr_eq(a, b) == (binary == Binary::Equal)));
    }
    match (left, right) {
        (V::Plain(Value::Float(a)), V::Plain(b)) => floats(machine, binary, f64::from(*a), b, left, right),
        (V::Plain(a), V::Plain(Value::Float(_))) => match crate::plain::to_double(a) {
            Some(a) => {
                let V::Plain(b) = right else { return Err(refused(machine, operator, left, right)) };
                floats(machine, binary, a, b, left, right)
            }
            None => Err(refused(machine, operator, left, right)),
        },
        (V::Plain(a), V::Plain(b)) => {
            let outcome = beanshell::binary(binary, a, b);
            if outcome.is_err() {
                machine.origin = Some("Arithemetic Exception in binary op".into());
            }
            Ok(V::from(outcome?))
        }
        _ => {
            let same = match (left, right) {
                (V::List(a), V::List(b)) => Rc::ptr_eq(a, b),
                (V::Map(a), V::Map(b)) => Rc::ptr_eq(a, b),
                (V::Array(a), V::Array(b)) => Rc::ptr_eq(a, b),
                (V::Object(a), V::Object(b)) => Rc::ptr_eq(a, b),
                (V::Host(a), V::Host(b)) => a == b,
                _ => false,
            };
            match binary {
                Binary::Equal => Ok(V::truth(same)),
                Binary::NotEqual => Ok(V::truth(!same)),
                _ => Err(refused(machine, operator, left, right)),
            }
        }
    }
}

/// Evaluates Java's arithmetic with floats. If one operand is a double, the result is a double.
fn floats(machine: &mut Machine<'_>, binary: Binary, a: f64, b: &Value, left: &V, right: &V) -> Outcome {
    let operator = Operator::Plain(binary);
    let Some(b_double) = crate::plain::to_double(b) else {
        return Err(refused(machine, operator, left, right));
    };
    let wide = matches!(left, V::Plain(Value::Double(_))) || matches!(b, Value::Double(_));
    let value = match binary {
        Binary::Add => a + b_double,
        Binary::Subtract => a - b_double,
        Binary::Multiply => a * b_double,
        Binary::Divide => a / b_double,
        Binary::Remainder => a % b_double,
        Binary::Equal => return Ok(V::truth(a == b_double)),
        Binary::NotEqual => return Ok(V::truth(a != b_double)),
        Binary::Less => return Ok(V::truth(a < b_double)),
        Binary::LessOrEqual => return Ok(V::truth(a <= b_double)),
        Binary::Greater => return Ok(V::truth(a > b_double)),
        Binary::GreaterOrEqual => return Ok(V::truth(a >= b_double)),
        _ => return Err(refused(machine, operator, left, right)),
    };
    Ok(if wide { V::double(value) } else { V::Plain(Value::Float(value as f32)) })
}

fn shifted(machine: &mut Machine<'_>, shift: Shift, left: &V, right: &V) -> Outcome {
    if let (V::Plain(number), Some(by)) = (left, right.as_long()) {
        let by = by as u32;
        return match number {
            Value::Integer(value) => Ok(V::Plain(Value::Integer(match shift {
                Shift::Left => value.wrapping_shl(by),
                Shift::Right => value.wrapping_shr(by),
                Shift::Unsigned => (*value as u32).wrapping_shr(by) as i32,
            }))),
            Value::Long(value) => Ok(V::long(match shift {
                Shift::Left => value.wrapping_shl(by),
                Shift::Right => value.wrapping_shr(by),
                Shift::Unsigned => (*value as u64).wrapping_shr(by) as i64,
            })),
            Value::Text(text) if shift == Shift::Left => {
                Ok(V::text(format!("{text}{}", print::groovy(machine, right)?)))
            }
            _ => Err(refused(machine, Operator::Shift(shift), left, right)),
        };
    }
    if let (Shift::Right, V::Closure(_), V::Closure(_), true) = (shift, left, right, machine.groovy()) {
        return Ok(curry::composed(right, left));
    }
    if shift != Shift::Left || !machine.groovy() {
        return Err(refused(machine, Operator::Shift(shift), left, right));
    }
    match left {
        V::List(list) => {
            if list.fixed {
                return Err(thrown("UnsupportedOperationException", "the list is fixed"));
            }
            list.add(right.clone());
            Ok(left.clone())
        }
        V::Map(map) => {
            if let V::Map(other) = right {
                for (key, value) in other.ordered() {
                    map.put(key, value);
                }
                return Ok(left.clone());
            }
            Err(refused(machine, Operator::Shift(shift), left, right))
        }
        V::Plain(Value::Text(text)) => Ok(V::text(format!("{text}{}", print::groovy(machine, right)?))),
        V::Closure(_) if matches!(right, V::Closure(_)) => Ok(curry::composed(left, right)),
        V::Object(_) => machine.invoke(left, "leftShift", vec![right.clone()]),
        _ => Err(refused(machine, Operator::Shift(shift), left, right)),
    }
}

/// Evaluates Groovy's `**`.
fn power(machine: &mut Machine<'_>, left: &V, right: &V) -> Outcome {
    let number = |value: &V| value.as_long().is_some() || types::number(value).is_ok();
    let (V::Plain(a), V::Plain(b), true, true) = (left, right, number(left), number(right)) else {
        return Err(refused(machine, Operator::Power, left, right));
    };
    if let (Some(base), Some(exponent)) = (left.as_long(), right.as_long())
        && let Ok(exponent) = u32::try_from(exponent)
    {
        let Some(value) = i128::from(base).checked_pow(exponent) else {
            return Err(unsupported("a number of more than 128 bits"));
        };
        return Ok(match (i32::try_from(value), a) {
            (Ok(value), Value::Integer(_)) => V::Plain(Value::Integer(value)),
            _ => match i64::try_from(value) {
                Ok(value) if matches!(a, Value::Long(_)) => V::long(value),
                _ => V::Plain(Value::BigInteger(value)),
            },
        });
    }
    if let (Value::Decimal(base), Value::Integer(exponent)) = (a, b)
        && let Ok(exponent) = u32::try_from(*exponent)
    {
        let mut value = Decimal::whole(1);
        for _ in 0..exponent {
            value = value.times(*base).ok_or_else(|| unsupported("a number of this length"))?;
        }
        return Ok(V::Plain(Value::Decimal(value)));
    }
    let value = types::number(left)?.powf(types::number(right)?);
    Ok(if value.fract() == 0.0 && value.abs() < f64::from(i32::MAX) && left.as_long().is_some() {
        V::int(value as i64)
    } else {
        V::double(value)
    })
}

/// Whether the operator compares the order of two values.
pub(super) fn is_relation(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Spaceship
            | Operator::Plain(Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual)
    )
}

/// The result of a comparison operator for the result of `compareTo`.
pub(super) fn comparison_result(operator: Operator, order: &V) -> V {
    let order = order.as_long().unwrap_or(0);
    match operator {
        Operator::Plain(Binary::Less) => V::truth(order < 0),
        Operator::Plain(Binary::LessOrEqual) => V::truth(order <= 0),
        Operator::Plain(Binary::Greater) => V::truth(order > 0),
        Operator::Plain(Binary::GreaterOrEqual) => V::truth(order >= 0),
        _ => V::int(order),
    }
}

/// Evaluates `+value`.
pub(super) fn plus(machine: &Machine<'_>, value: V) -> Outcome {
    if machine.jexl() { jexl::plus(&value) } else { Ok(value) }
}

pub(super) fn minus(machine: &mut Machine<'_>, value: &V) -> Outcome {
    match value {
        _ if machine.jexl() => jexl::minus(value),
        V::List(list) if machine.groovy() => {
            machine.check_stack()?;
            let mut negated = Vec::new();
            for item in list.ordered() {
                negated.push(minus(machine, &item)?);
            }
            Ok(V::list(negated))
        }
        V::Plain(Value::Null) => {
            Err(thrown("NullPointerException", "Cannot invoke method negative() on null object"))
        }
        V::Plain(Value::Text(_) | Value::Boolean(_)) | V::Map(_) if machine.groovy() => {
            Err(missing::exception(machine, value, "negative", &[]))
        }
        V::Plain(plain) => Ok(V::Plain(crate::plain::negated(plain)?)),
        other => Err(unsupported(format!("minus of {}", other.kind()))),
    }
}

pub(super) fn complement(machine: &Machine<'_>, value: &V) -> Outcome {
    match value {
        _ if machine.jexl() => jexl::complement(value),
        V::Plain(Value::Integer(value)) => Ok(V::Plain(Value::Integer(!value))),
        V::Plain(Value::Long(value)) => Ok(V::long(!value)),
        V::Plain(Value::Text(text)) if machine.groovy() => {
            patterns::compiled(text)?;
            Ok(V::object(Object::Pattern(text.to_string())))
        }
        other => Err(unsupported(format!("`~` of {}", other.kind()))),
    }
}

/// Evaluates Groovy's `1..5` and `'a'..'e'`.
pub(super) fn range(machine: &mut Machine<'_>, from: &V, to: &V, open: bool) -> Outcome {
    if let (Some(a), Some(b)) = (from.as_text(), to.as_text()) {
        let (Some(a), Some(b)) = (crate::plain::single_unit(a), crate::plain::single_unit(b)) else {
            return Err(unsupported("a range of strings"));
        };
        let letter = |unit: u16| V::text(String::from_utf16_lossy(&[unit]));
        let mut items: Vec<V> =
            if a <= b { (a..=b).map(letter).collect() } else { (b..=a).rev().map(letter).collect() };
        if open {
            items.pop();
        }
        return Ok(V::range(items, &range_text(machine, from, to, open)?));
    }
    let (Some(a), Some(b)) = (from.as_long(), to.as_long()) else {
        return Err(unsupported(format!("a range of {} and {}", from.kind(), to.kind())));
    };
    if a.abs_diff(b) > 1 << 20 {
        return Err(limit("a range of more than a million numbers"));
    }
    machine.spend_items(usize::try_from(a.abs_diff(b)).unwrap_or(0))?;
    let long = matches!(from, V::Plain(Value::Long(_))) || matches!(to, V::Plain(Value::Long(_)));
    let number = |value: i64| if long { V::long(value) } else { V::int(value) };
    let mut items: Vec<V> =
        if a <= b { (a..=b).map(number).collect() } else { (b..=a).rev().map(number).collect() };
    if open {
        items.pop();
    }
    Ok(V::range(items, &range_text(machine, from, to, open)?))
}

fn range_text(machine: &mut Machine<'_>, from: &V, to: &V, open: bool) -> Result<String, Fault> {
    let (from, to) = (print::java(machine, from)?, print::java(machine, to)?);
    Ok(format!("{from}..{}{to}", if open { "<" } else { "" }))
}
