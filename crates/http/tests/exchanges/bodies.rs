//! Bodies of all sizes and framings, retained and discarded.

use std::io::Write as _;

use busyhour_http::HttpSampler;

use crate::server::{Server, ok};
use crate::test_user::{RETENTIONS, TestUser, get, get_securely, text};

/// Bytes that differ from the adjacent bytes, so that a missing or duplicated piece is detected.
fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at % 251) as u8).collect()
}

/// Sizes around those at which the reader behaves differently, with a head of this length before them.
fn sizes(head: usize) -> Vec<usize> {
    let edges = [8 << 10, 16 << 10, 64 << 10, 1 << 20];
    let around = edges.into_iter().flat_map(|edge| {
        [edge - 1, edge, edge + 1, edge - head - 1, edge - head, edge - head + 1, 2 * edge - head]
    });
    [0, 1, 2, 100].into_iter().chain(around).collect()
}

#[test]
fn bodies_with_a_length_are_counted_correctly() {
    let server = Server::responding(|request| {
        let size = request.line().split(['/', ' ']).nth(2).unwrap().parse().unwrap();
        ok(&bytes(size))
    });
    for keep in RETENTIONS {
        let mut user = TestUser::new();
        for size in sizes("HTTP/1.1 200 OK\r\nContent-Length: 16384\r\n\r\n".len()) {
            let head = ok(&bytes(size)).len() - size;
            let result = user.sample_with(&get(server.port, &format!("/{size}")), keep);
            assert!(result.outcome.success, "{size}: {}", result.outcome.message);
            assert_eq!((result.sizes.header_bytes, result.sizes.body_bytes), (head as u64, size as u64));
            assert!(result.body == bytes(if keep.body { size } else { 0 }), "{size}");
            assert!(
                result.times.latency_ns > 0
                    && result.times.start + result.times.latency_ns <= result.times.end
            );
        }
    }
    let mut connections = server.connections();
    connections.dedup();
    assert_eq!(connections, [0, 1], "each user reused its connection");
}

#[test]
fn bodies_in_pieces_are_counted_correctly() {
    // The server does not wait between the pieces: the kernel decides how they are read, but the sum is the same.
    let server = Server::start(|mut peer| {
        while let Some(request) = peer.request() {
            let piece: usize = request.line().split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            let whole = ok(&bytes(100_000));
            for part in whole.chunks(piece) {
                peer.send(part);
            }
        }
    });
    for keep in RETENTIONS {
        let mut user = TestUser::new();
        for piece in [37, 1000, 8191, 8192, 16_384, 65_536] {
            let result = user.sample_with(&get(server.port, &format!("/{piece}")), keep);
            assert!(result.outcome.success);
            assert_eq!(result.sizes.body_bytes, 100_000, "{piece}");
            assert!(!keep.body || result.body == bytes(100_000));
        }
    }
}

fn chunked(size: usize, piece: usize) -> Vec<u8> {
    let mut out = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for part in bytes(size).chunks(piece) {
        write!(out, "{:X}\r\n", part.len()).unwrap();
        out.extend_from_slice(part);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

#[test]
fn the_size_of_chunked_bodies_includes_the_framing() {
    for (size, piece) in [(0, 1), (1, 1), (1000, 7), (20_000, 8192), (300_000, 65_536), (70_000, 70_000)] {
        let whole = chunked(size, piece);
        let response = whole.clone();
        let server = Server::responding(move |_| response.clone());
        for keep in RETENTIONS {
            let mut user = TestUser::new();
            for _ in 0..2 {
                let result = user.sample_with(&get(server.port, "/"), keep);
                assert!(result.outcome.success, "{}", result.outcome.message);
                assert_eq!(result.bytes(), whole.len() as u64, "{size} in {piece}");
                assert!(!keep.body || result.body == bytes(size));
            }
        }
        assert_eq!(server.connections(), [0, 0, 1, 1]);
    }
}

#[test]
fn a_body_without_a_length_ends_with_its_connection() {
    for secure in [false, true] {
        let server = Server::start(move |peer| {
            let mut peer = if secure { peer.secure() } else { peer };
            let _ = peer.request();
            peer.send(b"HTTP/1.1 200 OK\r\n\r\n");
            peer.send(&bytes(50_000));
            peer.close();
        });
        for keep in RETENTIONS {
            let plain = get(server.port, "/");
            let sampler = if secure { get_securely(server.port, "/") } else { plain };
            let mut user = TestUser::new();
            let result = user.sample_with(&sampler, keep);
            assert!(result.outcome.success, "{}", result.outcome.message);
            assert_eq!(result.sizes.body_bytes, 50_000);
            assert!(!keep.body || result.body == bytes(50_000));
        }
    }
}

#[test]
fn a_truncated_body_reports_its_length() {
    for (expected, received) in
        [(1_000, 999), (100_000, 0), (100_000, 5), (100_000, 99_999), (3 << 20, 1 << 20)]
    {
        for secure in [false, true] {
            let server = Server::start(move |peer| {
                let mut peer = if secure { peer.secure() } else { peer };
                let _ = peer.request();
                let whole = ok(&bytes(expected));
                peer.send(&whole[..whole.len() - (expected - received)]);
                peer.close();
            });
            for keep in RETENTIONS {
                let plain = get(server.port, "/");
                let sampler = if secure { get_securely(server.port, "/") } else { plain };
                let mut user = TestUser::new();
                let result = user.sample_with(&sampler, keep);
                assert!(!result.outcome.success);
                assert_eq!(result.sizes.body_bytes, received as u64);
                let digits: String = result.outcome.message.chars().filter(|c| *c != ',').collect();
                assert_eq!(
                    digits,
                    format!(
                        "Non HTTP response message: Premature end of Content-Length delimited message body \
                         (expected: {expected}; received: {received})"
                    )
                );
            }
        }
    }
}

#[test]
fn responses_without_a_body() {
    let server = Server::responding(|request| {
        let response: &[u8] = match request.line().split(' ').nth(1).unwrap() {
            "/204" => b"HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n\r\n",
            "/304" => b"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
            "/continue" => b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            _ => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        };
        response.to_vec()
    });
    let mut user = TestUser::new();
    for (method, path, code) in
        [("GET", "/204", "204"), ("GET", "/304", "304"), ("HEAD", "/", "200"), ("GET", "/continue", "200")]
    {
        let result = user.sample(&HttpSampler { method: text(method), ..get(server.port, path) });
        assert_eq!((result.outcome.code.as_str(), result.sizes.body_bytes), (code, 0), "{path}");
        assert!(result.outcome.success);
    }
    assert_eq!(server.connections(), [0; 4]);
}
