//! When a connection is used again and when not.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use busyhour_http::{HttpSampler, SharedHttp, TlsPolicy};
use busyhour_program::clock::Clock;

use crate::server::{Server, ok, response};
use crate::world::{KEEP, World, get, text};

#[test]
fn a_user_keeps_its_connection_and_others_have_their_own() {
    let server = Server::answering(|_| ok(b"hello"));
    let (mut one, mut other) = (World::new(), World::new());
    let sampler = get(server.port, "/a");
    for _ in 0..3 {
        assert_eq!(one.visit(&sampler).body, b"hello");
    }
    assert!(one.visit(&sampler).times.connect_ns == 0, "nothing was connected");
    assert!(other.visit(&sampler).times.connect_ns > 0);
    assert_eq!(server.connections(), [0, 0, 0, 0, 1]);
}

#[test]
fn without_keep_alive_each_request_has_its_connection() {
    let server = Server::answering(|_| ok(b""));
    let mut world = World::new();
    let sampler = HttpSampler { keep_alive: false, ..get(server.port, "/") };
    world.visit(&sampler);
    world.visit(&sampler);
    assert_eq!(server.connections(), [0, 1]);
    assert!(server.seen().iter().all(|request| request.header("Connection") == Some("close")));
}

#[test]
fn the_servers_connection_header_is_respected() {
    let cases: [(&str, &str, bool); 4] = [
        ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
        ("HTTP/1.1", "", true),
    ];
    for (version, header, kept) in cases {
        let answer = format!("{version} 200 OK\r\n{header}Content-Length: 2\r\n\r\nok");
        let server = Server::answering(move |_| answer.clone().into());
        let mut world = World::new();
        for _ in 0..2 {
            assert!(world.visit(&get(server.port, "/")).success);
        }
        assert_eq!(server.connections(), if kept { [0, 0] } else { [0, 1] }, "{version} {header}");
    }
}

#[test]
fn a_connection_the_server_closed_meanwhile_is_not_used() {
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
        let mut world = World::new();
        let plain = get(server.port, "/");
        let sampler = if secure { HttpSampler { protocol: text("https"), ..plain } } else { plain };
        assert!(world.visit(&sampler).success);
        reported.recv().unwrap();
        world.look_around();
        assert!(world.visit(&sampler).success, "{}", world.user.result.message);
        assert_eq!(server.connections(), [0, 1]);
    }
}

#[test]
fn a_connection_closed_instead_of_an_answer_fails_the_sample() {
    let server = Server::start(|mut peer| {
        if peer.request().is_some() && peer.connection == 0 {
            peer.send(&ok(b"once"));
            let _ = peer.request();
        }
        peer.close();
    });
    let mut world = World::new();
    let sampler = get(server.port, "/");
    assert!(world.visit(&sampler).success);
    let (code, message) = world.outcome(&sampler);
    assert_eq!(code, "Non HTTP response code: org.apache.http.NoHttpResponseException");
    let port = server.port;
    assert_eq!(message, format!("Non HTTP response message: 127.0.0.1:{port} failed to respond"));
    assert_eq!(server.connections(), [0, 0], "nothing is sent twice");
}

#[test]
fn unexpected_bytes_end_a_connection() {
    // With a small body they come with it, with a large one they are left in the kernel.
    for size in [5, 300_000] {
        for keep in KEEP {
            let server = Server::answering(move |_| {
                let mut bytes = ok(&vec![b'x'; size]);
                bytes.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged");
                bytes
            });
            let mut world = World::new();
            for _ in 0..3 {
                let result = world.sample(&get(server.port, "/"), keep);
                assert!(result.success);
                assert_eq!(result.body_bytes, size as u64);
                world.look_around();
            }
            assert_eq!(server.connections(), [0, 1, 2], "{size}");
        }
    }
}

#[test]
fn a_connection_is_kept_for_a_minute() {
    let server = Server::answering(|_| ok(b""));
    let mut world = World::on(Clock::manual(0));
    let sampler = get(server.port, "/");
    for seconds in [0, 59, 1, 59, 0] {
        world.later(seconds);
        assert!(world.visit(&sampler).success);
    }
    assert_eq!(server.connections(), [0, 0, 1, 1, 1], "counted from when it was made, not from its last use");
}

#[test]
fn a_server_that_promises_less_is_believed() {
    let server = Server::answering(|_| response("200 OK", "Keep-Alive: timeout=5, max=100\r\n", b""));
    let mut world = World::on(Clock::manual(0));
    let sampler = get(server.port, "/");
    for seconds in [0, 4, 6] {
        world.later(seconds);
        assert!(world.visit(&sampler).success);
    }
    assert_eq!(server.connections(), [0, 0, 1]);
}

#[test]
fn a_new_iteration_reconnects_if_the_property_is_set() {
    for (reset, expected) in [(true, [0, 0, 1]), (false, [0, 0, 0])] {
        let server = Server::answering(|_| ok(b""));
        let shared = SharedHttp::new(TlsPolicy::AcceptAny, std::sync::Arc::default(), reset);
        let sampler = HttpSampler { shared: std::sync::Arc::new(shared), ..get(server.port, "/") };
        let mut world = World::new();
        for same_user in [false, true, false] {
            world.next_iteration(same_user);
            world.visit(&sampler);
        }
        assert_eq!(server.connections(), expected);
    }
}

#[test]
fn connections_to_several_servers_are_kept_apart() {
    let servers = [(); 3].map(|()| Server::answering(|request| ok(request.line().as_bytes())));
    let mut world = World::new();
    for round in 0..3 {
        for (number, server) in servers.iter().enumerate() {
            let path = format!("/{number}/{round}");
            let body = format!("GET {path} HTTP/1.1");
            assert_eq!(world.visit(&get(server.port, &path)).body, body.as_bytes());
        }
    }
    assert!(servers.iter().all(|server| server.connections() == [0, 0, 0]));
}

#[test]
fn a_user_keeps_twenty_idle_connections() {
    let servers: Vec<_> = (0..21).map(|_| Server::answering(|_| ok(b""))).collect();
    let mut world = World::new();
    for server in servers.iter().chain(&servers[2..]).chain(&servers[..1]) {
        assert!(world.visit(&get(server.port, "/")).success);
    }
    assert_eq!(servers[0].connections(), [0, 1], "the oldest was closed");
    assert!(servers[2..].iter().all(|server| server.connections() == [0, 0]));
}
