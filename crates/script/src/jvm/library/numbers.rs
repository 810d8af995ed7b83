//! Methods of numbers, characters and booleans.

use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::tree::{Base, Operator, Type};
use super::super::value::V;
use super::super::{operators, types};
use super::{print, unknown};
use crate::Value;
use crate::decimal::Decimal;
use crate::plain::Binary;

fn cast(machine: &mut Machine<'_>, object: &V, base: Base) -> Outcome {
    types::cast(machine, object.clone(), Type { base, boxed: false, arrays: 0 })
}

pub fn call(machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
    let V::Plain(plain) = object else { return Err(unknown(object, method)) };
    let is_number = crate::plain::to_double(plain).is_some();
    match (method, arguments) {
        ("intValue" | "toInteger", []) if is_number => cast(machine, object, Base::Int),
        ("longValue" | "toLong", []) if is_number => cast(machine, object, Base::Long),
        ("doubleValue" | "toDouble", []) if is_number => cast(machine, object, Base::Double),
        ("floatValue" | "toFloat", []) if is_number => cast(machine, object, Base::Float),
        ("toBigDecimal", []) if is_number => match plain {
            Value::Double(value) => types::decimal_of_double(*value),
            _ => crate::plain::to_decimal(plain).map(|value| V::Plain(Value::Decimal(value))),
        }
        .ok_or_else(|| unknown(object, method)),
        ("compareTo", [other]) => Ok(V::int(operators::compare(object, other)? as i64)),
        ("abs", []) => Ok(match plain {
            Value::Integer(value) => V::Plain(Value::Integer(value.wrapping_abs())),
            Value::Long(value) => V::long(value.wrapping_abs()),
            Value::Double(value) => V::double(value.abs()),
            Value::BigInteger(value) => V::Plain(Value::BigInteger(value.abs())),
            Value::Decimal(value) => V::Plain(Value::Decimal(value.absolute())),
            _ => return Err(unknown(object, method)),
        }),
        ("intdiv", [other]) => match (object.as_long(), other.as_long()) {
            (Some(_), Some(0)) => Err(thrown("ArithmeticException", "Division by zero")),
            (Some(a), Some(b)) => Ok(match (plain, other) {
                (Value::Integer(_), V::Plain(Value::Integer(_))) => V::int(a.wrapping_div(b)),
                _ => V::long(a.wrapping_div(b)),
            }),
            _ => Err(unknown(object, method)),
        },
        ("plus" | "add", [other]) => operators::binary(machine, Operator::Plain(Binary::Add), object, other),
        ("minus" | "subtract", [other]) => {
            operators::binary(machine, Operator::Plain(Binary::Subtract), object, other)
        }
        ("multiply", [other]) => operators::binary(machine, Operator::Plain(Binary::Multiply), object, other),
        ("div", [other]) => operators::binary(machine, Operator::Plain(Binary::Divide), object, other),
        ("remainder", [other]) if matches!(plain, Value::Decimal(_)) => {
            let quotient = operators::binary(machine, Operator::Plain(Binary::Divide), object, other)?;
            let whole = machine.invoke(&quotient, "trunc", Vec::new())?;
            let taken = operators::binary(machine, Operator::Plain(Binary::Multiply), &whole, other)?;
            operators::binary(machine, Operator::Plain(Binary::Subtract), object, &taken)
        }
        ("mod" | "remainder", [other]) => {
            operators::binary(machine, Operator::Plain(Binary::Remainder), object, other)
        }
        ("power", [other]) => operators::binary(machine, Operator::Power, object, other),
        ("negate", []) => operators::minus(machine, object),
        ("next" | "previous", []) => {
            let step = V::int(if method == "next" { 1 } else { -1 });
            operators::binary(machine, Operator::Plain(Binary::Add), object, &step)
        }
        _ => call_other(machine, object, method, arguments),
    }
}

