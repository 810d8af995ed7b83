//! The XPath Assertion (XPath 1.0 over DOM trees) and the XPath2 Assertion (expressions that are also valid in XPath 1.0).

use std::borrow::Cow;

use busyhour_program::element::{Assertion, AssertionScope};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;
use busyhour_xml::{self as xml, ReadOptions, XPathResult, XmlDocument};

use crate::html;
use crate::refusal::Refusal;
use crate::scope::SampleScope;
use crate::xpath_extractor::{XPathFlavour, namespace_lines, reject_xpath2};

/// Settings of an XPath assertion.
#[derive(Clone, Debug)]
pub struct XPathAssertionSettings {
    /// `TestElement.name`: the name of the element.
    pub name: Template,
    /// The version of the assertion in JMeter, with its property `XPath.tolerant`, `XPath.namespace` or `XPath.namespaces`.
    pub flavour: XPathFlavour,
    /// `XPath.xpath`: the XPath expression; `/` if absent.
    pub query: Template,
    /// `XPath.negate`: fail if the expression is true or selects nodes.
    pub negate: bool,
    /// `Assertion.scope` with `SampleScope.variable`, as parsed by [`SampleScope::parse`].
    pub scope: SampleScope,
}

/// An XPath assertion.
#[derive(Debug)]
pub struct XPathAssertion {
    settings: XPathAssertionSettings,
}

impl XPathAssertion {
    /// Creates the assertion from its settings.
    ///
    /// # Errors
    /// The expression is valid in XPath 2, but not in XPath 1.0.
    pub fn new(settings: XPathAssertionSettings) -> Result<Self, Refusal> {
        if matches!(settings.flavour, XPathFlavour::XPath2 { .. }) {
            reject_xpath2(&settings.query)?;
        }
        Ok(Self { settings })
    }

    fn check_xpath1(&self, document: &XmlDocument<'_>, query: &str) -> AssertionResult {
        let negate = self.settings.negate;
        match xml::evaluate(document, query, &document.declared) {
            Err(why) => error(format!("TransformerException: {why} for: {query}")),
            Ok(XPathResult::Nodes(nodes)) if nodes.is_empty() => {
                outcome(!negate, format!("No Nodes Matched {query}"))
            }
            Ok(XPathResult::Nodes(_)) if !negate => outcome(false, String::new()),
            Ok(XPathResult::Nodes(_)) => outcome(
                negate,
                "Specified XPath was found... Turn off negate if this is not desired".to_owned(),
            ),
            Ok(XPathResult::Bool(flag)) => outcome(flag == negate, self.nodes_matched(query)),
            Ok(_) => outcome(true, format!("Cannot understand: {query}")),
        }
    }

    fn check_xpath2(&self, text: &str, query: &str, prefixes: &[(String, String)]) -> AssertionResult {
        let options = ReadOptions { namespaces: true, ..ReadOptions::default() };
        let result = xml::read(text, options).and_then(|document| xml::evaluate(&document, query, prefixes));
        let matched = match result {
            Err(why) => {
                return error(format!(
                    "Exception occurred computing assertion with XPath:{query}, error:{why}"
                ));
            }
            Ok(XPathResult::Nodes(nodes)) => !nodes.is_empty(),
            Ok(XPathResult::Bool(flag)) => flag,
            Ok(_) => true,
        };
        outcome(matched == self.settings.negate, self.nodes_matched(query))
    }

    fn nodes_matched(&self, query: &str) -> String {
        let no = if self.settings.negate { "" } else { "No " };
        format!("{no}Nodes Matched for {query}")
    }
}

/// The outcome of an assertion. JMeter sets most messages even if the assertion passes.
fn outcome(failure: bool, message: String) -> AssertionResult {
    AssertionResult { failure, blank_message: message.is_empty(), message, ..AssertionResult::default() }
}

fn error(message: String) -> AssertionResult {
    AssertionResult { error: true, message, ..AssertionResult::default() }
}

impl Assertion for XPathAssertion {
    fn name(&self, user: &mut UserState) -> String {
        self.settings.name.text(user).into_owned()
    }

    fn scope(&self) -> AssertionScope {
        self.settings.scope.for_assertion()
    }

    fn check(&self, user: &mut UserState, result: &SampleResult) -> AssertionResult {
        let settings = &self.settings;
        let query = settings.query.text(user).into_owned();
        let variable = match &settings.scope {
            SampleScope::Variable(name) => {
                let name = name.text(user).into_owned();
                Some(user.variables.get(&name).unwrap_or_default().to_owned())
            }
            _ => None,
        };
        let empty_response = || outcome(true, "Response was null".to_owned());
        match &settings.flavour {
            XPathFlavour::XPath1 { tolerant, namespaces } => {
                let bytes = variable.as_ref().map_or(result.body.as_slice(), |text| text.as_bytes());
                if bytes.is_empty() {
                    return empty_response();
                }
                let text = xml::decode(bytes);
                if *tolerant {
                    return match html::parse_tolerantly(&text) {
                        Ok(document) => self.check_xpath1(&document, &query),
                        Err(limit) => error(limit.to_string()),
                    };
                }
                let options = ReadOptions { namespaces: *namespaces, no_doctype: false, sorted: true };
                match xml::read(&text, options) {
                    Ok(document) => self.check_xpath1(&document, &query),
                    Err(why) => error(format!("SAXException: {why}")),
                }
            }
            XPathFlavour::XPath2 { namespaces } => {
                let text = match &variable {
                    Some(text) if text.is_empty() => return empty_response(),
                    Some(text) => Cow::Borrowed(text.as_str()),
                    None => result.body_text(),
                };
                if query.is_empty() {
                    return AssertionResult::default();
                }
                let prefixes = namespace_lines(&namespaces.text(user));
                self.check_xpath2(&text, &query, &prefixes)
            }
        }
    }

    fn retention(&self) -> Retention {
        Retention { body: !self.settings.scope.is_variable(), ..Retention::default() }
    }
}
