//! Filters of JSON paths: `[?(@.price < 10 && @.isbn)]`.

use std::cmp::Ordering;

use crate::path::{Parser, quoted};
use crate::steps::Steps;
use crate::value::Value;
use crate::{JsonPath, PathError, eval, read};

/// A condition on an item.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    /// The path leads somewhere.
    Exists(Operand),
    Compare(Operand, Comparison, Operand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Matches,
    In,
    NotIn,
    Contains,
    Size,
    Empty,
    AnyOf,
    NoneOf,
    SubsetOf,
}

impl Comparison {
    /// Values that have to be looked at for it, at most.
    fn steps(self, left: &Worth<'_>, right: &Worth<'_>) -> usize {
        let (Worth::Value(left), Worth::Value(right)) = (left, right) else { return 0 };
        // Members of objects are looked up one by one.
        let all = |value: &Value| match value {
            Value::Object(members) => value.size().saturating_mul(members.len()),
            other => other.size(),
        };
        match self {
            Self::AnyOf | Self::NoneOf | Self::SubsetOf => left.size().saturating_mul(right.size()),
            Self::In | Self::NotIn | Self::Contains => left.size().saturating_add(right.size()),
            Self::Size | Self::Empty | Self::Matches => 0,
            Self::Equal | Self::NotEqual => all(left).min(all(right)),
            Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual => 1,
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// `@…`: of the item.
    Item(JsonPath),
    /// `$…`: of the whole document.
    Root(JsonPath),
    Literal(Value),
    Pattern(regex::Regex),
}

/// What an operand is worth for an item.
enum Worth<'v> {
    Value(std::borrow::Cow<'v, Value>),
    Undefined,
}

const OPERATORS: [(&str, Comparison); 15] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessEqual),
    (">=", Comparison::GreaterEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=~", Comparison::Matches),
    ("in", Comparison::In),
    ("nin", Comparison::NotIn),
    ("contains", Comparison::Contains),
    ("size", Comparison::Size),
    ("empty", Comparison::Empty),
    ("anyof", Comparison::AnyOf),
    ("noneof", Comparison::NoneOf),
    ("subsetof", Comparison::SubsetOf),
];

/// How deep filters may stand in paths of filters.
const DEPTH_MAX: u32 = 10;
/// How deep parentheses and `!` may nest in a filter.
const PARENTHESES_MAX: u32 = 50;

fn unsupported<T>(what: impl Into<String>) -> Result<T, PathError> {
    Err(PathError::Unsupported(what.into()))
}

fn skip_space(parser: &mut Parser<'_>) {
    parser.at += parser.rest().len() - parser.rest().trim_start().len();
}

/// Length of a filter with its outer parentheses; `None`: it has no end. What stands in quotes or between slashes is not
/// looked at.
///
/// # Errors
/// The quote that has no other.
pub(crate) fn length(text: &str) -> Result<Option<usize>, char> {
    let mut depth = 0u32;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(Some(at + 1));
                }
            }
            '\'' | '"' => loop {
                match characters.next() {
                    Some((_, '\\')) => drop(characters.next()),
                    Some((_, next)) if next == character => break,
                    Some(_) => {}
                    None => return Err(character),
                }
            },
            '/' => loop {
                match characters.next() {
                    Some((_, '\\')) => drop(characters.next()),
                    Some((_, '/')) => break,
                    Some(_) => {}
                    None => return Ok(None),
                }
            },
            _ => {}
        }
    }
    Ok(None)
}

/// Jayway does not know what to make of what comes next.
fn lost<T>(parser: &Parser<'_>) -> Result<T, PathError> {
    let (open, end) = parser.filter;
    let filter = &parser.text[open..end];
    let position = parser.text[open..parser.at].encode_utf16().count();
    let character = parser.peek().unwrap_or(']');
    Err(PathError::Invalid(format!(
        "Failed to parse filter: {filter}, error on position: {position}, char: {character}"
    )))
}

/// Reads a filter with its outer parentheses.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Filter, PathError> {
    let outer = std::mem::replace(&mut parser.inside, true);
    parser.at += 1;
    parser.depth += 1;
    if parser.depth > DEPTH_MAX {
        return unsupported("deeply nested filters");
    }
    let filter = or(parser, 0)?;
    expect_close(parser)?;
    parser.depth -= 1;
    parser.inside = outer;
    Ok(filter)
}

fn expect_close(parser: &mut Parser<'_>) -> Result<(), PathError> {
    skip_space(parser);
    if parser.peek() != Some(')') {
        return Err(PathError::Invalid("Expected character: )".to_owned()));
    }
    parser.at += 1;
    Ok(())
}

fn or(parser: &mut Parser<'_>, depth: u32) -> Result<Filter, PathError> {
    let mut parts = vec![and(parser, depth)?];
    while take(parser, "||") {
        parts.push(and(parser, depth)?);
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::Or(parts) })
}

fn and(parser: &mut Parser<'_>, depth: u32) -> Result<Filter, PathError> {
    let mut parts = vec![not(parser, depth)?];
    while take(parser, "&&") {
        parts.push(not(parser, depth)?);
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) })
}

