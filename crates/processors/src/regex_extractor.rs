//! The Regular Expression Extractor.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use busyhour_program::element::Processor;
use busyhour_program::result::Retention;
use busyhour_program::run::LogLevel;
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_program::variables::Variables;

use crate::java;
use crate::match_number;
use crate::matches::{MatchBudget, Matches, TooLong, with_matches};
use crate::oro::{Groups, Pattern, PatternText, SearchLimit};
use crate::refusal::Refusal;
use crate::scope::{Field, SampleScope};

/// Settings of a regular expression extractor.
#[derive(Clone, Debug, Default)]
pub struct RegexExtractorSettings {
    /// `TestElement.name`: the name of the element.
    pub name: String,
    /// `RegexExtractor.refname`: prefix of the variables to set.
    pub refname: Template,
    /// `RegexExtractor.regex`: the regular expression.
    pub regex: Template,
    /// `RegexExtractor.template`: the template for the text of a match; `$1$` is a group.
    pub template: Template,
    /// `RegexExtractor.match_number`: 0 for a random match, −1 for all, otherwise the number of the match.
    pub match_number: Template,
    /// `RegexExtractor.default`: the value if nothing is found.
    pub default: Template,
    /// `RegexExtractor.default_empty_value`: also set a default that is empty.
    pub default_is_empty: bool,
    /// `RegexExtractor.useHeaders`, as parsed by [`Field::of_extractor`].
    pub field: Field,
    /// `Sample.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// The regular expression extractor.
#[derive(Debug)]
pub struct RegexExtractor {
    settings: RegexExtractorSettings,
    pattern: PatternText,
    template: ResultTemplate,
}

/// The parsed template for results. JMeter parses it once for each user, at the first use.
#[derive(Debug)]
enum ResultTemplate {
    Constant(Box<[TemplatePart]>),
    AtFirstUse(StateId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Group(usize),
}

/// Why a search failed.
enum Failure {
    Search(SearchLimit),
    Length(TooLong),
    /// The text to search cannot be extracted. JMeter throws an exception.
    Text(String),
}

impl RegexExtractor {
    /// Creates the extractor from its settings.
    ///
    /// # Errors
    /// A regular expression may match differently than in JMeter.
    pub fn new(settings: RegexExtractorSettings, symbols: &mut Symbols) -> Result<Self, Refusal> {
        let pattern = PatternText::new(settings.regex.clone(), true)?;
        let template = match settings.template.as_literal() {
            Some(text) => ResultTemplate::Constant(parse_template(text)),
            None => ResultTemplate::AtFirstUse(symbols.state()),
        };
        Ok(Self { settings, pattern, template })
    }

