//! Conversions between types.

use super::classes::Class;
use super::fault::{Fault, Outcome, thrown, unsupported};
use super::functional;
use super::machine::Machine;
use super::objects::Object;
use super::tree::{Base, Type};
use super::truth::truth;
use super::value::{Host, Order, V};
use super::{json_value, print, text_units};
use crate::Value;
use crate::decimal::Decimal;
use crate::language::JavaLike;
use crate::plain::{self, convert};

/// The initial value of a declaration without a value.
pub(super) fn default_of(declared: Type) -> V {
    if declared.boxed || declared.arrays > 0 {
        return V::NULL;
    }
    match declared.base {
        Base::Int | Base::Short | Base::Byte => V::int(0),
        Base::Long => V::long(0),
        Base::Double => V::double(0.0),
        Base::Float => V::Plain(Value::Float(0.0)),
        Base::Boolean => V::truth(false),
        Base::Char => V::Plain(Value::Character(0)),
        Base::Any | Base::Text | Base::Void | Base::Class(_) => V::NULL,
    }
}

fn plain_type(base: Base) -> Option<plain::Type> {
    Some(match base {
        Base::Int | Base::Short | Base::Byte => plain::Type::Int,
        Base::Long => plain::Type::Long,
        Base::Double => plain::Type::Double,
        Base::Boolean => plain::Type::Boolean,
        Base::Text => plain::Type::Text,
        _ => return None,
    })
}

fn mismatch(value: &V, target: Type) -> Fault {
    let name = match target.base {
        Base::Class(class) => class.name().to_owned(),
        base => format!("{base:?}").to_lowercase(),
    };
    thrown("GroovyCastException", format!("Cannot cast {} to {name}", value.kind()))
}

/// Converts a value that is assigned to a variable of this type.
pub(super) fn assigned(machine: &mut Machine<'_>, value: V, target: Type) -> Outcome {
    if target == Type::ANY { Ok(value) } else { convert_to(machine, value, target, false) }
}

/// Converts the initial value of a declared variable.
pub(super) fn declared(machine: &mut Machine<'_>, value: V, target: Type) -> Outcome {
    if target == Type::ANY { Ok(value) } else { convert_to(machine, value, target, true) }
}

fn convert_to(machine: &mut Machine<'_>, value: V, target: Type, declares: bool) -> Outcome {
    if target == Type::ANY || target.base == Base::Void {
        return Ok(value);
    }
    if target.arrays > 0 {
        return match &value {
            V::Plain(Value::Null) | V::Array(_) => Ok(value),
            V::List(list) if machine.groovy() => {
                let inner = Type { arrays: target.arrays - 1, ..target };
                let items = list.ordered();
                let items: Result<Vec<V>, Fault> =
                    items.into_iter().map(|item| convert_to(machine, item, inner, false)).collect();
                Ok(V::array(items?, target.base))
            }
            _ => Err(mismatch(&value, target)),
        };
    }
    if value.is_null() {
        return if target.boxed {
            Ok(value)
        } else if target.base == Base::Boolean && machine.groovy() {
            Ok(V::truth(false))
        } else {
            Err(mismatch(&value, target))
        };
    }
    if let Some(plain) = plain_type(target.base) {
        let language = machine.language();
        let value = match (&value, target.base) {
            (V::Plain(_), _) => value,
            (_, Base::Text) if json_value::is_json_array(&value) => {
                return Ok(V::text(json_value::to_text(machine, &value)?));
            }
            // The conversion uses Java's `toString`, unlike `as String`.
            (_, Base::Text) if machine.groovy() => return Ok(V::text(print::java(machine, &value)?)),
            (_, Base::Boolean) if machine.groovy() => {
                return Ok(V::truth(truth(machine, &value)?));
            }
            (V::Object(_), Base::Int | Base::Long) if value.as_long().is_some() && machine.groovy() => {
                V::long(value.as_long().unwrap_or(0))
            }
            _ => return Err(mismatch(&value, target)),
        };
        let V::Plain(value) = value else { return Err(mismatch(&value, target)) };
        if let (Value::BigInteger(big), Base::Int | Base::Long, JavaLike::Groovy) =
            (&value, target.base, language)
        {
            return Ok(if target.base == Base::Int { V::int(*big as i64) } else { V::long(*big as i64) });
        }
        let converted = if declares {
            convert::declared(value, plain, language)?
        } else {
            convert::assigned(value, plain, language)?
        };
        return Ok(match (target.base, converted) {
            (Base::Byte, Value::Integer(value)) => V::int(i64::from(value as i8)),
            (Base::Short, Value::Integer(value)) => V::int(i64::from(value as i16)),
            (_, converted) => V::Plain(converted),
        });
    }
    match target.base {
        Base::Float => match convert_double(&value) {
            Some(number) => Ok(V::Plain(Value::Float(number as f32))),
            None => Err(mismatch(&value, target)),
        },
        Base::Char => match &value {
            V::Plain(Value::Character(_)) => Ok(value),
            V::Plain(Value::Integer(code)) => Ok(V::Plain(Value::Character(*code as u16))),
            V::Plain(Value::Text(text)) if machine.groovy() => match crate::plain::single_unit(text) {
                Some(unit) => Ok(V::Plain(Value::Character(unit))),
                None => Err(mismatch(&value, target)),
            },
            _ => Err(mismatch(&value, target)),
        },
        Base::Class(class) => convert_to_class(machine, value, class, target),
        _ => Ok(value),
    }
}

