//! Less common methods of `String`, and Groovy's methods of any object.

use std::sync::Arc;

use super::super::fault::Outcome;
use super::super::machine::Machine;
use super::super::value::V;
use super::text_of;
use crate::Value;

/// The characters of a set of Groovy's `tr`, which may contain ranges such as `a-z`.
fn expand_set(text: &str) -> Vec<char> {
    let chars: Vec<char> = text.chars().collect();
    let mut set = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(last)) if chars[at] <= *last => {
                set.extend(chars[at]..=*last);
                at += 3;
            }
            _ => {
                set.push(chars[at]);
                at += 1;
            }
        }
    }
    set
}

/// Calls a method; `None` if it is not one of these.
pub fn call(machine: &mut Machine<'_>, text: &Arc<str>, method: &str, arguments: &[V]) -> Option<Outcome> {
    let groovy = machine.groovy();
    Some(match (method, arguments) {
        ("getAt", [range @ V::List(_)]) if groovy => {
            return Some(machine.item(&V::Plain(Value::Text(text.clone())), range));
        }
        ("stripLeading", []) => Ok(V::text(text.trim_start())),
        ("stripTrailing", []) => Ok(V::text(text.trim_end())),
        ("stripIndent", []) if groovy => {
            let indent = |line: &&str| line.len() - line.trim_start().len();
            let lines: Vec<&str> = text.lines().collect();
            let least = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
            let cut: Vec<&str> = lines.iter().map(|line| line.get(least..).unwrap_or("")).collect();
            Ok(V::text(cut.join("\n")))
        }
        ("tr", [from, to]) if groovy => {
            let (from, to) = match (text_of(machine, from), text_of(machine, to)) {
                (Ok(from), Ok(to)) => (expand_set(&from), expand_set(&to)),
                (Err(fault), _) | (_, Err(fault)) => return Some(Err(fault)),
            };
            let replaced = |c: char| match from.iter().position(|known| *known == c) {
                Some(at) => to.get(at).or(to.last()).copied().unwrap_or(c),
                None => c,
            };
            Ok(V::text(text.chars().map(replaced).collect::<String>()))
        }
        ("next" | "previous", []) if groovy => {
            let mut units: Vec<u16> = text.encode_utf16().collect();
            if let Some(last) = units.last_mut() {
                *last = if method == "next" { last.wrapping_add(1) } else { last.wrapping_sub(1) };
            }
            Ok(V::text(String::from_utf16_lossy(&units)))
        }
        ("regionMatches", given) => {
            let (folds, rest) = match given {
                [V::Plain(Value::Boolean(folds)), rest @ ..] => (*folds, rest),
                rest => (false, rest),
            };
            let [at, other, from, len] = rest else { return None };
            let (at, from, len) = (at.as_long()?, from.as_long()?, usize::try_from(len.as_long()?).ok()?);
            let part = |text: &str, from: i64| {
                let units: Vec<u16> = text.encode_utf16().collect();
                let from = usize::try_from(from).ok()?;
                units.get(from..from.checked_add(len)?).map(String::from_utf16_lossy)
            };
            let (own, other) = (part(text, at), part(other.as_text()?, from));
            Ok(V::truth(match (own, other) {
                (Some(own), Some(other)) if folds => own.to_lowercase() == other.to_lowercase(),
                (Some(own), Some(other)) => own == other,
                _ => false,
            }))
        }
        ("codePoints", []) => Ok(V::list(text.chars().map(|c| V::int(i64::from(u32::from(c)))).collect())),
        ("dump", []) if groovy => {
            let hash = busyhour_java::hash_code(text);
            Ok(V::text(format!(
                "<java.lang.String@{hash:x} value={text} coder=0 hash={hash} hashIsZero=false>"
            )))
        }
        ("toURI", []) => super::uri::parse(text),
        ("toURL", []) => super::url::parse(text),
        _ => return None,
    })
}
