//! The XPath extractors: XPath 1.0 over DOM trees, and what of XPath 2 is XPath 1.0, too.

use std::fmt::Write as _;

use busyhour_program::element::Processor;
use busyhour_program::result::Retention;
use busyhour_program::run::Level;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_record::AssertionResult;
use busyhour_xml::{self as xml, ReadOptions, XPathResult, XmlDocument};
use rand::Rng as _;

use crate::html;
use crate::java;
use crate::matches::MatchBudget;
use crate::refusal::Refusal;
use crate::scope::Scope;

/// Which of JMeter's two extractors.
#[derive(Clone, Debug)]
pub enum XPathFlavour {
    /// `XPathExtractor`: Xalan over a DOM tree.
    One {
        /// `XPathExtractor.tolerant`: the response is repaired first.
        tolerant: bool,
        /// `XPathExtractor.namespace`
        namespaces: bool,
    },
    /// `XPath2Extractor`: Saxon; `XPathExtractor2.namespaces`, one `prefix=uri` per line.
    Two {
        /// The prefixes of the expression.
        namespaces: Template,
    },
}

/// Settings of an XPath extractor.
#[derive(Clone, Debug)]
pub struct XPathExtractorSettings {
    /// `TestElement.name`
    pub name: Template,
    /// Which of the two.
    pub flavour: XPathFlavour,
    /// `xpathQuery`
    pub query: Template,
    /// `refname`: prefix of the variables to set.
    pub refname: Template,
    /// `default`
    pub default: Template,
    /// `matchNumber`: 0 a random match, −1 all, else that one.
    pub match_number: Template,
    /// `fragment`: nodes as XML instead of their text.
    pub fragment: bool,
    /// `Sample.scope` with `Scope.variable`, through [`Scope::of`].
    pub scope: Scope,
}

/// An XPath extractor.
#[derive(Debug)]
pub struct XPathExtractor {
    settings: XPathExtractorSettings,
}

/// The prefixes that lines of `prefix=uri` declare.
pub(crate) fn namespace_lines(text: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        line.split_once('=').map(|(prefix, uri)| (prefix.trim().to_owned(), uri.trim().to_owned()))
    };
    text.split('\n').filter_map(pair).collect()
}

/// Why JMeter would complain of this expression at each sample, if it would.
pub fn xpath_problem(expression: &Template) -> Option<String> {
    xml::expression_error(expression.as_literal()?)
}

/// What only XPath 2 and later have, as far as the expression's text shows it.
pub(crate) fn refuse_later_xpath(query: &Template) -> Result<(), Refusal> {
    match xpath_problem(query) {
        Some(problem) if !query.as_literal().unwrap_or_default().is_empty() => {
            Err(Refusal::unsupported(format!("has an expression that is not XPath 1.0: {problem}"))
                .with_hint("only the part of XPath 2 that is also XPath 1.0 is supported"))
        }
        _ => Ok(()),
    }
}

/// What went wrong, and whether the sample fails of it.
struct Failed(String);

impl XPathExtractor {
    /// Takes an extractor out of the plan.
    ///
    /// # Errors
    /// For expressions of XPath 2 that are not XPath 1.0.
    pub fn new(settings: XPathExtractorSettings) -> Result<Self, Refusal> {
        if matches!(settings.flavour, XPathFlavour::Two { .. }) {
            refuse_later_xpath(&settings.query)?;
        }
        Ok(Self { settings })
    }

    fn texts(&self, user: &mut UserState) -> Vec<String> {
        if let Scope::Variable(name) = &self.settings.scope {
            let name = name.text(user).into_owned();
            let Some(text) = user.variables.get(&name) else {
                let own = self.settings.name.text(user).into_owned();
                let line = format!(
                    "No variable '{name}' found to process by XPathExtractor '{own}', skipping processing"
                );
                user.log(Level::Warn, &line);
                return Vec::new();
            };
            return if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
        }
        let mut texts = Vec::new();
        self.settings.scope.visit(&user.result, |result| {
            // The second extractor looks at the main result as often as there are results in its scope.
            let second = matches!(self.settings.flavour, XPathFlavour::Two { .. });
            let result = if second { &user.result } else { result };
            texts.push(result.body_text().into_owned());
            std::ops::ControlFlow::Continue(())
        });
        texts
    }

