//! The operators of JEXL.
//!
//! Both versions are strict: a null operand is an error, except in comparisons. They differ in the conversion of operands: in
//! version 3, a string operand makes `+` a concatenation, while version 2 first tries to parse the string as a number.

use std::borrow::Cow;
use std::cmp::Ordering;

use busyhour_java::{parse_double, parse_long, parse_wide};

use super::super::fault::{Fault, Outcome, evaluation_fault, limit, unsupported};
use super::super::machine::Machine;
use super::super::patterns;
use super::super::tree::Base;
use super::super::value::V;
use crate::Value;
use crate::language::Dialect;
use crate::plain::Binary;

/// Maximum number of items of a range.
const RANGE_LEN_MAX: u64 = 100_000;

/// The error of an operand that cannot be converted to a number.
enum CoercionError {
    /// A string that is not a number. JEXL 2's `+` then concatenates strings instead.
    NotANumber(String),
    Other(Fault),
}

impl From<CoercionError> for Fault {
    fn from(error: CoercionError) -> Fault {
        match error {
            CoercionError::NotANumber(text) => evaluation_fault(format!("`{text}` is not a number")),
            CoercionError::Other(fault) => fault,
        }
    }
}

fn no_number(value: &Value) -> CoercionError {
    CoercionError::Other(evaluation_fault(match value {
        Value::Null => "an operand is null".to_owned(),
        other => format!("{} is not a number", other.type_name()),
    }))
}

pub fn binary(machine: &mut Machine<'_>, operator: Binary, left: &V, right: &V) -> Outcome {
    let (V::Plain(a), V::Plain(b)) = (left, right) else {
        return binary_objects(operator, left, right);
    };
    if operator == Binary::Range {
        return range(machine, to_long(a)?, to_long(b)?);
    }
    let value = binary_plain(operator, a, b, machine.tree.dialect)?;
    if let (Value::Text(text), Binary::Add) = (&value, operator) {
        machine.spend_text(text.len())?;
    }
    Ok(V::Plain(value))
}

/// Evaluates operators for arrays and JMeter's objects.
fn binary_objects(operator: Binary, left: &V, right: &V) -> Outcome {
    let is_null = left.is_null() || right.is_null();
    match (operator, left, right) {
        (Binary::Equal, ..) if is_null => Ok(V::truth(false)),
        (Binary::NotEqual, ..) if is_null => Ok(V::truth(true)),
        (Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual, ..) if is_null => {
            Ok(V::truth(false))
        }
        (Binary::Matches | Binary::StartsWith | Binary::EndsWith, ..) if is_null => Ok(V::truth(false)),
        (Binary::NotMatches | Binary::NotStartsWith | Binary::NotEndsWith, ..) if is_null => {
            Ok(V::truth(true))
        }
        (
            Binary::Matches | Binary::NotMatches,
            V::Plain(Value::Text(_) | Value::Integer(_)),
            V::Array(array),
        ) => {
            let items = array.items.borrow();
            let is_simple = |item: &V| matches!(item, V::Plain(Value::Text(_) | Value::Integer(_)));
            if !items.iter().all(is_simple) {
                return Err(unsupported("matching this array"));
            }
            let found = items.iter().any(|item| item.equals(left));
            Ok(V::truth(found == (operator == Binary::Matches)))
        }
        (
            Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder
            | Binary::BitAnd
            | Binary::BitOr
            | Binary::BitXor,
            ..,
        ) if matches!(left, V::Array(_)) || matches!(right, V::Array(_)) => {
            Err(evaluation_fault(format!("arithmetic with {} and {}", left.kind(), right.kind())))
        }
        _ => Err(unsupported(format!("this operator with {} and {}", left.kind(), right.kind()))),
    }
}

