//! The regular expression extractor.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use busyhour_program::element::Processor;
use busyhour_program::result::Retention;
use busyhour_program::run::Level;
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_program::variables::Variables;

use crate::java;
use crate::match_number;
use crate::matches::{MatchBudget, Matches, TooLong, with_matches};
use crate::oro::{Groups, Pattern, PatternText, SearchLimit};
use crate::refusal::Refusal;
use crate::scope::{Field, Scope};

/// Settings of a regular expression extractor.
#[derive(Clone, Debug, Default)]
pub struct RegexExtractorSettings {
    /// `TestElement.name`
    pub name: String,
    /// `RegexExtractor.refname`: prefix of the variables to set.
    pub refname: Template,
    /// `RegexExtractor.regex`
    pub regex: Template,
    /// `RegexExtractor.template`: what is made of a match, `$1$` for a group.
    pub template: Template,
    /// `RegexExtractor.match_number`: 0 a random match, −1 all, else that one.
    pub match_number: Template,
    /// `RegexExtractor.default`
    pub default: Template,
    /// `RegexExtractor.default_empty_value`: an empty default counts too.
    pub default_is_empty: bool,
    /// `RegexExtractor.useHeaders`, through [`Field::of_extractor`].
    pub field: Field,
    /// `Sample.scope` with `Scope.variable`, through [`Scope::of`].
    pub scope: Scope,
}

/// The regular expression extractor.
#[derive(Debug)]
pub struct RegexExtractor {
    settings: RegexExtractorSettings,
    pattern: PatternText,
    pieces: Pieces,
}

