//! Parses JSON paths and their filters. They share a file because filters contain paths.

use crate::cursor::Cursor;
use crate::error::PathError;
use crate::literals::{json_literal, pattern, unsupported};
use crate::read::read;
use crate::syntax::{Comparison, Filter, Function, JsonPath, Operand, Step};
use crate::value::Value;

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

/// The functions that exist in Jayway.
const KNOWN_FUNCTIONS: [&str; 14] = [
    "avg", "stddev", "sum", "min", "max", "concat", "length", "size", "append", "keys", "first", "last",
    "index", "values",
];

/// Maximum nesting depth of filters. Filters nest because a path in a filter may contain a filter.
const DEPTH_MAX: u32 = 10;
/// Maximum nesting depth of parentheses and `!` in a filter.
const PARENTHESES_MAX: u32 = 50;

/// Jayway's error for a bracket that is not followed by a known token.
fn token_error<T>(cursor: &Cursor<'_>, open: usize) -> Result<T, PathError> {
    let open = cursor.utf16_position(open);
    Err(PathError::Invalid(format!(
        "Could not parse token starting at position {open}. Expected ?, ', 0-9, * "
    )))
}

/// Jayway's error when it reads beyond the end of the path.
fn end_error<T>(cursor: &Cursor<'_>) -> Result<T, PathError> {
    let length = cursor.utf16_position(cursor.text.len());
    Err(PathError::Invalid(format!(
        "java.lang.StringIndexOutOfBoundsException: String index out of range: {length}"
    )))
}

/// Whether one character is left, which Jayway ignores after a complete step.
fn is_ignored_tail(cursor: &Cursor<'_>) -> bool {
    !cursor.in_filter && cursor.rest().chars().nth(1).is_none()
}

/// Parses the steps after `$` or `@`.
///
/// # Errors
/// The path is invalid (with Jayway's message) or not supported.
pub(crate) fn steps(cursor: &mut Cursor<'_>) -> Result<Vec<Step>, PathError> {
    let mut steps = Vec::new();
    while let Some(next) = cursor.peek() {
        if !steps.is_empty() && !matches!(steps.last(), Some(Step::Descend)) && is_ignored_tail(cursor) {
            cursor.at = cursor.text.len();
            break;
        }
        match next {
            '.' => dot(cursor, &mut steps)?,
            '[' => {
                let step = bracket(cursor)?;
                steps.push(step);
            }
            _ if cursor.in_filter => break,
            _ if steps.is_empty() => {
                return Err(PathError::Invalid(format!(
                    "Illegal character at position {} expected '.' or '['",
                    cursor.at
                )));
            }
            ' ' => {
                return Err(PathError::Invalid(format!(
                    "Could not parse token starting at position {}",
                    cursor.at
                )));
            }
            _ => {
                let step = name(cursor)?;
                steps.push(step);
            }
        }
        if matches!(steps.last(), Some(Step::Function(_))) && !cursor.in_filter && !cursor.rest().is_empty() {
            return unsupported("steps after a function");
        }
    }
    Ok(steps)
}

fn dot(cursor: &mut Cursor<'_>, steps: &mut Vec<Step>) -> Result<(), PathError> {
    cursor.at += 1;
    if cursor.peek() == Some('.') {
        cursor.at += 1;
        steps.push(Step::Descend);
        if cursor.peek() == Some('[') {
            return Ok(());
        }
    }
    match cursor.peek() {
        None => Err(PathError::Invalid("Path must not end with a '.' or '..'".to_owned())),
        Some('*') => {
            cursor.at += 1;
            steps.push(Step::Wildcard);
            Ok(())
        }
        Some('[') => Ok(()),
        Some('.') => {
            Err(PathError::Invalid(format!("Character '.' on position {} is not valid.", cursor.at)))
        }
        Some(_) => {
            let step = name(cursor)?;
            steps.push(step);
            Ok(())
        }
    }
}

