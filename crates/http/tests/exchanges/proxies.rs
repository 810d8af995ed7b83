//! Requests through proxies.

use std::sync::Arc;

use busyhour_http::{HttpSampler, Proxy, SharedHttp};
use busyhour_program::result::Retention;

use crate::server::{Request, Server, ok, response};
use crate::world::{World, get, get_securely, text};

fn proxy(port: u16, user: &str) -> Option<Proxy> {
    let port = text(&port.to_string());
    Some(Proxy { host: text("127.0.0.1"), port, user: text(user), password: text("secret") })
}

/// The response of a proxy that requires credentials.
fn credentials_required(headers: &str) -> Vec<u8> {
    let asks =
        format!("Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: basic realm=\"test\"\r\n{headers}");
    response("407 Proxy Authentication Required", &asks, b"who?")
}

/// Whether a request brings the right password.
fn knows(request: &Request) -> bool {
    request.header("Proxy-Authorization") == Some("Basic bWU6c2VjcmV0")
}

/// A proxy whose tunnels lead back to itself; each connection begins with requests for a tunnel, which `grants` judges:
/// `None` lets it through.
fn gate(grants: impl Fn(&Request) -> Option<Vec<u8>> + Send + Sync + 'static) -> Server {
    Server::start(move |mut peer| {
        loop {
            let Some(request) = peer.request() else { return };
            match grants(&request) {
                None => break,
                Some(refusal) => peer.send(&refusal),
            }
        }
        // A length does not count here: what follows is the tunnel.
        peer.send(b"HTTP/1.1 200 Connection established\r\nVia: test\r\nContent-Length: 5\r\n\r\n");
        let mut peer = peer.secure();
        while let Some(request) = peer.request() {
            let close = if request.line().contains("/close") { "Connection: close\r\n" } else { "" };
            peer.send(&response("200 OK", close, request.line().as_bytes()));
            if !close.is_empty() {
                return;
            }
        }
    })
}

fn lines(server: &Server) -> Vec<String> {
    let line = |request: &Request| {
        let known = if request.header("Proxy-Authorization").is_some() { " (known)" } else { "" };
        let line = request.line();
        format!("{} {}{known}", request.connection, line.strip_suffix(" HTTP/1.1").unwrap_or(line))
    };
    server.seen().iter().map(line).collect()
}

#[test]
fn a_tunnel_is_reused_and_sends_no_password_unless_required() {
    let through = gate(|_| None);
    let mut world = World::new();
    let sampler = HttpSampler {
        proxy: proxy(through.port, "me"),
        domain: text("shop.example"),
        ..get_securely(8443, "/a")
    };
    for _ in 0..2 {
        let result = world.visit(&sampler);
        assert_eq!(result.body, b"GET /a HTTP/1.1", "{}", result.message);
        assert_eq!(result.body_bytes, 15);
    }
    assert_eq!(lines(&through), ["0 CONNECT shop.example:8443", "0 GET /a", "0 GET /a"]);
    assert_eq!(through.seen()[0].header("Host"), Some("shop.example:8443"));
    assert_eq!(through.seen()[1].header("Host"), Some("shop.example:8443"));
}

#[test]
fn a_proxy_that_requires_credentials_gets_them_from_then_on() {
    for closes in [false, true] {
        let header = if closes { "Connection: close\r\n" } else { "" };
        let through = gate(move |request| (!knows(request)).then(|| credentials_required(header)));
        let mut world = World::new();
        let plain = get_securely(8443, "/close");
        let sampler = HttpSampler { proxy: proxy(through.port, "me"), domain: text("shop.example"), ..plain };
        for _ in 0..2 {
            let result = world.visit(&sampler);
            assert_eq!(result.code, "200", "{}", result.message);
            assert_eq!(result.body, b"GET /close HTTP/1.1");
            assert!(
                !result.response_headers.contains("Proxy-Authenticate"),
                "the proxy's words are forgotten"
            );
        }
        let again = if closes { 1 } else { 0 };
        assert_eq!(
            lines(&through),
            [
                "0 CONNECT shop.example:8443".to_owned(),
                format!("{again} CONNECT shop.example:8443 (known)"),
                format!("{again} GET /close"),
                format!("{} CONNECT shop.example:8443 (known)", again + 1),
                format!("{} GET /close", again + 1),
            ],
            "the origin does not learn the password"
        );
    }
}

