//! Static methods of Commons Lang, Commons Text and Commons IO.

use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::types;
use super::super::value::V;
use super::instance::{LibraryClass, no_constructor};
use super::{commons_text, print, text_units};
use crate::Value;

const fn static_class(
    class: &'static str,
    statics: &'static str,
    call_static: fn(&mut Machine<'_>, &str, &[V]) -> Outcome,
) -> LibraryClass {
    LibraryClass {
        class,
        statics,
        constructor_arguments: None,
        methods: "",
        call_static,
        construct: no_constructor,
    }
}

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    static_class(
        "StringUtils",
        "abbreviate center chomp chop deleteWhitespace removeStart removeEnd remove replace replaceOnce left right mid \
         substring split splitByWholeSeparator substringsBetween defaultString defaultIfEmpty defaultIfBlank swapCase \
         uncapitalize overlay isAlpha isAlphanumeric isAlphaSpace isAllUpperCase isAllLowerCase containsIgnoreCase \
         startsWith endsWith startsWithIgnoreCase endsWithIgnoreCase indexOf lastIndexOf ordinalIndexOf length strip \
         stripStart stripEnd stripToEmpty trimToEmpty trimToNull equalsAny difference getLevenshteinDistance \
         normalizeSpace containsAny isAnyBlank isNoneBlank isAnyEmpty isNoneEmpty wrap truncate",
        string_utils,
    ),
    static_class(
        "NumberUtils",
        "isNumber isParsable isCreatable isDigits toInt toLong toDouble toFloat max min createInteger createLong compare",
        number_utils,
    ),
    static_class(
        "ArrayUtils",
        "contains isEmpty isNotEmpty indexOf add addAll remove reverse subarray toObject toPrimitive getLength",
        array_utils,
    ),
    static_class(
        "StringEscapeUtils",
        "escapeJson escapeJava escapeXml escapeXml10 escapeXml11 escapeHtml4 escapeHtml3 escapeEcmaScript escapeCsv \
         unescapeJson unescapeJava unescapeXml unescapeHtml4 unescapeHtml3 unescapeEcmaScript",
        commons_text::escape_utils,
    ),
    static_class(
        "FilenameUtils",
        "getName getExtension getBaseName getPath removeExtension concat",
        filename_utils,
    ),
];

