//! Tests with responses of all kinds, complete and in pieces, and with responses that exceed a limit.

use super::*;
use proptest::prelude::*;

#[derive(Default)]
struct Collect {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Sink for Collect {
    fn head(&mut self, head: &httparse::Response<'_, '_>) -> Result<(), Failure> {
        self.status = head.code.unwrap_or(0);
        for header in &*head.headers {
            self.headers.push((header.name.to_owned(), header.value.to_owned()));
        }
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

fn read(bytes: &[u8], piece: usize) -> (Result<ResponseProgress, Failure>, Collect, ResponseReader) {
    let mut reader = ResponseReader::new(false);
    let mut sink = Collect::default();
    let mut last = Ok(ResponseProgress::More);
    for part in bytes.chunks(piece.max(1)) {
        last = reader.feed(part, &mut sink);
        if last != Ok(ResponseProgress::More) {
            break;
        }
    }
    (last, sink, reader)
}

const CHUNKED: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
    5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: 1\r\n\r\n";

#[test]
fn pieces_of_any_size_give_the_same_result() {
    for piece in 1..CHUNKED.len() + 1 {
        let (end, sink, reader) = read(CHUNKED, piece);
        assert_eq!(end, Ok(ResponseProgress::Done), "{piece}");
        assert_eq!(sink.body, b"hello world");
        assert_eq!(sink.status, 200);
        assert!(reader.keeps_alive);
        assert_eq!(reader.head_bytes + reader.body_bytes, CHUNKED.len() as u64);
    }
}

#[test]
fn the_premature_end_of_a_sized_body_is_reported() {
    let (end, sink, mut reader) = read(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\nabc", 4096);
    assert_eq!(end, Ok(ResponseProgress::More));
    assert_eq!(sink.body, b"abc");
    assert_eq!(reader.skippable(), 1231);
    let failure = reader.end("h:80").unwrap_err();
    assert_eq!(
        failure.message,
        "Premature end of Content-Length delimited message body (expected: 1,234; received: 3)"
    );
    assert_eq!(reader.skipped(1000), ResponseProgress::More);
    assert_eq!(reader.skipped(231), ResponseProgress::Done);
    assert!(reader.keeps_alive);
    let (_, _, mut reader) = read(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\nabc", 4096);
    assert_eq!(reader.skipped(1232), ResponseProgress::Done);
    assert!(!reader.keeps_alive && reader.body_bytes == 1234);
}

#[test]
fn responses_determine_whether_the_connection_stays_open() {
    let (_, _, mut reader) = read(b"HTTP/1.0 200 OK\r\n\r\nabc", 7);
    assert!(!reader.keeps_alive);
    reader.end("h:80").unwrap();
    let (_, _, reader) = read(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 99);
    assert!(reader.is_done() && !reader.keeps_alive);
    let (_, _, reader) = read(b"HTTP/1.1 204 No\r\nKeep-Alive: timeout=5, max=3\r\n\r\n", 99);
    assert!(reader.is_done() && reader.keeps_alive);
    assert_eq!(reader.keep_alive_s, Some(5));
    assert_eq!(ResponseReader::new(false).end("h:80").unwrap_err(), Failure::no_response("h:80"));
}

#[test]
fn endless_heads_are_rejected() {
    let mut reader = ResponseReader::new(false);
    let mut sink = Collect::default();
    let mut end = reader.feed(b"HTTP/1.1 200 OK\r\n", &mut sink);
    let line = [b"X-A: ".as_slice(), &[b'a'; 8000], b"\r\n"].concat();
    for _ in 0..300 {
        if end.is_err() {
            break;
        }
        end = reader.feed(&line, &mut sink);
    }
    assert!(end.is_err());
}

/// The limit and message of a response's failure, if it arrives in pieces of `piece` bytes.
fn failure(bytes: &[u8], piece: usize) -> (Option<Limit>, String) {
    let failure = read(bytes, piece).0.unwrap_err();
    assert_eq!(failure.class, "org.apache.http.MessageConstraintException");
    (failure.limit, failure.message)
}

#[test]
fn many_headers_are_read_and_too_many_are_reported() {
    let head = |count: usize| {
        let lines: String = (0..count).map(|at| format!("H{at}: {at}\r\n")).collect();
        format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 2\r\n\r\nok")
    };
    for count in [FEW_HEADERS - 1, FEW_HEADERS, 4096, 20_000] {
        for piece in [1 << 20, 1000] {
            let (end, sink, _) = read(head(count).as_bytes(), piece);
            assert_eq!((end, sink.headers.len()), (Ok(ResponseProgress::Done), count + 1), "{piece}");
            assert_eq!(sink.headers[count - 1].1, (count - 1).to_string().into_bytes());
        }
    }
    let short = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:\r\n".repeat(HEADERS_MAX + 1));
    let expected = (Some(Limit::Headers), "Maximum header count exceeded (65,536)".to_owned());
    assert_eq!(failure(short.as_bytes(), 10_000), expected);
}

#[test]
fn control_bytes_in_headers_are_retained() {
    let bytes = b"HTTP/1.1 302 Found\r\nLocation: /a\x01b\r\nX y\x02: c\r\n folded\x03\r\nno colon\r\n\
        Content-Length: 0\r\n\r\n";
    for piece in 1..=bytes.len() {
        let (end, sink, _) = read(bytes, piece);
        let expected =
            [("Location", b"/a\x01b".as_slice()), ("X y\x02", b"c\r\n folded\x03"), ("Content-Length", b"0")];
        assert_eq!(end, Ok(ResponseProgress::Done));
        assert_eq!(sink.headers, expected.map(|(name, value)| (name.to_owned(), value.to_vec())));
    }
}

#[test]
fn a_head_in_many_small_pieces_takes_linear_time() {
    // If the head were parsed again with each byte, a head of this size would take minutes.
    let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-A: b\r\n".repeat(30_000));
    let (_, sink, _) = read(head.as_bytes(), 1);
    assert_eq!(sink.headers.len(), 30_000);
}

#[test]
fn interim_responses_chunk_extensions_and_trailers_are_limited() {
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let most = INTERIM_RESPONSES_MAX as usize;
    assert_eq!(read((interim.repeat(most) + ok).as_bytes(), 50).0, Ok(ResponseProgress::Done));
    assert_eq!(
        failure((interim.repeat(most + 1) + ok).as_bytes(), 50),
        (Some(Limit::InterimResponses), "Maximum number of interim (1xx) responses exceeded (100)".into())
    );
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let extension = format!("{chunked}1;{}", "x".repeat(20_000));
    assert_eq!(
        failure(extension.as_bytes(), 7),
        (Some(Limit::ChunkExtensionBytes), "Maximum size of a chunk extension exceeded (16,384)".into())
    );
    let trailers = format!("{chunked}0\r\n{}", "X-Trailer: y\r\n".repeat(100_000));
    assert_eq!(
        failure(trailers.as_bytes(), 4096),
        (Some(Limit::TrailerBytes), "Maximum size of the trailers exceeded (1,048,576)".into())
    );
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), piece in 1usize..50) {
        let (_, _, mut reader) = read(&bytes, piece);
        let _ = reader.end("h:80");
    }

    #[test]
    fn damaged_responses_never_panic(at in 0usize..120, byte in any::<u8>(), piece in 1usize..50) {
        let mut bytes = CHUNKED.to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        let (_, _, mut reader) = read(&bytes, piece);
        let _ = reader.end("h:80");
    }
}
