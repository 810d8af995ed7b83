//! Properties of the reader of responses for arbitrary bytes. Shared by the ordinary tests and the fuzz target.

use busyhour_http::Failure;
use busyhour_http::response::{HEAD_BYTES_MAX, Progress, ResponseReader, Sink};

#[derive(Default, PartialEq, Debug)]
struct Seen {
    heads: u32,
    status: u16,
    body: Vec<u8>,
}

impl Sink for Seen {
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

/// Reads `bytes` in pieces of `piece` bytes and checks what must hold; gives what was seen.
fn read(bytes: &[u8], piece: usize) -> (Seen, bool, bool, u64) {
    let mut reader = ResponseReader::new(false);
    let mut seen = Seen::default();
    let mut outcome = Ok(Progress::More);
    for part in bytes.chunks(piece.max(1)) {
        outcome = reader.feed(part, &mut seen);
        if outcome != Ok(Progress::More) {
            break;
        }
    }
    assert!(seen.heads <= 1, "one response has one head");
    assert!(seen.body.len() as u64 <= reader.body_bytes, "no byte of a body that was not received");
    assert!(reader.head_bytes + reader.body_bytes <= bytes.len() as u64, "no byte is counted twice");
    if let Some(length) =
        reader.content_length.filter(|_| outcome == Ok(Progress::Done) && seen.status == 200)
    {
        assert!(seen.body.len() as u64 <= length.max(reader.body_bytes));
    }
    let (done, failed, counted) = (reader.is_done(), outcome.is_err(), reader.head_bytes + reader.body_bytes);
    if let Err(failure) = reader.end("host:80") {
        assert!(!failure.class.is_empty());
    }
    (seen, done, failed, counted)
}

/// Checks everything for `bytes`; the first byte chooses the size of the pieces.
pub fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    if rest.len() > HEAD_BYTES_MAX {
        return;
    }
    let whole = read(rest, rest.len().max(1));
    let pieces = read(rest, usize::from(*first) + 1);
    // Rubbish may be refused earlier or later, but a good response reads the same however it arrives.
    if !whole.2 && !pieces.2 && whole.1 && pieces.1 {
        assert_eq!(whole.0, pieces.0);
        assert_eq!(whole.3, pieces.3);
    }
}
