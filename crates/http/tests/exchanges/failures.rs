//! Failures, under JMeter's names.

use std::net::TcpListener;

use busyhour_http::HttpSampler;

use crate::server::Server;
use crate::test_user::{TestUser, get, get_securely, text};

const CODE: &str = "Non HTTP response code: ";
const MESSAGE: &str = "Non HTTP response message: ";

fn failure(sampler: &HttpSampler) -> (String, String) {
    let mut user = TestUser::new();
    let (code, message) = user.outcome(sampler);
    assert!(!user.state.result.outcome.success, "{code} {message} {}", user.state.result.url);
    assert!(user.state.result.times.end >= user.state.result.times.start);
    let strip = |text: &str, prefix| text.strip_prefix(prefix).unwrap_or(text).to_owned();
    (strip(&code, CODE), strip(&message, MESSAGE))
}

#[test]
fn a_port_without_a_listener() {
    // This port was free a moment ago.
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let (code, message) = failure(&get(port, "/"));
    assert_eq!(code, "org.apache.http.conn.HttpHostConnectException");
    assert_eq!(message, format!("Connect to 127.0.0.1:{port} [/127.0.0.1] failed: Connection refused"));
}

#[test]
fn a_name_that_does_not_exist() {
    // Labels have at most 63 characters, so that no resolver is queried.
    let name = "a".repeat(64);
    let (code, message) = failure(&HttpSampler { domain: text(&name), ..get(80, "/") });
    assert_eq!(code, "java.net.UnknownHostException");
    assert!(message.starts_with(&format!("{name}: ")), "{message}");
}

#[test]
fn a_server_that_resets_the_connection() {
    for reply in [Vec::new(), crate::server::ok(&[b'x'; 200_000])[..100_000].to_vec()] {
        let server = Server::start(move |mut peer| {
            // The rest of the request is not read, so that closing the connection resets it.
            peer.read_byte();
            peer.send(&reply);
        });
        for keep in crate::test_user::RETENTIONS {
            let mut user = TestUser::new();
            let result = user.sample_with(&get(server.port, "/"), keep);
            assert!(!result.outcome.success);
            assert_eq!(result.outcome.code, "Non HTTP response code: java.net.SocketException");
            assert_eq!(result.outcome.message, "Non HTTP response message: Connection reset");
            assert!(result.sizes.body_bytes <= 100_000);
        }
    }
}

#[test]
fn a_server_that_does_not_respond() {
    let server = Server::start(|mut peer| while peer.request().is_some() {});
    let sampler = HttpSampler { response_timeout: text("30"), ..get(server.port, "/") };
    let expected = ("java.net.SocketTimeoutException".to_owned(), "Read timed out".to_owned());
    assert_eq!(failure(&sampler), expected);
    let mut user = TestUser::new();
    user.sample(&sampler);
    user.sample(&sampler);
    assert_eq!(server.connections(), [0, 1, 2], "a late response must not be read for another request");
}

#[test]
fn a_server_that_stops_in_the_middle() {
    for start in ["HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc"] {
        let server = Server::start(move |mut peer| {
            if peer.request().is_some() {
                peer.send(start.as_bytes());
            }
            while peer.request().is_some() {}
        });
        for keep in crate::test_user::RETENTIONS {
            let mut user = TestUser::new();
            let sampler = HttpSampler { response_timeout: text("30"), ..get(server.port, "/") };
            let result = user.sample_with(&sampler, keep);
            assert_eq!(result.outcome.message, "Non HTTP response message: Read timed out");
        }
    }
}

#[test]
fn a_handshake_without_a_response() {
    let server = Server::start(|mut peer| while peer.request().is_some() {});
    let sampler = HttpSampler { connect_timeout: text("30"), ..get_securely(server.port, "/") };
    assert_eq!(failure(&sampler), ("java.net.SocketTimeoutException".into(), "Read timed out".into()));
}

#[test]
fn responses_that_are_not_http() {
    for (reply, code) in [
        ("\0\u{1}\u{2}garbage\r\n\r\n", "org.apache.http.client.ClientProtocolException"),
        ("SSH-2.0-OpenSSH_9.6\r\n", "org.apache.http.client.ClientProtocolException"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "org.apache.http.MalformedChunkCodingException",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "org.apache.http.TruncatedChunkException",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "org.apache.http.ConnectionClosedException",
        ),
        ("", "org.apache.http.NoHttpResponseException"),
    ] {
        let server = Server::start(move |mut peer| {
            let _ = peer.request();
            peer.send(reply.as_bytes());
            peer.close();
        });
        assert_eq!(failure(&get(server.port, "/")).0, code, "{reply:?}");
    }
}

#[test]
fn headers_without_end() {
    let server = Server::start(|mut peer| {
        let _ = peer.request();
        peer.send(b"HTTP/1.1 200 OK\r\n");
        let line = [b"X-Endless: ".as_slice(), &[b'a'; 8000], b"\r\n"].concat();
        for _ in 0..400 {
            peer.send(&line);
        }
    });
    assert_eq!(failure(&get(server.port, "/")).0, "org.apache.http.MessageConstraintException");
}

#[test]
fn rejected_requests_are_not_sent() {
    let server = Server::responding(|_| crate::server::ok(b""));
    let protocol = HttpSampler { protocol: text("gopher"), ..get(server.port, "/") };
    let port = HttpSampler { port: text("70000"), ..get(server.port, "/") };
    for (sampler, code) in [
        (protocol, "java.net.MalformedURLException"),
        (port, "java.lang.IllegalArgumentException"),
        (get(server.port, "/a|b"), "java.net.URISyntaxException"),
    ] {
        assert_eq!(failure(&sampler).0, code);
    }
    assert!(server.requests().is_empty());
}