/// Calls methods that repeat closures, round or convert, and all remaining methods.
#[allow(clippy::too_many_lines, reason = "one arm for each method")]
fn call_other(machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
    let V::Plain(plain) = object else { return Err(unknown(object, method)) };
    match (method, arguments) {
        ("times", [closure]) => {
            for at in 0..object.as_long().unwrap_or(0) {
                machine.spend(1)?;
                machine.call_value(closure, vec![V::int(at)])?;
            }
            Ok(V::NULL)
        }
        ("upto" | "downto", [to, closure]) => {
            let (Some(from), Some(to)) = (object.as_long(), to.as_long()) else {
                return Err(unknown(object, method));
            };
            let mut at = from;
            while if method == "upto" { at <= to } else { at >= to } {
                machine.spend(1)?;
                machine.call_value(closure, vec![V::int(at)])?;
                let Some(next) = at.checked_add(if method == "upto" { 1 } else { -1 }) else { break };
                at = next;
            }
            Ok(V::NULL)
        }
        ("step", [to, by, closure]) => {
            let (Some(from), Some(to), Some(by)) = (object.as_long(), to.as_long(), by.as_long()) else {
                return Err(unknown(object, method));
            };
            let mut at = from;
            while by != 0 && if by > 0 { at < to } else { at > to } {
                machine.spend(1)?;
                machine.call_value(closure, vec![V::int(at)])?;
                let Some(next) = at.checked_add(by) else { break };
                at = next;
            }
            Ok(V::NULL)
        }
        ("round", rest) => round(object, plain, rest),
        ("setScale", [places, mode @ ..]) => match plain {
            Value::Decimal(value) => {
                let mode = match mode.first() {
                    Some(V::Plain(Value::Text(mode))) => mode.to_string(),
                    Some(V::Plain(Value::Integer(4))) => "HALF_UP".into(),
                    Some(V::Plain(Value::Integer(1))) => "DOWN".into(),
                    Some(V::Plain(Value::Integer(0))) => "UP".into(),
                    None => "UNNECESSARY".into(),
                    _ => return Err(unknown(object, method)),
                };
                let places = i32::try_from(places.as_long().unwrap_or(0)).unwrap_or(0);
                value
                    .set_scale(places, &mode)
                    .map(|value| V::Plain(Value::Decimal(value)))
                    .ok_or_else(|| thrown("ArithmeticException", "Rounding necessary"))
            }
            _ => Err(unknown(object, method)),
        },
        ("trunc", []) => match plain {
            Value::Integer(_) | Value::Long(_) => Ok(object.clone()),
            Value::Double(value) => Ok(V::double(value.trunc())),
            Value::Decimal(value) => value
                .set_scale(0, "DOWN")
                .map(|value| V::Plain(Value::Decimal(value)))
                .ok_or_else(|| unknown(object, method)),
            _ => Err(unknown(object, method)),
        },
        ("toString", [radix]) => {
            let radix = radix.as_long().and_then(|radix| u32::try_from(radix).ok()).unwrap_or(10);
            let number = match plain {
                Value::BigInteger(value) => *value,
                _ => i128::from(object.as_long().ok_or_else(|| unknown(object, method))?),
            };
            Ok(V::text(digits(number, radix)))
        }
        ("divide", [other]) => operators::binary(machine, Operator::Plain(Binary::Divide), object, other),
        ("divide", [other, places, mode]) => {
            let quotient = operators::binary(machine, Operator::Plain(Binary::Divide), object, other)?;
            machine.invoke(&quotient, "setScale", vec![places.clone(), mode.clone()])
        }
        ("max" | "min", [other]) if matches!(plain, Value::Decimal(_) | Value::BigInteger(_)) => {
            let order = operators::compare(object, other)?;
            let takes_other = if method == "max" { order.is_lt() } else { order.is_gt() };
            Ok(if takes_other { other.clone() } else { object.clone() })
        }
        ("signum", []) => Ok(V::int(operators::compare(object, &V::int(0))? as i64)),
        ("pow", [other]) => operators::binary(machine, Operator::Power, object, other),
        ("scale", []) => match plain {
            Value::Decimal(value) => Ok(V::int(i64::from(value.scale()))),
            _ => Err(unknown(object, method)),
        },
        ("stripTrailingZeros", []) => match plain {
            Value::Decimal(value) => Ok(V::Plain(Value::Decimal(value.without_trailing_zeros()))),
            _ => Err(unknown(object, method)),
        },
        ("each", [closure @ V::Closure(_)]) if machine.groovy() => {
            machine.call_value(closure, vec![object.clone()])?;
            Ok(object.clone())
        }
        ("trunc", [places]) => {
            let places = places.as_long().unwrap_or(0);
            let factor = 10_f64.powi(i32::try_from(places).unwrap_or(0));
            match plain {
                Value::Double(value) => Ok(V::double((value * factor).trunc() / factor)),
                _ => Err(unknown(object, method)),
            }
        }
        ("isNaN", []) => Ok(V::truth(matches!(plain, Value::Double(value) if value.is_nan()))),
        ("toPlainString", []) => Ok(V::text(print::plain(plain))),
        ("charValue", []) if matches!(plain, Value::Character(_)) => Ok(object.clone()),
        ("booleanValue", []) if matches!(plain, Value::Boolean(_)) => Ok(object.clone()),
        ("isDigit" | "isLetter" | "isWhitespace" | "isUpperCase" | "isLowerCase" | "isLetterOrDigit", []) => {
            match plain {
                Value::Character(unit) => {
                    let c = char::from_u32(u32::from(*unit)).unwrap_or('\u{fffd}');
                    Ok(V::truth(is_of_character_class(c, method)))
                }
                _ => Err(unknown(object, method)),
            }
        }
        ("toUpperCase" | "toLowerCase", []) => match plain {
            Value::Character(unit) => {
                let text = String::from_utf16_lossy(&[*unit]);
                let made = if method == "toUpperCase" { text.to_uppercase() } else { text.to_lowercase() };
                Ok(V::Plain(Value::Character(made.encode_utf16().next().unwrap_or(*unit))))
            }
            _ => Err(unknown(object, method)),
        },
        ("and" | "or" | "xor", [other]) => {
            let binary = match method {
                "and" => Binary::BitAnd,
                "or" => Binary::BitOr,
                _ => Binary::BitXor,
            };
            operators::binary(machine, Operator::Plain(binary), object, other)
        }
        _ => Err(unknown(object, method)),
    }
}

