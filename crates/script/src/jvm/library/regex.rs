//! Methods of `Matcher`, and Groovy's string methods that take patterns.

use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::operators::pattern_of;
use super::super::patterns::{self, Groups, Matcher};
use super::super::truth::truth;
use super::super::value::V;
use super::print;

fn group(text: &str, groups: &Groups, at: usize) -> V {
    match groups.get(at).copied().flatten() {
        Some((start, end)) => V::text(&text[start..end]),
        None => V::NULL,
    }
}

/// A match as Groovy represents it: a string, or a list if the pattern has groups.
pub fn match_value(text: &str, groups: &Groups) -> V {
    if groups.len() == 1 {
        return group(text, groups, 0);
    }
    V::list((0..groups.len()).map(|at| group(text, groups, at)).collect())
}

#[allow(clippy::too_many_lines, reason = "one arm for each method")]
pub fn call(
    machine: &mut Machine<'_>,
    matcher: &Matcher,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let text = matcher.text.clone();
    let current =
        || matcher.found.borrow().clone().ok_or_else(|| thrown("IllegalStateException", "No match found"));
    match (method, arguments) {
        ("matches", []) => {
            machine.spend_text(text.len())?;
            let found = patterns::whole(&matcher.pattern, &text)?;
            let fits = found.is_some();
            matcher.found.replace(found);
            Ok(V::truth(fits))
        }
        ("find", []) => {
            let found = matcher.find_next()?;
            let any = found.is_some();
            matcher.found.replace(found);
            Ok(V::truth(any))
        }
        ("find", [from]) => {
            machine.spend_text(text.len())?;
            let from = usize::try_from(from.as_long().unwrap_or(0)).unwrap_or(0);
            let byte = text.char_indices().nth(from).map_or(text.len(), |(at, _)| at);
            matcher.next.set(byte);
            call(machine, matcher, object, "find", &[])
        }
        ("lookingAt", []) => {
            machine.spend_text(text.len())?;
            let found = patterns::find(&format!("\\A(?:{})", matcher.pattern), &text, 0)?;
            let any = found.is_some();
            matcher.found.replace(found);
            Ok(V::truth(any))
        }
        ("group", []) => Ok(group(&text, &current()?, 0)),
        ("group", [at]) => {
            let groups = current()?;
            let at = match at.as_long() {
                Some(at) => usize::try_from(at).ok(),
                None => {
                    let name = print::java(machine, at)?;
                    patterns::group_named(&matcher.pattern, &name)?
                }
            };
            match at.filter(|at| *at < groups.len()) {
                Some(at) => Ok(group(&text, &groups, at)),
                None => Err(thrown("IndexOutOfBoundsException", "No group")),
            }
        }
        ("groupCount", []) => Ok(V::int(patterns::compiled(&matcher.pattern)?.groups() as i64 - 1)),
        ("start" | "end", []) => {
            let groups = current()?;
            let (start, end) = groups.first().copied().flatten().unwrap_or((0, 0));
            Ok(V::int(matcher.units_before(if method == "start" { start } else { end }) as i64))
        }
        ("start" | "end", [at]) => {
            let groups = current()?;
            let at = at.as_long().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
            match groups.get(at) {
                Some(Some((start, end))) => {
                    let at = if method == "start" { *start } else { *end };
                    Ok(V::int(matcher.units_before(at) as i64))
                }
                Some(None) => Ok(V::int(-1)),
                None => Err(thrown("IndexOutOfBoundsException", format!("No group {at}"))),
            }
        }
        ("appendReplacement", [target, with]) => {
            let (groups, with) = (current()?, print::groovy(machine, with)?);
            let (start, end) = groups.first().copied().flatten().unwrap_or((0, 0));
            let made = patterns::replace(&text[start..end], &matcher.pattern, &with, false)?;
            let before = text.get(matcher.copied.get()..start).unwrap_or_default().to_owned();
            matcher.copied.set(end);
            machine.invoke(target, "append", vec![V::text(before + &made)])?;
            Ok(object.clone())
        }
        ("appendTail", [target]) => {
            let rest = text[matcher.copied.get()..].to_owned();
            machine.invoke(target, "append", vec![V::text(rest)])
        }
        ("replaceAll" | "replaceFirst", [with @ V::Closure(_)]) => {
            let pattern = V::text(&matcher.pattern);
            replace_with(machine, &text, &pattern, with, method == "replaceAll")
        }
        ("replaceAll" | "replaceFirst", [with]) => {
            let with = print::groovy(machine, with)?;
            Ok(V::text(patterns::replace(&text, &matcher.pattern, &with, method == "replaceAll")?))
        }
        ("reset", []) => {
            matcher.next.set(0);
            matcher.copied.set(0);
            matcher.found.replace(None);
            Ok(object.clone())
        }
        ("getCount" | "size" | "count", []) => Ok(V::int(matcher.all()?.len() as i64)),
        ("hasGroup", []) => Ok(V::truth(patterns::compiled(&matcher.pattern)?.groups() > 1)),
        ("getAt", [at]) => machine.item(object, at),
        _ => {
            // All other methods apply to the list of matches.
            let all = matcher.all()?;
            let V::List(list) = V::list(all.iter().map(|groups| match_value(&text, groups)).collect()) else {
                return Err(unsupported(format!("`{method}` of a Matcher")));
            };
            let value = super::lists::call(machine, &list, method, arguments)?;
            Ok(if matches!(method, "each" | "eachWithIndex") { object.clone() } else { value })
        }
    }
}

