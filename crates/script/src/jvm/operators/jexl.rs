//! What JEXL's operators do to values of each type.
//!
//! Both versions run strictly: a null operand is an error, save in comparisons. They differ in which types win: for
//! version 3 a text makes `+` a concatenation, while version 2 first tries to read it as a number.

use std::cmp::Ordering;
use std::sync::Arc;

use busyhour_java::{parse_double, parse_long, parse_wide};

use crate::Value;
use crate::evaluate::{Fault, Outcome, matches_whole};
use crate::syntax::Dialect;
use crate::syntax::ast::{Binary, Unary};

/// How many numbers a range may hold.
const RANGE_LEN_MAX: u64 = 100_000;

/// Why an operand became no number.
enum Coercion {
    /// A text that is no number: JEXL 2's `+` then joins texts instead.
    NotANumber(String),
    Other(Fault),
}

impl From<Coercion> for Fault {
    fn from(coercion: Coercion) -> Fault {
        match coercion {
            Coercion::NotANumber(text) => Fault::new(format!("`{text}` is no number")),
            Coercion::Other(fault) => fault,
        }
    }
}

fn no_number(value: &Value) -> Coercion {
    Coercion::Other(Fault::new(match value {
        Value::Null => "an operand is null".to_owned(),
        other => format!("{} is no number", other.type_name()),
    }))
}

pub(crate) fn binary(operator: Binary, left: &Value, right: &Value, dialect: Dialect) -> Outcome {
    let boolean = |value: bool| Ok(Value::Boolean(value));
    match operator {
        Binary::Add => add(left, right, dialect),
        Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
            Ok(calculate(operator, left, right, dialect)?)
        }
        Binary::Equal => boolean(equal(left, right, dialect)?),
        Binary::NotEqual => boolean(!equal(left, right, dialect)?),
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
        Binary::Range => range(to_long(left)?, to_long(right)?),
    }
}

fn both_null(left: &Value, right: &Value) -> bool {
    matches!((left, right), (Value::Null, Value::Null))
}

/// The text that a value adds to another.
fn joined(value: &Value) -> Result<String, Fault> {
    match value {
        Value::Null => Err("an operand is null".into()),
        Value::Double(value) if value.is_nan() => Ok(String::new()),
        Value::Array(_) | Value::List(_) => {
            Err(Fault::new(format!("the text of {} is not supported", value.type_name())))
        }
        other => Ok(other.to_java_string()),
    }
}

fn add(left: &Value, right: &Value, dialect: Dialect) -> Outcome {
    let text = matches!(left, Value::Text(_)) || matches!(right, Value::Text(_));
    if !(text && dialect == Dialect::Jexl3) {
        match calculate(Binary::Add, left, right, dialect) {
            Err(Coercion::NotANumber(_)) => {}
            other => return Ok(other?),
        }
    }
    Ok(Value::Text((joined(left)? + &joined(right)?).into()))
}

/// The value of a whole number in Java's own types.
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

/// Digits, with at least one of a point and an exponent: `1.`, `.5`, `1e5`, and also `.` alone.
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

fn to_double(value: &Value) -> Result<f64, Coercion> {
    match value {
        Value::Integer(value) => Ok(f64::from(*value)),
        Value::Long(value) => Ok(*value as f64),
        Value::BigInteger(value) => Ok(*value as f64),
        Value::Double(value) => Ok(*value),
        Value::Boolean(value) => Ok(f64::from(u8::from(*value))),
        Value::Character(unit) => Ok(f64::from(*unit)),
        Value::Text(text) if text.trim_matches(|c: char| c <= ' ').is_empty() => {
            // Version 3 does so for the empty text only; one of spaces is no number for it.
            if text.is_empty() { Ok(f64::NAN) } else { Err(Coercion::NotANumber(text.to_string())) }
        }
        Value::Text(text) => parse_double(text).ok_or_else(|| Coercion::NotANumber(text.to_string())),
        other => Err(no_number(other)),
    }
}

