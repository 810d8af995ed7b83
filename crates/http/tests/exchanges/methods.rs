//! Methods, clients and credentials: the requests that are sent, and those that are rejected.

use busyhour_http::{Argument, Client, Header, HttpSampler, Proxy};

use crate::server::{Server, ok};
use crate::test_user::{TestUser, get, manager, text};

fn with_method(port: u16, method: &str, client: Client) -> HttpSampler {
    HttpSampler { method: text(method), client, ..get(port, "/m") }
}

#[test]
fn methods_that_are_not_tokens_are_rejected_as_by_jmeter() {
    let server = Server::responding(|_| ok(b""));
    let mut user = TestUser::new();
    for method in ["FOO", "get", "M-SEARCH", "A!B", "A'B", "PROPFIND"] {
        assert!(
            user.sample(&with_method(server.port, method, Client::HttpClient4)).outcome.success,
            "{method}"
        );
        assert_eq!(server.requests().last().unwrap().line(), format!("{method} /m HTTP/1.1"));
    }
    let sent = server.requests().len();
    for method in
        ["GET\r\nX-Injected: y", "GET / HTTP/1.1\r\n\r\nGET", " GET", "GET ", "", "É", "A/B", "A\tB"]
    {
        let (code, message) = user.outcome(&with_method(server.port, method, Client::HttpClient4));
        assert_eq!(code, "Non HTTP response code: java.lang.IllegalArgumentException");
        assert_eq!(message, format!("Non HTTP response message: Unexpected method: '{method}'"));
        assert!(user.state.result.url.ends_with("/m"));
    }
    for method in ["FOO", "get", "PATCH", "GET\r\nX: y"] {
        let (code, message) = user.outcome(&with_method(server.port, method, Client::Java));
        assert_eq!(code, "Non HTTP response code: java.net.ProtocolException");
        assert_eq!(message, format!("Non HTTP response message: Invalid HTTP method: {method}"));
    }
    assert_eq!(server.requests().len(), sent, "none of these requests is sent");
}

#[test]
fn javas_client_sends_urls_unchanged_and_bodies_only_with_posts() {
    let server = Server::responding(|_| ok(b""));
    let mut user = TestUser::new();
    for path in ["/p?a=b|c", "/p|q", "/p?a={x}&b=\"c\"", "//a//b/"] {
        let sampler = HttpSampler { client: Client::Java, ..get(server.port, path) };
        assert!(user.sample(&sampler).outcome.success, "{path}: {}", user.state.result.outcome.message);
        assert_eq!(server.requests().last().unwrap().line(), format!("GET {path} HTTP/1.1"));
    }
    let argument = Argument {
        name: text("a"),
        value: text("b"),
        encode: false,
        use_equals: true,
        content_type: text(""),
    };
    for (method, length) in [("PUT", None), ("DELETE", None), ("GET", None), ("POST", Some("3"))] {
        let sampler = HttpSampler {
            arguments: [argument.clone()].into(),
            ..with_method(server.port, method, Client::Java)
        };
        assert!(user.sample(&sampler).outcome.success);
        assert_eq!(server.requests().last().unwrap().header("Content-Length"), length, "{method}");
    }
    let with_line_break = HttpSampler { client: Client::Java, ..get(server.port, "/a\r\nX: y") };
    assert_eq!(user.outcome(&with_line_break).0, "Non HTTP response code: java.net.MalformedURLException");
}

#[test]
fn paths_are_sent_unchanged_to_proxies() {
    let server = Server::responding(|_| ok(b""));
    let proxy = Proxy {
        host: text("127.0.0.1"),
        port: text(&server.port.to_string()),
        user: text(""),
        password: text(""),
    };
    let mut user = TestUser::new();
    let direct = get(server.port, "//a//%7e//b/?x=//");
    let through = HttpSampler { domain: text("shop.example"), proxy: Some(proxy), ..direct.clone() };
    for (sampler, line) in [
        (direct, "GET /a/~/b/?x=// HTTP/1.1".to_owned()),
        (through, format!("GET http://shop.example:{}//a//%7e//b/?x=// HTTP/1.1", server.port)),
    ] {
        assert!(user.sample(&sampler).outcome.success);
        assert_eq!(server.requests().last().unwrap().line(), line);
    }
}

#[test]
fn domains_precede_user_names_and_authorization_headers_take_precedence() {
    let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n";
    let server = Server::responding(move |request| match request.header("Authorization") {
        None if request.line().contains("/digest") => {
            crate::server::response("401 Unauthorized", challenge, b"")
        }
        Some("Bearer x") => crate::server::response("401 Unauthorized", challenge, b""),
        _ => ok(b""),
    });
    let mut user = TestUser::new();
    let mut authorization = |path: &str, domain: &str, headers: Box<[Header]>| {
        let basic = !path.contains("digest");
        let auth = manager(server.port, domain, basic);
        user.sample(&HttpSampler { auth, headers, ..get(server.port, path) });
        let last = server.requests().pop().unwrap();
        last.head.lines().filter(|line| line.starts_with("Authorization")).collect::<Vec<_>>().join(" + ")
    };
    // The credentials are `CORP\bob:pw` in Base64.
    assert_eq!(authorization("/", "corp", Box::default()), "Authorization: Basic Q09SUFxib2I6cHc=");
    assert_eq!(authorization("/", "", Box::default()), "Authorization: Basic Ym9iOnB3");
    let digest = authorization("/digest", "corp", Box::default());
    assert!(digest.starts_with("Authorization: Digest username=\"CORP\\\\bob\""), "{digest}");
    let bearer = Header { name: text("Authorization"), value: text("Bearer x") };
    let before = server.requests().len();
    assert_eq!(authorization("/both", "corp", [bearer].into()), "Authorization: Bearer x");
    assert_eq!(server.requests().len(), before + 1, "the request is not repeated");
}

#[test]
fn locations_with_control_bytes_are_followed_as_by_jmeter() {
    let server = Server::responding(|request| match request.line() {
        "GET /start HTTP/1.1" => crate::server::response("302 Found", "Location: /a\u{1}b\r\n", b""),
        _ => ok(b"there"),
    });
    let mut user = TestUser::new();
    let follows =
        |path| HttpSampler { redirects: busyhour_http::Redirects::Follow, ..get(server.port, path) };
    let result = user.sample(&follows("/start"));
    assert!(result.outcome.success, "{}", result.outcome.message);
    assert!(result.url.ends_with("/a%01b"), "{}", result.url);
    assert_eq!(server.requests().last().unwrap().line(), "GET /a%01b HTTP/1.1");
}
