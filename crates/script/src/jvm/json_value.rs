//! Conversions between a script's values and JSON.

use busyhour_jsonpath::Value as Json;

use super::fault::{Fault, unsupported};
use super::machine::Machine;
use super::value::{List, V};
use crate::Value;
use crate::decimal::Decimal;

/// Converts a script's value to JSON.
pub fn json_of(machine: &mut Machine<'_>, value: &V, depth: u32) -> Result<Json, Fault> {
    if depth > 100 {
        return Err(unsupported("JSON of this depth"));
    }
    // A JSON value takes about as much memory as a script's value.
    machine.spend(2)?;
    Ok(match value {
        V::Plain(plain) => match plain {
            Value::Null => Json::Null,
            Value::Boolean(truth) => Json::Bool(*truth),
            Value::Integer(number) => Json::Integer(i64::from(*number)),
            Value::Long(number) => Json::Integer(*number),
            Value::Double(number) => Json::Double(*number),
            Value::Float(number) => Json::Double(f64::from(*number)),
            Value::BigInteger(number) => Json::BigInteger(number.to_string()),
            Value::Decimal(number) => Json::Decimal(number.to_string()),
            other => Json::Text(other.to_java_string()),
        },
        V::List(_) | V::Array(_) => {
            let items = value.items().unwrap_or_default();
            Json::Array(items.iter().map(|item| json_of(machine, item, depth + 1)).collect::<Result<_, _>>()?)
        }
        V::Map(map) => {
            let mut members = Vec::new();
            for (key, value) in map.ordered() {
                let V::Plain(key) = key else { return Err(unsupported("a JSON key that is not a string")) };
                members.push((key.to_java_string(), json_of(machine, &value, depth + 1)?));
            }
            Json::Object(members)
        }
        other => return Err(unsupported(format!("{} as a document of JsonPath", other.kind()))),
    })
}

/// Converts JSON to a script's value.
pub fn value_of(json: &Json) -> V {
    match json {
        Json::Null => V::NULL,
        Json::Bool(truth) => V::truth(*truth),
        Json::Integer(number) if i32::try_from(*number).is_ok() => V::int(*number),
        Json::Integer(number) => V::long(*number),
        Json::Double(number) => V::double(*number),
        Json::BigInteger(text) => {
            text.parse().map_or_else(|_| V::text(text), |number| V::Plain(Value::BigInteger(number)))
        }
        Json::Decimal(text) => {
            Decimal::parse(text).map_or_else(|| V::text(text), |number| V::Plain(Value::Decimal(number)))
        }
        Json::Text(text) => V::text(text),
        Json::Array(items) => {
            let items = items.iter().map(value_of).collect();
            let mut list = List::new(items);
            list.is_json = true;
            V::List(std::rc::Rc::new(list))
        }
        Json::Object(members) => {
            V::map(members.iter().map(|(key, value)| (V::text(key), value_of(value))).collect())
        }
    }
}

/// Whether a value is a `JSONArray`, whose own `toString` Groovy uses.
pub fn is_json_array(value: &V) -> bool {
    matches!(value, V::List(list) if list.is_json)
}

/// The result of `JSONArray.toString`.
pub fn to_text(machine: &mut Machine<'_>, list: &V) -> Result<String, Fault> {
    let mut out = String::new();
    json_of(machine, list, 0)?.write_json(&mut out);
    machine.spend_text(out.len())?;
    Ok(out)
}
