//! Java's regular expressions. A pattern for which the engine used here may find other matches is rejected.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::iter::Peekable;
use std::rc::Rc;
use std::str::Chars;

use busyhour_oro::{Finder, SearchBudget, SearchLimit};
use busyhour_slices::Number::ScriptSearchSteps;

use super::fault::{Fault, limit, thrown, unsupported};
use super::machine::TEXT_BYTES_MAX;
use super::model::FoundAhead;
pub(super) use super::model::{Groups, Matcher};
use super::stack::{self, STEPS_MAX};
use crate::error::UnsupportedPattern;

/// Maximum number of compiled patterns in the cache of a thread.
const CACHED_PATTERNS_MAX: usize = 256;
/// Maximum length of a pattern, in bytes. Compiling a pattern takes many times its memory.
const PATTERN_BYTES_MAX: usize = 64 << 10;
/// The budget of steps for all searches of a run, as a multiple of the budget of a single search.
const SEARCHES_MAX: u32 = 4;
/// Initial and maximum number of matches to find in a batch. Batches reduce the overhead for long texts, which are searched on
/// another thread that takes about 20 µs to start.
const BATCH_LEN_MIN: usize = 16;
const BATCH_LEN_MAX: usize = 4096;
/// Number of bytes that can be searched in the time of a step.
const SEARCHED_BYTES_PER_STEP: usize = 64;

thread_local! {
    static CACHE: RefCell<HashMap<String, Rc<Finder>>> = RefCell::new(HashMap::new());
}

/// Resets the budget of search steps when a script starts.
pub(super) fn renew_budget() {
    ScriptSearchSteps.set(SearchBudget::of_searches(SEARCHES_MAX).steps());
}

/// Checks whether the pattern is supported; the error names the unsupported part.
pub(super) fn check(pattern: &str) -> Result<(), UnsupportedPattern> {
    let translated = translate(pattern)?;
    match Finder::compile(&translated) {
        Ok(_) => Ok(()),
        Err(error) => Err(UnsupportedPattern(format!("the pattern `{pattern}` ({error})"))),
    }
}

pub(super) fn compiled(pattern: &str) -> Result<Rc<Finder>, Fault> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(limit(format!("a regular expression of more than {} KiB", PATTERN_BYTES_MAX >> 10)));
    }
    CACHE.with_borrow_mut(|cache| {
        if let Some(regex) = cache.get(pattern) {
            return Ok(Rc::clone(regex));
        }
        let translated = translate(pattern).map_err(|error| unsupported(error.to_string()))?;
        let regex = Finder::compile(&translated)
            .map_err(|error| unsupported(format!("the pattern `{pattern}` ({error})")))?;
        if cache.len() >= CACHED_PATTERNS_MAX {
            cache.clear();
        }
        let regex = Rc::new(regex);
        cache.insert(pattern.to_owned(), Rc::clone(&regex));
        Ok(regex)
    })
}

/// The first match from `from` on.
pub(super) fn find(pattern: &str, text: &str, from: usize) -> Result<Option<Groups>, Fault> {
    if from > text.len() {
        return Ok(None);
    }
    searched(pattern, |finder, budget| finder.find_at(text, from, budget))
}

/// Runs a search with the remaining search steps of the run.
fn searched<T>(
    pattern: &str,
    search: impl FnOnce(&Finder, &mut SearchBudget) -> Result<T, SearchLimit>,
) -> Result<T, Fault> {
    let finder = compiled(pattern)?;
    let mut budget = SearchBudget::of_steps(ScriptSearchSteps.get());
    let found = search(&finder, &mut budget);
    ScriptSearchSteps.set(budget.steps());
    found.map_err(|_| {
        limit(format!("its regular expressions need too many steps, the last one was `{pattern}`"))
    })
}

/// Counts the steps of a search from `before` to the end of a match.
fn spend_match(before: usize, end: usize) -> Result<(), Fault> {
    if stack::spend(1 + end.saturating_sub(before) / SEARCHED_BYTES_PER_STEP) {
        Ok(())
    } else {
        Err(limit(format!("{STEPS_MAX} steps")))
    }
}

