//! Which content is looked through for resources, and how.

use busyhour_program::result::SampleResult;

use super::{css, html};
use crate::failure::Failure;

/// How content is looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parser {
    /// As an HTML page.
    Html,
    /// As a style sheet.
    Css,
}

/// Media types that are parsed (`HTTPResponse.parsers` and related properties).
#[derive(Debug, Clone)]
pub struct Parsers(Vec<(String, Parser)>);

impl Default for Parsers {
    fn default() -> Self {
        let html = ["text/html", "application/xhtml+xml", "application/xml", "text/xml", "text/vnd.wap.wml"];
        let types = html.map(|kind| (kind, Parser::Html)).into_iter().chain([("text/css", Parser::Css)]);
        Self::new(types.map(|(kind, parser)| (kind.to_owned(), parser)))
    }
}

impl Parsers {
    /// These types; of one named twice the later counts.
    pub fn new(types: impl IntoIterator<Item = (String, Parser)>) -> Self {
        let mut all: Vec<_> = types.into_iter().collect();
        all.reverse();
        Self(all)
    }

    fn of(&self, content_type: &str) -> Option<Parser> {
        let media = content_type.split([' ', ';']).next().unwrap_or_default().to_lowercase();
        self.0.iter().find(|(known, _)| *known == media).map(|(_, parser)| *parser)
    }

    /// The absolute URLs of the resources of a page.
    ///
    /// # Errors
    /// What JMeter notes when it gives a page up.
    pub(super) fn resources(&self, page: &SampleResult, user_agent: &str) -> Result<Vec<String>, Failure> {
        let Some(parser) = self.of(&page.content_type).filter(|_| !page.body.is_empty()) else {
            return Ok(Vec::new());
        };
        let text = page.body_text();
        match parser {
            Parser::Html => html::resources(&text, &page.url, user_agent).map_err(|href| {
                let message =
                    format!("java.lang.IllegalArgumentException: Error creating relative url from {href}");
                Failure::new("org.apache.jmeter.protocol.http.parser.HTMLParseException", message)
            }),
            Parser::Css => {
                let imported = css::imports(&text);
                Ok(imported.iter().filter_map(|address| html::absolute(address, &page.url)).collect())
            }
        }
    }
}