    fn collect(
        &self,
        user: &mut UserState,
        query: &str,
        wanted: i32,
        matches: &mut Vec<Option<String>>,
    ) -> Result<(), Failed> {
        let texts = self.texts(user);
        let fragment = self.settings.fragment;
        match &self.settings.flavour {
            XPathFlavour::One { tolerant, namespaces } => {
                for text in texts {
                    if *tolerant {
                        let document = html::tolerant(&text).map_err(|limit| Failed(limit.to_string()))?;
                        select(user, &document, query, wanted, fragment, matches)?;
                    } else {
                        let text = xml::decode(text.as_bytes());
                        let reading =
                            ReadOptions { namespaces: *namespaces, no_doctype: false, sorted: true };
                        let document = xml::read(&text, reading).map_err(|error| Failed(error.into()))?;
                        select(user, &document, query, wanted, fragment, matches)?;
                    }
                }
            }
            XPathFlavour::Two { namespaces } => {
                let prefixes = namespace_lines(&namespaces.text(user));
                for text in texts {
                    if query.is_empty() {
                        user.log(Level::Warn, "Error : Empty query in XPath2 extractor");
                        continue;
                    }
                    let reading = ReadOptions { namespaces: true, ..ReadOptions::default() };
                    let document = xml::read(&text, reading).map_err(|error| Failed(error.into()))?;
                    select_second(user, &document, query, &prefixes, wanted, fragment, matches)?;
                }
            }
        }
        Ok(())
    }
}

fn select(
    user: &mut UserState,
    document: &XmlDocument<'_>,
    query: &str,
    wanted: i32,
    fragment: bool,
    matches: &mut Vec<Option<String>>,
) -> Result<(), Failed> {
    let nodes =
        match xml::evaluate(document, query, &document.declared).map_err(|error| Failed(error.into()))? {
            XPathResult::Nodes(nodes) => nodes,
            XPathResult::Bool(flag) => {
                matches.push(Some(flag.to_string()));
                return Ok(());
            }
            XPathResult::Number(text) | XPathResult::Text(text) => {
                matches.push(Some(text));
                return Ok(());
            }
        };
    let chosen = match usize::try_from(wanted) {
        Err(_) => None,
        Ok(0) if !nodes.is_empty() => Some(user.random.random_range(0..nodes.len())),
        // Number 0 of no nodes.
        Ok(number) => Some(number.wrapping_sub(1)),
    };
    let mut budget = MatchBudget::default();
    for (index, &node) in nodes.iter().enumerate() {
        if chosen.is_some_and(|chosen| chosen != index) {
            continue;
        }
        let text = if fragment && xml::is_element(&document.tree, node) {
            let mut out = String::new();
            xml::write_node(&document.tree, node, &mut out);
            Some(out)
        } else {
            xml::first_value(&document.tree, node).map(str::to_owned)
        };
        budget.spend(text.as_ref().map_or(0, String::len)).map_err(|error| Failed(error.to_string()))?;
        matches.push(text);
    }
    Ok(())
}

fn select_second(
    user: &mut UserState,
    document: &XmlDocument<'_>,
    query: &str,
    prefixes: &[(String, String)],
    wanted: i32,
    fragment: bool,
    matches: &mut Vec<Option<String>>,
) -> Result<(), Failed> {
    let mut budget = MatchBudget::default();
    let items: Vec<String> =
        match xml::evaluate(document, query, prefixes).map_err(|error| Failed(error.into()))? {
            XPathResult::Nodes(nodes) => nodes
                .into_iter()
                .map(|node| {
                    let text = if fragment {
                        xml::write_item(document, node)
                    } else {
                        xml::string_value(&document.tree, node)
                    };
                    budget.spend(text.len()).map_err(|error| Failed(error.to_string()))?;
                    Ok(text)
                })
                .collect::<Result<_, Failed>>()?,
            XPathResult::Bool(flag) => vec![flag.to_string()],
            XPathResult::Number(text) | XPathResult::Text(text) => vec![text],
        };
    match usize::try_from(wanted) {
        Err(_) => matches.extend(items.into_iter().map(Some)),
        Ok(0) if items.is_empty() => return Err(Failed("-1".to_owned())),
        Ok(0) => {
            let chosen = user.random.random_range(0..items.len());
            matches.extend(items.into_iter().nth(chosen).map(Some));
        }
        Ok(number) => match items.into_iter().nth(number - 1) {
            Some(item) => matches.push(Some(item)),
            None => user.log(Level::Warn, &format!("Error : no match number {number}")),
        },
    }
    Ok(())
}