/// Implements `text.replaceAll(pattern) { … }`.
pub fn replace_with(machine: &mut Machine<'_>, text: &str, pattern: &V, closure: &V, all: bool) -> Outcome {
    let pattern = pattern_of(machine, pattern)?;
    let mut out = String::new();
    let mut copied = 0;
    for groups in patterns::find_all(&pattern, text)? {
        let Some(Some((start, end))) = groups.first().copied() else { continue };
        out.push_str(&text[copied..start]);
        let value = machine.call_value(closure, closure_arguments(text, &groups, closure))?;
        out.push_str(&print::groovy(machine, &value)?);
        machine.spend_text(out.len())?;
        copied = end;
        if !all {
            break;
        }
    }
    out.push_str(&text[copied..]);
    Ok(V::text(out))
}

/// The arguments of a closure for a match: the match and its groups, separately or as a list.
fn closure_arguments(text: &str, groups: &Groups, closure: &V) -> Vec<V> {
    let several = matches!(closure, V::Closure(closure) if closure.function.parameters.len() > 1);
    if several && groups.len() > 1 {
        return (0..groups.len()).map(|at| group(text, groups, at)).collect();
    }
    vec![match_value(text, groups)]
}

/// Calls `find`, `findAll` or `eachMatch` of a string with a pattern.
pub fn call_on_text(machine: &mut Machine<'_>, text: &str, method: &str, given: &[V]) -> Outcome {
    let pattern = pattern_of(machine, &given[0])?;
    let closure = given.get(1);
    if method == "find" {
        let found = patterns::find(&pattern, text, 0)?;
        return match (&found, closure) {
            (None, _) => Ok(V::NULL),
            (Some(groups), Some(closure)) => {
                machine.call_value(closure, closure_arguments(text, groups, closure))
            }
            (Some(groups), None) => Ok(group(text, groups, 0)),
        };
    }
    let all = patterns::find_all(&pattern, text)?;
    match method {
        "findAll" => {
            let mut made = Vec::new();
            for groups in &all {
                made.push(match closure {
                    Some(closure) => machine.call_value(closure, closure_arguments(text, groups, closure))?,
                    None => group(text, groups, 0),
                });
            }
            Ok(V::list(made))
        }
        _ => {
            let Some(closure) = closure else { return Err(unsupported("`eachMatch` without a closure")) };
            for groups in &all {
                let value = machine.call_value(closure, closure_arguments(text, groups, closure))?;
                let _ = truth(machine, &value)?;
            }
            Ok(V::text(text))
        }
    }
}