fn name(cursor: &mut Cursor<'_>) -> Result<Step, PathError> {
    let start = cursor.at;
    let ends =
        |next: char| matches!(next, '.' | '[' | '(') || next == ' ' || (cursor.in_filter && ends_name(next));
    let length = cursor.rest().find(ends).unwrap_or(cursor.rest().len());
    let name = &cursor.rest()[..length];
    cursor.at += length;
    match cursor.peek() {
        Some('(') => return function(cursor, name),
        Some(' ') if !cursor.in_filter && name.is_empty() => {
            return Err(PathError::Invalid(format!("Could not parse token starting at position {start}")));
        }
        Some(' ') if !cursor.in_filter => {
            return Err(PathError::Invalid(format!(
                "Use bracket notion ['my prop'] if your property contains blank characters. position: {start}"
            )));
        }
        _ => {}
    }
    if name.is_empty() {
        return unsupported("an empty name");
    }
    Ok(Step::Members(vec![name.to_owned()]))
}

fn function(cursor: &mut Cursor<'_>, name: &str) -> Result<Step, PathError> {
    let Some(end) = cursor.rest().find(')') else {
        return Err(PathError::Invalid(format!("Arguments to function: '{name}' are not closed properly.")));
    };
    let arguments = cursor.rest()[1..end].trim();
    cursor.at += end + 1;
    let function = match (name, arguments) {
        ("length" | "size", "") => Function::Length,
        ("min", "") => Function::Min,
        ("max", "") => Function::Max,
        ("avg", "") => Function::Avg,
        ("sum", "") => Function::Sum,
        ("stddev", "") => Function::StdDev,
        ("first", "") => Function::First,
        ("last", "") => Function::Last,
        ("concat", "") => Function::Concat,
        ("index", number) => match number.parse() {
            Ok(number) => Function::Index(number),
            Err(_) => return unsupported("this argument of index()"),
        },
        (name, _) if !KNOWN_FUNCTIONS.contains(&name) => Function::Unknown(name.to_owned()),
        _ => return unsupported(format!("the function {name}({arguments})")),
    };
    Ok(Step::Function(function))
}

fn skip_blanks(cursor: &mut Cursor<'_>) {
    cursor.at += cursor.rest().len() - cursor.rest().trim_start_matches(' ').len();
}

fn bracket(cursor: &mut Cursor<'_>) -> Result<Step, PathError> {
    let open = cursor.at;
    cursor.at += 1;
    skip_blanks(cursor);
    match cursor.peek() {
        Some(quote @ ('\'' | '"')) => quoted_names(cursor, quote),
        Some('*') => {
            cursor.at += 1;
            let after_wildcard = cursor.at;
            skip_blanks(cursor);
            if cursor.peek() != Some(']') {
                let position = cursor.utf16_position(after_wildcard);
                return Err(PathError::Invalid(format!(
                    "Expected wildcard token to end with ']' on position {position}"
                )));
            }
            cursor.at += 1;
            Ok(Step::Wildcard)
        }
        Some('?') => filter_step(cursor, open),
        None => end_error(cursor),
        Some(next) if next == '-' || next == ':' || next.is_ascii_digit() => numbers(cursor, open),
        _ => token_error(cursor, open),
    }
}

/// Parses `[?(…)]` from the question mark on.
fn filter_step(cursor: &mut Cursor<'_>, open: usize) -> Result<Step, PathError> {
    cursor.at += 1;
    skip_blanks(cursor);
    match cursor.peek() {
        None => return end_error(cursor),
        Some(']') => {
            let open = cursor.utf16_position(open);
            return Err(PathError::Invalid(format!(
                "Not enough predicates supplied for filter [?] at position {open}"
            )));
        }
        Some('(') => {}
        Some(_) => return token_error(cursor, open),
    }
    // Like Jayway, find the end before parsing the content.
    let Some(length) = filter_length(cursor.rest()).map_err(|quote| {
        PathError::Invalid(format!(
            "Could not find matching close quote for {quote} when parsing : {}",
            cursor.text
        ))
    })?
    else {
        return token_error(cursor, open);
    };
    let after = &cursor.rest()[length..];
    if !after.trim_start_matches(' ').starts_with(']') {
        return token_error(cursor, open);
    }
    let end = cursor.at + length + after.find(']').map_or(0, |at| at + 1);
    let outer = std::mem::replace(&mut cursor.filter, (open, end));
    let filter = filter(cursor)?;
    cursor.filter = outer;
    close(cursor, open)?;
    Ok(Step::Filter(filter))
}

