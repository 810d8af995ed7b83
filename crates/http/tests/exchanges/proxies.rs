//! Requests through proxies.

use std::sync::Arc;

use busyhour_http::{HttpSampler, Proxy, SharedHttp};
use busyhour_program::result::Retention;

use crate::server::{Request, Server, ok, response};
use crate::test_user::{TestUser, get, get_securely, text};

fn proxy(port: u16, user: &str) -> Option<Proxy> {
    let port = text(&port.to_string());
    Some(Proxy { host: text("127.0.0.1"), port, user: text(user), password: text("secret") })
}

/// The response of a proxy that requires credentials.
fn credentials_required(headers: &str) -> Vec<u8> {
    let challenge =
        format!("Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: basic realm=\"test\"\r\n{headers}");
    response("407 Proxy Authentication Required", &challenge, b"who?")
}

/// Whether a request contains the correct password.
fn has_password(request: &Request) -> bool {
    request.header("Proxy-Authorization") == Some("Basic bWU6c2VjcmV0")
}

/// A proxy that is also the server at the end of its tunnels. Each connection begins with requests for a tunnel;
/// `reject` returns the response to a rejected request, or `None` to open the tunnel.
fn tunnelling_proxy(reject: impl Fn(&Request) -> Option<Vec<u8>> + Send + Sync + 'static) -> Server {
    Server::start(move |mut peer| {
        loop {
            let Some(request) = peer.request() else { return };
            match reject(&request) {
                None => break,
                Some(response) => peer.send(&response),
            }
        }
        // The `Content-Length` has no effect here: the next bytes belong to the tunnel.
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
        let authorized = if request.header("Proxy-Authorization").is_some() { " (authorized)" } else { "" };
        let line = request.line();
        format!("{} {}{authorized}", request.connection, line.strip_suffix(" HTTP/1.1").unwrap_or(line))
    };
    server.requests().iter().map(line).collect()
}

#[test]
fn tunnels_are_reused_and_passwords_sent_only_if_required() {
    let through = tunnelling_proxy(|_| None);
    let mut user = TestUser::new();
    let sampler = HttpSampler {
        proxy: proxy(through.port, "me"),
        domain: text("shop.example"),
        ..get_securely(8443, "/a")
    };
    for _ in 0..2 {
        let result = user.sample(&sampler);
        assert_eq!(result.body, b"GET /a HTTP/1.1", "{}", result.outcome.message);
        assert_eq!(result.sizes.body_bytes, 15);
    }
    assert_eq!(lines(&through), ["0 CONNECT shop.example:8443", "0 GET /a", "0 GET /a"]);
    assert_eq!(through.requests()[0].header("Host"), Some("shop.example:8443"));
    assert_eq!(through.requests()[1].header("Host"), Some("shop.example:8443"));
}

#[test]
fn credentials_are_always_sent_after_a_proxy_required_them() {
    for closes in [false, true] {
        let header = if closes { "Connection: close\r\n" } else { "" };
        let through =
            tunnelling_proxy(move |request| (!has_password(request)).then(|| credentials_required(header)));
        let mut user = TestUser::new();
        let plain = get_securely(8443, "/close");
        let sampler = HttpSampler { proxy: proxy(through.port, "me"), domain: text("shop.example"), ..plain };
        for _ in 0..2 {
            let result = user.sample(&sampler);
            assert_eq!(result.outcome.code, "200", "{}", result.outcome.message);
            assert_eq!(result.body, b"GET /close HTTP/1.1");
            assert!(
                !result.response_headers.contains("Proxy-Authenticate"),
                "the proxy's headers are discarded"
            );
        }
        let again = if closes { 1 } else { 0 };
        assert_eq!(
            lines(&through),
            [
                "0 CONNECT shop.example:8443".to_owned(),
                format!("{again} CONNECT shop.example:8443 (authorized)"),
                format!("{again} GET /close"),
                format!("{} CONNECT shop.example:8443 (authorized)", again + 1),
                format!("{} GET /close", again + 1),
            ],
            "the password is not sent to the origin"
        );
    }
}

#[test]
fn the_response_to_a_rejected_tunnel_is_the_result() {
    for keep in [Retention::ALL, Retention::default()] {
        let through = Server::responding(|_| response("403 Forbidden", "X-Why: policy\r\n", b"not for you"));
        let sampler = HttpSampler { proxy: proxy(through.port, "me"), ..get_securely(1, "/") };
        let mut user = TestUser::new();
        let result = user.sample_with(&sampler, keep);
        assert_eq!((result.outcome.code.as_str(), result.outcome.message.as_str()), ("403", "Forbidden"));
        assert!(!result.outcome.success);
        assert_eq!(
            (result.sizes.body_bytes, result.sizes.sent_bytes),
            (11, through.requests()[0].head.len() as u64 + 4)
        );
        assert!(result.times.latency_ns > 0 && result.times.end >= result.times.start);
        assert!(!keep.body || result.body == b"not for you");
        assert_eq!(through.requests()[0].header("Proxy-Authorization"), None);
    }
}

#[test]
fn rejected_passwords_are_not_sent_again() {
    let through = Server::responding(|_| credentials_required(""));
    let mut user = TestUser::new();
    let plain =
        HttpSampler { proxy: proxy(through.port, "me"), domain: text("shop.example"), ..get(80, "/a") };
    for sampler in [plain, HttpSampler { proxy: proxy(through.port, "me"), ..get_securely(443, "/") }] {
        let before = through.requests().len();
        for _ in 0..2 {
            assert_eq!(user.sample(&sampler).outcome.code, "407");
            assert_eq!(user.state.result.body, b"who?");
        }
        let reported: Vec<_> = through.requests()[before..].iter().map(has_password).collect();
        assert_eq!(reported, [false, true, false]);
    }
}

#[test]
fn unsupported_challenges_are_the_result() {
    for challenge in
        ["", "Proxy-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\n", "Proxy-Authenticate: Basically\r\n"]
    {
        let through =
            Server::responding(move |_| response("407 Proxy Authentication Required", challenge, b""));
        let sampler = HttpSampler { proxy: proxy(through.port, "me"), ..get(80, "/a") };
        for sampler in [sampler, HttpSampler { proxy: proxy(through.port, "me"), ..get_securely(443, "/") }] {
            assert_eq!(TestUser::new().sample(&sampler).outcome.code, "407");
        }
        assert_eq!(through.requests().len(), 2);
        assert!(!through.requests().iter().any(has_password));
    }
}

#[test]
fn proxies_authenticate_separately_for_each_server() {
    let through =
        Server::responding(
            |request| if has_password(request) { ok(b"by proxy") } else { credentials_required("") },
        );
    let mut user = TestUser::new();
    for port in [8080, 8081, 8080] {
        let sampler = HttpSampler { proxy: proxy(through.port, "me"), ..get(port, "/") };
        assert!(user.sample(&sampler).outcome.success);
    }
    let reported: Vec<_> = through.requests().iter().map(has_password).collect();
    assert_eq!(reported, [false, true, false, true, true], "like JMeter, which has one client per server");
}

#[test]
fn a_proxy_that_does_not_respond_to_connect() {
    let through = Server::start(|mut peer| {
        let _ = peer.request();
        peer.close();
    });
    let sampler = HttpSampler { proxy: proxy(through.port, "me"), ..get_securely(8443, "/") };
    let (code, message) = TestUser::new().outcome(&sampler);
    assert_eq!(code, "Non HTTP response code: org.apache.http.NoHttpResponseException");
    assert!(message.ends_with("failed to respond"), "{message}");
}

#[test]
fn plain_requests_to_proxies_contain_the_complete_url_and_the_password_if_required() {
    let through = Server::responding(|request| match request.header("Proxy-Authorization") {
        Some("Basic bWU6c2VjcmV0") => ok(b"by proxy"),
        _ => {
            let challenge = "Proxy-Authenticate: Basic realm=\"test\"\r\n";
            response("407 Proxy Authentication Required", challenge, b"who?")
        }
    });
    let mut user = TestUser::new();
    let sampler =
        HttpSampler { proxy: proxy(through.port, "me"), domain: text("shop.example"), ..get(8080, "/a?b=c") };
    for _ in 0..2 {
        let result = user.sample(&sampler);
        assert_eq!((result.outcome.code.as_str(), result.body.as_slice()), ("200", b"by proxy".as_slice()));
    }
    let seen = through.requests();
    assert!(seen.iter().all(|request| request.line() == "GET http://shop.example:8080/a?b=c HTTP/1.1"));
    assert!(seen.iter().all(|request| request.header("Host") == Some("shop.example:8080")));
    assert_eq!(through.connections(), [0, 0, 0], "only the first request has no credentials");
    let without_user = HttpSampler { proxy: proxy(through.port, ""), ..sampler };
    assert_eq!(TestUser::new().sample(&without_user).outcome.code, "407");
}

#[test]
fn hosts_excluded_from_proxies_are_connected_directly() {
    let server = Server::responding(|_| ok(b"direct"));
    let through = Server::responding(|_| ok(b"by proxy"));
    for (pattern, expected) in
        [("127.0.0.1", "direct"), ("*.0.0.1", "direct"), ("localhost", "by proxy"), ("*.example", "by proxy")]
    {
        let mut shared = SharedHttp::default();
        shared.proxy = proxy(through.port, "");
        shared.no_proxy = vec![pattern.to_owned()];
        let sampler = HttpSampler { shared: Arc::new(shared), ..get(server.port, "/") };
        assert_eq!(TestUser::new().sample(&sampler).body, expected.as_bytes(), "{pattern}");
    }
}
