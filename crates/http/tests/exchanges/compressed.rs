//! Bodies that come compressed, whole and broken.

use std::io::Write as _;

use busyhour_http::HttpSampler;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::server::{Server, response};
use crate::world::{KEEP, World, get, text};

/// A text that does not compress to nothing.
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
fn bodies_of_any_size_are_unpacked_and_counted_as_sent() {
    for size in [0, 1, 4096, 40_000, 3_000_000] {
        let packed = gzip(&plain(size));
        let sent = packed.len() as u64;
        let server = Server::answering(move |_| compressed(&packed));
        let mut world = World::new();
        for keep in KEEP {
            for _ in 0..2 {
                let result = world.sample(&get(server.port, "/"), keep);
                assert!(result.success, "{}", result.message);
                assert_eq!(result.body_bytes, sent);
                assert!(!keep.body || result.body == plain(size), "{size}");
            }
        }
        assert_eq!(server.connections(), [0; 4]);
    }
}

#[test]
fn a_body_that_cannot_be_unpacked_fails_its_sample_whether_it_is_kept_or_not() {
    let whole = gzip(&plain(100_000));
    let mut corrupt = whole.clone();
    *corrupt.last_mut().unwrap() ^= 1;
    let cases: [(&[u8], &str, &str); 3] = [
        (b"<html>an error page</html>", "java.util.zip.ZipException", "Not in GZIP format"),
        (&whole[..whole.len() / 2], "java.io.EOFException", "Unexpected end of ZLIB input stream"),
        (&corrupt, "java.util.zip.ZipException", "Corrupt GZIP trailer"),
    ];
    for (body, class, message) in cases {
        let answer = compressed(body);
        let size = body.len() as u64;
        let server = Server::answering(move |_| answer.clone());
        let mut world = World::new();
        for keep in KEEP {
            let result = world.sample(&get(server.port, "/"), keep);
            assert_eq!(result.code, format!("Non HTTP response code: {class}"));
            assert_eq!(result.message, format!("Non HTTP response message: {message}"));
            assert!(!result.success);
            assert_eq!((result.sent_bytes, result.body_bytes), (0, size));
            assert_eq!(result.body.is_empty(), !keep.body);
        }
        assert_eq!(server.connections(), [0; 2], "the connection can be used again");
    }
}

#[test]
fn no_body_is_no_broken_body() {
    let server = Server::answering(|request| match request.line().as_bytes()[0] {
        b'H' => b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n".to_vec(),
        b'G' => compressed(b""),
        _ => b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\n\r\n".to_vec(),
    });
    for method in ["HEAD", "GET", "PUT"] {
        let sampler = HttpSampler { method: text(method), ..get(server.port, "/") };
        for keep in KEEP {
            assert!(World::new().sample(&sampler, keep).success, "{method}");
        }
    }
}
