//! HTTPS, and proxies.

use std::sync::Arc;

use busyhour_http::{HttpSampler, Proxy, SharedHttp, TlsPolicy};

use crate::server::{Server, ok, serve_all};
use crate::world::{KEEP, World, get, get_securely, text};

#[test]
fn any_certificate_is_accepted_and_the_connection_kept() {
    let server = Server::answering_securely(|request| ok(request.line().as_bytes()));
    let mut world = World::new();
    for keep in KEEP {
        let result = world.sample(&get_securely(server.port, "/secret"), keep);
        assert!(result.success, "{}", result.message);
        assert_eq!(result.body_bytes, "GET /secret HTTP/1.1".len() as u64);
    }
    let large = Server::answering_securely(|_| ok(&vec![7; 1 << 20]));
    for keep in KEEP {
        let result = world.sample(&get_securely(large.port, "/"), keep);
        assert_eq!(result.body_bytes, 1 << 20);
        assert_eq!(result.body.len(), if keep.body { 1 << 20 } else { 0 });
    }
    assert_eq!((server.connections(), large.connections()), (vec![0, 0], vec![0, 0]));
}

#[test]
fn a_stranger_is_refused_when_certificates_are_verified() {
    let server = Server::answering_securely(|_| ok(b""));
    let shared = Arc::new(SharedHttp::new(TlsPolicy::Verify, Arc::default(), true));
    let mut world = World::new();
    let (code, _) = world.outcome(&HttpSampler { shared, ..get_securely(server.port, "/") });
    assert_eq!(code, "Non HTTP response code: javax.net.ssl.SSLHandshakeException");
    assert!(server.seen().is_empty());
}

#[test]
fn a_server_that_speaks_no_tls() {
    let server = Server::start(|mut peer| {
        peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = peer.request();
    });
    let (code, message) = World::new().outcome(&get_securely(server.port, "/"));
    assert_eq!(code, "Non HTTP response code: javax.net.ssl.SSLException");
    assert_eq!(message, "Non HTTP response message: Unsupported or unrecognized SSL message");
}

#[test]
fn a_server_that_hangs_up_in_the_handshake() {
    let server = Server::start(super::server::Peer::close);
    let (code, _) = World::new().outcome(&get_securely(server.port, "/"));
    // Whether it is an end or a reset is up to the kernel: unread bytes lie there or not.
    assert!(code.ends_with("SSLHandshakeException") || code.ends_with("SocketException"), "{code}");
}

fn proxy(port: u16, user: &str) -> Option<Proxy> {
    let port = text(&port.to_string());
    Some(Proxy { host: text("127.0.0.1"), port, user: text(user), password: text("secret") })
}

#[test]
fn a_tunnel_through_a_proxy_is_used_again() {
    let through = Server::start(|mut peer| {
        let _ = peer.request();
        peer.send(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
        serve_all(&mut peer.secure(), &|request| ok(request.line().as_bytes()));
    });
    let mut world = World::new();
    let sampler = HttpSampler {
        proxy: proxy(through.port, "me"),
        domain: text("shop.example"),
        port: text("8443"),
        ..get_securely(0, "/a")
    };
    for _ in 0..2 {
        let result = world.visit(&sampler);
        assert_eq!(result.body, b"GET /a HTTP/1.1", "{}", result.message);
    }
    let seen = through.seen();
    let lines: Vec<&str> = seen.iter().map(super::server::Request::line).collect();
    assert_eq!(lines, ["CONNECT shop.example:8443 HTTP/1.1", "GET /a HTTP/1.1", "GET /a HTTP/1.1"]);
    assert_eq!(seen[0].header("Proxy-Authorization"), Some("Basic bWU6c2VjcmV0"));
    assert_eq!(seen[1].header("Proxy-Authorization"), None, "the origin does not learn the password");
    assert_eq!(seen[1].header("Host"), Some("shop.example:8443"));
}

#[test]
fn a_proxy_that_refuses_the_tunnel() {
    let through = Server::answering(|_| crate::server::response("403 Forbidden", "", b""));
    let sampler = HttpSampler { proxy: proxy(through.port, ""), ..get_securely(1, "/") };
    let (code, message) = World::new().outcome(&sampler);
    assert_eq!(code, "Non HTTP response code: org.apache.http.impl.execchain.TunnelRefusedException");
    assert_eq!(message, "Non HTTP response message: CONNECT refused by proxy: HTTP/1.1 403 Forbidden");
    assert_eq!(through.seen()[0].header("Proxy-Authorization"), None);
}

#[test]
fn a_proxy_for_plain_requests_gets_the_whole_url_and_the_password_when_it_asks() {
    let through = Server::answering(|request| match request.header("Proxy-Authorization") {
        Some("Basic bWU6c2VjcmV0") => ok(b"by proxy"),
        _ => {
            let asks = "Proxy-Authenticate: Basic realm=\"test\"\r\n";
            crate::server::response("407 Proxy Authentication Required", asks, b"who?")
        }
    });
    let mut world = World::new();
    let sampler =
        HttpSampler { proxy: proxy(through.port, "me"), domain: text("shop.example"), ..get(8080, "/a?b=c") };
    for _ in 0..2 {
        let result = world.visit(&sampler);
        assert_eq!((result.code.as_str(), result.body.as_slice()), ("200", b"by proxy".as_slice()));
    }
    let seen = through.seen();
    assert!(seen.iter().all(|request| request.line() == "GET http://shop.example:8080/a?b=c HTTP/1.1"));
    assert!(seen.iter().all(|request| request.header("Host") == Some("shop.example:8080")));
    assert_eq!(through.connections(), [0, 0, 0], "asked once, told at once from then on");
    let stranger = HttpSampler { proxy: proxy(through.port, ""), ..sampler };
    assert_eq!(World::new().visit(&stranger).code, "407");
}

#[test]
fn hosts_that_need_no_proxy() {
    let server = Server::answering(|_| ok(b"direct"));
    let through = Server::answering(|_| ok(b"by proxy"));
    for (pattern, expected) in
        [("127.0.0.1", "direct"), ("*.0.0.1", "direct"), ("localhost", "by proxy"), ("*.example", "by proxy")]
    {
        let mut shared = SharedHttp::default();
        shared.proxy = proxy(through.port, "");
        shared.no_proxy = vec![pattern.to_owned()];
        let sampler = HttpSampler { shared: Arc::new(shared), ..get(server.port, "/") };
        assert_eq!(World::new().visit(&sampler).body, expected.as_bytes(), "{pattern}");
    }
}