fn close(cursor: &mut Cursor<'_>, open: usize) -> Result<(), PathError> {
    skip_blanks(cursor);
    if cursor.peek() != Some(']') {
        return token_error(cursor, open);
    }
    cursor.at += 1;
    Ok(())
}

fn numbers(cursor: &mut Cursor<'_>, open: usize) -> Result<Step, PathError> {
    let Some(end) = cursor.rest().find(']') else { return token_error(cursor, open) };
    let inside = cursor.rest()[..end].trim();
    if !inside.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-' | ':' | ' ')) {
        return token_error(cursor, open);
    }
    let step = if inside.contains(':') {
        let failed = || PathError::Invalid(format!("Failed to parse SliceOperation: {inside}"));
        let (from, to) = inside.split_once(':').ok_or_else(failed)?;
        let bound = |text: &str| match text.trim() {
            "" => Ok(None),
            number => number.parse().map(Some).map_err(|_| failed()),
        };
        if to.contains(':') || (from.trim().is_empty() && to.trim().is_empty()) {
            return Err(failed());
        }
        Step::Slice(bound(from)?, bound(to)?)
    } else {
        let number = |text: &str| {
            let text = text.trim();
            text.parse().map_err(|_| {
                PathError::Invalid(format!("Failed to parse token in ArrayIndexOperation: {text}"))
            })
        };
        Step::Indexes(inside.split(',').map(number).collect::<Result<Vec<i64>, _>>()?)
    };
    cursor.at += end;
    close(cursor, open)?;
    Ok(step)
}

fn quoted_names(cursor: &mut Cursor<'_>, quote: char) -> Result<Step, PathError> {
    let mut names = Vec::new();
    loop {
        skip_blanks(cursor);
        match cursor.peek() {
            Some(next) if next == quote => {}
            Some(other @ ('\'' | '"')) => {
                return unsupported(format!("a name in {other} after {quote}"));
            }
            _ => {
                let end = cursor.rest().find(']').map_or(cursor.text.len(), |end| cursor.at + end);
                let end = cursor.utf16_position(end);
                return Err(PathError::Invalid(format!("Found empty property at index {end}")));
            }
        }
        cursor.at += 1;
        names.push(cursor.read_quoted(quote).ok_or_else(|| {
            PathError::Invalid("Property has not been closed - missing closing '".to_owned())
        })?);
        let after_quote = cursor.at;
        skip_blanks(cursor);
        match cursor.peek() {
            Some(',') => cursor.at += 1,
            Some(']') => {
                cursor.at += 1;
                return Ok(Step::Members(names));
            }
            _ => {
                let last = cursor.utf16_position(after_quote) - 1;
                return Err(PathError::Invalid(format!(
                    "Property must be separated by comma or Property must be terminated close square bracket at \
                     index {last}"
                )));
            }
        }
    }
}

/// Whether a character ends a name in a filter.
fn ends_name(next: char) -> bool {
    next.is_whitespace() || matches!(next, ')' | '=' | '!' | '<' | '>' | '&' | '|' | ',' | ']' | '~')
}

fn skip_space(cursor: &mut Cursor<'_>) {
    cursor.at += cursor.rest().len() - cursor.rest().trim_start().len();
}