fn text(value: &V) -> Option<String> {
    value.as_text().map(str::to_owned)
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn of_units(units: &[u16]) -> V {
    V::text(String::from_utf16_lossy(units))
}

/// An index of Commons Lang: a negative index counts from the end; the result is limited to the string's length.
fn index_from_end(at: i64, len: usize) -> usize {
    let at = if at < 0 { at + len as i64 } else { at };
    usize::try_from(at).unwrap_or(0).min(len)
}

/// The minimum and maximum number of arguments of a method of `StringUtils`.
fn arity(method: &str) -> (usize, usize) {
    match method {
        "isAnyBlank" | "isNoneBlank" | "isAnyEmpty" | "isNoneEmpty" => (1, usize::MAX),
        "equalsAny" => (2, usize::MAX),
        "split" | "defaultString" | "strip" => (1, 2),
        "center" | "substring" | "indexOf" => (2, 3),
        "replace" | "replaceOnce" | "mid" | "substringsBetween" | "ordinalIndexOf" => (3, 3),
        "overlay" => (4, 4),
        "chomp" | "chop" | "deleteWhitespace" | "swapCase" | "uncapitalize" | "length" | "normalizeSpace"
        | "trimToNull" | "trimToEmpty" | "stripToEmpty" | "isAlpha" | "isAlphanumeric" | "isAlphaSpace"
        | "isAllUpperCase" | "isAllLowerCase" => (1, 1),
        _ => (2, 2),
    }
}

#[allow(clippy::too_many_lines, reason = "one arm for each form of a method")]
fn string_utils(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("`StringUtils.{method}` with these arguments"));
    let (least, most) = arity(method);
    if !(least..=most).contains(&arguments.len()) {
        return Err(wrong());
    }
    let first = arguments.first().and_then(text);
    let count = |at: usize| arguments.get(at).and_then(V::as_long);
    let second = arguments.get(1).map(|value| print::java(machine, value)).transpose()?;
    let second = second.filter(|_| !arguments[1].is_null());
    if let Some(own) = &first {
        machine.spend_text(own.len())?;
    }
    if let Some(value) = tests(method, arguments, first.as_deref(), second.as_deref()) {
        return Ok(value);
    }
    match (method, arguments) {
        ("defaultString", [_]) => return Ok(V::text(first.unwrap_or_default())),
        ("defaultString", [_, other]) => return Ok(first.map_or_else(|| other.clone(), V::text)),
        ("defaultIfEmpty", [value, other]) => {
            return Ok(if first.is_none_or(|own| own.is_empty()) { other.clone() } else { value.clone() });
        }
        ("defaultIfBlank", [value, other]) => {
            return Ok(if first.is_none_or(|own| own.trim().is_empty()) {
                other.clone()
            } else {
                value.clone()
            });
        }
        ("length", [_]) => return Ok(V::int(first.map_or(0, |own| units(&own).len() as i64))),
        ("stripToEmpty" | "trimToEmpty", [_]) => {
            return Ok(V::text(first.map_or(String::new(), |own| own.trim().to_owned())));
        }
        ("indexOf" | "lastIndexOf" | "ordinalIndexOf", [_, _, ..]) => {
            let (Some(own), Some(other)) = (first, second) else { return Ok(V::int(-1)) };
            return Ok(position(method, &own, &other, count(2)));
        }
        _ => {}
    }
    let Some(own) = first else { return Ok(V::NULL) };
    let other = second.as_deref();
    Ok(match (method, arguments.len()) {
        ("abbreviate", 2) => {
            let (all, width) = (units(&own), usize::try_from(count(1).ok_or_else(wrong)?).unwrap_or(0));
            if width < 4 {
                return Err(thrown("IllegalArgumentException", "Minimum abbreviation width is 4"));
            }
            if all.len() <= width {
                V::text(own)
            } else {
                V::text(String::from_utf16_lossy(&all[..width - 3]) + "...")
            }
        }
        ("center", 2 | 3) => {
            let width = usize::try_from(count(1).ok_or_else(wrong)?).unwrap_or(0);
            let fill = arguments.get(2).map_or(Ok(" ".to_owned()), |fill| print::java(machine, fill))?;
            let missing = width.saturating_sub(units(&own).len());
            machine.spend_text(missing)?;
            let filled = |len: usize| fill.chars().cycle().take(len).collect::<String>();
            V::text(filled(missing / 2) + &own + &filled(missing - missing / 2))
        }
        ("left" | "right" | "truncate", 2) => {
            let all = units(&own);
            let len = usize::try_from(count(1).ok_or_else(wrong)?).unwrap_or(0).min(all.len());
            if method == "right" { of_units(&all[all.len() - len..]) } else { of_units(&all[..len]) }
        }
        ("mid", 3) => {
            let all = units(&own);
            let from = usize::try_from(count(1).ok_or_else(wrong)?).unwrap_or(0).min(all.len());
            let len = usize::try_from(count(2).ok_or_else(wrong)?).unwrap_or(0).min(all.len() - from);
            of_units(&all[from..from + len])
        }
        ("substring", 2 | 3) => {
            let all = units(&own);
            let from = index_from_end(count(1).ok_or_else(wrong)?, all.len());
            let to = count(2).map_or(all.len(), |to| index_from_end(to, all.len()));
            of_units(all.get(from..to).unwrap_or_default())
        }
        ("overlay", 4) => {
            let all = units(&own);
            let (from, to) = (
                index_from_end(count(2).ok_or_else(wrong)?, all.len()),
                index_from_end(count(3).ok_or_else(wrong)?, all.len()),
            );
            let (from, to) = (from.min(to), from.max(to));
            let mut made = all[..from].to_vec();
            made.extend(units(other.unwrap_or("")));
            made.extend(&all[to..]);
            of_units(&made)
        }
        ("replace" | "replaceOnce", 3) => {
            let (Some(other), Some(with)) = (other, text(&arguments[2])) else { return Ok(V::text(own)) };
            if other.is_empty() {
                return Ok(V::text(own));
            }
            let made =
                if method == "replace" { own.replace(other, &with) } else { own.replacen(other, &with, 1) };
            machine.spend_text(made.len())?;
            V::text(made)
        }
        ("substringsBetween", 3) => {
            let (Some(open), Some(close)) = (other.filter(|open| !open.is_empty()), text(&arguments[2]))
            else {
                return Ok(V::NULL);
            };
            let mut found = Vec::new();
            let mut rest = own.as_str();
            while let Some((between, behind)) =
                rest.split_once(open).and_then(|(_, behind)| behind.split_once(close.as_str()))
            {
                found.push(V::text(between));
                rest = behind;
            }
            if found.is_empty() { V::NULL } else { V::array(found, super::super::tree::Base::Text) }
        }
        ("getLevenshteinDistance", 2) => {
            let (a, b) = (units(&own), units(other.unwrap_or("")));
            machine.spend(a.len().saturating_mul(b.len()))?;
            V::int(distance(&a, &b))
        }
        ("difference", 2) => {
            let (a, b) = (units(&own), units(other.unwrap_or("")));
            let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            of_units(&b[same..])
        }
        (_, 1 | 2) => return change_text(machine, method, &own, other),
        _ => return Err(wrong()),
    })
}