fn convert_double(value: &V) -> Option<f64> {
    match value {
        V::Plain(value) => crate::plain::to_double(value),
        _ => None,
    }
}

/// Converts a value that is assigned to a variable of a class. Groovy converts lists to sets and numbers to decimals, for
/// example.
fn convert_to_class(machine: &mut Machine<'_>, value: V, class: Class, target: Type) -> Outcome {
    let is_function =
        matches!(value, V::Closure(_)) && (class.is_own() || functional::is_interface(class.name()));
    if is_instance(&value, target) || is_function {
        return Ok(value);
    }
    if !machine.groovy() {
        return Err(mismatch(&value, target));
    }
    if let (V::Map(_), true) = (&value, class.is_own()) {
        return machine.construct(class, vec![value]);
    }
    match (class.name(), &value) {
        ("BigDecimal", V::Plain(number)) => match number {
            Value::Double(double) => decimal_of_double(*double),
            other => crate::plain::to_decimal(other).map(|value| V::Plain(Value::Decimal(value))),
        }
        .ok_or_else(|| mismatch(&value, target)),
        ("BigInteger", V::Plain(Value::Integer(number))) => {
            Ok(V::Plain(Value::BigInteger(i128::from(*number))))
        }
        ("BigInteger", V::Plain(Value::Long(number))) => Ok(V::Plain(Value::BigInteger(i128::from(*number)))),
        ("Set" | "HashSet" | "LinkedHashSet" | "TreeSet", V::List(_) | V::Array(_)) => {
            Ok(as_set(&value, class.name()))
        }
        ("List" | "ArrayList" | "Collection" | "LinkedList", V::List(_) | V::Array(_)) => {
            Ok(V::list(value.items().unwrap_or_default()))
        }
        _ => Err(mismatch(&value, target)),
    }
}

fn as_set(value: &V, class: &str) -> V {
    let order = match class {
        "HashSet" => Order::Hash,
        "TreeSet" => Order::Sorted,
        _ => Order::Added,
    };
    V::set(value.items().unwrap_or_default(), order)
}

/// The result of Java's `BigDecimal.valueOf(double)`.
pub(super) fn decimal_of_double(value: f64) -> Option<V> {
    Decimal::parse(&busyhour_java::double_to_string(value)).map(|value| V::Plain(Value::Decimal(value)))
}

