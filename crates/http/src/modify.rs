//! Pre-processors that change the HTTP sampler for one sample.

use std::cell::RefCell;
use std::collections::HashMap;

use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use regex::Regex;

use crate::encode;
use crate::links;
use crate::settings::{Argument, HttpSampler};

pub use crate::modifier::{Modifier, UrlRewriting};

/// Applies the modifiers to the sampler for the next sample.
pub(crate) fn modified(sampler: &HttpSampler, user: &mut UserState) -> HttpSampler {
    let mut own = sampler.clone();
    own.modifiers = Box::default();
    for modifier in &sampler.modifiers {
        match modifier {
            Modifier::UrlRewriting(settings) => settings.apply(&mut own, user),
            Modifier::Links => links::follow(&mut own, user),
            Modifier::RegexParameters { name, variable, names_group, values_group } => {
                let found = found_parameters(user, variable, names_group, values_group);
                match found {
                    Some(found) => take_values(&mut own, user, &found),
                    None => {
                        let name = name.text(user).into_owned();
                        let line = format!(
                            "RegExUserParameters element: {name} => Referenced RegExp was not found, no parameter will be changed"
                        );
                        user.log(LogLevel::Info, &line);
                    }
                }
            }
        }
    }
    own
}

fn found_parameters(
    user: &mut UserState,
    variable: &Template,
    names_group: &Template,
    values_group: &Template,
) -> Option<HashMap<String, String>> {
    let variable = variable.text(user).into_owned();
    let names = names_group.text(user).into_owned();
    let values = values_group.text(user).into_owned();
    let get = |name: String| user.variables.get(&name).map(str::to_owned);
    let group = |match_number: i64, group: &str| get(format!("{variable}_{match_number}_g{group}"));
    let count: i64 = get(format!("{variable}_matchNr"))?.parse().ok()?;
    group(1, &names)?;
    group(1, &values)?;
    Some((1..=count).filter_map(|number| Some((group(number, &names)?, group(number, &values)?))).collect())
}

fn take_values(sampler: &mut HttpSampler, user: &mut UserState, found: &HashMap<String, String>) {
    for argument in &mut sampler.arguments {
        if let Some(value) = found.get(&*argument.name.text(user)) {
            argument.value = Template::literal(value);
        }
    }
}

impl UrlRewriting {
    fn apply(&self, sampler: &mut HttpSampler, user: &mut UserState) {
        if !user.has_result {
            return;
        }
        let argument = self.argument.text(user).into_owned();
        let mut value = with_pattern(&self.pattern(&argument), |pattern| {
            let text = user.result.body_text();
            let found = pattern.captures(&text)?;
            found.iter().skip(1).flatten().next().map(|group| group.as_str().to_owned())
        })
        .unwrap_or_default();
        if self.keeps {
            let last = user.state(self.kept, String::new);
            if value.is_empty() {
                value.clone_from(last);
            } else {
                last.clone_from(&value);
            }
        }
        if self.in_path {
            let mut path = sampler.path.text(user).replace(' ', "%20");
            let mark = format!(";{argument}");
            if let Some(at) = path.find(&mark) {
                let query = path.find('?').map(|at| path[at..].to_owned()).unwrap_or_default();
                path.truncate(at);
                path.push_str(&query);
            }
            let equals = if self.no_equals { "" } else { "=" };
            set_path(sampler, user, &format!("{path}{mark}{equals}{value}"));
        } else {
            let mut arguments: Vec<Argument> = std::mem::take(&mut sampler.arguments).into();
            arguments.retain(|own| *own.name.text(user) != *argument);
            if !self.encoded {
                value = encode::form_decode(&value).unwrap_or(value);
            }
            arguments.push(Argument {
                name: Template::literal(&argument),
                value: Template::literal(&value),
                encode: true,
                use_equals: true,
                content_type: Template::default(),
            });
            sampler.arguments = arguments.into();
        }
    }

