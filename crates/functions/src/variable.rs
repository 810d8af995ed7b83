//! The functions `__V`, `__eval`, `__evalVar`, `__isVarDefined`, `__split` and `__RandomFromMultipleVars`.

use std::fmt::Write as _;
use std::sync::Arc;

use busyhour_java::trim;
use busyhour_program::ElementError;
use busyhour_program::result::Retention;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use rand::Rng as _;

use crate::arguments::{Arguments, BuildResult, Target, log_failure, with_text};
use crate::context::RenderText;

#[derive(Debug)]
struct Variable {
    name: Template,
    default: Option<Template>,
}

/// Builds `${__V(name, default)}`.
pub(crate) fn v(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Variable { name: arguments.take(0), default: arguments.optional(1) }))
}

impl Function for Variable {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        with_text(&self.name, user, |user, name| match (user.variables.get(name), &self.default) {
            (Some(value), _) => out.push_str(value),
            (None, Some(default)) => default.render(user, out),
            (None, None) => out.push_str(name),
        });
    }
}

/// Records all reads, because a text that is parsed during the run may call any function.
fn note_all_reads(arguments: &mut Arguments<'_, '_>) {
    arguments.note_reads(Retention::ALL, true);
}

#[derive(Debug)]
struct Eval {
    text: Template,
    render_text: RenderText,
}

/// Builds `${__eval(text)}`.
pub(crate) fn eval(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    note_all_reads(arguments);
    Ok(Arc::new(Eval { text: arguments.take(0), render_text: arguments.render_text() }))
}

impl Function for Eval {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        with_text(&self.text, user, |user, text| (self.render_text)(text, user, out));
    }
}

#[derive(Debug)]
struct EvalVariable {
    name: Template,
    render_text: RenderText,
}

/// Builds `${__evalVar(name)}`.
pub(crate) fn eval_var(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    note_all_reads(arguments);
    Ok(Arc::new(EvalVariable { name: arguments.take(0), render_text: arguments.render_text() }))
}

impl Function for EvalVariable {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        with_text(&self.name, user, |user, name| {
            let mut text = user.take_buffer();
            text.push_str(user.variables.get(name).unwrap_or_default());
            (self.render_text)(&text, user, out);
            user.give_back(text);
        });
    }
}

#[derive(Debug)]
struct IsDefined {
    name: Template,
}

/// Builds `${__isVarDefined(name)}`.
pub(crate) fn is_defined(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(IsDefined { name: arguments.take(0) }))
}

impl Function for IsDefined {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let found = with_text(&self.name, user, |user, name| user.variables.get(name).is_some());
        out.push_str(if found { "true" } else { "false" });
    }
}

#[derive(Debug)]
struct Split {
    text: Template,
    prefix: Template,
    separator: Option<Template>,
}

/// Builds `${__split(text, variable, separator)}`.
pub(crate) fn split(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let separator = arguments.optional(2);
    Ok(Arc::new(Split { text: arguments.take(0), prefix: arguments.take(1), separator }))
}

impl Function for Split {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        self.text.render(user, out);
        let text = &out[start..];
        let separator = match &self.separator {
            Some(separator) => separator.text(user).into_owned(),
            None => String::new(),
        };
        let separator = if separator.is_empty() { "," } else { &separator };
        with_text(&self.prefix, user, |user, prefix| {
            let prefix = trim(prefix);
            user.variables.set(prefix, text);
            let mut name = user.take_buffer();
            let mut count = 0;
            for part in split_text(text, separator) {
                count += 1;
                name.clear();
                let _ = write!(name, "{prefix}_{count}");
                user.variables.set(&name, if part.is_empty() { "?" } else { part });
            }
            name.clear();
            let _ = write!(name, "{prefix}_{}", count + 1);
            user.variables.remove(&name);
            name.clear();
            let _ = write!(name, "{prefix}_n");
            let count = count.to_string();
            user.variables.set(&name, &count);
            user.give_back(name);
        });
    }
}

/// Splits a text at delimiters. Each character of `delimiters` is a delimiter. Empty parts count, except before a delimiter
/// at the start of the text.
fn split_text<'t>(text: &'t str, delimiters: &str) -> impl Iterator<Item = &'t str> {
    let mut parts = text.split(|c| delimiters.contains(c));
    if text.is_empty() || text.starts_with(|c| delimiters.contains(c)) {
        parts.next();
    }
    parts
}

#[derive(Debug)]
struct FromMultiple {
    names: Template,
    target: Target,
}

/// Builds `${__RandomFromMultipleVars(a|b|c, variable)}`.
pub(crate) fn random_from_multiple(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let target = arguments.target(1);
    Ok(Arc::new(FromMultiple { names: arguments.take(0), target }))
}

impl Function for FromMultiple {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        with_text(&self.names, user, |user, names| match candidates(user, trim(names)) {
            Ok(found) if !found.is_empty() => {
                let index = user.random.random_range(0..found.len());
                out.push_str(&found[index]);
            }
            Ok(_) => {}
            Err(error) => log_failure(user, "__RandomFromMultipleVars", error.message()),
        });
        self.target.store(user, &out[start..]);
    }
}

/// The values of the variables in `names`. A variable with a `_matchNr` contributes all its matches.
fn candidates(user: &UserState, names: &str) -> Result<Vec<String>, ElementError> {
    let mut found = Vec::new();
    for name in names.split('|').filter(|name| !name.is_empty()) {
        let matches = match user.variables.get(&format!("{name}_matchNr")) {
            None | Some("") => 0,
            Some(text) => {
                text.parse::<i32>().map_err(|_| format!("{name}_matchNr is not a number: {text:?}"))?
            }
        };
        if matches > 0 {
            for index in 1..=matches {
                let value = user.variables.get(&format!("{name}_{index}"));
                found.push(value.unwrap_or("null").to_owned());
            }
        } else if let Some(value) = user.variables.get(name).filter(|value| !value.is_empty()) {
            found.push(value.to_owned());
        }
    }
    Ok(found)
}