fn binary_plain(operator: Binary, left: &Value, right: &Value, dialect: Dialect) -> Result<Value, Fault> {
    let boolean = |value: bool| Ok(Value::Boolean(value));
    match operator {
        Binary::Add => add(left, right, dialect),
        Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
            Ok(calculate(operator, left, right, dialect)?)
        }
        Binary::Equal => boolean(equal(left, right)?),
        Binary::NotEqual => boolean(!equal(left, right)?),
        Binary::Less => boolean(ordered(left, right)? == Some(Ordering::Less)),
        Binary::Greater => boolean(ordered(left, right)? == Some(Ordering::Greater)),
        Binary::LessOrEqual => {
            boolean(both_null(left, right) || ordered(left, right)?.is_some_and(Ordering::is_le))
        }
        Binary::GreaterOrEqual => {
            boolean(both_null(left, right) || ordered(left, right)?.is_some_and(Ordering::is_ge))
        }
        Binary::Matches => boolean(matches(left, right)?),
        Binary::NotMatches => boolean(!matches(left, right)?),
        Binary::StartsWith => boolean(affix(left, right, |text, part| text.starts_with(part))?),
        Binary::NotStartsWith => boolean(!affix(left, right, |text, part| text.starts_with(part))?),
        Binary::EndsWith => boolean(affix(left, right, |text, part| text.ends_with(part))?),
        Binary::NotEndsWith => boolean(!affix(left, right, |text, part| text.ends_with(part))?),
        Binary::BitAnd => Ok(Value::Long(bits(left)? & bits(right)?)),
        Binary::BitOr => Ok(Value::Long(bits(left)? | bits(right)?)),
        Binary::BitXor => Ok(Value::Long(bits(left)? ^ bits(right)?)),
        Binary::Range => Err(unsupported("this range")),
    }
}

fn both_null(left: &Value, right: &Value) -> bool {
    matches!((left, right), (Value::Null, Value::Null))
}

/// The text of a value when it is concatenated to a string.
fn joined(value: &Value) -> Result<Cow<'_, str>, Fault> {
    match value {
        Value::Null => Err(evaluation_fault("an operand is null")),
        Value::Double(value) if value.is_nan() => Ok(Cow::Borrowed("")),
        Value::Text(text) => Ok(Cow::Borrowed(text)),
        other => Ok(Cow::Owned(other.to_java_string())),
    }
}

fn add(left: &Value, right: &Value, dialect: Dialect) -> Result<Value, Fault> {
    let text = matches!(left, Value::Text(_)) || matches!(right, Value::Text(_));
    if !(text && dialect == Dialect::Jexl3) {
        match calculate(Binary::Add, left, right, dialect) {
            Err(CoercionError::NotANumber(_)) => {}
            other => return Ok(other?),
        }
    }
    let (left, right) = (joined(left)?, joined(right)?);
    Ok(Value::Text([&*left, &*right].concat().into()))
}

/// The value of an `int` or `long`; `None` for other values.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(value) => Some(i64::from(*value)),
        Value::Long(value) => Some(*value),
        _ => None,
    }
}

fn is_floating(value: &Value, dialect: Dialect) -> bool {
    match value {
        Value::Float(_) | Value::Double(_) => true,
        Value::Text(text) if dialect == Dialect::Jexl2 => text.contains(['.', 'e', 'E']),
        Value::Text(text) => is_floating_text(text),
        _ => false,
    }
}

/// Whether the text consists of digits with a point, an exponent, or both: `1.`, `.5`, `1e5`, and also `.` alone.
fn is_floating_text(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = &text[digits(text)..];
    let point = rest.starts_with('.');
    if point {
        rest = &rest[1..];
        rest = &rest[digits(rest)..];
    }
    if rest.is_empty() {
        return point;
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else {
        return false;
    };
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !exponent.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit())
}

