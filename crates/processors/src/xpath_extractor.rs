//! The XPath Extractor (XPath 1.0 over DOM trees) and the XPath2 Extractor (expressions that are also valid in XPath 1.0).

use std::fmt::Write as _;

use busyhour_program::element::Processor;
use busyhour_program::result::Retention;
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;
use busyhour_xml::{self as xml, ReadOptions, XPathResult, XmlDocument};
use rand::Rng as _;

use crate::html;
use crate::java;
use crate::matches::MatchBudget;
use crate::refusal::Refusal;
use crate::scope::SampleScope;

/// The version of JMeter's XPath extractor or XPath assertion.
#[derive(Clone, Debug)]
pub enum XPathFlavour {
    /// `XPathExtractor`: Xalan over a DOM tree.
    XPath1 {
        /// `XPathExtractor.tolerant`: parse the response as HTML.
        tolerant: bool,
        /// `XPathExtractor.namespace`: the parser of the response supports namespaces.
        namespaces: bool,
    },
    /// `XPath2Extractor`: Saxon.
    XPath2 {
        /// `XPathExtractor2.namespaces`: the namespaces of the prefixes in the expression, one `prefix=uri` per line.
        namespaces: Template,
    },
}

/// Settings of an XPath extractor.
#[derive(Clone, Debug)]
pub struct XPathExtractorSettings {
    /// `TestElement.name`: the name of the element.
    pub name: Template,
    /// The version of the extractor in JMeter.
    pub flavour: XPathFlavour,
    /// `xpathQuery`: the XPath expression.
    pub query: Template,
    /// `refname`: prefix of the variables to set.
    pub refname: Template,
    /// `default`: the value if nothing is found.
    pub default: Template,
    /// `matchNumber`: 0 for a random match, −1 for all, otherwise the number of the match.
    pub match_number: Template,
    /// `fragment`: extract nodes as XML instead of their text.
    pub fragment: bool,
    /// `Sample.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// An XPath extractor.
#[derive(Debug)]
pub struct XPathExtractor {
    settings: XPathExtractorSettings,
}

/// Parses lines of `prefix=uri`.
pub(crate) fn namespace_lines(text: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        line.split_once('=').map(|(prefix, uri)| (prefix.trim().to_owned(), uri.trim().to_owned()))
    };
    text.split('\n').filter_map(pair).collect()
}

/// The error in a constant expression, which JMeter would report at each sample.
pub fn xpath_error(expression: &Template) -> Option<String> {
    xml::expression_error(expression.as_literal()?)
}

/// Refuses a constant expression that is not valid in XPath 1.0.
pub(crate) fn reject_xpath2(query: &Template) -> Result<(), Refusal> {
    match xpath_error(query) {
        Some(error) if !query.as_literal().unwrap_or_default().is_empty() => {
            Err(Refusal::unsupported(format!("has an expression that is not XPath 1.0: {error}"))
                .with_hint("only the part of XPath 2 that is also XPath 1.0 is supported"))
        }
        _ => Ok(()),
    }
}

/// Why the extraction failed. The error fails the sample.
struct Failed(String);

impl XPathExtractor {
    /// Creates the extractor from its settings.
    ///
    /// # Errors
    /// The expression is valid in XPath 2, but not in XPath 1.0.
    pub fn new(settings: XPathExtractorSettings) -> Result<Self, Refusal> {
        if matches!(settings.flavour, XPathFlavour::XPath2 { .. }) {
            reject_xpath2(&settings.query)?;
        }
        Ok(Self { settings })
    }