/// Length of a filter including its outer parentheses; `None` if it is not closed. Parentheses in quotes and between
/// slashes do not count.
///
/// # Errors
/// A string is not closed; the error is its quotation mark.
fn filter_length(text: &str) -> Result<Option<usize>, char> {
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

/// Jayway's error for a character that cannot start an operand.
fn operand_error<T>(cursor: &Cursor<'_>) -> Result<T, PathError> {
    let (open, end) = cursor.filter;
    let filter = &cursor.text[open..end];
    let position = cursor.text[open..cursor.at].encode_utf16().count();
    let character = cursor.peek().unwrap_or(']');
    Err(PathError::Invalid(format!(
        "Failed to parse filter: {filter}, error on position: {position}, char: {character}"
    )))
}

/// Parses a filter including its outer parentheses.
fn filter(cursor: &mut Cursor<'_>) -> Result<Filter, PathError> {
    let outer = std::mem::replace(&mut cursor.in_filter, true);
    cursor.at += 1;
    cursor.depth += 1;
    if cursor.depth > DEPTH_MAX {
        return unsupported("deeply nested filters");
    }
    let filter = or(cursor, 0)?;
    expect_close(cursor)?;
    cursor.depth -= 1;
    cursor.in_filter = outer;
    Ok(filter)
}

fn expect_close(cursor: &mut Cursor<'_>) -> Result<(), PathError> {
    skip_space(cursor);
    if cursor.peek() != Some(')') {
        return Err(PathError::Invalid("Expected character: )".to_owned()));
    }
    cursor.at += 1;
    Ok(())
}

fn or(cursor: &mut Cursor<'_>, depth: u32) -> Result<Filter, PathError> {
    let mut parts = vec![and(cursor, depth)?];
    while take(cursor, "||") {
        parts.push(and(cursor, depth)?);
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::Or(parts) })
}

fn and(cursor: &mut Cursor<'_>, depth: u32) -> Result<Filter, PathError> {
    let mut parts = vec![not(cursor, depth)?];
    while take(cursor, "&&") {
        parts.push(not(cursor, depth)?);
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) })
}

fn take(cursor: &mut Cursor<'_>, token: &str) -> bool {
    skip_space(cursor);
    let found = cursor.rest().starts_with(token);
    if found {
        cursor.at += token.len();
    }
    found
}

fn not(cursor: &mut Cursor<'_>, depth: u32) -> Result<Filter, PathError> {
    if depth > PARENTHESES_MAX {
        return unsupported("a deeply nested filter");
    }
    if take(cursor, "!") {
        return Ok(Filter::Not(Box::new(not(cursor, depth + 1)?)));
    }
    if take(cursor, "(") {
        let filter = or(cursor, depth + 1)?;
        expect_close(cursor)?;
        return Ok(filter);
    }
    let left = operand(cursor)?;
    skip_space(cursor);
    let rest = cursor.rest();
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
    cursor.at += token.len();
    skip_space(cursor);
    let right = operand(cursor)?;
    if matches!(right, Operand::Pattern(_)) != (comparison == Comparison::Matches) {
        return unsupported("a comparison with a pattern other than =~");
    }
    if matches!(left, Operand::Pattern(_)) {
        return unsupported("a pattern on the left");
    }
    Ok(Filter::Compare(left, comparison, right))
}

fn operand(cursor: &mut Cursor<'_>) -> Result<Operand, PathError> {
    skip_space(cursor);
    match cursor.peek() {
        Some(root @ ('@' | '$')) => {
            let start = cursor.at;
            cursor.at += 1;
            let steps = steps(cursor)?;
            let path = JsonPath::from_steps(&cursor.text[start..cursor.at], steps, true)?;
            Ok(if root == '@' { Operand::Item(path) } else { Operand::Root(path) })
        }
        Some(quote @ ('\'' | '"')) => {
            cursor.at += 1;
            match cursor.read_quoted(quote) {
                Some(text) => Ok(Operand::Literal(Value::Text(text))),
                None => Err(PathError::Invalid("Expected character: )".to_owned())),
            }
        }
        Some('/') => pattern(cursor),
        Some('[' | '{') => json_literal(cursor),
        _ => {
            let end = cursor.rest().find(|c: char| c.is_whitespace() || ")&|,=<>!".contains(c));
            let word = &cursor.rest()[..end.unwrap_or(cursor.rest().len())];
            let value = match word {
                "null" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => match read(word) {
                    Ok(number) if number.as_f64().is_some() => number,
                    _ => return unsupported(format!("the value {word}")),
                },
                _ if word.starts_with(['t', 'f', 'n']) => {
                    return Err(PathError::Invalid("Expected character: )".to_owned()));
                }
                _ => return operand_error(cursor),
            };
            cursor.at += word.len();
            Ok(Operand::Literal(value))
        }
    }
}