/// Calls methods that return a boolean, for which null is a valid argument.
fn tests(method: &str, arguments: &[V], first: Option<&str>, second: Option<&str>) -> Option<V> {
    let all = |fits: fn(char) -> bool| first.is_some_and(|own| !own.is_empty() && own.chars().all(fits));
    let both = |fits: fn(&str, &str) -> bool| match (first, second) {
        (Some(own), Some(other)) => fits(own, other),
        (None, None) => method != "containsIgnoreCase" && method != "containsAny",
        _ => false,
    };
    let items = || match arguments {
        [only] if only.items().is_some() => only.items().unwrap_or_default(),
        many => many.to_vec(),
    };
    let blank = |value: &V| value.as_text().is_none_or(|text| text.trim().is_empty());
    let empty = |value: &V| value.as_text().is_none_or(str::is_empty);
    Some(V::truth(match (method, arguments.len()) {
        ("isAlpha", 1) => all(char::is_alphabetic),
        ("isAlphanumeric", 1) => all(char::is_alphanumeric),
        ("isAlphaSpace", 1) => first.is_some_and(|own| own.chars().all(|c| c.is_alphabetic() || c == ' ')),
        ("isAllUpperCase", 1) => all(char::is_uppercase),
        ("isAllLowerCase", 1) => all(char::is_lowercase),
        ("containsIgnoreCase", 2) => both(|own, other| own.to_lowercase().contains(&other.to_lowercase())),
        ("startsWith", 2) => both(|own, other| own.starts_with(other)),
        ("endsWith", 2) => both(|own, other| own.ends_with(other)),
        ("startsWithIgnoreCase", 2) => {
            both(|own, other| own.to_lowercase().starts_with(&other.to_lowercase()))
        }
        ("endsWithIgnoreCase", 2) => both(|own, other| own.to_lowercase().ends_with(&other.to_lowercase())),
        ("containsAny", 2) => both(|own, other| own.contains(|c| other.contains(c))),
        ("equalsAny", 2..) => {
            let others = match &arguments[1..] {
                [only] if only.items().is_some() => only.items().unwrap_or_default(),
                many => many.to_vec(),
            };
            others.iter().any(|other| other.equals(&arguments[0]))
        }
        ("isAnyBlank", _) => items().iter().any(blank),
        ("isNoneBlank", _) => !items().iter().any(blank),
        ("isAnyEmpty", _) => items().iter().any(empty),
        ("isNoneEmpty", _) => !items().iter().any(empty),
        _ => return None,
    }))
}

/// The index of a string in another, or −1.
fn position(method: &str, own: &str, other: &str, from: Option<i64>) -> V {
    if method != "ordinalIndexOf" {
        return text_units::position(own, other, from, method == "lastIndexOf");
    }
    let (own, other) = (units(own), units(other));
    let fits = |at: &usize| own.get(*at..*at + other.len()) == Some(&other[..]);
    let mut places = (0..=own.len().saturating_sub(other.len())).filter(fits);
    let number = usize::try_from(from.unwrap_or(0) - 1).ok();
    V::int(number.and_then(|number| places.nth(number)).map_or(-1, |at| at as i64))
}