#[test]
fn a_refused_tunnel_is_the_response() {
    for keep in [Retention::ALL, Retention::default()] {
        let through = Server::answering(|_| response("403 Forbidden", "X-Why: policy\r\n", b"not for you"));
        let sampler = HttpSampler { proxy: proxy(through.port, "me"), ..get_securely(1, "/") };
        let mut world = World::new();
        let result = world.sample(&sampler, keep);
        assert_eq!((result.code.as_str(), result.message.as_str()), ("403", "Forbidden"));
        assert!(!result.success);
        assert_eq!((result.body_bytes, result.sent_bytes), (11, through.seen()[0].head.len() as u64 + 4));
        assert!(result.times.latency_ns > 0 && result.times.end >= result.times.start);
        assert!(!keep.body || result.body == b"not for you");
        assert_eq!(through.seen()[0].header("Proxy-Authorization"), None);
    }
}

#[test]
fn a_password_that_is_refused_is_not_sent_again() {
    let through = Server::answering(|_| credentials_required(""));
    let mut world = World::new();
    let plain =
        HttpSampler { proxy: proxy(through.port, "me"), domain: text("shop.example"), ..get(80, "/a") };
    for sampler in [plain, HttpSampler { proxy: proxy(through.port, "me"), ..get_securely(443, "/") }] {
        let before = through.seen().len();
        for _ in 0..2 {
            assert_eq!(world.visit(&sampler).code, "407");
            assert_eq!(world.user.result.body, b"who?");
        }
        let reported: Vec<_> = through.seen()[before..].iter().map(knows).collect();
        assert_eq!(reported, [false, true, false]);
    }
}

#[test]
fn a_question_that_cannot_be_answered_is_the_response() {
    for asks in
        ["", "Proxy-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\n", "Proxy-Authenticate: Basically\r\n"]
    {
        let through = Server::answering(move |_| response("407 Proxy Authentication Required", asks, b""));
        let sampler = HttpSampler { proxy: proxy(through.port, "me"), ..get(80, "/a") };
        for sampler in [sampler, HttpSampler { proxy: proxy(through.port, "me"), ..get_securely(443, "/") }] {
            assert_eq!(World::new().visit(&sampler).code, "407");
        }
        assert_eq!(through.seen().len(), 2);
        assert!(!through.seen().iter().any(knows));
    }
}

#[test]
fn each_server_behind_a_proxy_gets_its_own_tunnel() {
    let through =
        Server::answering(|request| if knows(request) { ok(b"by proxy") } else { credentials_required("") });
    let mut world = World::new();
    for port in [8080, 8081, 8080] {
        let sampler = HttpSampler { proxy: proxy(through.port, "me"), ..get(port, "/") };
        assert!(world.visit(&sampler).success);
    }
    let reported: Vec<_> = through.seen().iter().map(knows).collect();
    assert_eq!(reported, [false, true, false, true, true], "as JMeter, which has a client for each");
}

#[test]
fn a_proxy_that_does_not_respond_to_connect() {
    let through = Server::start(|mut peer| {
        let _ = peer.request();
        peer.close();
    });
    let sampler = HttpSampler { proxy: proxy(through.port, "me"), ..get_securely(8443, "/") };
    let (code, message) = World::new().outcome(&sampler);
    assert_eq!(code, "Non HTTP response code: org.apache.http.NoHttpResponseException");
    assert!(message.ends_with("failed to respond"), "{message}");
}

#[test]
fn a_proxy_for_plain_requests_gets_the_whole_url_and_the_password_if_required() {
    let through = Server::answering(|request| match request.header("Proxy-Authorization") {
        Some("Basic bWU6c2VjcmV0") => ok(b"by proxy"),
        _ => {
            let asks = "Proxy-Authenticate: Basic realm=\"test\"\r\n";
            response("407 Proxy Authentication Required", asks, b"who?")
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
    assert_eq!(through.connections(), [0, 0, 0], "one request without credentials, then always with them");
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
