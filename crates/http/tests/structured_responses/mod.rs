//! Responses that are generated from arbitrary bytes (status lines, headers, stacked encodings, chunks, trailers), and
//! the invariants of reading them. Shared by the ordinary tests and the fuzz target.

use std::io::Write as _;

use busyhour_http::limits::{BodyLimit, CONTENT_ENCODINGS_MAX};
use busyhour_http::read_whole;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

/// The maximum number of bytes of a body that are retained.
const RETAINED_MAX: usize = 100_000;

/// The line "hello" in brotli's format.
const BROTLI_HELLO: &[u8] = b"\x8f\x02\x80hello\n\x03";

/// Decisions of one byte each; zeros after the bytes are used up.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.next()) % count
    }

    fn one_of<'t>(&mut self, texts: &[&'t [u8]]) -> &'t [u8] {
        texts[self.below(texts.len())]
    }

    /// Returns true once in `one_in` times.
    fn rarely(&mut self, one_in: usize) -> bool {
        self.below(one_in) + 1 == one_in
    }
}

/// A generated response, and its text if it is valid.
struct Generated {
    wire: Vec<u8>,
    text: Option<Vec<u8>>,
}

const HEADERS: [&[u8]; 18] = [
    b"Content-Type: text/html; charset=utf-8",
    b"Content-Type: image/png;charset=",
    b"Set-Cookie: a=b; Path=/; Max-Age=99999999999999999999",
    b"Set-Cookie: =; Domain=; Expires=Thu, 99 Foo 99999 25:61:61 GMT",
    b"Location: /a\x01b",
    b"Location:",
    b"WWW-Authenticate: Digest realm=\"r\\\"\", nonce=, ,=,stale",
    b"Proxy-Authenticate: basic",
    b"Keep-Alive: timeout=18446744073709551615, max=1",
    b"Connection: keep-alive, close",
    b"Cache-Control: max-age=9223372036854775807",
    b"Expires: -1",
    b"Vary: *",
    b"X-Folded: a\r\n\t b",
    b"no colon",
    b": no name",
    b"X-Latin\xe9: \xe9\x7f",
    b"Date : Sun, 06 Nov 1994 08:49:37 GMT",
];

fn pack(layer: usize, text: &[u8]) -> Vec<u8> {
    let level = Compression::fast();
    let packed = match layer {
        0 => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(text).and_then(|()| encoder.finish())
        }
        1 => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(text).and_then(|()| encoder.finish())
        }
        2 => {
            let mut encoder = DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(text).and_then(|()| encoder.finish())
        }
        _ => Ok(text.to_vec()),
    };
    packed.unwrap_or_default()
}

/// Encodes a body; returns it with the names of its encodings, and whether it can be decoded to `text`.
fn encoded(choices: &mut Choices<'_>, text: &mut Vec<u8>) -> (Vec<u8>, Vec<&'static str>, bool) {
    const NAMES: [&str; 6] = ["gzip", "deflate", "Deflate ", "identity", " x-unknown", "br"];
    let mut body = text.clone();
    let mut names = Vec::new();
    let mut layers = 0;
    for _ in 0..choices.below(8) {
        let layer = choices.below(NAMES.len());
        if layer == 5 {
            if !names.is_empty() {
                continue;
            }
            text.clear();
            text.extend_from_slice(b"hello\n");
            body = BROTLI_HELLO.to_vec();
        } else {
            body = pack(layer, &body);
        }
        layers += usize::from(!matches!(layer, 3 | 4));
        // The first name belongs to the outermost layer, in the order in which HttpClient decodes.
        names.insert(0, NAMES[layer]);
    }
    (body, names, layers <= CONTENT_ENCODINGS_MAX)
}

/// The body with chunk headers.
fn chunked(choices: &mut Choices<'_>, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let size = (1 + choices.below(200) * choices.below(20)).min(rest.len());
        let (piece, after) = rest.split_at(size);
        let extension = choices.one_of(&[b"", b"", b";", b"; a=\"b\"", b" "]);
        let _ = if choices.rarely(2) { write!(out, "{size:X}") } else { write!(out, "000{size:x}") };
        out.extend_from_slice(extension);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\r\n");
        rest = after;
    }
    out.extend_from_slice(b"0\r\n");
    for _ in 0..choices.below(4) {
        out.extend_from_slice(choices.one_of(&HEADERS));
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out
}

