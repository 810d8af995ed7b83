//! Selects the parser that finds the resources of a response by its media type.

use busyhour_limits::Limit;
use busyhour_program::result::SampleResult;

use super::addresses::Addresses;
use super::{css, html};
use crate::embedded_settings::{Parser, Parsers};
use crate::failure::Failure;
use crate::limits::RESOURCE_ADDRESS_BYTES_MAX;

/// The absolute URLs of the resources of a page, and the failure of the page if there are more of them.
///
/// # Errors
/// If parsing fails: the failure that JMeter records in this case.
pub(crate) fn resources(
    parsers: &Parsers,
    page: &SampleResult,
    user_agent: &str,
) -> Result<(Vec<String>, Option<Failure>), Failure> {
    let Some(parser) = parsers.parser_for(&page.content_type).filter(|_| !page.body.is_empty()) else {
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

/// The addresses that a style sheet imports.
fn imported(text: &str, base: &str) -> Addresses {
    let mut found = Addresses::default();
    for address in css::imports(text) {
        found.add(&address, base);
    }
    found
}