fn to_long(value: &Value) -> Result<i64, Coercion> {
    match value {
        Value::Integer(_) | Value::Long(_) => Ok(whole(value).unwrap_or(0)),
        Value::Boolean(value) => Ok(i64::from(*value)),
        Value::Character(unit) => Ok(i64::from(*unit)),
        Value::Text(text) if text.is_empty() => Ok(0),
        Value::Text(text) => parse_long(text).ok_or_else(|| Coercion::NotANumber(text.to_string())),
        other => Err(no_number(other)),
    }
}

fn to_big(value: &Value, dialect: Dialect) -> Result<i128, Coercion> {
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
        Value::Text(text) => parse_wide(text).ok_or_else(|| Coercion::NotANumber(text.to_string())),
        other => Err(no_number(other)),
    }
}

fn bits(value: &Value) -> Result<i64, Fault> {
    match value {
        Value::Integer(_) | Value::Long(_) | Value::Text(_) | Value::Boolean(_) => Ok(to_long(value)?),
        other => Err(Fault::new(format!("a bitwise operation on {} is not supported", other.type_name()))),
    }
}

fn calculate(operator: Binary, left: &Value, right: &Value, dialect: Dialect) -> Result<Value, Coercion> {
    if both_null(left, right) {
        return Err(no_number(left));
    }
    let by_zero = || Coercion::Other("division by zero".into());
    let too_large = || Coercion::Other("a number beyond 127 bits is not supported".into());
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
    // Version 3 calculates with longs where it can; the difference shows only in the sign of a remainder.
    let longs = dialect == Dialect::Jexl3 && whole(left).is_some() && whole(right).is_some();
    let result = match operator {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        _ if b == 0 => return Err(by_zero()),
        // The one quotient of longs that is not a long wraps around in Java.
        Binary::Divide if longs => Some(i128::from((a as i64).wrapping_div(b as i64))),
        Binary::Divide => a.checked_div(b),
        Binary::Remainder if longs => a.checked_rem(b),
        _ if b < 0 => return Err(Coercion::Other("a modulus must be positive".into())),
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
        other => {
            return Err(Fault::new(format!(
                "comparing a boolean with {} is not supported",
                other.type_name()
            )));
        }
    })
}

fn equal(left: &Value, right: &Value, dialect: Dialect) -> Result<bool, Fault> {
    let _ = dialect;
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Boolean(_), _) | (_, Value::Boolean(_)) => Ok(truth(left)? == truth(right)?),
        _ => Ok(compare(left, right)? == Ordering::Equal),
    }
}

/// The order; `None` where one of both is null, which is neither less nor greater.
fn ordered(left: &Value, right: &Value) -> Result<Option<Ordering>, Fault> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Ok(None),
        (Value::Boolean(a), Value::Boolean(b)) => Ok(Some(a.cmp(b))),
        _ => compare(left, right).map(Some),
    }
}

fn compare(left: &Value, right: &Value) -> Result<Ordering, Fault> {
    let either = |test: fn(&Value) -> bool| test(left) || test(right);
    if either(|value| matches!(value, Value::BigInteger(_))) {
        if either(|value| matches!(value, Value::Float(_) | Value::Double(_))) {
            return Err("comparing a BigInteger with a double is not supported".into());
        }
        return Ok(to_big(left, Dialect::Jexl3)?.cmp(&to_big(right, Dialect::Jexl3)?));
    }
    if either(|value| matches!(value, Value::Float(_) | Value::Double(_))) {
        let (a, b) = (to_double(left)?, to_double(right)?);
        // NaN equals itself and is less than all else.
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
    Err(Fault::new(format!("comparing {} with {} is not supported", left.type_name(), right.type_name())))
}

fn matches(left: &Value, right: &Value) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (_, Value::Text(pattern)) => matches_whole(&joined(left)?, pattern),
        (Value::Text(_) | Value::Integer(_), Value::Array(items))
            if items.iter().all(|item| matches!(item, Value::Text(_) | Value::Integer(_))) =>
        {
            Ok(items.contains(left))
        }
        (_, other) => Err(Fault::new(format!("matching {} is not supported", other.type_name()))),
    }
}

