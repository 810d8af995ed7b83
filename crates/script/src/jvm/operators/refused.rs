//! Errors for operands that an operator does not accept.

use super::super::fault::{Fault, thrown, unsupported};
use super::super::machine::Machine;
use super::super::missing;
use super::super::objects::Object;
use super::super::print;
use super::super::tree::{Operator, Shift};
use super::super::value::V;
use crate::Value;
use crate::plain::Binary;

pub(super) fn name(operator: Operator) -> &'static str {
    match operator {
        Operator::Plain(Binary::Add) => "plus",
        Operator::Plain(Binary::Subtract) => "minus",
        Operator::Plain(Binary::Multiply) => "multiply",
        Operator::Plain(Binary::Divide) => "div",
        Operator::Plain(Binary::Remainder) => "mod",
        Operator::Plain(Binary::BitAnd) => "and",
        Operator::Plain(Binary::BitOr) => "or",
        Operator::Plain(Binary::BitXor) => "xor",
        Operator::Shift(Shift::Left) => "leftShift",
        Operator::Shift(Shift::Right) => "rightShift",
        Operator::Shift(Shift::Unsigned) => "rightShiftUnsigned",
        Operator::Power => "power",
        _ => "compareTo",
    }
}

/// Groovy's exception for operands that the operator does not accept.
pub(super) fn refused(machine: &mut Machine<'_>, operator: Operator, left: &V, right: &V) -> Fault {
    let method = name(operator);
    if left.is_null() {
        return null_operand(machine, method, right);
    }
    if !machine.groovy() {
        return unsupported(format!("`{method}` of {} and {}", left.kind(), right.kind()));
    }
    let class = missing::class_name(left);
    let is_number = matches!(
        left,
        V::Plain(
            Value::Integer(_)
                | Value::Long(_)
                | Value::Double(_)
                | Value::Float(_)
                | Value::Decimal(_)
                | Value::BigInteger(_)
        )
    );
    let number = |machine: &mut Machine<'_>| {
        let value = print::java(machine, left).unwrap_or_default();
        let message = format!("Cannot use {method}() on this number type: {class} with value: {value}");
        thrown("UnsupportedOperationException", message)
    };
    match (operator, left, right) {
        (Operator::Plain(Binary::BitAnd | Binary::BitOr | Binary::BitXor), ..) if is_number => {
            number(machine)
        }
        (_, V::Plain(_), V::Plain(Value::Null)) if is_number => match method {
            "plus" | "minus" | "multiply" | "div" => ambiguous(&class, method),
            "mod" if matches!(left, V::Plain(Value::Double(_) | Value::Float(_))) => thrown(
                "NullPointerException",
                "Cannot invoke \"java.lang.Number.doubleValue()\" because \"right\" is null",
            ),
            "power" => thrown(
                "NullPointerException",
                "Cannot invoke \"java.lang.Number.doubleValue()\" because \"exponent\" is null",
            ),
            "leftShift" | "rightShift" | "rightShiftUnsigned"
                if matches!(left, V::Plain(Value::Integer(_) | Value::Long(_) | Value::BigInteger(_))) =>
            {
                let getter = if matches!(left, V::Plain(Value::Long(_))) { "longValue" } else { "intValue" };
                thrown(
                    "NullPointerException",
                    format!("Cannot invoke \"java.lang.Number.{getter}()\" because \"right\" is null"),
                )
            }
            _ => number(machine),
        },
        (_, V::Plain(Value::Character(_)), V::Plain(Value::Null))
            if matches!(method, "plus" | "minus" | "multiply" | "div") =>
        {
            ambiguous(&class, method)
        }
        (Operator::Plain(Binary::Multiply), V::Plain(Value::Text(_)) | V::List(_), V::Plain(Value::Null)) => {
            thrown(
                "NullPointerException",
                "Cannot invoke \"java.lang.Number.intValue()\" because \"factor\" is null",
            )
        }
        (Operator::Plain(Binary::Add) | Operator::Shift(Shift::Left), V::Map(_), V::Plain(Value::Null)) => {
            ambiguous(&class, method)
        }
        (Operator::Plain(Binary::Subtract), V::Object(object), V::Plain(Value::Null))
            if matches!(&**object, Object::Date(_)) =>
        {
            thrown("NullPointerException", "date must not be null")
        }
        (_, V::Object(_), V::Plain(Value::Null)) => {
            missing::exception(machine, left, method, std::slice::from_ref(right))
        }
        (_, V::Object(object), _)
            if object.library().is_some_and(|instance| instance.duration().is_some()) =>
        {
            missing::exception(machine, left, method, std::slice::from_ref(right))
        }
        (_, V::Plain(_) | V::List(_) | V::Map(_) | V::Closure(_), _) => {
            missing::exception(machine, left, method, std::slice::from_ref(right))
        }
        _ => unsupported(format!("`{method}` of {} and {}", left.kind(), right.kind())),
    }
}

