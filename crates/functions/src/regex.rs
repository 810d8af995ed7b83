//! The function `__regexFunction`, and `__strReplaceRegex` of jmeter-plugins.

use std::ops::ControlFlow;
use std::sync::Arc;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_oro::{Pattern, PatternError, cached};
use busyhour_program::ElementError;
use busyhour_program::result::Retention;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, TEXT_MAX, Template};
use busyhour_program::user::UserState;
use rand::Rng as _;

use crate::arguments::{Arguments, BuildResult, Target, log_failure, with_text};

/// The groups of a match; group 0 is the whole match, and `None` is a group that did not participate.
type Match = Vec<Option<String>>;

#[derive(Debug)]
struct RegexFunction {
    pattern: Template,
    template: Template,
    which: Option<Template>,
    between: Option<Template>,
    default: Option<Template>,
    /// Name of the variable for the result, and prefix of the variables for groups.
    name: Option<Template>,
    input: Option<Template>,
}

/// Builds `${__regexFunction(pattern, template, which, between, default, variable, input variable)}`.
pub(crate) fn regex_function(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    check_pattern(arguments, 0)?;
    let mut optional = |index| arguments.optional(index);
    let (which, between, default) = (optional(2), optional(3), optional(4));
    let (name, input) = (optional(5), optional(6));
    let (pattern, template) = (arguments.take(0), arguments.take(1));
    arguments.note_reads(Retention { body: true, ..Retention::default() }, false);
    Ok(Arc::new(RegexFunction { pattern, template, which, between, default, name, input }))
}

/// Rejects a constant pattern that may match differently than in JMeter.
fn check_pattern(arguments: &Arguments<'_, '_>, index: usize) -> Result<(), crate::Problem> {
    let Some(text) = arguments.literal(index) else { return Ok(()) };
    match Pattern::compile(text).and_then(|pattern| pattern.check_groups()) {
        Ok(()) => Ok(()),
        Err(PatternError::Malformed(why)) => {
            Err(arguments.invalid(format!("the regular expression `{text}`: {why}"), ""))
        }
        Err(PatternError::Unsupported(why)) => {
            Err(arguments.unsupported(format!("the regular expression `{text}` has {why}"), ""))
        }
    }
}

fn text_of(template: Option<&Template>, user: &mut UserState) -> String {
    template.map(|template| template.text(user).into_owned()).unwrap_or_default()
}

impl Function for RegexFunction {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let template = self.template.text(user).into_owned();
        let which = text_of(self.which.as_ref(), user);
        let between = text_of(self.between.as_ref(), user);
        let default = text_of(self.default.as_ref(), user);
        let name = text_of(self.name.as_ref(), user);
        let input = text_of(self.input.as_ref(), user);
        if !name.is_empty() {
            user.variables.set(&name, &default);
        }
        let text = if input.is_empty() {
            user.has_result.then(|| user.result.body_text().into_owned())
        } else {
            user.variables.get(&input).map(str::to_owned)
        };
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            out.push_str(&default);
            return;
        };
        let found = with_text(&self.pattern, user, |_, pattern| find_matches(pattern, &text));
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                log_failure(user, "__regexFunction", why.message());
                return;
            }
        };
        if !name.is_empty() {
            user.variables.set(&format!("{name}_matchNr"), &found.len().to_string());
        }
        if found.is_empty() {
            out.push_str(&default);
            return;
        }
        if which == "ALL" {
            for (index, groups) in found.iter().enumerate() {
                if index > 0 {
                    out.push_str(&between);
                }
                append_result(groups, &name, &template, user, out);
            }
            return;
        }
        match select(&which, found.len(), user) {
            Selection::Match(index) => append_result(&found[index], &name, &template, user, out),
            Selection::Default => out.push_str(&default),
            Selection::Failed(why) => log_failure(user, "__regexFunction", &why),
        }
    }
}

/// Limit of the bytes of all matches together, as for extractors. It is needed because groups in a look-ahead may overlap
/// those of other matches.
const MATCH_BYTES_MAX: usize = 64 << 20;
/// Memory of a group in addition to its text.
const GROUP_BYTES: usize = 100;

