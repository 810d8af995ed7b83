//! Variables that nothing in a plan can define.
//!
//! Every definition of a variable has the name as a separate text: a user defined variable, an extractor, a CSV Data Set, the
//! last argument of a function, `vars.put` in a script. So a name that is in no text outside of `${…}` is defined by
//! nothing, unless names come from outside of the plan or a script composes them; then there are no warnings.

use std::collections::HashSet;

use busyhour_diagnostic::Diagnostic;
use busyhour_plan::{Element, Property};

use super::properties::each_property;
use super::references::{Reference, distance, is_word, references};
use crate::elements::config::StepClass;
use crate::elements::controllers::ControllerClass;
use crate::elements::{Role, role};

/// Variables that JMeter itself defines, and beginnings of such names.
const OF_JMETER: [&str; 7] = ["JMeterThread.", "START.", "TESTSTART.", "COOKIE_", "__jm", "DEBUG", "Sync"];

/// What extractors add to the name that a plan gives them.
const SUFFIXES: [&str; 4] = ["_matchNr", "_ALL", "_g", "_#"];

/// Variables that `elements` refer to and nothing among them can define; each once, where it is first used.
pub(super) fn undefined(elements: &[Element<'_>]) -> Vec<Diagnostic> {
    if elements.iter().any(|element| can_define_anything(*element)) {
        return Vec::new();
    }
    let mut words: HashSet<String> = HashSet::new();
    let mut used: Vec<(&str, Property<'_>)> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for element in elements {
        each_property(*element, &mut |property| {
            // What a person wrote about an element defines nothing.
            if matches!(property.written_name(), "TestPlan.comments" | "Argument.desc" | "Argument.metadata")
            {
                return;
            }
            // Names with a point are JMeter's own.
            if !property.written_name().contains('.') {
                words.extend(words_of(property.written_name()));
            }
            let Some(text) = property.text() else { return };
            words.extend(words_of(&without_references(text)));
            for reference in references(text) {
                if let Reference::Variable(name) = reference
                    && is_plain(name)
                    && known.insert(name)
                {
                    used.push((name, property));
                }
            }
        });
    }
    let is_defined = |name: &str| {
        OF_JMETER.iter().any(|begin| name.starts_with(begin))
            || words.contains(name)
            || stems(name).any(|stem| words.contains(stem))
    };
    used.iter()
        .filter(|(name, _)| !is_defined(name))
        .map(|(name, property)| warning(name, *property, &words))
        .collect()
}

fn warning(name: &str, property: Property<'_>, words: &HashSet<String>) -> Diagnostic {
    let message =
        format!("nothing in the plan defines the variable `{name}`: JMeter leaves `${{{name}}}` as it is");
    let diagnostic = property.locate(Diagnostic::warning("undefined-variable", message));
    let mut near: Vec<&String> =
        words.iter().filter(|word| word.len() > 2 && distance(word, name) == 1).collect();
    near.sort();
    match near.first() {
        Some(word) => diagnostic.with_hint(format!("did you mean `${{{word}}}`?")),
        None => diagnostic.with_hint(format!(
            "define it (User Defined Variables, CSV Data Set, an extractor), or use a property: `${{__P({name})}}`"
        )),
    }
}

/// Whether a text in braces looks like a name; the braces of scripts and formats contain other texts.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| is_word(c) || matches!(c, '.' | '-' | '#'))
}

/// Whether an element can define variables whose names are not in the plan.
fn can_define_anything(element: Element<'_>) -> bool {
    let role = role(element);
    let from_outside = matches!(
        role,
        Role::Controller(ControllerClass::Include | ControllerClass::Module) | Role::BackendListener
    );
    // Plugins' elements that set variables are named so.
    if from_outside || element.kind().contains("Variables") {
        return true;
    }
    let names_of_file = role == Role::Step(StepClass::CsvDataSet)
        && element.text("variableNames").is_none_or(|names| names.trim().is_empty());
    let mut from_outside = names_of_file;
    let is_script = role.script_source().is_some();
    each_property(element, &mut |property| {
        let Some(text) = property.text() else { return };
        let is_file = property.written_name().rsplit('.').next() == Some("filename");
        from_outside |= (is_script && is_file && !text.trim().is_empty()) || puts_unknown_names(text);
    });
    from_outside
}

/// Whether a script puts a variable under a name that is no plain text.
fn puts_unknown_names(text: &str) -> bool {
    if text.contains("vars.putAll") || text.contains("vars[") || text.contains("getVariables()") {
        return true;
    }
    ["vars.put(", "vars.putObject("].iter().any(|call| {
        text.match_indices(call).any(|(at, _)| {
            let argument = text[at + call.len()..].trim_start();
            let Some(quote) = argument.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
                return true;
            };
            let rest = &argument[1..];
            let Some(end) = rest.find(quote) else { return true };
            // A name that continues behind the quotes, or contains others, is composed at run time.
            let behind = rest[end + 1..].trim_start();
            // Inside of the arguments of a function a comma is escaped.
            rest[..end].contains('$') || !behind.strip_prefix('\\').unwrap_or(behind).starts_with(',')
        })
    })
}

/// A text without the plain variables that it refers to.
fn without_references(text: &str) -> String {
    let mut out = text.to_owned();
    for reference in references(text) {
        if let Reference::Variable(name) = reference {
            out = out.replace(&format!("${{{name}}}"), " ");
        }
    }
    out
}

/// The words of a text, with and without points and hyphens.
fn words_of(text: &str) -> Vec<String> {
    let long = text.split(|c: char| !(is_word(c) || matches!(c, '.' | '-' | '#')));
    let short = text.split(|c: char| !is_word(c));
    long.chain(short).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The names that an extractor may have been given that made `name`: `id` of `id_1`, `id_2_g1`, `id_matchNr`.
fn stems(name: &str) -> impl Iterator<Item = &str> {
    let ends = name.char_indices().filter(|(_, c)| matches!(c, '_' | '#')).map(|(at, _)| at);
    ends.map(|at| name.split_at(at)).filter(|(_, rest)| is_suffix(rest)).map(|(stem, _)| stem)
}

fn is_suffix(rest: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = rest.strip_prefix('_').is_some_and(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        digits(&rest[..end]) && (rest[end..].is_empty() || is_suffix(&rest[end..]))
    });
    is_number
        || SUFFIXES
            .iter()
            .any(|suffix| rest.strip_prefix(suffix).is_some_and(|rest| rest.is_empty() || digits(rest)))
}
