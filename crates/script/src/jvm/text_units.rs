//! Positions in strings. Java counts UTF-16 code units. In an ASCII string these are the bytes, so no search is needed.

use std::sync::Arc;

use super::fault::Fault;
use super::machine::Machine;
use super::value::V;
use crate::Value;

/// Minimum size in bytes of the strings whose length is cached.
const SHORT_BYTES: usize = 64;

/// The number of UTF-16 code units of a string.
pub fn count(machine: &mut Machine<'_>, text: &Arc<str>) -> usize {
    if text.len() < SHORT_BYTES {
        return count_uncached(text);
    }
    if let Some((known, units)) = &machine.measured
        && Arc::ptr_eq(known, text)
    {
        return *units;
    }
    super::stack::spend(text.len() / 64);
    let units = count_uncached(text);
    machine.measured = Some((Arc::clone(text), units));
    units
}

fn count_uncached(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

fn is_ascii(machine: &mut Machine<'_>, text: &Arc<str>) -> bool {
    count(machine, text) == text.len()
}

/// Calls methods that take constant time. `None` for other methods, for arguments of other types or out of range, and for
/// positions in strings that are not ASCII.
pub fn call_in_constant_time(
    machine: &mut Machine<'_>,
    text: &Arc<str>,
    method: &str,
    arguments: &[V],
) -> Option<V> {
    match (method, arguments) {
        ("length", []) => Some(V::int(count(machine, text) as i64)),
        ("isEmpty", []) => Some(V::truth(text.is_empty())),
        ("charAt", [V::Plain(Value::Integer(at))]) if is_ascii(machine, text) => {
            let byte = text.as_bytes().get(usize::try_from(*at).ok()?)?;
            Some(V::Plain(Value::Character(u16::from(*byte))))
        }
        ("substring", [V::Plain(Value::Integer(from)), rest @ ..])
            if rest.len() < 2 && is_ascii(machine, text) =>
        {
            let to = match rest {
                [] => text.len(),
                [V::Plain(Value::Integer(to)), ..] => usize::try_from(*to).ok()?,
                _ => return None,
            };
            text.get(usize::try_from(*from).ok()?..to).map(V::text)
        }
        _ => None,
    }
}

/// Groovy's `text[index]`; `None` in the same cases as for [`call_in_constant_time`].
pub fn character_at(machine: &mut Machine<'_>, text: &Arc<str>, index: &Value) -> Option<V> {
    let Value::Integer(index) = index else { return None };
    if !is_ascii(machine, text) {
        return None;
    }
    let at = if *index < 0 { i64::from(*index) + text.len() as i64 } else { i64::from(*index) };
    let at = usize::try_from(at).ok()?;
    text.get(at..at.checked_add(1)?).map(V::text)
}

/// The characters as strings.
pub fn characters(machine: &mut Machine<'_>, text: &str) -> Result<Vec<V>, Fault> {
    machine.room_for(text.len())?;
    let mut all = Vec::with_capacity(text.len());
    for c in text.chars() {
        machine.spend(usize::from(all.len() % 2 == 0))?;
        all.push(V::text(c.encode_utf8(&mut [0; 4])));
    }
    Ok(all)
}

/// Implements `indexOf` and `lastIndexOf`.
pub fn position(text: &str, pattern: &str, from: Option<i64>, last: bool) -> V {
    let place = if last {
        find_last_before(text, pattern, from)
    } else {
        find_from(text, pattern, from.unwrap_or(0))
    };
    V::int(place.map_or(-1, |byte| count_uncached(&text[..byte]) as i64))
}

/// The byte offset of a code unit; if it is the second half of a surrogate pair, the offset of the next character.
fn byte_of(text: &str, unit: usize) -> usize {
    if text.is_ascii() {
        return unit.min(text.len());
    }
    let mut units = 0;
    for (byte, c) in text.char_indices() {
        if units >= unit {
            return byte;
        }
        units += c.len_utf16();
    }
    text.len()
}

fn find_from(text: &str, pattern: &str, from: i64) -> Option<usize> {
    let start = byte_of(text, usize::try_from(from).unwrap_or(0));
    text[start..].find(pattern).map(|found| start + found)
}

fn find_last_before(text: &str, pattern: &str, from: Option<i64>) -> Option<usize> {
    let Some(from) = from else { return text.rfind(pattern) };
    let mut end = byte_of(text, usize::try_from(from).ok()?).saturating_add(pattern.len()).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].rfind(pattern)
}