/// Visits the matches with their groups until `visit` returns false.
fn each_match(
    pattern: &str,
    text: &str,
    mut visit: impl FnMut(Groups) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let (mut place, mut batch_len) = (0, BATCH_LEN_MIN);
    while place <= text.len() {
        let before = place;
        let found =
            searched(pattern, |finder, budget| finder.find_some(text, &mut place, batch_len, budget))?;
        spend_match(before, place)?;
        batch_len = (batch_len * 2).min(BATCH_LEN_MAX);
        for groups in found {
            spend_match(0, 0)?;
            if !visit(groups)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Visits the start and end offsets of the matches until `visit` returns false.
fn each_whole(
    pattern: &str,
    text: &str,
    mut visit: impl FnMut(usize, usize) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    if let Some(fixed) = fixed_text(pattern) {
        let mut chars = fixed.chars();
        let found: Box<dyn Iterator<Item = (usize, &str)>> = match (chars.next(), chars.next()) {
            (Some(only), None) => Box::new(text.match_indices(only)),
            _ => Box::new(text.match_indices(&fixed)),
        };
        let mut before = 0;
        for (start, part) in found {
            let end = start + part.len();
            spend_match(before, end)?;
            before = end;
            if !visit(start, end)? {
                return Ok(());
            }
        }
        return spend_match(before, text.len());
    }
    let (mut place, mut batch_len) = (0, BATCH_LEN_MIN);
    while place <= text.len() {
        let before = place;
        let found =
            searched(pattern, |finder, budget| finder.find_some_wholes(text, &mut place, batch_len, budget))?;
        spend_match(before, place)?;
        batch_len = (batch_len * 2).min(BATCH_LEN_MAX);
        for (start, end) in found {
            spend_match(0, 0)?;
            if !visit(start, end)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The only text that the pattern matches, if the pattern has no special characters.
fn fixed_text(pattern: &str) -> Option<String> {
    let mut fixed = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => fixed.push(chars.next().filter(char::is_ascii_punctuation)?),
            '.' | '$' | '|' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '?' | '*' | '+' => return None,
            c => fixed.push(c),
        }
    }
    Some(fixed).filter(|fixed| !fixed.is_empty())
}

/// All matches of the pattern in the text.
pub(super) fn find_all(pattern: &str, text: &str) -> Result<Vec<Groups>, Fault> {
    let mut all = Vec::new();
    each_match(pattern, text, |groups| {
        all.push(groups);
        Ok(true)
    })?;
    Ok(all)
}

impl Matcher {
    pub fn new(pattern: &str, text: &str) -> Matcher {
        Matcher {
            text: text.into(),
            pattern: pattern.to_owned(),
            found: RefCell::new(None),
            next: Cell::new(0),
            ahead: RefCell::default(),
            all: RefCell::default(),
            counted: Cell::new((0, 0)),
            copied: Cell::new(0),
        }
    }

    /// The next match of `find`. Also finds later matches in advance, because `find` is usually called in a loop.
    pub fn find_next(&self) -> Result<Option<Groups>, Fault> {
        let mut ahead = self.ahead.take();
        let from = self.next.get();
        if ahead.from != from {
            ahead = FoundAhead { from, place: from, batch_len: 1, found: VecDeque::new() };
        }
        if ahead.found.is_empty() && ahead.place <= self.text.len() {
            let (before, batch_len) = (ahead.place, ahead.batch_len.max(1));
            let found = searched(&self.pattern, |finder, budget| {
                finder.find_some(&self.text, &mut ahead.place, batch_len, budget)
            })?;
            spend_match(before, ahead.place)?;
            ahead.found = found.into();
            ahead.batch_len = (batch_len * 2).min(BATCH_LEN_MAX);
        }
        let found = ahead.found.pop_front();
        if let Some(Some((start, end))) = found.as_ref().and_then(|groups| groups.first().copied()) {
            self.next.set(after(&self.text, start, end));
            ahead.from = self.next.get();
        }
        self.ahead.replace(ahead);
        Ok(found)
    }

    /// All matches.
    pub fn all(&self) -> Result<Rc<Vec<Groups>>, Fault> {
        if let Some(all) = &*self.all.borrow() {
            return Ok(Rc::clone(all));
        }
        let all = Rc::new(find_all(&self.pattern, &self.text)?);
        self.all.replace(Some(Rc::clone(&all)));
        Ok(all)
    }

    /// The number of UTF-16 units before a byte offset. A later call for a larger offset counts only from this offset.
    pub fn units_before(&self, byte: usize) -> usize {
        let (counted_byte, counted_units) = self.counted.get();
        let (from, units) = if counted_byte <= byte { (counted_byte, counted_units) } else { (0, 0) };
        stack::spend((byte - from) / SEARCHED_BYTES_PER_STEP);
        let units = units + self.text[from..byte].encode_utf16().count();
        self.counted.set((byte, units));
        units
    }
}

/// The offset at which the search continues after a match: one character further if the match is empty.
pub(super) fn after(text: &str, start: usize, end: usize) -> usize {
    if end > start { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) }
}

/// The match of the pattern with the whole text, if any.
pub(super) fn whole(pattern: &str, text: &str) -> Result<Option<Groups>, Fault> {
    find(&anchored(pattern), text, 0)
}

fn anchored(pattern: &str) -> String {
    format!("\\A(?:{pattern})\\z")
}

/// The index of a named group.
pub(super) fn group_named(pattern: &str, name: &str) -> Result<Option<usize>, Fault> {
    Ok(compiled(pattern)?.group_named(name))
}

/// Appends a replacement to `out`, with its group references (`$1`) and escape sequences (`\$`) expanded.
pub(super) fn expand(replacement: &str, text: &str, groups: &Groups, out: &mut String) -> Result<(), Fault> {
    let mut chars = replacement.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c) => out.push(c),
                None => return Err(thrown("IllegalArgumentException", "character to be escaped is missing")),
            },
            '$' => {
                let Some(first) = chars.peek().and_then(|c| c.to_digit(10)) else {
                    if chars.peek() == Some(&'{') {
                        return Err(unsupported("a named group in a replacement"));
                    }
                    return Err(thrown("IllegalArgumentException", "Illegal group reference"));
                };
                chars.next();
                let mut group = first as usize;
                if group >= groups.len() {
                    return Err(thrown("IndexOutOfBoundsException", format!("No group {group}")));
                }
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let wider = group * 10 + digit as usize;
                    if wider >= groups.len() {
                        break;
                    }
                    group = wider;
                    chars.next();
                }
                if let Some((start, end)) = groups[group] {
                    out.push_str(&text[start..end]);
                }
            }
            _ => out.push(c),
        }
    }
    Ok(())
}

