//! The reuse of connections.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use busyhour_http::{HttpSampler, SharedHttp, TlsPolicy};
use busyhour_program::clock::Clock;

use crate::server::{Server, ok, response};
use crate::test_user::{RETENTIONS, TestUser, get, text};

#[test]
fn users_reuse_their_own_connections() {
    let server = Server::responding(|_| ok(b"hello"));
    let (mut first, mut other) = (TestUser::new(), TestUser::new());
    let sampler = get(server.port, "/a");
    for _ in 0..3 {
        assert_eq!(first.sample(&sampler).body, b"hello");
    }
    assert!(first.sample(&sampler).times.connect_ns == 0, "no connection was opened");
    assert!(other.sample(&sampler).times.connect_ns > 0);
    assert_eq!(server.connections(), [0, 0, 0, 0, 1]);
}

#[test]
fn without_keep_alive_each_request_opens_a_connection() {
    let server = Server::responding(|_| ok(b""));
    let mut user = TestUser::new();
    let sampler = HttpSampler { keep_alive: false, ..get(server.port, "/") };
    user.sample(&sampler);
    user.sample(&sampler);
    assert_eq!(server.connections(), [0, 1]);
    assert!(server.requests().iter().all(|request| request.header("Connection") == Some("close")));
}

#[test]
fn the_servers_connection_header_is_respected() {
    let cases: [(&str, &str, bool); 4] = [
        ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
        ("HTTP/1.1", "", true),
    ];
    for (version, header, is_reused) in cases {
        let reply = format!("{version} 200 OK\r\n{header}Content-Length: 2\r\n\r\nok");
        let server = Server::responding(move |_| reply.clone().into());
        let mut user = TestUser::new();
        for _ in 0..2 {
            assert!(user.sample(&get(server.port, "/")).outcome.success);
        }
        assert_eq!(server.connections(), if is_reused { [0, 0] } else { [0, 1] }, "{version} {header}");
    }
}

#[test]
fn connections_closed_by_the_server_are_not_reused() {
    for secure in [false, true] {
        let (closed, reported) = channel();
        let closed = Mutex::new(closed);
        let server = Server::start(move |peer| {
            let mut peer = if secure { peer.secure() } else { peer };
            while peer.request().is_some() {
                peer.send(&ok(b"once"));
                if peer.connection == 0 {
                    peer.close();
                    closed.lock().unwrap().send(()).unwrap();
                    return;
                }
            }
        });
        let mut user = TestUser::new();
        let plain = get(server.port, "/");
        let sampler = if secure { HttpSampler { protocol: text("https"), ..plain } } else { plain };
        assert!(user.sample(&sampler).outcome.success);
        reported.recv().unwrap();
        user.process_socket_events();
        assert!(user.sample(&sampler).outcome.success, "{}", user.state.result.outcome.message);
        assert_eq!(server.connections(), [0, 1]);
    }
}

#[test]
fn a_connection_closed_instead_of_a_response_fails_the_sample() {
    let server = Server::start(|mut peer| {
        if peer.request().is_some() && peer.connection == 0 {
            peer.send(&ok(b"once"));
            let _ = peer.request();
        }
        peer.close();
    });
    let mut user = TestUser::new();
    let sampler = get(server.port, "/");
    assert!(user.sample(&sampler).outcome.success);
    let (code, message) = user.outcome(&sampler);
    assert_eq!(code, "Non HTTP response code: org.apache.http.NoHttpResponseException");
    let port = server.port;
    assert_eq!(message, format!("Non HTTP response message: 127.0.0.1:{port} failed to respond"));
    assert_eq!(server.connections(), [0, 0], "the request is not repeated");
}

#[test]
fn connections_with_unexpected_bytes_are_closed() {
    // With a small body, the bytes arrive together with it; with a large one, they remain in the kernel's buffer.
    for size in [5, 300_000] {
        for keep in RETENTIONS {
            let server = Server::responding(move |_| {
                let mut bytes = ok(&vec![b'x'; size]);
                bytes.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged");
                bytes
            });
            let mut user = TestUser::new();
            for _ in 0..3 {
                let result = user.sample_with(&get(server.port, "/"), keep);
                assert!(result.outcome.success);
                assert_eq!(result.sizes.body_bytes, size as u64);
                user.process_socket_events();
            }
            assert_eq!(server.connections(), [0, 1, 2], "{size}");
        }
    }
}

#[test]
fn connections_are_kept_for_a_minute() {
    let server = Server::responding(|_| ok(b""));
    let mut user = TestUser::with_clock(Clock::manual(0));
    let sampler = get(server.port, "/");
    for seconds in [0, 59, 1, 59, 0] {
        user.advance(seconds);
        assert!(user.sample(&sampler).outcome.success);
    }
    assert_eq!(
        server.connections(),
        [0, 0, 1, 1, 1],
        "the minute starts when the connection is opened, not at its last use"
    );
}

#[test]
fn shorter_idle_times_of_the_server_are_respected() {
    let server = Server::responding(|_| response("200 OK", "Keep-Alive: timeout=5, max=100\r\n", b""));
    let mut user = TestUser::with_clock(Clock::manual(0));
    let sampler = get(server.port, "/");
    for seconds in [0, 4, 6] {
        user.advance(seconds);
        assert!(user.sample(&sampler).outcome.success);
    }
    assert_eq!(server.connections(), [0, 0, 1]);
}

#[test]
fn a_new_iteration_reconnects_if_the_property_is_set() {
    for (reset, expected) in [(true, [0, 0, 1]), (false, [0, 0, 0])] {
        let server = Server::responding(|_| ok(b""));
        let shared = SharedHttp::new(TlsPolicy::AcceptAny, std::sync::Arc::default(), reset);
        let sampler = HttpSampler { shared: std::sync::Arc::new(shared), ..get(server.port, "/") };
        let mut user = TestUser::new();
        for same_user in [false, true, false] {
            user.next_iteration(same_user);
            user.sample(&sampler);
        }
        assert_eq!(server.connections(), expected);
    }
}

#[test]
fn connections_to_several_servers_are_separate() {
    let servers = [(); 3].map(|()| Server::responding(|request| ok(request.line().as_bytes())));
    let mut user = TestUser::new();
    for round in 0..3 {
        for (number, server) in servers.iter().enumerate() {
            let path = format!("/{number}/{round}");
            let body = format!("GET {path} HTTP/1.1");
            assert_eq!(user.sample(&get(server.port, &path)).body, body.as_bytes());
        }
    }
    assert!(servers.iter().all(|server| server.connections() == [0, 0, 0]));
}

#[test]
fn users_keep_twenty_idle_connections() {
    let servers: Vec<_> = (0..21).map(|_| Server::responding(|_| ok(b""))).collect();
    let mut user = TestUser::new();
    for server in servers.iter().chain(&servers[2..]).chain(&servers[..1]) {
        assert!(user.sample(&get(server.port, "/")).outcome.success);
    }
    assert_eq!(servers[0].connections(), [0, 1], "the oldest was closed");
    assert!(servers[2..].iter().all(|server| server.connections() == [0, 0]));
}