impl Processor for XPathExtractor {
    fn process(&self, user: &mut UserState) {
        if !user.has_result {
            return;
        }
        let settings = &self.settings;
        let refname = settings.refname.text(user).into_owned();
        let query = settings.query.text(user).into_owned();
        let wanted = java::integer(&settings.match_number.text(user));
        let default = settings.default.text(user).into_owned();
        user.variables.set(&refname, &default);
        let mut key = user.take_buffer();
        let mut name = |suffix: std::fmt::Arguments<'_>| {
            key.clear();
            let _ = write!(key, "{refname}_{suffix}");
            key.clone()
        };
        let count_name = name(format_args!("matchNr"));
        let before: usize = user.variables.get(&count_name).and_then(|text| text.parse().ok()).unwrap_or(0);
        user.variables.set(&count_name, "0");
        user.variables.remove(&name(format_args!("1")));
        let mut matches = Vec::new();
        match self.collect(user, &query, wanted, &mut matches) {
            Ok(()) => {
                user.variables.set(&count_name, &matches.len().to_string());
                if let Some(Some(first)) = matches.first() {
                    user.variables.set(&refname, first);
                }
                for (index, value) in matches.iter().enumerate() {
                    if let Some(value) = value {
                        user.variables.set(&name(format_args!("{}", index + 1)), value);
                    }
                }
                for number in matches.len() + 1..=before.max(matches.len() + 1) {
                    user.variables.remove(&name(format_args!("{number}")));
                }
            }
            Err(Failed(why)) => {
                user.log(Level::Warn, &format!("Exception while processing ({query}). {why}"));
                let name = settings.name.text(user).into_owned();
                user.result.assertions.push(AssertionResult {
                    name,
                    failure: true,
                    message: format!("{why}\nSee log file for further details."),
                    ..AssertionResult::default()
                });
            }
        }
        user.give_back(key);
    }

    fn keep(&self) -> Retention {
        Retention { body: !self.settings.scope.is_variable(), ..Retention::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all_variables, user_with_body};

    fn settings(query: &str, number: &str) -> XPathExtractorSettings {
        XPathExtractorSettings {
            name: Template::literal("x"),
            flavour: XPathFlavour::One { tolerant: false, namespaces: false },
            query: Template::literal(query),
            refname: Template::literal("v"),
            default: Template::literal("none"),
            match_number: Template::literal(number),
            fragment: false,
            scope: Scope::Main,
        }
    }

    const BODY: &str = "<a><b id='1'>x</b><b id='2'><i>y</i></b><b id='3'>z</b></a>";

    fn after(settings: XPathExtractorSettings) -> String {
        let mut user = user_with_body(BODY);
        user.variables.set("v_matchNr", "5");
        user.variables.set("v_5", "old");
        XPathExtractor::new(settings).expect("supported").process(&mut user);
        let failed = user.result.assertions.iter().map(|a| format!(" ! {}", a.message.replace('\n', " / ")));
        format!("{}{}", all_variables(&user), failed.collect::<String>())
    }

    #[test]
    fn matches_become_variables() {
        insta::assert_snapshot!(after(settings("//b", "-1")), @"v=x v_1=x v_3=z v_matchNr=3");
        insta::assert_snapshot!(after(settings("//b", "2")), @"v=none v_matchNr=1");
        insta::assert_snapshot!(after(settings("//b", "3")), @"v=z v_1=z v_matchNr=1");
        insta::assert_snapshot!(after(settings("//b", "4")), @"v=none v_matchNr=0");
        insta::assert_snapshot!(after(settings("//b/@id", "-1")), @"v=1 v_1=1 v_2=2 v_3=3 v_matchNr=3");
        insta::assert_snapshot!(after(settings("count(//b)", "-1")), @"v=3 v_1=3 v_matchNr=1");
        insta::assert_snapshot!(after(settings("//c", "0")), @"v=none v_matchNr=0");
        let fragment = XPathExtractorSettings { fragment: true, ..settings("//b[2]", "-1") };
        insta::assert_snapshot!(after(fragment), @r#"v=<b id="2"><i>y</i></b> v_1=<b id="2"><i>y</i></b> v_matchNr=1"#);
    }

    #[test]
    fn the_second_takes_all_text_below() {
        let second = |query: &str, number: &str| XPathExtractorSettings {
            flavour: XPathFlavour::Two { namespaces: Template::literal("") },
            ..settings(query, number)
        };
        insta::assert_snapshot!(after(second("//b", "-1")), @"v=x v_1=x v_2=y v_3=z v_matchNr=3");
        insta::assert_snapshot!(after(second("//b", "2")), @"v=y v_1=y v_matchNr=1");
        insta::assert_snapshot!(after(second("//c", "0")), @"v=none v_5=old v_matchNr=0 ! -1 / See log file for further details.");
        assert!(XPathExtractor::new(second("lower-case(//b)", "1")).is_err());
    }
}
