//! Compressed bodies, complete and invalid.

use std::io::Write as _;

use busyhour_http::HttpSampler;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::server::{Server, response};
use crate::test_user::{RETENTIONS, TestUser, get, text};

/// A text that compresses badly.
fn plain(size: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut letter = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        b'a' + (state >> 60) as u8
    };
    (0..size).map(|_| letter()).collect()
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn compressed(body: &[u8]) -> Vec<u8> {
    response("200 OK", "Content-Encoding: gzip\r\n", body)
}

#[test]
fn bodies_of_any_size_are_decompressed_and_counted_by_their_compressed_size() {
    for size in [0, 1, 4096, 40_000, 3_000_000] {
        let compressed_body = gzip(&plain(size));
        let sent = compressed_body.len() as u64;
        let server = Server::responding(move |_| compressed(&compressed_body));
        let mut user = TestUser::new();
        for keep in RETENTIONS {
            for _ in 0..2 {
                let result = user.sample_with(&get(server.port, "/"), keep);
                assert!(result.outcome.success, "{}", result.outcome.message);
                assert_eq!(result.sizes.body_bytes, sent);
                assert!(!keep.body || result.body == plain(size), "{size}");
            }
        }
        assert_eq!(server.connections(), [0; 4]);
    }
}

#[test]
fn invalid_compressed_bodies_fail_their_samples_whether_retained_or_not() {
    let whole = gzip(&plain(100_000));
    let mut corrupt = whole.clone();
    *corrupt.last_mut().unwrap() ^= 1;
    let cases: [(&[u8], &str, &str); 3] = [
        (b"<html>an error page</html>", "java.util.zip.ZipException", "Not in GZIP format"),
        (&whole[..whole.len() / 2], "java.io.EOFException", "Unexpected end of ZLIB input stream"),
        (&corrupt, "java.util.zip.ZipException", "Corrupt GZIP trailer"),
    ];
    for (body, class, message) in cases {
        let reply = compressed(body);
        let size = body.len() as u64;
        let server = Server::responding(move |_| reply.clone());
        let mut user = TestUser::new();
        for keep in RETENTIONS {
            let result = user.sample_with(&get(server.port, "/"), keep);
            assert_eq!(result.outcome.code, format!("Non HTTP response code: {class}"));
            assert_eq!(result.outcome.message, format!("Non HTTP response message: {message}"));
            assert!(!result.outcome.success);
            assert_eq!((result.sizes.sent_bytes, result.sizes.body_bytes), (0, size));
            assert_eq!(result.body.is_empty(), !keep.body);
        }
        assert_eq!(server.connections(), [0; 2], "the connection is reused");
    }
}

#[test]
fn missing_bodies_are_not_invalid() {
    let server = Server::responding(|request| match request.line().as_bytes()[0] {
        b'H' => b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n".to_vec(),
        b'G' => compressed(b""),
        _ => b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\n\r\n".to_vec(),
    });
    for method in ["HEAD", "GET", "PUT"] {
        let sampler = HttpSampler { method: text(method), ..get(server.port, "/") };
        for keep in RETENTIONS {
            assert!(TestUser::new().sample_with(&sampler, keep).outcome.success, "{method}");
        }
    }
}