fn to_double(value: &Value) -> Result<f64, CoercionError> {
    match value {
        Value::Integer(value) => Ok(f64::from(*value)),
        Value::Long(value) => Ok(*value as f64),
        Value::BigInteger(value) => Ok(*value as f64),
        Value::Double(value) => Ok(*value),
        Value::Boolean(value) => Ok(f64::from(u8::from(*value))),
        Value::Character(unit) => Ok(f64::from(*unit)),
        Value::Text(text) if text.trim_matches(|c: char| c <= ' ').is_empty() => {
            // An empty string is NaN; a string of spaces is not a number.
            if text.is_empty() { Ok(f64::NAN) } else { Err(CoercionError::NotANumber(text.to_string())) }
        }
        Value::Text(text) => parse_double(text).ok_or_else(|| CoercionError::NotANumber(text.to_string())),
        other => Err(no_number(other)),
    }
}

fn to_long(value: &Value) -> Result<i64, CoercionError> {
    match value {
        Value::Integer(_) | Value::Long(_) => Ok(whole(value).unwrap_or(0)),
        Value::Boolean(value) => Ok(i64::from(*value)),
        Value::Character(unit) => Ok(i64::from(*unit)),
        Value::Text(text) if text.is_empty() => Ok(0),
        Value::Text(text) => parse_long(text).ok_or_else(|| CoercionError::NotANumber(text.to_string())),
        other => Err(no_number(other)),
    }
}

fn to_big(value: &Value, dialect: Dialect) -> Result<i128, CoercionError> {
    match value {
        Value::Integer(_) | Value::Long(_) => Ok(i128::from(whole(value).unwrap_or(0))),
        Value::BigInteger(value) => Ok(*value),
        Value::Boolean(value) if dialect == Dialect::Jexl3 => Ok(i128::from(*value)),
        Value::Character(unit) => Ok(i128::from(*unit)),
        Value::Text(text)
            if text.is_empty()
                || (dialect == Dialect::Jexl2 && text.trim_matches(|c: char| c <= ' ').is_empty()) =>
        {
            Ok(0)
        }
        Value::Text(text) => parse_wide(text).ok_or_else(|| CoercionError::NotANumber(text.to_string())),
        other => Err(no_number(other)),
    }
}

fn bits(value: &Value) -> Result<i64, Fault> {
    match value {
        Value::Integer(_) | Value::Long(_) | Value::Text(_) | Value::Boolean(_) => Ok(to_long(value)?),
        other => Err(evaluation_fault(format!("a bitwise operation on {}", other.type_name()))),
    }
}

fn calculate(
    operator: Binary,
    left: &Value,
    right: &Value,
    dialect: Dialect,
) -> Result<Value, CoercionError> {
    if both_null(left, right) {
        return Err(no_number(left));
    }
    let by_zero = || CoercionError::Other(evaluation_fault("division by zero"));
    let too_large = || CoercionError::Other(unsupported("a number beyond 127 bits"));
    if let (Value::Integer(a), Value::Integer(b), Binary::Add | Binary::Subtract | Binary::Multiply) =
        (left, right, operator)
    {
        let (a, b) = (i64::from(*a), i64::from(*b));
        // The result of two ints always fits into a long.
        let result = match operator {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            _ => a * b,
        };
        return Ok(i32::try_from(result).map_or(Value::Long(result), Value::Integer));
    }
    if is_floating(left, dialect) || is_floating(right, dialect) {
        let (a, b) = (to_double(left)?, to_double(right)?);
        return Ok(Value::Double(match operator {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            _ if b == 0.0 => return Err(by_zero()),
            Binary::Divide => a / b,
            _ => a % b,
        }));
    }
    let (a, b) = (to_big(left, dialect)?, to_big(right, dialect)?);
    // Version 3 calculates with longs if both operands are integers; this affects only the sign of a remainder.
    let longs = dialect == Dialect::Jexl3 && whole(left).is_some() && whole(right).is_some();
    let result = match operator {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        _ if b == 0 => return Err(by_zero()),
        // The minimum long divided by -1 does not fit into a long; Java wraps around.
        Binary::Divide if longs => Some(i128::from((a as i64).wrapping_div(b as i64))),
        Binary::Divide => a.checked_div(b),
        Binary::Remainder if longs => a.checked_rem(b),
        _ if b < 0 => return Err(CoercionError::Other(evaluation_fault("a modulus must be positive"))),
        _ => a.checked_rem_euclid(b),
    };
    Ok(narrow(left, right, result.ok_or_else(too_large)?))
}