/// All matches of a pattern in a text.
fn find_matches(pattern: &str, text: &str) -> Result<Vec<Match>, ElementError> {
    let pattern = cached(pattern).map_err(|why| format!("Malformed cache pattern:{pattern}: {why}"))?;
    let mut found = Vec::new();
    let mut bytes_left = Some(MATCH_BYTES_MAX);
    let searched = pattern.each_match(text, |groups| {
        let groups: Match =
            (0..=pattern.groups()).map(|group| groups.get(group).map(str::to_owned)).collect();
        let bytes: usize = groups.iter().flatten().map(String::len).sum();
        bytes_left = bytes_left.and_then(|left| left.checked_sub(bytes + groups.len() * GROUP_BYTES));
        found.push(groups);
        if bytes_left.is_none() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    searched.map_err(|limit| limit.to_string())?;
    if bytes_left.is_none() {
        count_exceeded(Limit::MatchBytes);
        return Err(format!("all matches together take more than {} MiB", MATCH_BYTES_MAX >> 20).into());
    }
    Ok(found)
}

enum Selection {
    Match(usize),
    Default,
    /// JMeter throws an exception with this message.
    Failed(String),
}

/// Selects a match: by its number, at random (`RAND`), or by a fraction of the number of matches. An empty text selects
/// the first match.
fn select(which: &str, count: usize, user: &mut UserState) -> Selection {
    if which.is_empty() {
        return Selection::Match(0);
    }
    if which == "RAND" {
        return Selection::Match(user.random.random_range(0..count));
    }
    let index = match (which.parse::<i64>(), which.trim().parse::<f32>()) {
        (Ok(number), _) if number > i64::try_from(count).unwrap_or(i64::MAX) => return Selection::Default,
        (Ok(number), _) => number - 1,
        // Java's conversion to an integer truncates towards zero.
        (Err(_), Ok(fraction)) => (f64::from(count as f32 * fraction) + 0.5) as i64 - 1,
        (Err(_), Err(_)) => return Selection::Failed(format!("For input string: \"{which}\"")),
    };
    match usize::try_from(index).ok().filter(|index| *index < count) {
        Some(index) => Selection::Match(index),
        None => Selection::Failed(format!("Index {index} out of bounds for length {count}")),
    }
}

/// Stores the groups in variables, appends the text of the template to `out`, and stores it in the variable `name`.
fn append_result(groups: &Match, name: &str, template: &str, user: &mut UserState, out: &mut String) {
    for (number, group) in groups.iter().enumerate() {
        let variable = format!("{name}_g{number}");
        match group {
            Some(group) => user.variables.set(&variable, group),
            None => {
                user.variables.remove(&variable);
            }
        }
    }
    let start = out.len();
    let mut rest = template;
    while let Some((before, number, after)) = next_reference(rest) {
        out.push_str(before);
        match groups.get(number) {
            Some(Some(group)) => out.push_str(group),
            // ORO returns null for such a group, which JMeter writes as text.
            Some(None) | None => out.push_str("null"),
        }
        rest = after;
    }
    out.push_str(rest);
    if !name.is_empty() {
        user.variables.set(name, &out[start..]);
    }
}

/// The first `$number$` of a template: the text before it, the number, and the text after it.
fn next_reference(template: &str) -> Option<(&str, usize, &str)> {
    let mut from = 0;
    loop {
        let at = from + template[from..].find('$')?;
        let digits = template[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + 1 + digits;
        if digits > 0 && template[end..].starts_with('$') {
            let number = template[at + 1..end].parse().ok()?;
            return Some((&template[..at], number, &template[end + 1..]));
        }
        from = at + 1;
    }
}

#[derive(Debug)]
struct ReplaceRegex {
    text: Template,
    pattern: Template,
    replacement: Template,
    target: Target,
}

/// Builds `${__strReplaceRegex(text, pattern, replacement, variable)}` of jmeter-plugins: Java's `replaceAll`.
pub(crate) fn str_replace_regex(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    check_pattern(arguments, 1)?;
    let target = arguments.target_untrimmed(3);
    let (text, pattern) = (arguments.take(0), arguments.take(1));
    Ok(Arc::new(ReplaceRegex { text, pattern, replacement: arguments.take(2), target }))
}

impl Function for ReplaceRegex {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let text = self.text.text(user).into_owned();
        let replacement = self.replacement.text(user).into_owned();
        let found = with_text(&self.pattern, user, |_, pattern| replace_all(&text, pattern, &replacement));
        match found {
            Ok(replaced) => {
                out.push_str(&replaced);
                self.target.store(user, &out[start..]);
            }
            Err(why) => {
                user.log(LogLevel::Error, &format!("__strReplaceRegex: {why}"));
            }
        }
    }
}

/// Implements Java's `String.replaceAll`: in the replacement, `$n` refers to a group and a backslash escapes the next character.
fn replace_all(text: &str, pattern: &str, replacement: &str) -> Result<String, ElementError> {
    let pattern = cached(pattern).map_err(|why| why.to_string())?;
    let mut out = String::new();
    let mut failure = None;
    let mut end = 0;
    // A match is a slice of the text, so its offset is the difference of the addresses.
    let offset_of = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let searched = pattern.each_match(text, |groups| {
        let Some(whole) = groups.get(0) else { return ControlFlow::Break(()) };
        out.push_str(&text[end..offset_of(whole)]);
        end = offset_of(whole) + whole.len();
        let group = |number| (number <= pattern.groups()).then(|| groups.get(number).unwrap_or_default());
        match append_replacement(replacement, group, &mut out) {
            Ok(()) if out.len() > TEXT_MAX => {
                count_exceeded(Limit::TextBytes);
                failure = Some(format!("the text takes more than {} MiB", TEXT_MAX >> 20).into());
                ControlFlow::Break(())
            }
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => {
                failure = Some(why);
                ControlFlow::Break(())
            }
        }
    });
    searched.map_err(|limit| limit.to_string())?;
    if let Some(why) = failure {
        return Err(why);
    }
    out.push_str(&text[end..]);
    Ok(out)
}

fn append_replacement<'t>(
    replacement: &str,
    group: impl Fn(usize) -> Option<&'t str>,
    out: &mut String,
) -> Result<(), ElementError> {
    let mut rest = replacement.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => out.push(rest.next().ok_or("character to be escaped is missing")?),
            '$' => {
                let digit = |c: &char| c.to_digit(10).map(|digit| digit as usize);
                let Some(mut number) = rest.next().as_ref().and_then(digit) else {
                    return Err("Illegal group reference".into());
                };
                let mut found = group(number).ok_or_else(|| format!("No group {number}"))?;
                // As in Java, further digits are part of the number as long as the group exists.
                while let Some(next) = rest.peek().and_then(digit)
                    && let Some(longer) = group(number * 10 + next)
                {
                    number = number * 10 + next;
                    found = longer;
                    rest.next();
                }
                out.push_str(found);
            }
            c => out.push(c),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_in_templates() {
        assert_eq!(next_reference("a$1$b$2$"), Some(("a", 1, "b$2$")));
        assert_eq!(next_reference("$x$10$"), Some(("$x", 10, "")));
        assert_eq!(next_reference("$1 $$ $"), None);
    }

    #[test]
    fn replacements_match_java() {
        let replaced = |text, pattern, replacement| replace_all(text, pattern, replacement);
        assert_eq!(replaced("a1b22", r"[0-9]+", "#").unwrap(), "a#b#");
        assert_eq!(replaced("john smith", r"(\w+) (\w+)", r"$2, $1\$").unwrap(), "smith, john$");
        // There is no group 12, so the second digit is text.
        assert_eq!(replaced("ab", "(a)", "$12").unwrap(), "a2b");
        assert!(replaced("ab", "(a)", "$3").unwrap_err().message().contains("No group 3"));
        assert!(replaced("ab", "(a)", "$x").is_err() && replaced("ab", "a", "\\").is_err());
        assert_eq!(replaced("none", "x", "$9").unwrap(), "none");
    }
}