/// Implements `replaceAll` and `replaceFirst`.
pub(super) fn replace(text: &str, pattern: &str, with: &str, all: bool) -> Result<String, Fault> {
    let mut out = String::new();
    let mut copied = 0;
    if with.contains(['$', '\\']) {
        each_match(pattern, text, |groups| {
            if let Some(Some((start, end))) = groups.first().copied() {
                out.push_str(&text[copied..start]);
                expand(with, text, &groups, &mut out)?;
                copied = end;
            }
            check_length(out.len())?;
            Ok(all)
        })?;
    } else {
        each_whole(pattern, text, |start, end| {
            out.push_str(&text[copied..start]);
            out.push_str(with);
            copied = end;
            check_length(out.len())?;
            Ok(all)
        })?;
    }
    out.push_str(&text[copied..]);
    check_length(out.len())?;
    Ok(out)
}

fn check_length(len: usize) -> Result<(), Fault> {
    if len > TEXT_BYTES_MAX {
        Err(limit(format!("a string of more than {} MiB", TEXT_BYTES_MAX >> 20)))
    } else {
        Ok(())
    }
}

/// Implements `String.split(pattern, limit)`.
pub(super) fn split<'t>(text: &'t str, pattern: &str, limit: i64) -> Result<Vec<&'t str>, Fault> {
    let mut parts = Vec::new();
    let mut copied = 0;
    each_whole(pattern, text, |start, end| {
        if limit > 0 && parts.len() as i64 == limit - 1 {
            return Ok(false);
        }
        // An empty match at the beginning does not produce an empty first part.
        if end == 0 || (start == end && start == text.len()) {
            return Ok(true);
        }
        parts.push(&text[copied..start]);
        copied = end;
        Ok(true)
    })?;
    if parts.is_empty() && copied == 0 {
        return Ok(vec![text]);
    }
    parts.push(&text[copied..]);
    if limit == 0 {
        while parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
    }
    Ok(parts)
}