/// Evaluates a cast, such as `(int) x`.
pub(super) fn cast(machine: &mut Machine<'_>, value: V, target: Type) -> Outcome {
    if target.arrays > 0 || matches!(target.base, Base::Any | Base::Class(_)) {
        return convert_to(machine, value, target, true);
    }
    if value.is_null() && target.boxed {
        return Ok(value);
    }
    let language = machine.language();
    match (&value, target.base) {
        (V::Plain(Value::Float(_) | Value::Double(_)), Base::Char) | (_, Base::Float) => {
            convert_to(machine, value, target, true)
        }
        (V::Plain(number), Base::Char) => match number {
            Value::Integer(code) => Ok(V::Plain(Value::Character(*code as u16))),
            Value::Long(code) => Ok(V::Plain(Value::Character(*code as u16))),
            _ => convert_to(machine, value, target, true),
        },
        (V::Plain(number), base) => {
            let Some(plain) = plain_type(base) else { return convert_to(machine, value, target, true) };
            if let Value::BigInteger(_) = number {
                return convert_to(machine, value, target, true);
            }
            let cast = convert::cast(number.clone(), plain, language)?;
            Ok(match (base, cast) {
                (Base::Byte, Value::Integer(value)) => V::int(i64::from(value as i8)),
                (Base::Short, Value::Integer(value)) => V::int(i64::from(value as i16)),
                (_, cast) => V::Plain(cast),
            })
        }
        _ => convert_to(machine, value, target, true),
    }
}

/// Evaluates Groovy's `x as int`.
pub(super) fn converted(machine: &mut Machine<'_>, value: V, target: Type) -> Outcome {
    if value.is_null() {
        return Ok(value);
    }
    if target.arrays > 0 {
        if let V::List(list) = &value {
            let inner = Type { arrays: 0, ..target };
            let items = list.ordered();
            let items: Result<Vec<V>, Fault> =
                items.into_iter().map(|item| converted(machine, item, inner)).collect();
            return Ok(V::array(items?, target.base));
        }
        return convert_to(machine, value, target, true);
    }
    match (target.base, &value) {
        (Base::Any, _) => Ok(value),
        (Base::Text, V::List(_) | V::Map(_) | V::Array(_) | V::Object(_)) => {
            Ok(V::text(print::groovy(machine, &value)?))
        }
        (Base::Int | Base::Long | Base::Double | Base::Text, V::Plain(plain)) => {
            let Some(target) = plain_type(target.base) else { return Ok(value) };
            if let (plain::Type::Int | plain::Type::Long, Value::BigInteger(big)) = (target, plain) {
                return Ok(if target == plain::Type::Int {
                    V::int(*big as i64)
                } else {
                    V::long(*big as i64)
                });
            }
            Ok(V::Plain(convert::converted(plain.clone(), target)?))
        }
        (Base::Float, V::Plain(Value::Text(text))) => match busyhour_java::parse_double(text) {
            Some(number) => Ok(V::Plain(Value::Float(number as f32))),
            None => Err(thrown("NumberFormatException", format!("For input string: \"{text}\""))),
        },
        (Base::Boolean, _) => Ok(V::truth(truth(machine, &value)?)),
        (Base::Class(class), _) => match (class.name(), &value) {
            ("BigDecimal", V::Plain(Value::Text(text))) => Decimal::parse(text.trim())
                .map(|value| V::Plain(Value::Decimal(value)))
                .ok_or_else(|| thrown("NumberFormatException", format!("`{text}` is not a number"))),
            ("BigInteger", V::Plain(Value::Text(text))) => text
                .trim()
                .parse()
                .map(|value| V::Plain(Value::BigInteger(value)))
                .map_err(|_| thrown("NumberFormatException", format!("`{text}` is not a number"))),
            ("Set" | "HashSet" | "LinkedHashSet" | "TreeSet", V::List(_) | V::Array(_)) => {
                Ok(as_set(&value, class.name()))
            }
            ("List" | "ArrayList", V::List(_) | V::Array(_)) => {
                Ok(V::list(value.items().unwrap_or_default()))
            }
            ("List" | "ArrayList", V::Plain(Value::Text(text))) => {
                Ok(V::list(text_units::characters(machine, text)?))
            }
            ("Map" | "LinkedHashMap" | "HashMap", V::Map(_)) => Ok(value),
            _ => convert_to(machine, value, target, true),
        },
        _ => convert_to(machine, value, target, true),
    }
}

