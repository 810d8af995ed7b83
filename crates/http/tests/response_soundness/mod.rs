//! Properties of the response reader for arbitrary bytes. Shared by the ordinary tests and the fuzz target.

use busyhour_http::Failure;
use busyhour_http::response::{HEAD_BYTES_MAX, ResponseProgress, ResponseReader, Sink};

#[derive(Default, PartialEq, Debug)]
struct Received {
    heads: u32,
    status: u16,
    body: Vec<u8>,
}

impl Sink for Received {
    fn head(&mut self, head: &httparse::Response<'_, '_>) -> Result<(), Failure> {
        self.heads += 1;
        self.status = head.code.unwrap_or(0);
        Ok(())
    }

    fn body(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.body.extend_from_slice(piece);
        Ok(())
    }

    fn ignores_body(&self) -> bool {
        false
    }
}

/// Reads `bytes` in pieces of `piece` bytes and checks the invariants. Returns the received response, whether it is complete, whether
/// reading failed, and the number of bytes that the reader counted.
fn read(bytes: &[u8], piece: usize) -> (Received, bool, bool, u64) {
    let mut reader = ResponseReader::new(false);
    let mut received = Received::default();
    let mut outcome = Ok(ResponseProgress::More);
    for part in bytes.chunks(piece.max(1)) {
        outcome = reader.feed(part, &mut received);
        if outcome != Ok(ResponseProgress::More) {
            break;
        }
    }
    assert!(received.heads <= 1, "one response has one head");
    assert!(received.body.len() as u64 <= reader.body_bytes, "the body contains only bytes that were read");
    assert!(reader.head_bytes + reader.body_bytes <= bytes.len() as u64, "no byte is counted twice");
    if let Some(length) =
        reader.content_length.filter(|_| outcome == Ok(ResponseProgress::Done) && received.status == 200)
    {
        assert!(received.body.len() as u64 <= length.max(reader.body_bytes));
    }
    let (done, failed, counted) = (reader.is_done(), outcome.is_err(), reader.head_bytes + reader.body_bytes);
    if let Err(failure) = reader.end("host:80") {
        assert!(!failure.class.is_empty());
    }
    (received, done, failed, counted)
}

/// Checks all invariants for `bytes`; the first byte determines the size of the pieces.
pub fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    if rest.len() > HEAD_BYTES_MAX {
        return;
    }
    let whole = read(rest, rest.len().max(1));
    let pieces = read(rest, usize::from(*first) + 1);
    // The size of the pieces determines how early invalid input is rejected, but a valid response is the same for all sizes.
    if !whole.2 && !pieces.2 && whole.1 && pieces.1 {
        assert_eq!(whole.0, pieces.0);
        assert_eq!(whole.3, pieces.3);
    }
}
