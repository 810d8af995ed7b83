//! Bodies of every size and form, kept and thrown away.

use std::io::Write as _;

use crate::server::{Server, ok};
use crate::world::{KEEP, World, get, get_securely, text};
use busyhour_http::HttpSampler;

/// Bytes that differ from their neighbours, so that a missing or doubled piece is detected.
fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at % 251) as u8).collect()
}

/// Sizes around those at which reading changes its ways, with a head of this length before them.
fn sizes(head: usize) -> Vec<usize> {
    let edges = [8 << 10, 16 << 10, 64 << 10, 1 << 20];
    let around = edges.into_iter().flat_map(|edge| {
        [edge - 1, edge, edge + 1, edge - head - 1, edge - head, edge - head + 1, 2 * edge - head]
    });
    [0, 1, 2, 100].into_iter().chain(around).collect()
}

#[test]
fn sized_bodies_are_counted_right() {
    let server = Server::answering(|request| {
        let size = request.line().split(['/', ' ']).nth(2).unwrap().parse().unwrap();
        ok(&bytes(size))
    });
    for keep in KEEP {
        let mut world = World::new();
        for size in sizes("HTTP/1.1 200 OK\r\nContent-Length: 16384\r\n\r\n".len()) {
            let head = ok(&bytes(size)).len() - size;
            let result = world.sample(&get(server.port, &format!("/{size}")), keep);
            assert!(result.success, "{size}: {}", result.message);
            assert_eq!((result.header_bytes, result.body_bytes), (head as u64, size as u64));
            assert!(result.body == bytes(if keep.body { size } else { 0 }), "{size}");
            assert!(
                result.times.latency_ns > 0
                    && result.times.start + result.times.latency_ns <= result.times.end
            );
        }
    }
    let mut connections = server.connections();
    connections.dedup();
    assert_eq!(connections, [0, 1], "each user kept its connection all the while");
}

#[test]
fn bodies_in_pieces_are_counted_right() {
    // The server waits for nothing between the pieces: how they are read is up to the kernel, the sum is not.
    let server = Server::start(|mut peer| {
        while let Some(request) = peer.request() {
            let piece: usize = request.line().split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            let whole = ok(&bytes(100_000));
            for part in whole.chunks(piece) {
                peer.send(part);
            }
        }
    });
    for keep in KEEP {
        let mut world = World::new();
        for piece in [37, 1000, 8191, 8192, 16_384, 65_536] {
            let result = world.sample(&get(server.port, &format!("/{piece}")), keep);
            assert!(result.success);
            assert_eq!(result.body_bytes, 100_000, "{piece}");
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
fn chunked_bodies_count_with_their_frames() {
    for (size, piece) in [(0, 1), (1, 1), (1000, 7), (20_000, 8192), (300_000, 65_536), (70_000, 70_000)] {
        let whole = chunked(size, piece);
        let answer = whole.clone();
        let server = Server::answering(move |_| answer.clone());
        for keep in KEEP {
            let mut world = World::new();
            for _ in 0..2 {
                let result = world.sample(&get(server.port, "/"), keep);
                assert!(result.success, "{}", result.message);
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
        for keep in KEEP {
            let plain = get(server.port, "/");
            let sampler = if secure { get_securely(server.port, "/") } else { plain };
            let mut world = World::new();
            let result = world.sample(&sampler, keep);
            assert!(result.success, "{}", result.message);
            assert_eq!(result.body_bytes, 50_000);
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
            for keep in KEEP {
                let plain = get(server.port, "/");
                let sampler = if secure { get_securely(server.port, "/") } else { plain };
                let mut world = World::new();
                let result = world.sample(&sampler, keep);
                assert!(!result.success);
                assert_eq!(result.body_bytes, received as u64);
                let digits: String = result.message.chars().filter(|c| *c != ',').collect();
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
fn responses_that_have_no_body() {
    let server = Server::answering(|request| {
        let answer: &[u8] = match request.line().split(' ').nth(1).unwrap() {
            "/204" => b"HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n\r\n",
            "/304" => b"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
            "/continue" => b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            _ => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        };
        answer.to_vec()
    });
    let mut world = World::new();
    for (method, path, code) in
        [("GET", "/204", "204"), ("GET", "/304", "304"), ("HEAD", "/", "200"), ("GET", "/continue", "200")]
    {
        let result = world.visit(&HttpSampler { method: text(method), ..get(server.port, path) });
        assert_eq!((result.code.as_str(), result.body_bytes), (code, 0), "{path}");
        assert!(result.success);
    }
    assert_eq!(server.connections(), [0; 4]);
}