    fn collect(
        &self,
        user: &UserState,
        variable: Option<&str>,
        pattern: &Pattern,
        wanted: i32,
        matches: &mut Matches,
    ) -> Result<(), Failure> {
        matches.clear(pattern.groups() + 1);
        if let Some(variable) = variable {
            let Some(text) = user.variables.get(variable) else {
                user.log(
                    LogLevel::Warn,
                    &format!(
                        "No variable '{variable}' found to process by RegexExtractor '{}', skipping processing",
                        self.settings.name
                    ),
                );
                return Ok(());
            };
            return copy_matches(matches, pattern, text, wanted);
        }
        let mut outcome = Ok(());
        self.settings.scope.visit(&user.result, |result| {
            outcome = match self.settings.field.text(result) {
                Ok(text) => copy_matches(matches, pattern, &text, wanted),
                Err(error) => Err(Failure::Text(error.into())),
            };
            if outcome.is_err() || matches.has_match(wanted) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        outcome
    }
}

impl Processor for RegexExtractor {
    fn process(&self, user: &mut UserState) {
        if !user.has_result {
            return;
        }
        let settings = &self.settings;
        let refname = settings.refname.text(user);
        let wanted = java::integer(&settings.match_number.text(user));
        let default = settings.default.text(user);
        let at_first_use;
        let template = match &self.template {
            ResultTemplate::Constant(parts) => parts,
            ResultTemplate::AtFirstUse(state) => {
                let text = settings.template.text(user);
                at_first_use = user.state(*state, || parse_template(&text)).clone();
                &at_first_use
            }
        };
        if !default.is_empty() || settings.default_is_empty {
            user.variables.set(&refname, &default);
        }
        let variable = match &settings.scope {
            SampleScope::Variable(name) => Some(name.text(user)),
            _ => None,
        };
        let resolved = self.pattern.get(user);
        let pattern = match resolved.pattern() {
            Ok(pattern) => pattern,
            Err(error) => {
                user.log(LogLevel::Error, &format!("Error in pattern: '{}': {error}", resolved.source()));
                return;
            }
        };
        with_matches(|matches| match self.collect(user, variable.as_deref(), pattern, wanted, matches) {
            Ok(()) => store_matches(user, &refname, wanted, template, matches),
            Err(Failure::Search(error)) => {
                user.log(LogLevel::Error, &format!("{}: {error}", settings.name));
            }
            Err(Failure::Length(error)) => {
                user.log(LogLevel::Error, &format!("{}: {error}", settings.name));
            }
            Err(Failure::Text(error)) => user.abandon_sample(&error),
        });
    }

    fn retention(&self) -> Retention {
        if self.settings.scope.is_variable() { Retention::default() } else { self.settings.field.retention() }
    }
}

/// Parses a template: `$1$` is a group, the rest is text.
fn parse_template(template: &str) -> Box<[TemplatePart]> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(dollar) = rest.find('$') {
        let after = &rest[dollar + 1..];
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let group = after[..digits].parse().ok().filter(|_| after[digits..].starts_with('$'));
        if let Some(group) = group {
            text.push_str(&rest[..dollar]);
            if !text.is_empty() {
                parts.push(TemplatePart::Text(std::mem::take(&mut text)));
            }
            parts.push(TemplatePart::Group(group));
            rest = &after[digits + 1..];
        } else {
            text.push_str(&rest[..=dollar]);
            rest = after;
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(TemplatePart::Text(text));
    }
    parts.into_boxed_slice()
}

/// Sets and removes variables like JMeter after a search.
fn store_matches(
    user: &mut UserState,
    refname: &str,
    wanted: i32,
    template: &[TemplatePart],
    matches: &Matches,
) {
    let mut name = user.take_buffer();
    let mut value = user.take_buffer();
    let count_before = take_match_count(user, refname, &mut name);
    let mut count = 0;
    if wanted >= 0 {
        let selected = match_number::select(user, usize::try_from(wanted).unwrap_or(0), matches.len());
        match selected {
            Some(index) => {
                render_match(matches, index, template, &mut value);
                user.variables.set(refname, &value);
                store_groups(&mut user.variables, refname, matches, index, &mut name, &mut value);
            }
            None => remove_groups(&mut user.variables, refname, &mut name),
        }
    } else {
        remove_groups(&mut user.variables, refname, &mut name);
        count = matches.len();
        overwrite(&mut name, format_args!("{refname}_matchNr"));
        overwrite(&mut value, format_args!("{count}"));
        user.variables.set(&name, &value);
        let mut base = user.take_buffer();
        for index in 0..count {
            overwrite(&mut base, format_args!("{refname}_{}", index + 1));
            render_match(matches, index, template, &mut value);
            user.variables.set(&base, &value);
            store_groups(&mut user.variables, &base, matches, index, &mut name, &mut value);
        }
        user.give_back(base);
    }
    let mut base = user.take_buffer();
    for number in count + 1..=count_before {
        overwrite(&mut base, format_args!("{refname}_{number}"));
        user.variables.remove(&base);
        remove_groups(&mut user.variables, &base, &mut name);
    }
    user.give_back(base);
    user.give_back(value);
    user.give_back(name);
}

/// Removes the variable `_matchNr` of an earlier search and returns its value.
pub(crate) fn take_match_count(user: &mut UserState, refname: &str, name: &mut String) -> usize {
    overwrite(name, format_args!("{refname}_matchNr"));
    let count = user.variables.get(name).map(|text| text.parse::<i32>().map_err(|_| text.to_owned()));
    if count.is_some() {
        user.variables.remove(name);
    }
    match count {
        Some(Ok(count)) => usize::try_from(count).unwrap_or(0),
        Some(Err(text)) => {
            user.log(LogLevel::Warn, &format!("Could not parse number: '{text}'"));
            0
        }
        None => 0,
    }
}

fn overwrite(buffer: &mut String, text: std::fmt::Arguments<'_>) {
    buffer.clear();
    let _ = buffer.write_fmt(text);
}

fn group_count(variables: &Variables, base: &str, name: &mut String) -> Option<i32> {
    overwrite(name, format_args!("{base}_g"));
    variables.get(name).and_then(|text| text.parse().ok())
}

fn store_groups(
    variables: &mut Variables,
    base: &str,
    matches: &Matches,
    index: usize,
    name: &mut String,
    value: &mut String,
) {
    let count_before = group_count(variables, base, name).unwrap_or(0);
    for group in 0..matches.groups() {
        overwrite(name, format_args!("{base}_g{group}"));
        match matches.group(index, group) {
            Some(text) => variables.set(name, text),
            None => {
                variables.remove(name);
            }
        }
    }
    overwrite(name, format_args!("{base}_g"));
    overwrite(value, format_args!("{}", matches.groups() - 1));
    variables.set(name, value);
    for group in matches.groups()..=usize::try_from(count_before).unwrap_or(0) {
        overwrite(name, format_args!("{base}_g{group}"));
        variables.remove(name);
    }
}

fn remove_groups(variables: &mut Variables, base: &str, name: &mut String) {
    let groups = group_count(variables, base, name).unwrap_or(0);
    overwrite(name, format_args!("{base}_g"));
    variables.remove(name);
    for group in 0..=groups {
        overwrite(name, format_args!("{base}_g{group}"));
        variables.remove(name);
    }
}

/// Copies the matches of a pattern in a text, up to the wanted match.
fn copy_matches(matches: &mut Matches, pattern: &Pattern, text: &str, wanted: i32) -> Result<(), Failure> {
    let mut budget = MatchBudget::default();
    let mut spent = Ok(());
    let searched = pattern.each_match(text, |groups: &Groups<'_, '_>| {
        for group in 0..=pattern.groups() {
            let found = groups.get(group);
            matches.push(found);
            spent = spent.and_then(|()| budget.spend(found.map_or(0, str::len)));
        }
        if spent.is_err() || matches.has_match(wanted) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    searched.map_err(Failure::Search)?;
    spent.map_err(Failure::Length)
}

/// Renders the template for a match. A group that did not participate gives the text `null`.
fn render_match(matches: &Matches, index: usize, template: &[TemplatePart], out: &mut String) {
    out.clear();
    for part in template {
        match part {
            TemplatePart::Text(text) => out.push_str(text),
            TemplatePart::Group(group) => out.push_str(matches.group(index, *group).unwrap_or("null")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user_with_body};

    fn extractor(regex: &str, template: &str, number: &str) -> RegexExtractor {
        let literal = Template::literal;
        let settings = RegexExtractorSettings {
            refname: literal("x"),
            regex: literal(regex),
            template: literal(template),
            match_number: literal(number),
            default: literal("NONE"),
            ..RegexExtractorSettings::default()
        };
        RegexExtractor::new(settings, &mut Symbols::default()).expect("supported")
    }

    #[test]
    fn templates_are_parsed() {
        assert_eq!(*parse_template("$1$"), [TemplatePart::Group(1)]);
        assert_eq!(
            *parse_template("a$2$-$x$1$$"),
            [
                TemplatePart::Text("a".into()),
                TemplatePart::Group(2),
                TemplatePart::Text("-$x".into()),
                TemplatePart::Group(1),
                TemplatePart::Text("$".into())
            ]
        );
        assert!(parse_template("").is_empty());
    }

    #[test]
    fn variables_of_earlier_matches_are_removed() {
        let mut user = user_with_body(r#"id="1" id="22" id="333""#);
        let second = extractor(r#"i(d)="(\d+)""#, "$2$", "2");
        second.process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @r#"x=22 x_g=2 x_g0=id="22" x_g1=d x_g2=22"#);
        let all = extractor(r#"id="(\d+)""#, "<$1$>", "-1");
        all.process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @r#"x=NONE x_1=<1> x_1_g=1 x_1_g0=id="1" x_1_g1=1 x_2=<22> x_2_g=1 x_2_g0=id="22" x_2_g1=22 x_3=<333> x_3_g=1 x_3_g0=id="333" x_3_g1=333 x_matchNr=3"#);
        user.result.body = b"id=\"4\"".to_vec();
        all.process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @r#"x=NONE x_1=<4> x_1_g=1 x_1_g0=id="4" x_1_g1=4 x_matchNr=1"#);
        user.result.body.clear();
        second.process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=NONE");
    }

    #[test]
    fn a_group_that_did_not_participate_is_null() {
        let mut user = user_with_body("b");
        extractor("(a)|(b)", "$1$$2$$3$", "1").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=nullbnull x_g=2 x_g0=b x_g2=b");
    }

    #[test]
    fn a_random_match_is_selected() {
        let mut user = user_with_body("1 2 3");
        for _ in 0..20 {
            extractor(r"(\d)", "$1$", "0").process(&mut user);
            assert!(["1", "2", "3"].contains(&user.variables.get("x").expect("set")));
        }
    }
}
