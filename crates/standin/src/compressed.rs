//! Responses with compressed bodies, both valid and invalid.

use crate::response::Response;

/// The text of [`plain`], compressed. The bytes are constants, because different compressors produce different output, and
/// recordings contain sizes.
const DEFLATED: [u8; 54] = [
    0xCD, 0xCA, 0x47, 0x01, 0xC0, 0x20, 0x10, 0x04, 0x40, 0x2B, 0xAB, 0x20, 0x6A, 0x30, 0x90, 0x42, 0x12,
    0xEA, 0xD1, 0x9B, 0x7A, 0x90, 0xC1, 0x7B, 0x86, 0xFD, 0x1C, 0x3E, 0x8B, 0x5B, 0xE1, 0x0A, 0x54, 0x2D,
    0x5E, 0x6A, 0x90, 0xD9, 0xB8, 0x08, 0x2A, 0x3C, 0x20, 0x2D, 0xD6, 0xE7, 0xE8, 0x78, 0xE8, 0x3B, 0xC0,
    0xF6, 0xC8, 0x13,
];

const GZIP_HEAD: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];

/// The checksum and the length at the end of a gzip body.
const GZIP_TRAILER: [u8; 8] = [0x1B, 0x8D, 0xFF, 0x44, 0xB4, 0, 0, 0];

const ZLIB_HEAD: [u8; 2] = [0x78, 0x9C];

const ZLIB_TRAILER: [u8; 4] = [0xFA, 0x60, 0x40, 0x9D];

/// The text that is compressed.
pub(crate) fn plain() -> String {
    "The quick brown fox jumps over the lazy dog. ".repeat(4)
}

/// The response to `/gzip`, `/gzip-chunked`, `/deflate` and `/broken/KIND`; `None` for an unknown kind.
pub(crate) fn respond(segments: &[&str]) -> Option<Response> {
    let (kind, broken) = match segments {
        ["broken", kind, ..] => (*kind, true),
        [kind, ..] => (kind.trim_end_matches("-chunked"), false),
        [] => return None,
    };
    let mut body = match kind.split('-').next()? {
        "gzip" => gzip(),
        "zlib" | "deflate" => zlib(),
        "raw" => DEFLATED.to_vec(),
        _ => Vec::new(),
    };
    let end = body.len();
    match kind {
        "gzip" | "deflate" | "raw" => {}
        _ if !broken => return None,
        "gzip-plain" | "zlib-plain" => body = b"this is not compressed".to_vec(),
        "gzip-empty" | "zlib-empty" => body.clear(),
        "gzip-byte" | "zlib-byte" => body.truncate(1),
        "gzip-method" => body[2] = 7,
        "gzip-head" => body.truncate(6),
        "gzip-only-head" => body.truncate(GZIP_HEAD.len()),
        "gzip-half" | "zlib-half" | "raw-half" => body.truncate(end / 2),
        "gzip-no-trailer" => body.truncate(end - GZIP_TRAILER.len()),
        "gzip-half-trailer" => body.truncate(end - GZIP_TRAILER.len() / 2),
        "gzip-checksum" => body[end - GZIP_TRAILER.len()] ^= 1,
        "gzip-length" => body[end - 1] ^= 1,
        "gzip-block" | "zlib-block" => {
            body.truncate(if kind == "gzip-block" { GZIP_HEAD.len() } else { ZLIB_HEAD.len() });
            body.extend([0xFF; 40]);
        }
        "gzip-tail" | "zlib-tail" => body.extend(b"and more"),
        "gzip-long-tail" => body.extend([b'x'; 60]),
        "gzip-twice" => body.extend(gzip()),
        "zlib-checksum" => body[end - 1] ^= 1,
        "zlib-no-trailer" => body.truncate(end - ZLIB_TRAILER.len()),
        "gzip-capitals" | "gzip-error" | "gzip-list" | "gzip-x" => {}
        "unknown" => body = b"squeezed".to_vec(),
        _ => return None,
    }
    let encoding = match kind {
        "gzip-capitals" => "GZIP",
        "gzip-list" => "identity, gzip",
        "gzip-x" => "x-gzip",
        "unknown" => "squeeze",
        _ if kind.starts_with("gzip") => "gzip",
        _ => "deflate",
    };
    let code = if kind == "gzip-error" { 500 } else { 200 };
    Some(Response::new(code, "text/plain; charset=utf-8", body).with("Content-Encoding", encoding))
}

fn gzip() -> Vec<u8> {
    [&GZIP_HEAD[..], &DEFLATED, &GZIP_TRAILER].concat()
}

fn zlib() -> Vec<u8> {
    [&ZLIB_HEAD[..], &DEFLATED, &ZLIB_TRAILER].concat()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn valid_bodies_can_be_decompressed() {
        let (gzip, zlib) = (gzip(), zlib());
        let mut text = String::new();
        flate2::read::GzDecoder::new(&gzip[..]).read_to_string(&mut text).unwrap();
        flate2::read::ZlibDecoder::new(&zlib[..]).read_to_string(&mut text).unwrap();
        flate2::read::DeflateDecoder::new(&DEFLATED[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, plain().repeat(3));
    }
}