    fn texts(&self, user: &mut UserState) -> Vec<String> {
        if let SampleScope::Variable(name) = &self.settings.scope {
            let name = name.text(user).into_owned();
            let Some(text) = user.variables.get(&name) else {
                let element = self.settings.name.text(user).into_owned();
                let line = format!(
                    "No variable '{name}' found to process by XPathExtractor '{element}', skipping processing"
                );
                user.log(LogLevel::Warn, &line);
                return Vec::new();
            };
            return if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
        }
        let mut texts = Vec::new();
        self.settings.scope.visit(&user.result, |result| {
            // As in JMeter, the XPath2 Extractor reads the main result once for each result in its scope.
            let is_xpath2 = matches!(self.settings.flavour, XPathFlavour::XPath2 { .. });
            let result = if is_xpath2 { &user.result } else { result };
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
            XPathFlavour::XPath1 { tolerant, namespaces } => {
                for text in texts {
                    if *tolerant {
                        let document =
                            html::parse_tolerantly(&text).map_err(|limit| Failed(limit.to_string()))?;
                        select_xpath1(user, &document, query, wanted, fragment, matches)?;
                    } else {
                        let text = xml::decode(text.as_bytes());
                        let options =
                            ReadOptions { namespaces: *namespaces, no_doctype: false, sorted: true };
                        let document =
                            xml::read(&text, options).map_err(|error| Failed(error.to_string()))?;
                        select_xpath1(user, &document, query, wanted, fragment, matches)?;
                    }
                }
            }
            XPathFlavour::XPath2 { namespaces } => {
                let prefixes = namespace_lines(&namespaces.text(user));
                for text in texts {
                    if query.is_empty() {
                        user.log(LogLevel::Warn, "Error : Empty query in XPath2 extractor");
                        continue;
                    }
                    let options = ReadOptions { namespaces: true, ..ReadOptions::default() };
                    let document = xml::read(&text, options).map_err(|error| Failed(error.to_string()))?;
                    select_xpath2(user, &document, query, &prefixes, wanted, fragment, matches)?;
                }
            }
        }
        Ok(())
    }
}

fn select_xpath1(
    user: &mut UserState,
    document: &XmlDocument<'_>,
    query: &str,
    wanted: i32,
    fragment: bool,
    matches: &mut Vec<Option<String>>,
) -> Result<(), Failed> {
    let nodes = match xml::evaluate(document, query, &document.declared)
        .map_err(|error| Failed(error.to_string()))?
    {
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
    let selected = match usize::try_from(wanted) {
        Err(_) => None,
        Ok(0) if !nodes.is_empty() => Some(user.random.random_range(0..nodes.len())),
        // If the number is 0, there are no nodes, and the wrapped index selects none.
        Ok(number) => Some(number.wrapping_sub(1)),
    };
    let mut budget = MatchBudget::default();
    for (index, &node) in nodes.iter().enumerate() {
        if selected.is_some_and(|selected| selected != index) {
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

fn select_xpath2(
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
        match xml::evaluate(document, query, prefixes).map_err(|error| Failed(error.to_string()))? {
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
            let selected = user.random.random_range(0..items.len());
            matches.extend(items.into_iter().nth(selected).map(Some));
        }
        Ok(number) => match items.into_iter().nth(number - 1) {
            Some(item) => matches.push(Some(item)),
            None => user.log(LogLevel::Warn, &format!("Error : no match number {number}")),
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
        let count_before: usize =
            user.variables.get(&count_name).and_then(|text| text.parse().ok()).unwrap_or(0);
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
                for number in matches.len() + 1..=count_before.max(matches.len() + 1) {
                    user.variables.remove(&name(format_args!("{number}")));
                }
            }
            Err(Failed(why)) => {
                user.log(LogLevel::Warn, &format!("Exception while processing ({query}). {why}"));
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

    fn retention(&self) -> Retention {
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
            flavour: XPathFlavour::XPath1 { tolerant: false, namespaces: false },
            query: Template::literal(query),
            refname: Template::literal("v"),
            default: Template::literal("none"),
            match_number: Template::literal(number),
            fragment: false,
            scope: SampleScope::Main,
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
    fn xpath2_extracts_the_text_of_descendants() {
        let xpath2 = |query: &str, number: &str| XPathExtractorSettings {
            flavour: XPathFlavour::XPath2 { namespaces: Template::literal("") },
            ..settings(query, number)
        };
        insta::assert_snapshot!(after(xpath2("//b", "-1")), @"v=x v_1=x v_2=y v_3=z v_matchNr=3");
        insta::assert_snapshot!(after(xpath2("//b", "2")), @"v=y v_1=y v_matchNr=1");
        insta::assert_snapshot!(after(xpath2("//c", "0")), @"v=none v_5=old v_matchNr=0 ! -1 / See log file for further details.");
        assert!(XPathExtractor::new(xpath2("lower-case(//b)", "1")).is_err());
    }
}