/// The Levenshtein distance: the minimum number of edits that turn one string into the other.
fn distance(a: &[u16], b: &[u16]) -> i64 {
    let mut row: Vec<i64> = (0..=b.len() as i64).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i as i64 + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = corner + i64::from(x != y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

/// Calls methods that take a string and optionally another string.
fn change_text(machine: &mut Machine<'_>, method: &str, own: &str, other: Option<&str>) -> Outcome {
    let split = |text: &str, by: &dyn Fn(char) -> bool| {
        let parts = text.split(by).filter(|part| !part.is_empty());
        V::array(parts.map(V::text).collect(), super::super::tree::Base::Text)
    };
    Ok(match (method, other) {
        ("chomp", None) => {
            V::text(own.strip_suffix("\r\n").or_else(|| own.strip_suffix(['\n', '\r'])).unwrap_or(own))
        }
        ("chop", None) => {
            let mut chars = own.chars();
            chars.next_back();
            V::text(chars.as_str())
        }
        ("deleteWhitespace", None) => V::text(own.split_whitespace().collect::<String>()),
        ("normalizeSpace", None) => V::text(own.split_whitespace().collect::<Vec<_>>().join(" ")),
        ("trimToNull", None) => V::text_or_null(Some(own.trim().to_owned()).filter(|own| !own.is_empty())),
        ("strip", None) => V::text(own.trim()),
        ("strip", Some(other)) => V::text(own.trim_matches(|c| other.contains(c))),
        ("stripStart", other) => V::text(
            own.trim_start_matches(|c: char| other.map_or(c.is_whitespace(), |other| other.contains(c))),
        ),
        ("stripEnd", other) => V::text(
            own.trim_end_matches(|c: char| other.map_or(c.is_whitespace(), |other| other.contains(c))),
        ),
        ("removeStart", other) => V::text(other.and_then(|other| own.strip_prefix(other)).unwrap_or(own)),
        ("removeEnd", other) => V::text(other.and_then(|other| own.strip_suffix(other)).unwrap_or(own)),
        ("remove", of) => V::text(of.map_or_else(|| own.to_owned(), |of| own.replace(of, ""))),
        ("wrap", of) => V::text(of.map_or_else(|| own.to_owned(), |of| format!("{of}{own}{of}"))),
        ("swapCase", None) => {
            let swapped = |c: char| -> String {
                if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
            };
            V::text(own.chars().map(swapped).collect::<String>())
        }
        ("uncapitalize", None) => return machine.invoke(&V::text(own), method, Vec::new()),
        ("split", None) => split(own, &char::is_whitespace),
        ("split", Some(other)) => split(own, &|c| other.contains(c)),
        ("splitByWholeSeparator", Some(other)) if !other.is_empty() => {
            let parts = own.split(other).filter(|part| !part.is_empty());
            V::array(parts.map(V::text).collect(), super::super::tree::Base::Text)
        }
        _ => return Err(unsupported(format!("`StringUtils.{method}` with these arguments"))),
    })
}

fn number_utils(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("`NumberUtils.{method}` with these arguments"));
    let own = arguments.first().and_then(text);
    Ok(match (method, arguments) {
        ("isDigits", [_]) => {
            V::truth(own.is_some_and(|own| !own.is_empty() && own.chars().all(char::is_numeric)))
        }
        ("isParsable", [_]) => V::truth(own.is_some_and(|own| {
            let digits = own.strip_prefix('-').unwrap_or(&own);
            !digits.is_empty()
                && !digits.ends_with('.')
                && digits.matches('.').count() <= 1
                && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        })),
        ("isNumber" | "isCreatable", [_]) => V::truth(own.is_some_and(|own| {
            let digits = own.strip_prefix('-').unwrap_or(&own);
            match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                Some(digits) => !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit()),
                None => {
                    let digits = digits.strip_suffix(['l', 'L', 'f', 'F', 'd', 'D']).unwrap_or(digits);
                    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
                        && busyhour_java::parse_double(digits).is_some()
                }
            }
        })),
        ("toInt" | "toLong", [_, rest @ ..]) => {
            let parsed = own.and_then(|own| busyhour_java::parse_long(&own));
            let parsed = parsed.filter(|number| method == "toLong" || i32::try_from(*number).is_ok());
            let value = parsed.or_else(|| rest.first().and_then(V::as_long)).unwrap_or(0);
            if method == "toInt" { V::int(value) } else { V::long(value) }
        }
        ("toDouble" | "toFloat", [_, rest @ ..]) => {
            let default = rest.first().map_or(Ok(0.0), types::number)?;
            let value = own.and_then(|own| busyhour_java::parse_double(&own)).unwrap_or(default);
            if method == "toDouble" { V::double(value) } else { V::Plain(Value::Float(value as f32)) }
        }
        ("createInteger" | "createLong", [value]) => {
            let class = if method == "createLong" { "Long" } else { "Integer" };
            let class = V::Class(super::super::classes::Class::known(class));
            return machine.invoke(&class, "valueOf", vec![value.clone()]);
        }
        ("max" | "min", [_, ..]) => {
            let items = match arguments {
                [only] => only.items().ok_or_else(wrong)?,
                many => many.to_vec(),
            };
            return machine.invoke(&V::list(items), method, Vec::new());
        }
        ("compare", [a, b]) => V::int(super::super::operators::compare(a, b)? as i64),
        _ => return Err(wrong()),
    })
}

