//! Parses responses and their parts from bytes exactly like a sampler, for tests and fuzz targets.

use busyhour_program::result::{Retention, SampleResult};

use crate::digest::Challenge;
use crate::embedded::content::resources;
use crate::embedded_settings::Parsers;
use crate::failure::Failure;
use crate::limits::BodyLimit;
use crate::links;
use crate::response::{ResponseProgress, ResponseReader};
use crate::sink::{Head, ResponseSink};

/// Parses a response that arrives in pieces of `piece` bytes and ends when the connection is closed. All parts are retained.
///
/// # Errors
/// If the sample fails: its failure.
#[doc(hidden)]
pub fn read_whole(bytes: &[u8], piece: usize, limit: BodyLimit) -> Result<SampleResult, Failure> {
    let mut result = SampleResult::default();
    let mut head = Head::with_needs(true, true);
    let mut reader = ResponseReader::new(false);
    for part in bytes.chunks(piece.max(1)) {
        let mut sink =
            ResponseSink { head: &mut head, result: &mut result, keep: Retention::ALL, limit, budget: None };
        if reader.feed(part, &mut sink)? == ResponseProgress::Done {
            break;
        }
    }
    reader.end("host:80")?;
    if let Some(decoding) = head.decoding.take()
        && reader.has_body
        && reader.content_length != Some(0)
    {
        decoding.end()?;
    }
    result.sizes.header_bytes = reader.head_bytes;
    result.sizes.body_bytes = reader.body_bytes;
    Ok(result)
}

/// The addresses of the resources of a page, and the failure of the page if it has too many.
///
/// # Errors
/// If parsing fails: the failure that JMeter records in this case.
#[doc(hidden)]
pub fn read_resources(
    page: &SampleResult,
    user_agent: &str,
) -> Result<(Vec<String>, Option<Failure>), Failure> {
    resources(&Parsers::default(), page, user_agent)
}

/// The number of fields of each link and form of a page.
#[doc(hidden)]
pub fn read_links(html: &str, url: &str) -> Vec<usize> {
    links::field_counts(html, url)
}

/// A parameter of a challenge (`WWW-Authenticate`).
#[doc(hidden)]
pub fn read_challenge(header: &str, name: &str) -> Option<String> {
    Challenge::parse(header).parameter(name).map(str::to_owned)
}