fn narrow(left: &Value, right: &Value, result: i128) -> Value {
    let any = |test: fn(&Value) -> bool| test(left) || test(right);
    match i64::try_from(result) {
        Ok(long) if !any(|value| matches!(value, Value::BigInteger(_))) => match i32::try_from(long) {
            Ok(int) if !any(|value| matches!(value, Value::Long(_))) => Value::Integer(int),
            _ => Value::Long(long),
        },
        _ => Value::BigInteger(result),
    }
}

fn truth(value: &Value) -> Result<bool, Fault> {
    Ok(match value {
        Value::Boolean(value) => *value,
        Value::Integer(_) | Value::Long(_) | Value::BigInteger(_) | Value::Double(_) => {
            let number = to_double(value)?;
            !number.is_nan() && number != 0.0
        }
        Value::Text(text) => !text.is_empty() && &**text != "false",
        other => return Err(unsupported(format!("comparing a boolean with {}", other.type_name()))),
    })
}

fn equal(left: &Value, right: &Value) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Ok(left == right),
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Boolean(_), _) | (_, Value::Boolean(_)) => Ok(truth(left)? == truth(right)?),
        _ => Ok(compare(left, right)? == Ordering::Equal),
    }
}

/// The order of two values; `None` if one of them is null, which is neither less nor greater.
fn ordered(left: &Value, right: &Value) -> Result<Option<Ordering>, Fault> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Ok(None),
        (Value::Boolean(a), Value::Boolean(b)) => Ok(Some(a.cmp(b))),
        _ => compare(left, right).map(Some),
    }
}

fn compare(left: &Value, right: &Value) -> Result<Ordering, Fault> {
    if let (Value::Integer(left), Value::Integer(right)) = (left, right) {
        return Ok(left.cmp(right));
    }
    let either = |test: fn(&Value) -> bool| test(left) || test(right);
    if either(|value| matches!(value, Value::BigInteger(_))) {
        if either(|value| matches!(value, Value::Float(_) | Value::Double(_))) {
            return Err(unsupported("comparing a BigInteger with a double"));
        }
        return Ok(to_big(left, Dialect::Jexl3)?.cmp(&to_big(right, Dialect::Jexl3)?));
    }
    if either(|value| matches!(value, Value::Float(_) | Value::Double(_))) {
        let (a, b) = (to_double(left)?, to_double(right)?);
        // NaN is equal to itself and less than any other number.
        return Ok(match (a.is_nan(), b.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        });
    }
    if either(|value| matches!(value, Value::Integer(_) | Value::Long(_) | Value::Character(_))) {
        return Ok(to_long(left)?.cmp(&to_long(right)?));
    }
    if either(|value| matches!(value, Value::Text(_))) {
        let (a, b) = (joined(left)?, joined(right)?);
        return Ok(a.encode_utf16().cmp(b.encode_utf16()));
    }
    Err(unsupported(format!("comparing {} with {}", left.type_name(), right.type_name())))
}

fn matches(left: &Value, right: &Value) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (_, Value::Text(pattern)) => Ok(patterns::whole(pattern, &joined(left)?)?.is_some()),
        (_, other) => Err(unsupported(format!("matching {}", other.type_name()))),
    }
}

fn affix(left: &Value, right: &Value, test: fn(&str, &str) -> bool) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Text(text), _) => Ok(test(text, &joined(right)?)),
        (other, _) => Err(evaluation_fault(format!("{} is not a string", other.type_name()))),
    }
}

fn range(machine: &mut Machine<'_>, from: i64, to: i64) -> Outcome {
    let len = from.abs_diff(to);
    if len >= RANGE_LEN_MAX {
        return Err(limit(format!("a range of more than {RANGE_LEN_MAX} numbers")));
    }
    machine.spend(usize::try_from(len / 4).unwrap_or(usize::MAX))?;
    let item =
        |value: i64| i32::try_from(value).map_or(V::long(value), |value| V::Plain(Value::Integer(value)));
    let items: Vec<V> =
        if from <= to { (from..=to).map(item).collect() } else { (to..=from).rev().map(item).collect() };
    Ok(V::array(items, Base::Any))
}

