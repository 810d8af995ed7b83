//! Parser of JMeter's notation of variables and functions. It compiles a text to a template.
//!
//! The rules, including the odd ones, are those of JMeter 5.6.3:
//!
//! - A backslash escapes `$`, `,` and itself; before other characters it remains in the text.
//! - A name ends at the first `}`.
//! - A parenthesis after a name that is not a function is part of the name.
//! - An unclosed `${name` loses its `${`.

use std::borrow::Cow;
use std::sync::Arc;

use busyhour_program::template::{Function, Segment, Template};
use busyhour_program::user::{Thrown, UserState};

use crate::context::Context;
use crate::problem::{Problem, ProblemKind};
use crate::registry;

/// Maximum nesting depth of function calls in arguments of function calls.
const DEPTH_MAX: u32 = 50;

/// A function that always throws an `IllegalArgumentException`.
#[derive(Debug)]
struct Throws {
    message: String,
}

impl Function for Throws {
    fn evaluate(&self, user: &mut UserState, _: &mut String) {
        let class = "java.lang.IllegalArgumentException";
        user.thrown = Some(Box::new(Thrown { class, message: self.message.clone() }));
    }
}

/// Parses `text`, which starts at offset `base` of the caller's text.
pub(crate) fn template(text: &str, base: usize, context: &mut Context<'_>) -> Template {
    let mut reader = Reader { text, at: 0, base };
    let mut segments = Vec::new();
    let mut literal = String::new();
    // Whether the previous character is an unescaped `$`.
    let mut after_dollar = false;
    while let Some(c) = reader.next() {
        match c {
            '\\' => {
                after_dollar = false;
                match reader.next() {
                    Some(escaped @ ('$' | ',' | '\\')) => literal.push(escaped),
                    Some(other) => {
                        literal.push('\\');
                        literal.push(other);
                    }
                    None => literal.push('\\'),
                }
            }
            '{' if after_dollar => {
                after_dollar = false;
                literal.pop();
                match parse_reference(&mut reader, context) {
                    Segment::Text(text) => literal.push_str(&text),
                    segment => {
                        if !literal.is_empty() {
                            segments.push(Segment::Text(std::mem::take(&mut literal).into()));
                        }
                        segments.push(segment);
                    }
                }
            }
            _ => {
                literal.push(c);
                after_dollar = c == '$';
            }
        }
    }
    if !literal.is_empty() {
        segments.push(Segment::Text(literal.into()));
    }
    Template::new(text, segments)
}

/// A cursor over the characters of a text.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    base: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// The text read since `from`.
    fn since(&self, from: usize) -> &'t str {
        &self.text[from..self.at]
    }
}

/// Parses a reference after its `${`.
fn parse_reference(reader: &mut Reader<'_>, context: &mut Context<'_>) -> Segment {
    let start = reader.base + reader.at - 2;
    let mut name = String::new();
    let mut previous = ' ';
    // The name of a function contains no parenthesis, so only the first parenthesis can start the arguments of a call.
    let mut may_be_call = true;
    while let Some(c) = reader.next() {
        match c {
            '\\' => {
                previous = ' ';
                name.push(reader.next().unwrap_or('\\'));
            }
            '(' if previous != ' ' && may_be_call => {
                may_be_call = false;
                let function = busyhour_java::trim(&name);
                let is_unknown = context.in_plan()
                    && looks_like_function(function)
                    && !registry::is_left_as_text(function);
                if registry::is_function(function) || is_unknown {
                    let function = function.to_owned();
                    return parse_call(&function, start, reader, context);
                }
                name.push('(');
            }
            '}' => {
                return if registry::is_function(&name) {
                    function_segment(&name, start, Vec::new(), context)
                } else {
                    context.variable(&name)
                };
            }
            _ => {
                name.push(c);
                previous = c;
            }
        }
    }
    Segment::Text(name.into())
}

