//! Static methods of `Objects`, `Collections`, `Arrays`, `Math`, `Integer`, `Long`, and of Commons Lang's dates.

use jiff::tz::TimeZone;

use super::super::fault::{Outcome, thrown, thrown_without_message, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::types;
use super::super::value::{Order, V, hash};
use super::{comparators, lists, print, text_of, time};
use crate::Value;

/// Calls a static method; `None` if it is not one of these.
pub fn call(machine: &mut Machine<'_>, class: &str, method: &str, arguments: &[V]) -> Option<Outcome> {
    match class {
        "Objects" => call_objects(machine, method, arguments),
        "Collections" => call_collections(machine, method, arguments),
        "Arrays" => call_arrays(method, arguments),
        "Math" => call_math(method, arguments),
        "Integer" | "Long" => call_numbers(class, method, arguments),
        "DateUtils" | "DateFormatUtils" => call_dates(machine, method, arguments),
        "Date" if method == "from" => {
            let [V::Object(instant)] = arguments else { return None };
            Some(Ok(V::object(Object::Date(instant.instant()?.into()))))
        }
        "NumberFormat" => call_number_format(method),
        _ => None,
    }
}

fn call_objects(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Option<Outcome> {
    Some(match (method, arguments) {
        ("hash", items) => {
            let items = match items {
                [V::Array(array)] => array.items.borrow().clone(),
                items => items.to_vec(),
            };
            hash(&V::list(items))
                .map(|code| V::int(i64::from(code)))
                .ok_or_else(|| unsupported("this hash code"))
        }
        ("hashCode", [value]) => hash_code(value),
        ("requireNonNull", [value, message @ ..]) if value.is_null() => match message {
            [] => Err(thrown_without_message("NullPointerException")),
            [message, ..] => match print::groovy(machine, message) {
                Ok(message) => Err(thrown("NullPointerException", message)),
                Err(fault) => Err(fault),
            },
        },
        ("requireNonNull", [value, ..]) => Ok(value.clone()),
        ("requireNonNullElse", [value, other]) => {
            Ok(if value.is_null() { other.clone() } else { value.clone() })
        }
        ("toString", [value, other]) if value.is_null() => Ok(other.clone()),
        ("toString", [value, _]) => print::java(machine, value).map(V::text),
        _ => return None,
    })
}

fn hash_code(value: &V) -> Outcome {
    hash(value).map(|code| V::int(i64::from(code))).ok_or_else(|| unsupported("this hash code"))
}

fn call_collections(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Option<Outcome> {
    Some(match (method, arguments) {
        ("reverseOrder", rest @ ([] | [_])) => Ok(comparators::reverse_order(rest.first())),
        ("emptySet", []) => Ok(V::set(Vec::new(), Order::Added)),
        ("singleton", [item]) => Ok(V::set(vec![item.clone()], Order::Added)),
        ("singletonMap", [key, value]) => Ok(V::map(vec![(key.clone(), value.clone())])),
        ("unmodifiableSet" | "unmodifiableCollection" | "synchronizedSet", [value]) => Ok(value.clone()),
        ("list", [items]) => Ok(V::list(items.items()?)),
        ("enumeration", [items]) => {
            Ok(V::object(Object::Iterator(std::cell::RefCell::new(items.items()?.into()))))
        }
        ("frequency", [items, item]) => {
            let count = items.items()?.iter().filter(|known| known.equals(item)).count();
            Ok(V::int(count as i64))
        }
        ("disjoint", [a, b]) => {
            let b = b.items()?;
            Ok(V::truth(!a.items()?.iter().any(|item| b.iter().any(|other| other.equals(item)))))
        }
        ("swap", [V::List(list), a, b]) => {
            let mut items = list.items.borrow_mut();
            let (a, b) = (lists::index_of(a), lists::index_of(b));
            if a >= items.len() || b >= items.len() {
                let message = format!("Index {} out of bounds for length {}", a.max(b), items.len());
                return Some(Err(thrown("IndexOutOfBoundsException", message)));
            }
            items.swap(a, b);
            Ok(V::NULL)
        }
        ("rotate", [V::List(list), by]) => {
            let mut items = list.items.borrow_mut();
            let len = items.len() as i64;
            if len > 0 {
                items.rotate_right(usize::try_from(by.as_long()?.rem_euclid(len)).unwrap_or(0));
            }
            Ok(V::NULL)
        }
        ("sort", [V::List(list), by]) => {
            let sorted = lists::sorted_by(machine, list.ordered(), by);
            match sorted {
                Ok(items) => {
                    list.items.replace(items);
                    Ok(V::NULL)
                }
                Err(fault) => Err(fault),
            }
        }
        ("max" | "min", [items, by]) => {
            let sorted = lists::sorted_by(machine, items.items()?, by);
            sorted.map(|items| {
                let item = if method == "max" { items.last() } else { items.first() };
                item.cloned().unwrap_or(V::NULL)
            })
        }
        _ => return None,
    })
}

fn call_arrays(method: &str, arguments: &[V]) -> Option<Outcome> {
    Some(match (method, arguments) {
        ("copyOf", [V::Array(array), len]) => {
            let mut items = array.items.borrow().clone();
            let default =
                types::default_of(super::super::tree::Type { base: array.of, boxed: false, arrays: 0 });
            let len = usize::try_from(len.as_long()?).ok().filter(|len| *len <= 1 << 20)?;
            items.resize(len, default);
            Ok(V::array(items, array.of))
        }
        ("hashCode", [V::Array(array)]) => hash_code(&V::list(array.items.borrow().clone())),
        _ => return None,
    })
}

/// The largest integer that is not greater than the quotient; `b` is not 0. It overflows as in Java.
pub fn floor_div(a: i64, b: i64) -> i64 {
    let quotient = a.wrapping_div(b);
    let is_inexact = a.wrapping_rem(b) != 0;
    quotient - i64::from(is_inexact && (a < 0) != (b < 0))
}

fn call_math(method: &str, arguments: &[V]) -> Option<Outcome> {
    let both = || Some((arguments.first()?.as_long()?, arguments.get(1)?.as_long()?));
    let is_int = arguments.iter().all(|value| matches!(value, V::Plain(Value::Integer(_))));
    let overflow = |what: &str| thrown("ArithmeticException", format!("{what} overflow"));
    Some(match (method, arguments.len()) {
        ("floorDiv", 2) => {
            let (a, b) = both()?;
            if b == 0 {
                return Some(Err(thrown("ArithmeticException", "/ by zero")));
            }
            let value = floor_div(a, b);
            Ok(if is_int { V::int(value) } else { V::long(value) })
        }
        ("hypot", 2) => {
            Ok(V::double(types::number(&arguments[0]).ok()?.hypot(types::number(&arguments[1]).ok()?)))
        }
        ("addExact" | "subtractExact" | "multiplyExact", 2) => {
            let (a, b) = both()?;
            let value = match method {
                "addExact" => a.checked_add(b),
                "subtractExact" => a.checked_sub(b),
                _ => a.checked_mul(b),
            };
            match value {
                Some(value) if is_int && i32::try_from(value).is_err() => Err(overflow("integer")),
                Some(value) if is_int => Ok(V::int(value)),
                Some(value) => Ok(V::long(value)),
                None => Err(overflow("long")),
            }
        }
        _ => return None,
    })
}

fn call_numbers(class: &str, method: &str, arguments: &[V]) -> Option<Outcome> {
    let [first, ..] = arguments else { return None };
    let value = first.as_long()?;
    let is_int = class == "Integer";
    Some(Ok(match (method, arguments.get(1).and_then(V::as_long)) {
        ("bitCount", None) => {
            V::int(i64::from(if is_int { (value as i32).count_ones() } else { value.count_ones() }))
        }
        ("reverse", None) => {
            if is_int {
                V::int(i64::from((value as i32).reverse_bits()))
            } else {
                V::long(value.reverse_bits())
            }
        }
        ("sum", Some(other)) => {
            let sum = value.wrapping_add(other);
            if is_int { V::int(sum) } else { V::long(sum) }
        }
        ("hashCode", None) => return Some(hash_code(first)),
        _ => return None,
    }))
}

/// Calls static methods such as `DateUtils.addDays(date, 3)` and `DateFormatUtils.format(date, pattern, zone)`.
fn call_dates(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Option<Outcome> {
    let ms = match arguments.first()? {
        V::Object(date) => date.instant()?,
        other => other.as_long()?,
    };
    if method == "format" {
        let zone = match arguments.get(2) {
            Some(V::Object(zone)) => match &**zone {
                Object::Zone(zone, _) => Some(zone.clone()),
                _ => None,
            },
            _ => None,
        };
        let pattern = text_of(machine, arguments.get(1)?);
        return Some(
            pattern.and_then(|pattern| time::format(machine, &pattern, ms, zone.as_ref())).map(V::text),
        );
    }
    let calendar = V::object(Object::Calendar(ms.into(), TimeZone::system().into()));
    let field = match method {
        "addYears" | "setYears" => 1,
        "addMonths" | "setMonths" => 2,
        "addWeeks" => 3,
        "addDays" | "setDays" => 5,
        "addHours" | "setHours" => 11,
        "addMinutes" | "setMinutes" => 12,
        "addSeconds" | "setSeconds" => 13,
        "addMilliseconds" | "setMilliseconds" => 14,
        "truncate" => 0,
        "isSameDay" => {
            let other = match arguments.get(1)? {
                V::Object(other) => other.instant()?,
                _ => return None,
            };
            let day = |ms: i64| {
                jiff::Timestamp::from_millisecond(ms).ok().map(|at| at.to_zoned(TimeZone::system()).date())
            };
            return Some(Ok(V::truth(day(ms) == day(other))));
        }
        _ => return None,
    };
    let amount = arguments.get(1)?.as_long()?;
    if field == 0 {
        return Some(truncate_date(ms, amount));
    }
    let (act, amount) = (if method.starts_with("add") { "add" } else { "set" }, V::int(amount));
    let changed = machine.invoke(&calendar, act, vec![V::int(field), amount]);
    Some(changed.and_then(|_| machine.invoke(&calendar, "getTime", Vec::new())))
}

/// Truncates a date: all calendar fields smaller than `field` are set to their minimum.
fn truncate_date(ms: i64, field: i64) -> Outcome {
    let unit = match field {
        5 => jiff::Unit::Day,
        10 | 11 => jiff::Unit::Hour,
        12 => jiff::Unit::Minute,
        13 => jiff::Unit::Second,
        1 | 2 => {
            let failed = |error: jiff::Error| thrown("IllegalArgumentException", error.to_string());
            let date =
                jiff::Timestamp::from_millisecond(ms).map_err(failed)?.to_zoned(TimeZone::system()).date();
            let month = if field == 1 { 1 } else { date.month() };
            let first = jiff::civil::Date::new(date.year(), month, 1).map_err(failed)?;
            let zoned = first.to_zoned(TimeZone::system()).map_err(failed)?;
            return Ok(V::object(Object::Date(zoned.timestamp().as_millisecond().into())));
        }
        _ => return Err(unsupported("this field of a Calendar")),
    };
    let failed = |error: jiff::Error| thrown("IllegalArgumentException", error.to_string());
    let at = jiff::Timestamp::from_millisecond(ms).map_err(failed)?.to_zoned(TimeZone::system());
    let rounding = jiff::ZonedRound::new().smallest(unit).mode(jiff::RoundMode::Trunc);
    let made = at.round(rounding).map_err(failed)?.timestamp().as_millisecond();
    Ok(V::object(Object::Date(made.into())))
}

/// Calls factory methods of `NumberFormat`, such as `getInstance(Locale.US)`; the format is always the English one.
fn call_number_format(method: &str) -> Option<Outcome> {
    let pattern = match method {
        "getInstance" | "getNumberInstance" => "#,##0.###",
        "getIntegerInstance" => "#,##0",
        "getPercentInstance" => "#,##0%",
        _ => return None,
    };
    Some(Ok(V::object(Object::NumberFormat(pattern.to_owned()))))
}