fn refused(value: &V) -> Fault {
    evaluation_fault(format!("the operator does not apply to {}", value.kind()))
}

pub fn minus(value: &V) -> Outcome {
    let V::Plain(plain) = value else { return Err(refused(value)) };
    Ok(V::Plain(match plain {
        Value::Integer(value) => Value::Integer(value.wrapping_neg()),
        Value::Long(value) => Value::Long(value.wrapping_neg()),
        Value::BigInteger(number) => Value::BigInteger(number.checked_neg().ok_or_else(|| refused(value))?),
        Value::Double(value) => Value::Double(-value),
        Value::Boolean(value) => Value::Boolean(!value),
        _ => return Err(refused(value)),
    }))
}

pub fn plus(value: &V) -> Outcome {
    match value {
        V::Plain(
            Value::Integer(_) | Value::Long(_) | Value::BigInteger(_) | Value::Double(_) | Value::Boolean(_),
        ) => Ok(value.clone()),
        V::Plain(Value::Character(unit)) => Ok(V::int(i64::from(*unit))),
        _ => Err(refused(value)),
    }
}

pub fn complement(value: &V) -> Outcome {
    let V::Plain(plain) = value else { return Err(refused(value)) };
    Ok(V::long(!bits(plain)?))
}

/// Evaluates `empty value`.
pub fn is_empty(machine: &Machine<'_>, value: &V) -> Result<bool, Fault> {
    let is_version_3 = machine.tree.dialect == Dialect::Jexl3;
    Ok(match value {
        V::Plain(Value::Null) => true,
        V::Plain(Value::Text(text)) => text.is_empty(),
        V::Plain(number @ (Value::Integer(_) | Value::Long(_) | Value::BigInteger(_) | Value::Double(_)))
            if is_version_3 =>
        {
            let number = to_double(number)?;
            number.is_nan() || number == 0.0
        }
        V::List(_) | V::Array(_) | V::Map(_) => value.items().is_some_and(|items| items.is_empty()),
        _ => false,
    })
}

/// Evaluates `size value`.
pub fn size(machine: &Machine<'_>, value: &V) -> Result<i64, Fault> {
    Ok(match value {
        V::Plain(Value::Text(text)) => text.encode_utf16().count() as i64,
        V::List(_) | V::Array(_) | V::Map(_) => value.items().map_or(0, |items| items.len()) as i64,
        _ if machine.tree.dialect == Dialect::Jexl3 => 0,
        other => return Err(evaluation_fault(format!("{} has no size", other.kind()))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use busyhour_java::double_to_string;
    use proptest::prelude::*;

    proptest! {
        /// Sums and products of ints are exact: they become longs instead of wrapping around.
        #[test]
        fn integers_never_wrap_around(a: i32, b: i32) {
            for (operator, expected) in [
                (Binary::Add, i64::from(a) + i64::from(b)),
                (Binary::Subtract, i64::from(a) - i64::from(b)),
                (Binary::Multiply, i64::from(a) * i64::from(b)),
            ] {
                for dialect in [Dialect::Jexl2, Dialect::Jexl3] {
                    let value = binary_plain(operator, &Value::Integer(a), &Value::Integer(b), dialect).unwrap();
                    prop_assert_eq!(value.to_java_string(), expected.to_string());
                }
            }
        }

        /// A string that contains a double is converted to the same double.
        #[test]
        fn strings_of_doubles_are_converted_exactly(value in -1e9_f64..1e9) {
            let text = Value::Text(double_to_string(value).into());
            let difference = binary_plain(Binary::Subtract, &text, &Value::Integer(0), Dialect::Jexl3).unwrap();
            prop_assert_eq!(difference, Value::Double(value));
        }
    }
}
