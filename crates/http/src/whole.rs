//! A response read from bytes at hand exactly as a sampler reads it from a connection: for tests and fuzz targets.

use busyhour_program::result::{Retention, SampleResult};

use crate::failure::Failure;
use crate::limits::BodyLimit;
use crate::response::{Progress, ResponseReader};
use crate::sink::{Head, ResponseSink};

/// Reads a response that arrives in pieces of `piece` bytes and ends with the connection; everything of it is kept.
///
/// # Errors
/// What the sample would fail with.
#[doc(hidden)]
pub fn read_whole(bytes: &[u8], piece: usize, limit: BodyLimit) -> Result<SampleResult, Failure> {
    let mut result = SampleResult::default();
    let mut head = Head::looking_for(true, true);
    let mut reader = ResponseReader::new(false);
    for part in bytes.chunks(piece.max(1)) {
        let mut sink =
            ResponseSink { head: &mut head, result: &mut result, keep: Retention::ALL, limit, room: None };
        if reader.feed(part, &mut sink)? == Progress::Done {
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
    result.header_bytes = reader.head_bytes;
    result.body_bytes = reader.body_bytes;
    Ok(result)
}