pub fn is_of_character_class(c: char, what: &str) -> bool {
    match what {
        "isDigit" => c.is_numeric(),
        "isLetter" => c.is_alphabetic(),
        "isLetterOrDigit" => c.is_alphanumeric(),
        "isWhitespace" => c.is_whitespace() && c != '\u{a0}',
        "isUpperCase" => c.is_uppercase(),
        _ => c.is_lowercase(),
    }
}

/// The digits of a number in a radix.
fn digits(number: i128, radix: u32) -> String {
    let radix = if (2..=36).contains(&radix) { radix } else { 10 };
    let (mut rest, mut digits) = (number.unsigned_abs(), Vec::new());
    while rest > 0 || digits.is_empty() {
        digits.push(char::from_digit((rest % u128::from(radix)) as u32, radix).unwrap_or('0'));
        rest /= u128::from(radix);
    }
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", digits.iter().rev().collect::<String>())
}

fn round(object: &V, plain: &Value, rest: &[V]) -> Outcome {
    let places = rest.first().and_then(V::as_long);
    match (plain, places) {
        (Value::Double(value), None) => Ok(V::long((value + 0.5).floor() as i64)),
        (Value::Double(value), Some(places)) => {
            let factor = 10_f64.powi(i32::try_from(places).unwrap_or(0));
            Ok(V::double((value * factor + 0.5).floor() / factor))
        }
        (Value::Float(value), None) => Ok(V::int((f64::from(*value) + 0.5).floor() as i64)),
        (Value::Decimal(value), places) => {
            let places = i32::try_from(places.unwrap_or(0)).unwrap_or(0);
            let rounded: Option<Decimal> = value.set_scale(places, "HALF_UP");
            rounded.map(|value| V::Plain(Value::Decimal(value))).ok_or_else(|| unsupported("this rounding"))
        }
        _ => Err(unknown(object, "round")),
    }
}
