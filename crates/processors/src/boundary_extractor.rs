//! The boundary extractor: what stands between two texts.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use busyhour_engine::element::Processor;
use busyhour_engine::result::Keep;
use busyhour_engine::run::Level;
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;
use rand::Rng as _;

use crate::java;
use crate::refusal::Refusal;
use crate::regex_extractor::take_count;
use crate::scope::{Field, Scope};

/// What a plan says of a boundary extractor.
#[derive(Clone, Debug, Default)]
pub struct BoundaryExtractorSettings {
    /// `TestElement.name`
    pub name: String,
    /// `BoundaryExtractor.refname`: variable, or prefix of the variables, to set.
    pub refname: Template,
    /// `BoundaryExtractor.lboundary`
    pub left: Template,
    /// `BoundaryExtractor.rboundary`
    pub right: Template,
    /// `BoundaryExtractor.match_number`: 0 a random match, −1 all, else that one.
    pub match_number: Template,
    /// `BoundaryExtractor.default`
    pub default: Template,
    /// `BoundaryExtractor.default_empty_value`: an empty default counts too.
    pub default_is_empty: bool,
    /// `BoundaryExtractor.useHeaders`, through [`Field::of_extractor`].
    pub field: Field,
    /// `Sample.scope` with `Scope.variable`, through [`Scope::of`].
    pub scope: Scope,
}

/// The boundary extractor.
#[derive(Debug)]
pub struct BoundaryExtractor {
    settings: BoundaryExtractorSettings,
}

impl BoundaryExtractor {
    /// Takes an extractor out of the plan.
    ///
    /// # Errors
    /// Without a variable's name: JMeter fails at each sample then.
    pub fn new(settings: BoundaryExtractorSettings) -> Result<Self, Refusal> {
        if settings.refname.is_empty() {
            return Err(Refusal::invalid("has no name for the variable to set"));
        }
        Ok(Self { settings })
    }

    fn matches(
        &self,
        user: &UserState,
        variable: Option<&str>,
        left: &str,
        right: &str,
        wanted: i32,
    ) -> Vec<String> {
        let mut matches = Vec::new();
        let number = usize::try_from(wanted).unwrap_or(0);
        if let Some(variable) = variable {
            match user.variables.get(variable) {
                Some(text) => between(text, left, right, &mut |found| {
                    matches.push(found.to_owned());
                    ControlFlow::Continue(())
                }),
                None => user.log(
                    Level::Warn,
                    &format!(
                        "No variable '{variable}' found to process by Boundary Extractor '{}', skipping processing",
                        self.settings.name
                    ),
                ),
            }
            // With one boundary empty JMeter finds a single place in a variable, whichever is asked for.
            if number > 0 && !left.is_empty() && !right.is_empty() {
                return matches.into_iter().skip(number - 1).take(1).collect();
            }
            return matches;
        }
        let mut seen = 0;
        self.settings.scope.visit(&user.result, |result| {
            let mut flow = ControlFlow::Continue(());
            between(&self.settings.field.text(result), left, right, &mut |found| {
                seen += 1;
                if number == 0 || seen == number {
                    matches.push(found.to_owned());
                }
                if number > 0 && seen >= number {
                    flow = ControlFlow::Break(());
                }
                flow
            });
            flow
        });
        matches
    }
}

/// Visits what stands between the boundaries, from left to right. A match may begin inside the one before.
fn between<'t>(text: &'t str, left: &str, right: &str, visit: &mut dyn FnMut(&'t str) -> ControlFlow<()>) {
    if java::is_blank(text) {
        return;
    }
    match (left.is_empty(), right.is_empty()) {
        (true, true) => {
            let _ = visit(text);
        }
        (true, false) => {
            if let Some(end) = text.find(right) {
                let _ = visit(&text[..end]);
            }
        }
        (false, true) => {
            if let Some(start) = text.find(left) {
                let _ = visit(&text[start + left.len()..]);
            }
        }
        (false, false) => {
            let mut rest = text;
            while let Some(start) = rest.find(left) {
                rest = &rest[start + left.len()..];
                let Some(end) = rest.find(right) else { return };
                if visit(&rest[..end]).is_break() {
                    return;
                }
            }
        }
    }
}

impl Processor for BoundaryExtractor {
    fn process(&self, user: &mut UserState) {
        if !user.has_result {
            return;
        }
        let settings = &self.settings;
        let refname = settings.refname.text(user);
        let wanted = java::integer(&settings.match_number.text(user));
        let default = settings.default.text(user);
        let left = settings.left.text(user);
        let right = settings.right.text(user);
        let variable = match &settings.scope {
            Scope::Variable(name) => Some(name.text(user)),
            _ => None,
        };
        if !java::is_blank(&default) || settings.default_is_empty {
            user.variables.set(&refname, &default);
        }
        let mut name = user.take_buffer();
        let count_before = take_count(user, &refname, &mut name);
        let matches = self.matches(user, variable.as_deref(), &left, &right, wanted);
        let mut kept = 0;
        let put = |name: &mut String, suffix: std::fmt::Arguments<'_>| {
            name.clear();
            let _ = write!(name, "{refname}_{suffix}");
        };
        if wanted < 0 {
            kept = matches.len();
            put(&mut name, format_args!("matchNr"));
            user.variables.set(&name, &kept.to_string());
            for (index, text) in matches.iter().enumerate() {
                put(&mut name, format_args!("{}", index + 1));
                user.variables.set(&name, text);
            }
        } else if wanted == 0 && !matches.is_empty() {
            let chosen = user.random.random_range(0..matches.len());
            user.variables.set(&refname, &matches[chosen]);
        } else if let [only] = matches.as_slice() {
            user.variables.set(&refname, only);
        }
        for number in kept + 1..=count_before {
            put(&mut name, format_args!("{number}"));
            user.variables.remove(&name);
        }
        user.give_back(name);
    }

    fn keep(&self) -> Keep {
        if self.settings.scope.is_variable() { Keep::default() } else { self.settings.field.keep() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user_with_body};

    fn extractor(left: &str, right: &str, number: &str) -> BoundaryExtractor {
        let literal = Template::literal;
        BoundaryExtractor::new(BoundaryExtractorSettings {
            refname: literal("x"),
            left: literal(left),
            right: literal(right),
            match_number: literal(number),
            default: literal("NONE"),
            ..BoundaryExtractorSettings::default()
        })
        .expect("supported")
    }

    #[test]
    fn one_all_and_none() {
        let mut user = user_with_body("a[1]b[2]c[3");
        extractor("[", "]", "2").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=2");
        extractor("[", "]", "-1").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=NONE x_1=1 x_2=2 x_matchNr=2");
        extractor("[", "]", "3").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=NONE");
        extractor("", "[", "1").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=a");
        extractor("c", "", "0").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=[3");
    }

    #[test]
    fn matches_may_overlap() {
        let mut user = user_with_body("((x)y)");
        extractor("(", ")", "-1").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=NONE x_1=(x x_2=x x_matchNr=2");
    }

    #[test]
    fn the_name_is_required() {
        assert!(BoundaryExtractor::new(BoundaryExtractorSettings::default()).is_err());
    }
}
