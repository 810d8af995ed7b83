//! The CSS Selector Extractor.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::rc::Rc;

use busyhour_program::element::Processor;
use busyhour_program::result::Retention;
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

use crate::html::{self, PageLimit, SelectLimit, Selector, SelectorError};
use crate::java;
use crate::match_number;
use crate::matches::{MatchBudget, TooLong};
use crate::refusal::Refusal;
use crate::regex_extractor::take_match_count;
use crate::scope::SampleScope;

/// Settings of a CSS selector extractor.
#[derive(Clone, Debug, Default)]
pub struct CssExtractorSettings {
    /// `TestElement.name`: the name of the element.
    pub name: String,
    /// `HtmlExtractor.extractor_impl`: empty or `JSOUP`, or `JODD`.
    pub implementation: String,
    /// `HtmlExtractor.refname`: variable, or prefix of the variables, to set.
    pub refname: Template,
    /// `HtmlExtractor.expr`: the selector.
    pub selector: Template,
    /// `HtmlExtractor.attribute`: if blank, the text of the element is extracted.
    pub attribute: Template,
    /// `HtmlExtractor.match_number`: 0 for a random match, −1 for all, otherwise the number of the match.
    pub match_number: Template,
    /// `HtmlExtractor.default`: the value if nothing is found.
    pub default: Template,
    /// `HtmlExtractor.default_empty_value`: also set a default that is empty.
    pub default_is_empty: bool,
    /// `Sample.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// The CSS selector extractor.
#[derive(Debug)]
pub struct CssExtractor {
    settings: CssExtractorSettings,
    selector: Option<Result<Selector, SelectorError>>,
}

/// Why the extraction failed.
#[derive(Debug, thiserror::Error)]
enum ExtractError {
    #[error(transparent)]
    Selector(#[from] SelectorError),
    #[error(transparent)]
    Page(#[from] PageLimit),
    #[error(transparent)]
    Steps(#[from] SelectLimit),
    #[error(transparent)]
    Length(#[from] TooLong),
}

/// Number of selectors with variables that each thread caches.
const CACHED_MAX: usize = 400;

type CachedSelector = Rc<Result<Selector, SelectorError>>;

thread_local! {
    static CACHE: RefCell<HashMap<String, CachedSelector>> = RefCell::default();
}

fn cached_selector(text: &str) -> CachedSelector {
    CACHE.with_borrow_mut(|cache| {
        if let Some(selector) = cache.get(text) {
            return Rc::clone(selector);
        }
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        let selector = Rc::new(Selector::parse(text));
        cache.insert(text.to_owned(), Rc::clone(&selector));
        selector
    })
}

impl CssExtractor {
    /// Creates the extractor from its settings.
    ///
    /// # Errors
    /// The settings select Jodd, which parses pages differently, or an unknown implementation.
    pub fn new(settings: CssExtractorSettings) -> Result<Self, Refusal> {
        match settings.implementation.as_str() {
            "" | "JSOUP" => {}
            "JODD" => {
                return Err(Refusal::unsupported("selects with Jodd's library").with_hint(
                    "choose the implementation JSOUP: simple selectors select the same elements",
                ));
            }
            other => {
                return Err(Refusal::invalid(format!(
                    "has the implementation `{other}`, which JMeter does not have"
                )));
            }
        }
        let selector = settings.selector.as_literal().map(Selector::parse);
        Ok(Self { settings, selector })
    }

    /// The error in a constant selector, which JMeter would report at each sample.
    pub fn selector_error(&self) -> Option<String> {
        Some(self.selector.as_ref()?.as_ref().err()?.to_string())
    }

    /// Appends the matches of the selector in a page, up to the wanted match.
    fn collect(
        &self,
        selector: &Selector,
        page: &str,
        attribute: &str,
        wanted: i32,
        matches: &mut Vec<String>,
    ) -> Result<(), ExtractError> {
        let tree = html::parse(page)?;
        let wanted = usize::try_from(wanted).unwrap_or(0);
        let mut budget = html::TextBudget::default();
        let mut lengths = MatchBudget::default();
        for element in selector.select(&tree)? {
            if wanted > 0 && matches.len() == wanted {
                break;
            }
            let text = if busyhour_java::is_blank(attribute) {
                budget.element_text(&tree, element)?
            } else {
                let attribute = attribute.to_ascii_lowercase();
                tree.attribute(element, &attribute).unwrap_or("").to_owned()
            };
            lengths.spend(text.len())?;
            matches.push(text);
        }
        Ok(())
    }

    fn matches(&self, user: &mut UserState, wanted: i32) -> Result<Vec<String>, ExtractError> {
        let settings = &self.settings;
        let cached;
        let selector = match &self.selector {
            Some(selector) => selector,
            None => {
                cached = cached_selector(&settings.selector.text(user));
                cached.as_ref()
            }
        };
        let attribute = settings.attribute.text(user).into_owned();
        let mut matches = Vec::new();
        if let SampleScope::Variable(name) = &settings.scope {
            let name = name.text(user).into_owned();
            match user.variables.get(&name).map(str::to_owned) {
                None => user.log(
                    LogLevel::Warn,
                    &format!(
                        "No variable '{name}' found to process by CSS Selector Extractor '{}', skipping processing",
                        settings.name
                    ),
                ),
                Some(page) if page.is_empty() => {}
                Some(page) => {
                    let selector = selector.as_ref().map_err(Clone::clone)?;
                    self.collect(selector, &page, &attribute, wanted, &mut matches)?;
                }
            }
            return Ok(matches);
        }
        let selector = selector.as_ref().map_err(Clone::clone)?;
        let mut failed = None;
        settings.scope.visit(&user.result, |result| {
            if let Err(error) = self.collect(selector, &result.body_text(), &attribute, wanted, &mut matches)
            {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            let is_found = usize::try_from(wanted).is_ok_and(|wanted| wanted > 0 && matches.len() == wanted);
            if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        failed.map_or(Ok(matches), Err)
    }
}

impl Processor for CssExtractor {
    fn process(&self, user: &mut UserState) {
        if !user.has_result {
            return;
        }
        let settings = &self.settings;
        let refname = settings.refname.text(user).into_owned();
        let wanted = java::integer(&settings.match_number.text(user));
        let default = settings.default.text(user).into_owned();
        if !default.is_empty() || settings.default_is_empty {
            user.variables.set(&refname, &default);
        }
        let matches = match self.matches(user, wanted) {
            Ok(matches) => matches,
            Err(error) => {
                let line = format!("{}: Error while generating result. {error}", settings.name);
                user.log(LogLevel::Warn, &line);
                return;
            }
        };
        let mut name = user.take_buffer();
        let count_before = take_match_count(user, &refname, &mut name);
        let mut count = 0;
        match usize::try_from(wanted) {
            Ok(number) => {
                if let Some(index) = match_number::select(user, number, matches.len()) {
                    user.variables.set(&refname, &matches[index]);
                }
            }
            Err(_) => {
                count = matches.len();
                name.clear();
                let _ = write!(name, "{refname}_matchNr");
                user.variables.set(&name, &count.to_string());
                for (index, value) in matches.iter().enumerate() {
                    name.clear();
                    let _ = write!(name, "{refname}_{}", index + 1);
                    user.variables.set(&name, value);
                }
            }
        }
        for number in count + 1..=count_before {
            name.clear();
            let _ = write!(name, "{refname}_{number}");
            user.variables.remove(&name);
        }
        user.give_back(name);
    }

    fn retention(&self) -> Retention {
        Retention { body: !self.settings.scope.is_variable(), ..Retention::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user_with_body};

    fn after(selector: &str, attribute: &str, number: &str) -> String {
        let literal = Template::literal;
        let extractor = CssExtractor::new(CssExtractorSettings {
            refname: literal("v"),
            selector: literal(selector),
            attribute: literal(attribute),
            match_number: literal(number),
            default: literal("none"),
            ..CssExtractorSettings::default()
        });
        let mut user = user_with_body("<p id=a>one<p ID=b>two<i>!</i><br>");
        user.variables.set("v_matchNr", "3");
        user.variables.set("v_3", "old");
        extractor.expect("supported").process(&mut user);
        all_variables(&user)
    }

    #[test]
    fn texts_and_attributes_are_extracted() {
        insta::assert_snapshot!(after("p", "", "-1"), @"v=none v_1=one v_2=two! v_matchNr=2");
        insta::assert_snapshot!(after("p", "id", "2"), @"v=b");
        insta::assert_snapshot!(after("p", "ID", "1"), @"v=a");
        insta::assert_snapshot!(after("p", "class", "1"), @"v=");
        insta::assert_snapshot!(after("p", "", "3"), @"v=none");
        insta::assert_snapshot!(after("p[", "", "1"), @"v=none v_3=old v_matchNr=3");
    }
}