fn null_operand(machine: &mut Machine<'_>, method: &str, right: &V) -> Fault {
    let message = if method == "plus" && machine.groovy() {
        let right = print::java(machine, right).unwrap_or_default();
        format!("Cannot execute null+{right}")
    } else {
        format!("Cannot invoke method {method}() on null object")
    };
    thrown("NullPointerException", message)
}

/// Groovy's exception for null as an argument of an overloaded method.
fn ambiguous(class: &str, method: &str) -> Fault {
    if class.ends_with("Map") {
        let other = if method == "plus" {
            "\t[interface java.util.Collection]\n\t[interface java.util.Map]"
        } else {
            "\t[interface java.util.Map]\n\t[interface java.util.Map$Entry]"
        };
        let message = format!(
            "Ambiguous method overloading for method {class}#{method}.\nCannot resolve which method to invoke for \
             [null] due to overlapping prototypes between:\n{other}"
        );
        return thrown("GroovyRuntimeException", message);
    }
    let text =
        if method == "plus" && !class.ends_with("Character") { "\t[class java.lang.String]\n" } else { "" };
    let message = format!(
        "Ambiguous method overloading for method {class}#{method}.\nCannot resolve which method to invoke for \
         [null] due to overlapping prototypes between:\n\t[class java.lang.Character]\n{text}\t[class \
         java.lang.Number]"
    );
    thrown("GroovyRuntimeException", message)
}

/// Whether Groovy defines the operator for plain values of these types.
pub(super) fn is_defined(binary: Binary, left: &Value, right: &Value) -> bool {
    let is_number = |value: &Value| {
        matches!(
            value,
            Value::Integer(_)
                | Value::Long(_)
                | Value::Double(_)
                | Value::Float(_)
                | Value::Decimal(_)
                | Value::BigInteger(_)
        )
    };
    let bits = matches!(binary, Binary::BitAnd | Binary::BitOr | Binary::BitXor);
    match (left, right) {
        (Value::Text(_), Value::Text(_) | Value::Null) if binary == Binary::Multiply => false,
        (Value::Text(_), Value::Boolean(_)) if binary == Binary::Multiply => false,
        (Value::Text(_), _) => matches!(binary, Binary::Add | Binary::Subtract | Binary::Multiply),
        (Value::Boolean(_), Value::Boolean(_)) => bits,
        (Value::Boolean(_), _) => false,
        (Value::Character(_), Value::Text(_)) => false,
        (left, Value::Text(_)) if is_number(left) => binary == Binary::Add,
        (left, Value::Boolean(_)) if is_number(left) => false,
        (_, Value::Null) => false,
        (left, right) if bits && is_number(left) && is_number(right) => {
            let whole =
                |value: &Value| matches!(value, Value::Integer(_) | Value::Long(_) | Value::BigInteger(_));
            whole(left) && whole(right)
        }
        _ => true,
    }
}