fn take(parser: &mut Parser<'_>, token: &str) -> bool {
    skip_space(parser);
    let found = parser.rest().starts_with(token);
    if found {
        parser.at += token.len();
    }
    found
}

fn not(parser: &mut Parser<'_>, depth: u32) -> Result<Filter, PathError> {
    if depth > PARENTHESES_MAX {
        return unsupported("a deeply nested filter");
    }
    if take(parser, "!") {
        return Ok(Filter::Not(Box::new(not(parser, depth + 1)?)));
    }
    if take(parser, "(") {
        let filter = or(parser, depth + 1)?;
        expect_close(parser)?;
        return Ok(filter);
    }
    let left = operand(parser)?;
    skip_space(parser);
    let rest = parser.rest();
    if rest.is_empty() || rest.starts_with(')') || rest.starts_with("&&") || rest.starts_with("||") {
        return match left {
            Operand::Item(_) | Operand::Root(_) => Ok(Filter::Exists(left)),
            _ => unsupported("a filter that compares nothing"),
        };
    }
    let word = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let sign = rest.find(|c: char| !"=!<>~".contains(c)).unwrap_or(rest.len());
    let token = &rest[..word.max(sign)];
    let Some(&(_, comparison)) = OPERATORS.iter().find(|(name, _)| name.eq_ignore_ascii_case(token)) else {
        return if token.is_empty() || token == "=" {
            Err(PathError::Invalid("Expected character: )".to_owned()))
        } else {
            unsupported(format!("the operator {token}"))
        };
    };
    parser.at += token.len();
    skip_space(parser);
    let right = operand(parser)?;
    if matches!(right, Operand::Pattern(_)) != (comparison == Comparison::Matches) {
        return unsupported("a comparison with a pattern other than =~");
    }
    if matches!(left, Operand::Pattern(_)) {
        return unsupported("a pattern on the left");
    }
    Ok(Filter::Compare(left, comparison, right))
}

fn operand(parser: &mut Parser<'_>) -> Result<Operand, PathError> {
    skip_space(parser);
    match parser.peek() {
        Some(root @ ('@' | '$')) => {
            let start = parser.at;
            parser.at += 1;
            let steps = parser.steps()?;
            let path = JsonPath::from_steps(&parser.text[start..parser.at], steps, true)?;
            Ok(if root == '@' { Operand::Item(path) } else { Operand::Root(path) })
        }
        Some(quote @ ('\'' | '"')) => {
            parser.at += 1;
            match quoted(parser, quote) {
                Some(text) => Ok(Operand::Literal(Value::Text(text))),
                None => Err(PathError::Invalid("Expected character: )".to_owned())),
            }
        }
        Some('/') => pattern(parser),
        Some('[' | '{') => json_literal(parser),
        _ => {
            let end = parser.rest().find(|c: char| c.is_whitespace() || ")&|,=<>!".contains(c));
            let word = &parser.rest()[..end.unwrap_or(parser.rest().len())];
            let value = match word {
                "null" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => match read::read(word) {
                    Ok(number) if number.as_f64().is_some() => number,
                    _ => return unsupported(format!("the value {word}")),
                },
                _ if word.starts_with(['t', 'f', 'n']) => {
                    return Err(PathError::Invalid("Expected character: )".to_owned()));
                }
                _ => return lost(parser),
            };
            parser.at += word.len();
            Ok(Operand::Literal(value))
        }
    }
}

fn pattern(parser: &mut Parser<'_>) -> Result<Operand, PathError> {
    let mut end = None;
    let mut escaped = false;
    for (offset, character) in parser.rest().char_indices().skip(1) {
        if character == '/' && !escaped {
            end = Some(offset);
            break;
        }
        escaped = character == '\\' && !escaped;
    }
    let Some(end) = end else { return unsupported("a pattern without an end") };
    let text = &parser.rest()[1..end];
    parser.at += end + 1;
    let flags: String = parser.rest().chars().take_while(char::is_ascii_alphabetic).collect();
    parser.at += flags.len();
    if !flags.chars().all(|flag| "ims".contains(flag)) {
        return unsupported(format!("the flags {flags} of a pattern"));
    }
    let flags = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
    // java.util.regex here, and the whole text must match. The plain constructs mean the same in both.
    match regex::Regex::new(&format!("{flags}^(?:{text})$")) {
        Ok(regex) if !text.contains(['[', '{']) || !text.contains("&&") => Ok(Operand::Pattern(regex)),
        _ => unsupported(format!("the pattern /{text}/")),
    }
}

/// A literal in JSON ends with the bracket that opened it.
fn json_literal(parser: &mut Parser<'_>) -> Result<Operand, PathError> {
    let mut depth = 0u32;
    let mut quote = None;
    for (offset, character) in parser.rest().char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth -= 1;
                if depth == 0 {
                    let text = &parser.rest()[..=offset];
                    let Ok(value) = read::read(text) else { return unsupported(format!("the value {text}")) };
                    parser.at += offset + 1;
                    return Ok(Operand::Literal(value));
                }
            }
            _ => {}
        }
    }
    unsupported("a value without an end")
}