    /// JMeter's pattern. Its groups correspond to the possible positions of the value.
    fn pattern(&self, argument: &str) -> String {
        // The characters that \s matches in JMeter's engine.
        const SPACE: &str = r"[ \t\n\r\x0C]";
        let name = regex::escape(argument);
        if self.in_path {
            let equals = if self.no_equals { "" } else { "=" };
            let end = if self.ends_at_question_mark { "?" } else { "" };
            return format!(r#";{name}{equals}([^"'<>& \t\n\r\x0C;{end}]*)"#);
        }
        format!(
            "[;?&]{name}=([^\"'<>& \\t\\n\\r\\x0C;\\\\]*)\
             |{SPACE}(?i:name){SPACE}*={SPACE}*[\"']{name}[\"'][^>]*{SPACE}(?i:value){SPACE}*={SPACE}*[\"']([^\"']*)[\"']\
             |{SPACE}(?i:value){SPACE}*={SPACE}*[\"']([^\"']*)[\"'][^>]*{SPACE}(?i:name){SPACE}*={SPACE}*[\"']{name}[\"']"
        )
    }
}

/// Sets the path. JMeter converts the query of the path to arguments if the method has arguments in its URL.
fn set_path(sampler: &mut HttpSampler, user: &mut UserState, path: &str) {
    let whole = path.starts_with("http://") || path.starts_with("https://");
    let takes = !whole && matches!(&*sampler.method.text(user), "GET" | "DELETE" | "OPTIONS");
    let Some((path, query)) = path.split_once('?').filter(|_| takes) else {
        sampler.path = Template::literal(path);
        return;
    };
    sampler.path = Template::literal(path);
    let decoded =
        |text: &str| Template::literal(&encode::form_decode(text).unwrap_or_else(|| text.to_owned()));
    let mut arguments: Vec<Argument> = std::mem::take(&mut sampler.arguments).into();
    for argument in query.split('&').filter(|argument| !argument.is_empty()) {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        if !name.is_empty() {
            arguments.push(Argument {
                name: decoded(name),
                value: decoded(value),
                encode: true,
                use_equals: argument.contains('='),
                content_type: Template::default(),
            });
        }
    }
    sampler.arguments = arguments.into();
}

/// The number of cached patterns per thread.
const PATTERNS_MAX: usize = 100;

thread_local! {
    static PATTERNS: RefCell<HashMap<String, Option<Regex>>> = RefCell::default();
}

fn with_pattern<R>(pattern: &str, search: impl FnOnce(&Regex) -> Option<R>) -> Option<R> {
    let compiled = PATTERNS.with_borrow_mut(|all| {
        if all.len() >= PATTERNS_MAX {
            all.clear();
        }
        all.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).ok()).clone()
    });
    search(&compiled?)
}

#[cfg(test)]
mod tests {
    use busyhour_program::user::StateId;

    use super::*;

    fn found(settings: &UrlRewriting, text: &str) -> Option<String> {
        with_pattern(&settings.pattern("sid"), |pattern| {
            let found = pattern.captures(text)?;
            found.iter().skip(1).flatten().next().map(|group| group.as_str().to_owned())
        })
    }

    #[test]
    fn session_ids_are_found_as_in_jmeter() {
        let mut settings = UrlRewriting {
            argument: Template::literal("sid"),
            in_path: false,
            no_equals: false,
            ends_at_question_mark: false,
            keeps: true,
            encoded: false,
            kept: StateId(0),
        };
        for text in
            ["<a href='x?sid=42&y'>", "<input NAME = 'sid' type=x value=\"42\">", "<i value='42' name='sid'>"]
        {
            assert_eq!(found(&settings, text).as_deref(), Some("42"), "{text}");
        }
        settings.in_path = true;
        assert_eq!(found(&settings, "a;sid=42?b\"").as_deref(), Some("42?b"));
        settings.ends_at_question_mark = true;
        assert_eq!(found(&settings, "a;sid=42?b\"").as_deref(), Some("42"));
        settings.no_equals = true;
        assert_eq!(found(&settings, "a;sid42;").as_deref(), Some("42"));
    }
}