fn array_utils(_: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("`ArrayUtils.{method}` with these arguments"));
    let (items, item_type) = match arguments.first() {
        Some(V::Array(array)) => (array.items.borrow().clone(), array.of),
        Some(V::Plain(Value::Null)) => (Vec::new(), super::super::tree::Base::Any),
        _ => return Err(wrong()),
    };
    let find = |item: &V| items.iter().position(|known| known.equals(item));
    Ok(match (method, arguments) {
        ("contains", [_, item]) => V::truth(find(item).is_some()),
        ("indexOf", [_, item]) => V::int(find(item).map_or(-1, |at| at as i64)),
        ("isEmpty", [_]) => V::truth(items.is_empty()),
        ("isNotEmpty", [_]) => V::truth(!items.is_empty()),
        ("getLength", [_]) => V::int(items.len() as i64),
        ("toObject" | "toPrimitive", [array]) => array.clone(),
        ("add", [_, item]) => {
            let mut made = items;
            made.push(item.clone());
            V::array(made, item_type)
        }
        ("addAll", [_, rest @ ..]) => {
            let mut made = items;
            match rest {
                [V::Array(other)] => made.extend(other.items.borrow().iter().cloned()),
                many => made.extend(many.iter().cloned()),
            }
            V::array(made, item_type)
        }
        ("remove", [_, at]) => {
            let at = at.as_long().and_then(|at| usize::try_from(at).ok()).ok_or_else(wrong)?;
            let mut made = items;
            if at >= made.len() {
                let message = format!("Index: {at}, Length: {}", made.len());
                return Err(thrown("IndexOutOfBoundsException", message));
            }
            made.remove(at);
            V::array(made, item_type)
        }
        ("subarray", [_, from, to]) => {
            let at = |value: &V| usize::try_from(value.as_long().unwrap_or(0)).unwrap_or(0).min(items.len());
            V::array(items.get(at(from)..at(to)).unwrap_or_default().to_vec(), item_type)
        }
        ("reverse", [V::Array(array)]) => {
            array.items.borrow_mut().reverse();
            V::NULL
        }
        _ => return Err(wrong()),
    })
}

fn filename_utils(_: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let Some(own) = arguments.first().and_then(text) else { return Ok(V::NULL) };
    let (folder, name) =
        own.rsplit_once(['/', '\\']).map_or(("", own.as_str()), |(folder, name)| (folder, name));
    let (base, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    Ok(match (method, arguments) {
        ("getName", [_]) => V::text(name),
        ("getBaseName", [_]) => V::text(base),
        ("getExtension", [_]) => V::text(extension),
        ("getPath", [_]) => V::text(if folder.is_empty() {
            String::new()
        } else {
            format!("{}/", folder.trim_start_matches('/'))
        }),
        ("removeExtension", [_]) => V::text(&own[..own.len() - name.len() + base.len()]),
        ("concat", [_, other]) => {
            let other = text(other).unwrap_or_default();
            V::text(if other.starts_with('/') {
                other
            } else {
                format!("{}/{other}", own.trim_end_matches('/'))
            })
        }
        _ => return Err(unsupported(format!("`FilenameUtils.{method}` with these arguments"))),
    })
}