impl Operand {
    fn worth<'v>(&'v self, item: &'v Value, root: &'v Value, steps: &Steps) -> Worth<'v> {
        let (path, start) = match self {
            Self::Item(path) => (path, item),
            Self::Root(path) => (path, root),
            Self::Literal(value) => return Worth::Value(std::borrow::Cow::Borrowed(value)),
            Self::Pattern(_) => return Worth::Undefined,
        };
        match eval::single(path, start, root, steps) {
            Some(value) => Worth::Value(value),
            None => Worth::Undefined,
        }
    }
}

impl Filter {
    /// Whether it holds for the item.
    pub(crate) fn holds(&self, item: &Value, root: &Value, steps: &Steps) -> bool {
        if !steps.spend(1) {
            return false;
        }
        match self {
            Self::And(parts) => parts.iter().all(|part| part.holds(item, root, steps)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(item, root, steps)),
            Self::Not(part) => !part.holds(item, root, steps),
            Self::Exists(operand) => matches!(operand.worth(item, root, steps), Worth::Value(_)),
            Self::Compare(left, Comparison::Matches, Operand::Pattern(pattern)) => {
                match left.worth(item, root, steps) {
                    Worth::Value(value) if !steps.spend(value.size()) => false,
                    Worth::Value(value) => match value.as_ref() {
                        Value::Text(text) => pattern.is_match(text),
                        Value::Integer(_) | Value::Double(_) | Value::Bool(_) => {
                            pattern.is_match(&value.asserted())
                        }
                        _ => false,
                    },
                    Worth::Undefined => false,
                }
            }
            Self::Compare(left, comparison, right) => {
                let (left, right) = (left.worth(item, root, steps), right.worth(item, root, steps));
                steps.spend(comparison.steps(&left, &right)) && compare(&left, *comparison, &right)
            }
        }
    }
}

fn compare(left: &Worth<'_>, comparison: Comparison, right: &Worth<'_>) -> bool {
    let (left, right) = match (left, right) {
        (Worth::Value(left), Worth::Value(right)) => (left.as_ref(), right.as_ref()),
        // Nothing differs from everything and equals nothing, not even nothing.
        _ => return matches!(comparison, Comparison::NotEqual | Comparison::NotIn),
    };
    let order = |accept: fn(Ordering) -> bool| ordering(left, right).is_some_and(accept);
    match comparison {
        Comparison::Equal => equal(left, right),
        Comparison::NotEqual => !equal(left, right),
        Comparison::Less => order(Ordering::is_lt),
        Comparison::LessEqual => order(Ordering::is_le),
        Comparison::Greater => order(Ordering::is_gt),
        Comparison::GreaterEqual => order(Ordering::is_ge),
        Comparison::In => items(right).is_some_and(|items| contains(items, left)),
        Comparison::NotIn => items(right).is_some_and(|items| !contains(items, left)),
        Comparison::Contains => match (left, right) {
            (Value::Text(text), Value::Text(part)) => text.contains(part.as_str()),
            (Value::Array(items), _) => contains(items, right),
            _ => false,
        },
        Comparison::Size => {
            let size = match left {
                Value::Text(text) => text.encode_utf16().count(),
                Value::Array(items) => items.len(),
                _ => return false,
            };
            right.as_f64().is_some_and(|expected| expected == size as f64)
        }
        Comparison::Empty => {
            let empty = match left {
                Value::Text(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                _ => return false,
            };
            *right == Value::Bool(empty)
        }
        Comparison::AnyOf => sets(left, right, |left, right| left.iter().any(|item| contains(right, item))),
        Comparison::NoneOf => sets(left, right, |left, right| !left.iter().any(|item| contains(right, item))),
        Comparison::SubsetOf => {
            sets(left, right, |left, right| left.iter().all(|item| contains(right, item)))
        }
        Comparison::Matches => false,
    }
}

fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn sets(left: &Value, right: &Value, test: fn(&[Value], &[Value]) -> bool) -> bool {
    match (items(left), items(right)) {
        (Some(left), Some(right)) => test(left, right),
        _ => false,
    }
}

fn contains(items: &[Value], wanted: &Value) -> bool {
    items.iter().any(|item| equal(item, wanted))
}

/// A number and a text are equal when the text is that number.
fn equal(left: &Value, right: &Value) -> bool {
    if let (Some(left), Some(right)) = (number(left, right), number(right, left)) {
        return left == right;
    }
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        _ => left == right,
    }
}

/// The value as a number, also when it is a text that is compared with one.
fn number(value: &Value, other: &Value) -> Option<f64> {
    match value {
        Value::Text(text) => other.as_f64().and_then(|_| text.trim().parse().ok()),
        _ => value.as_f64(),
    }
}

fn ordering(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left.encode_utf16().cmp(right.encode_utf16())),
        // An item's text is no number for an order, a literal in quotes is none either.
        (Value::Text(_), _) | (_, Value::Text(_)) => None,
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}