/// Whether the name can only be the name of a function. If the function is unknown, JMeter without its plugin would send the
/// call as text, which is never intended.
fn looks_like_function(name: &str) -> bool {
    name.strip_prefix("__").is_some_and(|rest| {
        !rest.is_empty()
            && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !rest.starts_with("jm__")
    })
}

/// Parses the arguments after `name(` and the closing brace.
fn parse_call(name: &str, start: usize, reader: &mut Reader<'_>, context: &mut Context<'_>) -> Segment {
    let raw = split_arguments(reader);
    let after_arguments = reader.at;
    loop {
        match reader.next() {
            Some('}') => break,
            Some(c) if is_space(c) => {}
            found => {
                let message = match found {
                    Some(_) => {
                        let rest = excerpt(&reader.text[after_arguments..]);
                        format!("expected }} after the arguments of {name}, found {rest:?}")
                    }
                    None => format!("the call of {name} is not closed"),
                };
                let hint = format!("write ${{{name}(…)}}; a comma inside an argument is written \\,");
                context.report(Problem { kind: ProblemKind::Invalid, message, hint, offset: start });
                return Segment::Text(Box::default());
            }
        }
    }
    if context.depth >= DEPTH_MAX {
        // Report only one problem for all calls beyond the limit.
        if !context.has_reported(ProblemKind::Unsupported) {
            let message = format!("functions are nested deeper than {DEPTH_MAX}");
            let hint = "compute the inner values first, for instance into variables".to_owned();
            context.report(Problem { kind: ProblemKind::Unsupported, message, hint, offset: start });
        }
        return Segment::Text(Box::default());
    }
    context.depth += 1;
    let base = reader.base;
    let values = raw.into_iter().map(|(at, text)| template(text, base + at, context)).collect();
    context.depth -= 1;
    function_segment(name, start, values, context)
}

/// Number of characters that a message quotes from a text.
const EXCERPT_CHARS: usize = 200;

/// The beginning of a text, for a message.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(EXCERPT_CHARS) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

/// Implements Java's `Character.isSpaceChar`: the Unicode separators, which do not include tabs and line ends.
fn is_space(c: char) -> bool {
    matches!(
        c,
        ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Splits the text up to the closing `)` into arguments as written, each with its offset.
fn split_arguments<'t>(reader: &mut Reader<'t>) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    let mut from = reader.at;
    let mut previous = ' ';
    let mut references = 0_u32;
    let mut parentheses = 0_u32;
    while let Some(c) = reader.next() {
        match c {
            '\\' => {
                previous = ' ';
                reader.next();
                continue;
            }
            ',' if references == 0 => {
                found.push((from, &reader.text[from..reader.at - 1]));
                from = reader.at;
                // As in JMeter, `previous` remains the character before the comma, so `$,{` counts as the start of a
                // reference.
                continue;
            }
            ')' if references == 0 && parentheses == 0 => {
                let last = &reader.text[from..reader.at - 1];
                if !(last.is_empty() && found.is_empty()) {
                    found.push((from, last));
                }
                return found;
            }
            '{' if previous == '$' => references += 1,
            '}' if references > 0 => references -= 1,
            ')' if references == 0 => parentheses -= 1,
            '(' if references == 0 => parentheses += 1,
            _ => {}
        }
        previous = c;
    }
    found.push((from, reader.since(from)));
    found
}

/// Builds the segment of a function, or records the problem.
fn function_segment(name: &str, offset: usize, values: Vec<Template>, context: &mut Context<'_>) -> Segment {
    let function = match registry::find(name) {
        Some(info) => info.build(values, offset, context),
        None if context.has_many_unsupported() => return Segment::Text(Box::default()),
        None => Err(registry::unknown_function(name, offset)),
    };
    match function {
        Ok(function) => Segment::Function(function),
        Err(problem) => {
            let throws = (problem.kind == ProblemKind::FailsSample).then(|| problem.message.clone());
            context.report(problem);
            match throws {
                Some(message) => Segment::Function(Arc::new(Throws { message })),
                None => Segment::Text(Box::default()),
            }
        }
    }
}
