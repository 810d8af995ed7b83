//! Selects the parser that finds the resources of a response by its media type.

use busyhour_limits::Limit;
use busyhour_program::result::SampleResult;

use super::addresses::Addresses;
use super::{css, html};
use crate::failure::Failure;
use crate::limits::RESOURCE_ADDRESS_BYTES_MAX;

/// The parser for a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parser {
    /// For HTML pages.
    Html,
    /// For style sheets.
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
    /// Creates the mapping from these types; if a type occurs twice, the later parser counts.
    pub fn new(types: impl IntoIterator<Item = (String, Parser)>) -> Self {
        let mut all: Vec<_> = types.into_iter().collect();
        all.reverse();
        Self(all)
    }

    fn parser_for(&self, content_type: &str) -> Option<Parser> {
        let media = content_type.split([' ', ';']).next().unwrap_or_default().to_lowercase();
        self.0.iter().find(|(known, _)| *known == media).map(|(_, parser)| *parser)
    }

    /// The absolute URLs of the resources of a page, and the failure of the page if there are more of them.
    ///
    /// # Errors
    /// The failure that JMeter records when it stops parsing a page.
    pub(crate) fn resources(
        &self,
        page: &SampleResult,
        user_agent: &str,
    ) -> Result<(Vec<String>, Option<Failure>), Failure> {
        let Some(parser) = self.parser_for(&page.content_type).filter(|_| !page.body.is_empty()) else {
            return Ok((Vec::new(), None));
        };
        let text = page.body_text();
        let found = match parser {
            Parser::Html => html::resources(&text, &page.url, user_agent).map_err(|href| {
                let message =
                    format!("java.lang.IllegalArgumentException: Error creating relative url from {href}");
                Failure::new("org.apache.jmeter.protocol.http.parser.HTMLParseException", message)
            })?,
            Parser::Css => imported(&text, &page.url),
        };
        let excess = found.are_too_long().then(|| {
            let what = "length of the addresses of embedded resources";
            Failure::constraint(Limit::Resources, what, RESOURCE_ADDRESS_BYTES_MAX as u64)
        });
        Ok((found.urls, excess))
    }
}

/// The addresses that a style sheet imports.
fn imported(text: &str, base: &str) -> Addresses {
    let mut found = Addresses::default();
    for address in css::imports(text) {
        found.add(&address, base);
    }
    found
}