/// Translates the part of `pattern` that follows a backslash.
fn translate_escape(
    pattern: &str,
    chars: &mut Peekable<Chars<'_>>,
    in_class: bool,
    out: &mut String,
) -> Result<(), UnsupportedPattern> {
    match chars.next() {
        Some('Q') => {
            let mut quoted = String::new();
            for c in chars.by_ref() {
                quoted.push(c);
                if quoted.ends_with("\\E") {
                    quoted.truncate(quoted.len() - 2);
                    break;
                }
            }
            out.push_str(&regex::escape(&quoted));
        }
        Some('d') if in_class => out.push_str("0-9"),
        Some('w') if in_class => out.push_str("a-zA-Z_0-9"),
        Some('s') if in_class => out.push_str(" \\t\\n\\x0B\\f\\r"),
        Some('d') => out.push_str("[0-9]"),
        Some('w') => out.push_str("[a-zA-Z_0-9]"),
        Some('s') => out.push_str("[ \\t\\n\\x0B\\f\\r]"),
        Some('D') => out.push_str("[^0-9]"),
        Some('W') => out.push_str("[^a-zA-Z_0-9]"),
        Some('S') => out.push_str("[^ \\t\\n\\x0B\\f\\r]"),
        Some(c @ ('b' | 'B')) if !in_class => out.extend(['\\', c]),
        Some(c @ ('A' | 'z')) if !in_class => out.extend(['\\', c]),
        Some(c @ '1'..='9') if !in_class => out.extend(['\\', c]),
        Some(c @ ('n' | 't' | 'r' | 'f' | 'a')) => out.extend(['\\', c]),
        Some('e') => out.push_str("\\x1B"),
        Some('x') => out.push_str("\\x"),
        Some('u') => out.push_str("\\u"),
        Some(c @ ('p' | 'P')) => {
            let braced = chars.next_if_eq(&'{').is_some();
            let name: String = if braced {
                chars.by_ref().take_while(|c| *c != '}').collect()
            } else {
                chars.next().into_iter().collect()
            };
            let class = match name.as_str() {
                "Alpha" => "alpha",
                "Digit" => "digit",
                "Alnum" => "alnum",
                "Upper" => "upper",
                "Lower" => "lower",
                "Punct" => "punct",
                "Space" => "space",
                "XDigit" => "xdigit",
                "L" | "Lu" | "Ll" | "N" | "Nd" | "P" | "S" | "Z" | "M" => {
                    out.push_str(&format!("\\{c}{{{name}}}"));
                    return Ok(());
                }
                _ => return refused("this character class", pattern),
            };
            let caret = if c == 'P' { "^" } else { "" };
            out.push_str(&if in_class {
                format!("[:{caret}{class}:]")
            } else {
                format!("[[:{caret}{class}:]]")
            });
        }
        Some(c) if !c.is_ascii_alphanumeric() => {
            if c.is_ascii() {
                out.push('\\');
            }
            out.push(c);
        }
        _ => return refused("this escape sequence", pattern),
    }
    Ok(())
}

/// The error for an unsupported construct of a pattern.
fn refused<T>(what: &str, pattern: &str) -> Result<T, UnsupportedPattern> {
    Err(UnsupportedPattern(format!("{what} in the pattern `{pattern}`")))
}

/// Translates Java's pattern to the syntax of the engine used here, with explicit forms where both differ.
fn translate(pattern: &str) -> Result<String, UnsupportedPattern> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut class_depth = 0_u32;
    let mut multiline = false;
    let mut dot_all = false;
    while let Some(c) = chars.next() {
        let in_class = class_depth > 0;
        match c {
            '\\' => translate_escape(pattern, &mut chars, in_class, &mut out)?,
            '.' if !in_class && dot_all => out.push_str("(?s:.)"),
            '.' if !in_class => out.push_str("[^\\n\\r\\x{85}\\x{2028}\\x{2029}]"),
            '[' => {
                class_depth += 1;
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                if chars.peek() == Some(&']') {
                    return refused("`]` at the start of a class", pattern);
                }
            }
            ']' if in_class => {
                class_depth -= 1;
                out.push(']');
            }
            '~' | '-' if in_class && chars.peek() == Some(&c) => return refused("a set operation", pattern),
            '(' if !in_class && chars.peek() == Some(&'?') => {
                chars.next();
                out.push_str("(?");
                if matches!(chars.peek(), Some(':' | '=' | '!' | '<' | '>')) {
                    continue;
                }
                let flags: String =
                    std::iter::from_fn(|| chars.next_if(|c| matches!(c, 'i' | 's' | 'm' | 'x' | 'u' | '-')))
                        .collect();
                let closes = chars.peek() == Some(&')');
                if !matches!(chars.peek(), Some(')' | ':')) {
                    return refused("a special group", pattern);
                }
                if flags.contains('m') {
                    multiline = true;
                }
                if flags.contains('s') {
                    if !closes {
                        return refused("a group with a flag", pattern);
                    }
                    dot_all = true;
                }
                let remaining: String = flags.chars().filter(|c| !matches!(c, 's' | 'u' | 'm')).collect();
                if remaining.is_empty() && closes {
                    out.truncate(out.len() - 2);
                    chars.next();
                } else {
                    out.push_str(&remaining);
                }
            }
            // Java's `$` also matches before the end of the last line.
            '$' if !in_class && multiline => out.push_str("(?m:$)"),
            '$' if !in_class => out.push_str("(?=(?:\\r\\n|[\\n\\r\\x{85}\\x{2028}\\x{2029}])?\\z)"),
            '^' if !in_class && multiline => out.push_str("(?m:^)"),
            '^' if !in_class => out.push_str("\\A"),
            '{' if !in_class && !chars.peek().is_some_and(char::is_ascii_digit) => out.push_str("\\{"),
            '}' if !in_class
                && !out.rsplit('{').next().is_some_and(|tail| {
                    out.contains('{') && tail.chars().all(|c| c.is_ascii_digit() || c == ',')
                }) =>
            {
                out.push_str("\\}");
            }
            _ => out.push(c),
        }
    }
    Ok(out)
}