/// The template for results. JMeter takes it apart at each user's first use and keeps it.
#[derive(Debug)]
enum Pieces {
    Fixed(Box<[Piece]>),
    AtFirstUse(StateId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

/// Why a search came to no end.
enum Failure {
    Search(SearchLimit),
    Length(TooLong),
    /// There is no text to search; JMeter throws.
    Text(String),
}

impl RegexExtractor {
    /// Takes an extractor out of the plan.
    ///
    /// # Errors
    /// For regular expressions whose matches are not promised.
    pub fn new(settings: RegexExtractorSettings, symbols: &mut Symbols) -> Result<Self, Refusal> {
        let pattern = PatternText::new(settings.regex.clone(), true)?;
        let pieces = match settings.template.as_literal() {
            Some(text) => Pieces::Fixed(pieces(text)),
            None => Pieces::AtFirstUse(symbols.state()),
        };
        Ok(Self { settings, pattern, pieces })
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
                    Level::Warn,
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
            if outcome.is_err() || matches.enough(wanted) {
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
        let pieces = match &self.pieces {
            Pieces::Fixed(pieces) => pieces,
            Pieces::AtFirstUse(state) => {
                let text = settings.template.text(user);
                at_first_use = user.state(*state, || pieces(&text)).clone();
                &at_first_use
            }
        };
        if !default.is_empty() || settings.default_is_empty {
            user.variables.set(&refname, &default);
        }
        let variable = match &settings.scope {
            Scope::Variable(name) => Some(name.text(user)),
            _ => None,
        };
        let ready = self.pattern.get(user);
        let pattern = match ready.pattern() {
            Ok(pattern) => pattern,
            Err(error) => {
                user.log(Level::Error, &format!("Error in pattern: '{}': {error}", ready.source()));
                return;
            }
        };
        with_matches(|matches| match self.collect(user, variable.as_deref(), pattern, wanted, matches) {
            Ok(()) => save(user, &refname, wanted, pieces, matches),
            Err(Failure::Search(error)) => {
                user.log(Level::Error, &format!("{}: {error}", settings.name));
            }
            Err(Failure::Length(error)) => {
                user.log(Level::Error, &format!("{}: {error}", settings.name));
            }
            Err(Failure::Text(error)) => user.abandon_sample(&error),
        });
    }

    fn keep(&self) -> Retention {
        if self.settings.scope.is_variable() { Retention::default() } else { self.settings.field.keep() }
    }
}

/// Takes a template apart: `$1$` is a group, the rest text.
fn pieces(template: &str) -> Box<[Piece]> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(dollar) = rest.find('$') {
        let behind = &rest[dollar + 1..];
        let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let group = behind[..digits].parse().ok().filter(|_| behind[digits..].starts_with('$'));
        if let Some(group) = group {
            text.push_str(&rest[..dollar]);
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Group(group));
            rest = &behind[digits + 1..];
        } else {
            text.push_str(&rest[..=dollar]);
            rest = behind;
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces.into_boxed_slice()
}

/// Sets and removes variables as JMeter does after a search.
fn save(user: &mut UserState, refname: &str, wanted: i32, pieces: &[Piece], matches: &Matches) {
    let mut name = user.take_buffer();
    let mut value = user.take_buffer();
    let count_before = take_count(user, refname, &mut name);
    let mut kept = 0;
    if wanted >= 0 {
        let chosen = match_number::chosen(user, usize::try_from(wanted).unwrap_or(0), matches.len());
        match chosen {
            Some(index) => {
                write_result(matches, index, pieces, &mut value);
                user.variables.set(refname, &value);
                save_groups(&mut user.variables, refname, matches, index, &mut name, &mut value);
            }
            None => remove_groups(&mut user.variables, refname, &mut name),
        }
    } else {
        remove_groups(&mut user.variables, refname, &mut name);
        kept = matches.len();
        put(&mut name, format_args!("{refname}_matchNr"));
        put(&mut value, format_args!("{kept}"));
        user.variables.set(&name, &value);
        let mut base = user.take_buffer();
        for index in 0..kept {
            put(&mut base, format_args!("{refname}_{}", index + 1));
            write_result(matches, index, pieces, &mut value);
            user.variables.set(&base, &value);
            save_groups(&mut user.variables, &base, matches, index, &mut name, &mut value);
        }
        user.give_back(base);
    }
    let mut base = user.take_buffer();
    for number in kept + 1..=count_before {
        put(&mut base, format_args!("{refname}_{number}"));
        user.variables.remove(&base);
        remove_groups(&mut user.variables, &base, &mut name);
    }
    user.give_back(base);
    user.give_back(value);
    user.give_back(name);
}

/// Removes `_matchNr` of an earlier search and returns it.
pub(crate) fn take_count(user: &mut UserState, refname: &str, name: &mut String) -> usize {
    put(name, format_args!("{refname}_matchNr"));
    let count = user.variables.get(name).map(|text| text.parse::<i32>().map_err(|_| text.to_owned()));
    if count.is_some() {
        user.variables.remove(name);
    }
    match count {
        Some(Ok(count)) => usize::try_from(count).unwrap_or(0),
        Some(Err(text)) => {
            user.log(Level::Warn, &format!("Could not parse number: '{text}'"));
            0
        }
        None => 0,
    }
}

fn put(buffer: &mut String, text: std::fmt::Arguments<'_>) {
    buffer.clear();
    let _ = buffer.write_fmt(text);
}

fn group_count(variables: &Variables, base: &str, name: &mut String) -> Option<i32> {
    put(name, format_args!("{base}_g"));
    variables.get(name).and_then(|text| text.parse().ok())
}

fn save_groups(
    variables: &mut Variables,
    base: &str,
    matches: &Matches,
    index: usize,
    name: &mut String,
    value: &mut String,
) {
    let before = group_count(variables, base, name).unwrap_or(0);
    for group in 0..matches.groups() {
        put(name, format_args!("{base}_g{group}"));
        match matches.group(index, group) {
            Some(text) => variables.set(name, text),
            None => {
                variables.remove(name);
            }
        }
    }
    put(name, format_args!("{base}_g"));
    put(value, format_args!("{}", matches.groups() - 1));
    variables.set(name, value);
    for group in matches.groups()..=usize::try_from(before).unwrap_or(0) {
        put(name, format_args!("{base}_g{group}"));
        variables.remove(name);
    }
}

fn remove_groups(variables: &mut Variables, base: &str, name: &mut String) {
    let groups = group_count(variables, base, name).unwrap_or(0);
    put(name, format_args!("{base}_g"));
    variables.remove(name);
    for group in 0..=groups {
        put(name, format_args!("{base}_g{group}"));
        variables.remove(name);
    }
}

/// Copies the pattern's matches in a text, up to the one that is wanted.
fn copy_matches(matches: &mut Matches, pattern: &Pattern, text: &str, wanted: i32) -> Result<(), Failure> {
    let mut budget = MatchBudget::default();
    let mut within = Ok(());
    let searched = pattern.each_match(text, |groups: &Groups<'_, '_>| {
        for group in 0..=pattern.groups() {
            let found = groups.get(group);
            matches.push(found);
            within = within.and_then(|()| budget.spend(found.map_or(0, str::len)));
        }
        if within.is_err() || matches.enough(wanted) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    searched.map_err(Failure::Search)?;
    within.map_err(Failure::Length)
}

/// Writes what the template makes of a match; a group that took no part is the word null.
fn write_result(matches: &Matches, index: usize, pieces: &[Piece], out: &mut String) {
    out.clear();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Group(group) => out.push_str(matches.group(index, *group).unwrap_or("null")),
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
    fn templates_are_taken_apart() {
        assert_eq!(*pieces("$1$"), [Piece::Group(1)]);
        assert_eq!(
            *pieces("a$2$-$x$1$$"),
            [
                Piece::Text("a".into()),
                Piece::Group(2),
                Piece::Text("-$x".into()),
                Piece::Group(1),
                Piece::Text("$".into())
            ]
        );
        assert!(pieces("").is_empty());
    }

    #[test]
    fn one_match_then_all_then_none() {
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
    fn a_group_without_part_is_null() {
        let mut user = user_with_body("b");
        extractor("(a)|(b)", "$1$$2$$3$", "1").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=nullbnull x_g=2 x_g0=b x_g2=b");
    }

    #[test]
    fn a_random_match_is_one_of_them() {
        let mut user = user_with_body("1 2 3");
        for _ in 0..20 {
            extractor(r"(\d)", "$1$", "0").process(&mut user);
            assert!(["1", "2", "3"].contains(&user.variables.get("x").expect("set")));
        }
    }
}