/// Whether `x instanceof T` is true.
pub(super) fn is_instance(value: &V, target: Type) -> bool {
    if target.arrays > 0 {
        return matches!(value, V::Array(_));
    }
    match (target.base, value) {
        (_, V::Plain(Value::Null) | V::Void) => false,
        (Base::Any, _) => true,
        (Base::Int, V::Plain(Value::Integer(_)))
        | (Base::Long, V::Plain(Value::Long(_)))
        | (Base::Double, V::Plain(Value::Double(_)))
        | (Base::Float, V::Plain(Value::Float(_)))
        | (Base::Boolean, V::Plain(Value::Boolean(_)))
        | (Base::Char, V::Plain(Value::Character(_)))
        | (Base::Text, V::Plain(Value::Text(_))) => true,
        (Base::Class(class), V::Object(object)) if matches!(&**object, Object::Own(_)) => {
            let Object::Own(frame) = &**object else { return false };
            frame.definition().is_some_and(|definition| {
                let is_subclass = |known: &Class| *known == class || !known.is_own() && known.is_a(class);
                is_subclass(&definition.class)
                    || class.name() == "Object"
                    || definition.above.iter().any(is_subclass)
            })
        }
        (Base::Class(class), V::Host(host)) => host_class(*host).is_some_and(|own| own.is_a(class)),
        (Base::Class(class), value) => class_of(value).is_some_and(|own| {
            own.is_a(class)
                || match (value, class.name()) {
                    (V::List(list), "List") => list.set.is_none(),
                    (V::List(list), "Set") => list.set.is_some(),
                    _ => false,
                }
        }),
        _ => false,
    }
}

/// The class of one of JMeter's objects; a variable that refers to the object may be declared with this class.
pub(super) fn host_class(host: Host) -> Option<Class> {
    Some(Class::known(match host {
        Host::Vars => "JMeterVariables",
        Host::Props => "Properties",
        Host::Context => "JMeterContext",
        Host::Sample | Host::Previous => "SampleResult",
        Host::Sampler => "HTTPSamplerProxy",
        Host::Assertion => "AssertionResult",
        Host::Thread => "JMeterThread",
        Host::Group => "ThreadGroup",
        Host::Log | Host::Out | Host::Err | Host::Event | Host::Engine => return None,
    }))
}

/// The class of a value.
pub(super) fn class_of(value: &V) -> Option<Class> {
    Some(Class::known(match value {
        V::Plain(value) => match value {
            Value::Boolean(_) => "Boolean",
            Value::Character(_) => "Character",
            Value::Integer(_) => "Integer",
            Value::Long(_) => "Long",
            Value::BigInteger(_) => "BigInteger",
            Value::Float(_) => "Float",
            Value::Double(_) => "Double",
            Value::Decimal(_) => "BigDecimal",
            Value::Text(_) => "String",
            _ => return None,
        },
        V::List(list) => match list.set {
            None => "ArrayList",
            Some(Order::Hash) => "HashSet",
            Some(Order::Added) => "LinkedHashSet",
            Some(Order::Sorted) => "TreeSet",
        },
        V::Map(map) => match map.order {
            Order::Hash => "HashMap",
            Order::Added => "LinkedHashMap",
            Order::Sorted => "TreeMap",
        },
        V::Closure(_) => "Closure",
        V::Host(host) => return host_class(*host),
        V::Object(object) => return Some(object.class()),
        _ => return None,
    }))
}

/// The value as a double; fails if the value is not a number.
pub(super) fn number(value: &V) -> Result<f64, Fault> {
    convert_double(value).ok_or_else(|| unsupported(format!("{} as a number", value.kind())))
}