fn affix(left: &Value, right: &Value, test: fn(&str, &str) -> bool) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Text(text), _) => Ok(test(text, &joined(right)?)),
        (other, _) => Err(Fault::new(format!("{} is no text", other.type_name()))),
    }
}

fn range(from: i64, to: i64) -> Outcome {
    if from.abs_diff(to) >= RANGE_LEN_MAX {
        return Err(Fault::Limit(format!("a range of {RANGE_LEN_MAX} numbers")));
    }
    let item = |value: i64| i32::try_from(value).map_or(Value::Long(value), Value::Integer);
    let items: Arc<[Value]> =
        if from <= to { (from..=to).map(item).collect() } else { (to..=from).rev().map(item).collect() };
    Ok(Value::Array(items))
}

pub(crate) fn unary(operator: Unary, value: &Value) -> Outcome {
    let refused = || Fault::new(format!("the operator does not apply to {}", value.type_name()));
    Ok(match (operator, value) {
        (Unary::Minus, Value::Integer(value)) => Value::Integer(value.wrapping_neg()),
        (Unary::Minus, Value::Long(value)) => Value::Long(value.wrapping_neg()),
        (Unary::Minus, Value::BigInteger(value)) => {
            Value::BigInteger(value.checked_neg().ok_or_else(refused)?)
        }
        (Unary::Minus, Value::Double(value)) => Value::Double(-value),
        (Unary::Minus, Value::Boolean(value)) => Value::Boolean(!value),
        (
            Unary::Plus,
            Value::Integer(_) | Value::Long(_) | Value::BigInteger(_) | Value::Double(_) | Value::Boolean(_),
        ) => value.clone(),
        (Unary::Plus, Value::Character(unit)) => Value::Integer(i32::from(*unit)),
        (Unary::BitNot, _) => Value::Long(!bits(value)?),
        _ => return Err(refused()),
    })
}

pub(crate) fn empty(value: &Value, dialect: Dialect) -> Result<bool, Fault> {
    Ok(match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::Array(items) | Value::List(items) => items.is_empty(),
        Value::Integer(_) | Value::Long(_) | Value::BigInteger(_) | Value::Double(_)
            if dialect == Dialect::Jexl3 =>
        {
            let number = to_double(value)?;
            number.is_nan() || number == 0.0
        }
        _ => false,
    })
}

pub(crate) fn size(value: &Value, dialect: Dialect) -> Result<i32, Fault> {
    Ok(match value {
        Value::Text(text) => text.encode_utf16().count() as i32,
        Value::Array(items) | Value::List(items) => items.len() as i32,
        _ if dialect == Dialect::Jexl3 => 0,
        other => return Err(Fault::new(format!("{} has no size", other.type_name()))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use busyhour_java::double_to_string;
    use proptest::prelude::*;

    proptest! {
        /// Sums and products of ints are exact: they grow into longs instead of wrapping around.
        #[test]
        fn whole_numbers_never_wrap(a: i32, b: i32) {
            for (operator, expected) in [
                (Binary::Add, i64::from(a) + i64::from(b)),
                (Binary::Subtract, i64::from(a) - i64::from(b)),
                (Binary::Multiply, i64::from(a) * i64::from(b)),
            ] {
                for dialect in [Dialect::Jexl2, Dialect::Jexl3] {
                    let value = binary(operator, &Value::Integer(a), &Value::Integer(b), dialect).unwrap();
                    prop_assert_eq!(value.to_java_string(), expected.to_string());
                }
            }
        }

        /// A text of a double counts as that double.
        #[test]
        fn texts_of_doubles_are_read_back(value in -1e9_f64..1e9) {
            let text = Value::Text(double_to_string(value).into());
            let sum = binary(Binary::Subtract, &text, &Value::Integer(0), Dialect::Jexl3).unwrap();
            prop_assert_eq!(sum, Value::Double(value));
        }
    }
}
