//! Extractors of all kinds, and users for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use busyhour_processors::scope::{Field, SampleScope};
use busyhour_processors::{
    BoundaryExtractor, BoundaryExtractorSettings, CssExtractor, CssExtractorSettings, JmesExtractor,
    JmesExtractorSettings, JsonExtractor, JsonExtractorSettings, PluginJsonExtractor,
    PluginJsonExtractorSettings, RegexExtractor, RegexExtractorSettings, XPathExtractor,
    XPathExtractorSettings, XPathFlavour,
};
use busyhour_program::clock::Clock;
use busyhour_program::element::Processor;
use busyhour_program::run::{GroupShared, JmeterProperties, RunShared};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// An expression of one kind of extractor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expression<'t> {
    Regex(&'t str),
    Boundaries(&'t str, &'t str),
    Css(&'t str),
    XPath(&'t str),
    TolerantXPath(&'t str),
    XPath2(&'t str),
    JsonPath(&'t str),
    PluginJsonPath(&'t str),
    JmesPath(&'t str),
}

/// A constant text of a plan.
pub fn text(text: &str) -> Template {
    Template::literal(text)
}

impl Expression<'_> {
    /// The extractor for the expression; it sets `x`, and its default is `none`.
    pub fn extractor(self, number: i32) -> Option<Box<dyn Processor>> {
        let (refname, default, match_number) = (text("x"), text("none"), text(&number.to_string()));
        let xpath = |query: &str, flavour| {
            XPathExtractor::new(XPathExtractorSettings {
                name: text("extractor"),
                flavour,
                query: text(query),
                refname: text("x"),
                default: text("none"),
                match_number: text(&number.to_string()),
                fragment: false,
                scope: SampleScope::Main,
            })
        };
        Some(match self {
            Self::Regex(regex) => {
                let (regex, template) = (text(regex), text("$0$"));
                let settings = RegexExtractorSettings {
                    refname,
                    regex,
                    template,
                    match_number,
                    default,
                    field: Field::Body,
                    ..RegexExtractorSettings::default()
                };
                Box::new(RegexExtractor::new(settings, &mut Symbols::default()).ok()?)
            }
            Self::Boundaries(left, right) => {
                let (left, right) = (text(left), text(right));
                Box::new(
                    BoundaryExtractor::new(BoundaryExtractorSettings {
                        refname,
                        left,
                        right,
                        match_number,
                        default,
                        ..BoundaryExtractorSettings::default()
                    })
                    .ok()?,
                )
            }
            Self::Css(selector) => {
                let selector = text(selector);
                Box::new(
                    CssExtractor::new(CssExtractorSettings {
                        refname,
                        selector,
                        match_number,
                        default,
                        ..CssExtractorSettings::default()
                    })
                    .ok()?,
                )
            }
            Self::XPath(query) => {
                Box::new(xpath(query, XPathFlavour::XPath1 { tolerant: false, namespaces: false }).ok()?)
            }
            Self::TolerantXPath(query) => {
                Box::new(xpath(query, XPathFlavour::XPath1 { tolerant: true, namespaces: false }).ok()?)
            }
            Self::XPath2(query) => {
                Box::new(xpath(query, XPathFlavour::XPath2 { namespaces: Template::default() }).ok()?)
            }
            Self::JsonPath(path) => Box::new(
                JsonExtractor::new(JsonExtractorSettings {
                    names: refname,
                    paths: text(path),
                    match_numbers: match_number,
                    defaults: default,
                    concatenate: true,
                    ..JsonExtractorSettings::default()
                })
                .ok()?,
            ),
            Self::PluginJsonPath(path) => {
                let path = text(path);
                Box::new(
                    PluginJsonExtractor::new(PluginJsonExtractorSettings {
                        path,
                        refname,
                        default,
                        source: None,
                    })
                    .ok()?,
                )
            }
            Self::JmesPath(path) => {
                let path = text(path);
                Box::new(JmesExtractor::new(JmesExtractorSettings {
                    refname,
                    path,
                    match_number,
                    default,
                    ..JmesExtractorSettings::default()
                }))
            }
        })
    }
}

/// A user that has received a body.
pub struct World {
    pub user: UserState,
    log: Arc<Mutex<Vec<String>>>,
}

impl World {
    pub fn new(body: String) -> Self {
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = Arc::clone(&log);
        let write = move |_, line: &str| lines.lock().expect("no panic while logging").push(line.to_owned());
        let symbols = Symbols::default();
        let run = RunShared::new(
            1,
            Clock::manual(1_700_000_000_000),
            Arc::new(JmeterProperties::new(HashMap::new())),
            Arc::new(symbols.names),
            vec![GroupShared::new("Thread Group".into(), 1, Vec::new())],
            0,
            Box::new(write),
        );
        let mut user = UserState::new(Arc::new(run), None, 0, 0);
        user.has_result = true;
        user.result.body = body.into_bytes();
        Self { user, log }
    }

    /// The number of matches; `None` if an error was logged.
    pub fn count(&self) -> Option<usize> {
        if !self.log().is_empty() {
            return None;
        }
        let count = self.user.variables.get("x_matchNr").unwrap_or("0");
        Some(count.parse().expect("a number"))
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lock().expect("no panic while logging").clone()
    }
}
