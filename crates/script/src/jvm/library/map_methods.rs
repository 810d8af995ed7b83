//! Methods of maps that compute values, and those of sorted maps.

use std::rc::Rc;

use super::super::fault::{Outcome, thrown_without_message};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Map, Order, V, hash};
use super::unknown;

pub fn call(machine: &mut Machine<'_>, map: &Rc<Map>, method: &str, arguments: &[V]) -> Outcome {
    let object = V::Map(map.clone());
    let known = |key: &V| map.get(key).filter(|value| !value.is_null());
    let store = |key: &V, value: V| {
        if value.is_null() {
            map.remove(key)
        } else {
            map.put(key.clone(), value)
        };
    };
    match (method, arguments) {
        ("merge", [key, value, closure]) => {
            let value = match known(key) {
                Some(old) => machine.call_value(closure, vec![old, value.clone()])?,
                None => value.clone(),
            };
            store(key, value.clone());
            Ok(value)
        }
        ("compute", [key, closure]) => {
            let old = known(key).unwrap_or(V::NULL);
            let value = machine.call_value(closure, vec![key.clone(), old])?;
            store(key, value.clone());
            Ok(value)
        }
        ("computeIfPresent", [key, closure]) => {
            let Some(old) = known(key) else { return Ok(V::NULL) };
            let value = machine.call_value(closure, vec![key.clone(), old])?;
            store(key, value.clone());
            Ok(value)
        }
        ("replace", [key, value]) => match map.get(key) {
            Some(_) => Ok(map.put(key.clone(), value.clone())),
            None => Ok(V::NULL),
        },
        ("replaceAll", [closure]) => {
            for (key, value) in map.ordered() {
                let value = machine.call_value(closure, vec![key.clone(), value])?;
                map.put(key, value);
            }
            Ok(V::NULL)
        }
        ("remove", [key, value]) => {
            let fits = map.get(key).is_some_and(|known| known.equals(value));
            if fits {
                map.remove(key);
            }
            Ok(V::truth(fits))
        }
        ("stringPropertyNames", []) => machine.invoke(&object, "keySet", Vec::new()),
        ("propertyNames" | "keys", []) => {
            let keys = map.ordered().into_iter().map(|(key, _)| key).collect();
            Ok(V::object(Object::Iterator(std::cell::RefCell::new(keys))))
        }
        ("hashCode", []) => {
            let mut sum = 0_i32;
            for (key, value) in map.ordered() {
                let (Some(key), Some(value)) = (hash(&key), hash(&value)) else {
                    return Err(unknown(&object, method));
                };
                sum = sum.wrapping_add(key ^ value);
            }
            Ok(V::int(i64::from(sum)))
        }
        ("load", [source]) => {
            let text = machine.invoke(source, "getText", Vec::new())?;
            for (key, value) in parse_properties(text.as_text().unwrap_or("")) {
                map.put(V::text(key), V::text(value));
            }
            Ok(V::NULL)
        }
        ("asImmutable" | "asUnmodifiable" | "asSynchronized", []) => Ok(object),
        _ => call_sorted(map, &object, method, arguments),
    }
}

/// Calls methods of a `TreeMap`.
fn call_sorted(map: &Rc<Map>, object: &V, method: &str, arguments: &[V]) -> Outcome {
    if map.order != Order::Sorted {
        return Err(unknown(object, method));
    }
    let mut entries = map.ordered();
    let at = |key: &V| {
        entries.iter().take_while(|(known, _)| super::super::value::natural(known, key).is_lt()).count()
    };
    let new_map = |entries: Vec<(V, V)>| {
        let made = Map::new(Order::Sorted);
        for (key, value) in entries {
            made.put(key, value);
        }
        V::Map(Rc::new(made))
    };
    Ok(match (method, arguments) {
        ("firstKey" | "lastKey", []) => {
            let entry = if method == "firstKey" { entries.first() } else { entries.last() };
            match entry {
                Some((key, _)) => key.clone(),
                None => return Err(thrown_without_message("NoSuchElementException")),
            }
        }
        ("firstEntry" | "lastEntry" | "pollFirstEntry", []) => {
            let entry = if method == "lastEntry" { entries.last() } else { entries.first() };
            let Some((key, value)) = entry.cloned() else { return Ok(V::NULL) };
            if method == "pollFirstEntry" {
                map.remove(&key);
            }
            V::object(Object::Entry(key, value))
        }
        ("headMap", [key]) => {
            let count = at(key);
            entries.truncate(count);
            new_map(entries)
        }
        ("tailMap", [key]) => {
            let count = at(key);
            new_map(entries.split_off(count))
        }
        ("descendingMap", []) => {
            entries.reverse();
            V::map(entries)
        }
        ("floorKey", [key]) => {
            let fits = |known: &&(V, V)| super::super::value::natural(&known.0, key).is_le();
            entries.iter().rfind(fits).map_or(V::NULL, |(key, _)| key.clone())
        }
        _ => return Err(unknown(object, method)),
    })
}

/// Parses the entries of a properties file.
fn parse_properties(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let end = line.find(|c: char| c == '=' || c == ':' || c.is_whitespace()).unwrap_or(line.len());
        let rest = line[end..].trim_start();
        let value = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start();
        found.push((
            line[..end].to_owned(),
            value.replace("\\n", "\n").replace("\\:", ":").replace("\\=", "="),
        ));
    }
    found
}