fn generate(choices: &mut Choices<'_>) -> Generated {
    let end = choices.one_of(&[b"\r\n", b"\r\n", b"\n"]);
    let mut wire = Vec::new();
    let interim = if choices.rarely(200) { 150 } else { choices.below(3) };
    for _ in 0..interim {
        wire.extend_from_slice(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    }
    let status = choices.one_of(&[
        b"200 OK",
        b"200",
        b"404 N\xc3\xb6",
        b"302 Found",
        b"401 Who",
        b"304 Same",
        b"99 x",
    ]);
    wire.extend_from_slice(choices.one_of(&[b"HTTP/1.1 ", b"HTTP/1.1 ", b"HTTP/1.0 "]));
    wire.extend_from_slice(status);
    wire.extend_from_slice(end);
    for _ in 0..choices.below(12) {
        wire.extend_from_slice(choices.one_of(&HEADERS));
        wire.extend_from_slice(end);
    }
    let mut text: Vec<u8> = (0..choices.below(50)).map(|_| choices.next()).collect();
    text = text.repeat(1 + choices.below(256) * choices.below(2));
    let (body, names, mut is_valid) = encoded(choices, &mut text);
    if !names.is_empty() {
        wire.extend_from_slice(b"Content-Encoding: ");
        wire.extend_from_slice(names.join(",").as_bytes());
        wire.extend_from_slice(end);
    }
    // The encodings of an empty body are ignored.
    let is_empty = body.is_empty();
    match choices.below(4) {
        0 => {
            let _ = write!(wire, "Content-Length: {}", body.len());
            wire.extend_from_slice(end);
            wire.extend_from_slice(end);
            wire.extend_from_slice(&body);
        }
        1 | 2 => {
            wire.extend_from_slice(b"transfer-encoding: chunked");
            wire.extend_from_slice(end);
            wire.extend_from_slice(end);
            wire.extend_from_slice(&chunked(choices, &body));
        }
        _ => {
            wire.extend_from_slice(end);
            wire.extend_from_slice(&body);
        }
    }
    is_valid &= interim <= 100 && status != b"304 Same" && status != b"99 x" && !is_empty;
    is_valid &= text.len() <= RETAINED_MAX;
    for _ in 0..choices.below(3) * choices.below(2) {
        is_valid = false;
        let at = (choices.below(256) * 256 + choices.below(256)) % wire.len();
        match choices.below(3) {
            0 => wire[at] ^= choices.next(),
            1 => wire.truncate(at.max(1)),
            _ => wire.insert(at, choices.next()),
        }
    }
    Generated { wire, text: is_valid.then_some(text) }
}

/// Generates a response from `bytes`, reads it whole and in pieces, and checks the invariants.
pub fn check(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let piece = 1 + choices.below(200);
    let generated = generate(&mut choices);
    let limit = BodyLimit::Refuse(RETAINED_MAX);
    let whole = read_whole(&generated.wire, generated.wire.len(), limit);
    let pieces = read_whole(&generated.wire, piece, limit);
    let readable = String::from_utf8_lossy(&generated.wire);
    for result in [&whole, &pieces].into_iter().flatten() {
        assert!(result.body.len() <= RETAINED_MAX, "{readable}");
        assert!(
            result.sizes.header_bytes + result.sizes.body_bytes <= generated.wire.len() as u64,
            "{readable}"
        );
    }
    if let Some(text) = &generated.text {
        for result in [&whole, &pieces] {
            let result = result.as_ref().unwrap_or_else(|failure| panic!("{failure:?}: {readable}"));
            assert_eq!(result.body, *text, "{readable}");
        }
    }
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert_eq!(whole.outcome.code, pieces.outcome.code, "{readable}");
            assert_eq!(whole.body, pieces.body, "{readable}");
            assert_eq!(whole.response_headers, pieces.response_headers, "{readable}");
            assert_eq!(
                (whole.sizes.header_bytes, whole.sizes.body_bytes),
                (pieces.sizes.header_bytes, pieces.sizes.body_bytes)
            );
        }
        (Err(failure), _) | (_, Err(failure)) => {
            assert!(generated.text.is_none() && !failure.class.is_empty(), "{failure:?}: {readable}");
        }
    }
}
