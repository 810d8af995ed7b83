//! The Boundary Extractor: extracts the text between two boundaries.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use busyhour_program::ElementError;
use busyhour_program::element::Processor;
use busyhour_program::result::Retention;
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

use crate::java;
use crate::match_number;
use crate::matches::{MatchBudget, Matches, with_matches};
use crate::refusal::Refusal;
use crate::regex_extractor::take_match_count;
use crate::scope::{Field, SampleScope};

/// Settings of a boundary extractor.
#[derive(Clone, Debug, Default)]
pub struct BoundaryExtractorSettings {
    /// `TestElement.name`: the name of the element.
    pub name: String,
    /// `BoundaryExtractor.refname`: variable, or prefix of the variables, to set.
    pub refname: Template,
    /// `BoundaryExtractor.lboundary`: the text before a match.
    pub left: Template,
    /// `BoundaryExtractor.rboundary`: the text after a match.
    pub right: Template,
    /// `BoundaryExtractor.match_number`: 0 for a random match, −1 for all, otherwise the number of the match.
    pub match_number: Template,
    /// `BoundaryExtractor.default`: the value if nothing is found.
    pub default: Template,
    /// `BoundaryExtractor.default_empty_value`: also set a default that is empty.
    pub default_is_empty: bool,
    /// `BoundaryExtractor.useHeaders`, as parsed by [`Field::of_extractor`].
    pub field: Field,
    /// `Sample.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// The boundary extractor.
#[derive(Debug)]
pub struct BoundaryExtractor {
    settings: BoundaryExtractorSettings,
}

impl BoundaryExtractor {
    /// Creates the extractor from its settings.
    ///
    /// # Errors
    /// There is no variable name, for which JMeter fails at each sample.
    pub fn new(settings: BoundaryExtractorSettings) -> Result<Self, Refusal> {
        if settings.refname.is_empty() {
            return Err(Refusal::invalid("has no name for the variable to set"));
        }
        Ok(Self { settings })
    }

    fn collect(
        &self,
        user: &UserState,
        variable: Option<&str>,
        boundaries: (&str, &str),
        wanted: i32,
        matches: &mut Matches,
    ) -> Result<(), ElementError> {
        matches.clear(1);
        let (left, right) = boundaries;
        let mut budget = MatchBudget::default();
        let mut spent = Ok(());
        let mut add = |found: &str| {
            matches.push(Some(found));
            spent = budget.spend(found.len()).map_err(ElementError::caused_by);
            if spent.is_err() || matches.has_match(wanted) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let Some(variable) = variable else {
            let mut outcome = Ok(());
            self.settings.scope.visit(&user.result, |result| match self.settings.field.text(result) {
                Ok(text) => visit_matches(&text, left, right, &mut add),
                Err(error) => {
                    outcome = Err(error);
                    ControlFlow::Break(())
                }
            });
            return outcome.and(spent);
        };
        match user.variables.get(variable) {
            Some(text) => {
                let _ = visit_matches(text, left, right, &mut add);
            }
            None => user.log(
                LogLevel::Warn,
                &format!(
                    "No variable '{variable}' found to process by Boundary Extractor '{}', skipping processing",
                    self.settings.name
                ),
            ),
        }
        spent
    }

    /// The index of the selected match. With an empty boundary, JMeter finds a single match in a variable and selects it for
    /// every match number.
    fn select(&self, user: &mut UserState, is_open_ended: bool, wanted: i32, count: usize) -> Option<usize> {
        match usize::try_from(wanted).unwrap_or(0) {
            1.. if count > 0 && is_open_ended && self.settings.scope.is_variable() => Some(0),
            number => match_number::select(user, number, count),
        }
    }
}

/// Visits the texts between the boundaries from left to right. Matches may overlap.
fn visit_matches(
    text: &str,
    left: &str,
    right: &str,
    visit: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if busyhour_java::is_blank(text) {
        return ControlFlow::Continue(());
    }
    match (left.is_empty(), right.is_empty()) {
        (true, true) => visit(text),
        (true, false) => text.find(right).map_or(ControlFlow::Continue(()), |end| visit(&text[..end])),
        (false, true) => match text.find(left) {
            Some(start) => visit(&text[start + left.len()..]),
            None => ControlFlow::Continue(()),
        },
        (false, false) => {
            let mut rest = text;
            while let Some(start) = rest.find(left) {
                rest = &rest[start + left.len()..];
                let Some(end) = rest.find(right) else { break };
                visit(&rest[..end])?;
            }
            ControlFlow::Continue(())
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
            SampleScope::Variable(name) => Some(name.text(user)),
            _ => None,
        };
        if !busyhour_java::is_blank(&default) || settings.default_is_empty {
            user.variables.set(&refname, &default);
        }
        let mut name = user.take_buffer();
        let count_before = take_match_count(user, &refname, &mut name);
        let mut count = 0;
        let set_name = |name: &mut String, suffix: std::fmt::Arguments<'_>| {
            name.clear();
            let _ = write!(name, "{refname}_{suffix}");
        };
        with_matches(|matches| {
            if let Err(error) = self.collect(user, variable.as_deref(), (&left, &right), wanted, matches) {
                let name = &settings.name;
                let class = "java.lang.IllegalArgumentException";
                user.log(LogLevel::Warn, &format!("{name}: Error while generating result. {class}: {error}"));
                return;
            }
            if wanted >= 0 {
                let is_open_ended = left.is_empty() || right.is_empty();
                let selected = self.select(user, is_open_ended, wanted, matches.len());
                if let Some(text) = selected.and_then(|index| matches.group(index, 0)) {
                    user.variables.set(&refname, text);
                }
                return;
            }
            count = matches.len();
            set_name(&mut name, format_args!("matchNr"));
            user.variables.set(&name, &count.to_string());
            for index in 0..count {
                set_name(&mut name, format_args!("{}", index + 1));
                user.variables.set(&name, matches.group(index, 0).unwrap_or_default());
            }
        });
        for number in count + 1..=count_before {
            set_name(&mut name, format_args!("{number}"));
            user.variables.remove(&name);
        }
        user.give_back(name);
    }

    fn retention(&self) -> Retention {
        if self.settings.scope.is_variable() { Retention::default() } else { self.settings.field.retention() }
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
    fn one_match_all_matches_and_no_match_are_stored() {
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
    fn overlapping_matches_are_limited() {
        let mut user = user_with_body(&format!("{})", "(".repeat(20_000)));
        extractor("(", ")", "-1").process(&mut user);
        insta::assert_snapshot!(all_variables(&user), @"x=NONE");
        assert_eq!(busyhour_limits::take_counts(), [(busyhour_limits::Limit::MatchBytes, 1)]);
        extractor("(", ")", "1").process(&mut user);
        assert_eq!(user.variables.get("x").map(str::len), Some(19_999));
    }

    #[test]
    fn the_name_is_required() {
        assert!(BoundaryExtractor::new(BoundaryExtractorSettings::default()).is_err());
    }
}
