//! Methods, clients and credentials: what is sent, and what is refused before it is sent.

use busyhour_http::{Argument, Client, Header, HttpSampler, Proxy};

use crate::server::{Server, ok};
use crate::world::{World, get, manager, text};

fn with_method(port: u16, method: &str, client: Client) -> HttpSampler {
    HttpSampler { method: text(method), client, ..get(port, "/m") }
}

#[test]
fn a_method_is_a_token_or_is_refused_as_by_jmeter() {
    let server = Server::answering(|_| ok(b""));
    let mut world = World::new();
    for method in ["FOO", "get", "M-SEARCH", "A!B", "A'B", "PROPFIND"] {
        assert!(world.visit(&with_method(server.port, method, Client::HttpClient4)).success, "{method}");
        assert_eq!(server.seen().last().unwrap().line(), format!("{method} /m HTTP/1.1"));
    }
    let sent = server.seen().len();
    for method in
        ["GET\r\nX-Injected: y", "GET / HTTP/1.1\r\n\r\nGET", " GET", "GET ", "", "É", "A/B", "A\tB"]
    {
        let (code, message) = world.outcome(&with_method(server.port, method, Client::HttpClient4));
        assert_eq!(code, "Non HTTP response code: java.lang.IllegalArgumentException");
        assert_eq!(message, format!("Non HTTP response message: Unexpected method: '{method}'"));
        assert!(world.user.result.url.ends_with("/m"));
    }
    for method in ["FOO", "get", "PATCH", "GET\r\nX: y"] {
        let (code, message) = world.outcome(&with_method(server.port, method, Client::Java));
        assert_eq!(code, "Non HTTP response code: java.net.ProtocolException");
        assert_eq!(message, format!("Non HTTP response message: Invalid HTTP method: {method}"));
    }
    assert_eq!(server.seen().len(), sent, "nothing of these is sent");
}

#[test]
fn javas_client_sends_urls_as_they_are_and_bodies_only_with_posts() {
    let server = Server::answering(|_| ok(b""));
    let mut world = World::new();
    for path in ["/p?a=b|c", "/p|q", "/p?a={x}&b=\"c\"", "//a//b/"] {
        let sampler = HttpSampler { client: Client::Java, ..get(server.port, path) };
        assert!(world.visit(&sampler).success, "{path}: {}", world.user.result.message);
        assert_eq!(server.seen().last().unwrap().line(), format!("GET {path} HTTP/1.1"));
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
        assert!(world.visit(&sampler).success);
        assert_eq!(server.seen().last().unwrap().header("Content-Length"), length, "{method}");
    }
    let split = HttpSampler { client: Client::Java, ..get(server.port, "/a\r\nX: y") };
    assert_eq!(world.outcome(&split).0, "Non HTTP response code: java.net.MalformedURLException");
}

#[test]
fn a_path_is_left_alone_on_the_way_to_a_proxy() {
    let server = Server::answering(|_| ok(b""));
    let proxy = Proxy {
        host: text("127.0.0.1"),
        port: text(&server.port.to_string()),
        user: text(""),
        password: text(""),
    };
    let mut world = World::new();
    let direct = get(server.port, "//a//%7e//b/?x=//");
    let through = HttpSampler { domain: text("shop.example"), proxy: Some(proxy), ..direct.clone() };
    for (sampler, line) in [
        (direct, "GET /a/~/b/?x=// HTTP/1.1".to_owned()),
        (through, format!("GET http://shop.example:{}//a//%7e//b/?x=// HTTP/1.1", server.port)),
    ] {
        assert!(world.visit(&sampler).success);
        assert_eq!(server.seen().last().unwrap().line(), line);
    }
}

#[test]
fn a_domain_precedes_the_name_and_a_header_manager_takes_precedence() {
    let asks = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n";
    let server = Server::answering(move |request| match request.header("Authorization") {
        None if request.line().contains("/digest") => crate::server::response("401 Unauthorized", asks, b""),
        Some("Bearer x") => crate::server::response("401 Unauthorized", asks, b""),
        _ => ok(b""),
    });
    let mut world = World::new();
    let mut authorization = |path: &str, domain: &str, headers: Box<[Header]>| {
        let basic = !path.contains("digest");
        let auth = manager(server.port, domain, basic);
        world.visit(&HttpSampler { auth, headers, ..get(server.port, path) });
        let last = server.seen().pop().unwrap();
        last.head.lines().filter(|line| line.starts_with("Authorization")).collect::<Vec<_>>().join(" + ")
    };
    // CORP\bob:pw
    assert_eq!(authorization("/", "corp", Box::default()), "Authorization: Basic Q09SUFxib2I6cHc=");
    assert_eq!(authorization("/", "", Box::default()), "Authorization: Basic Ym9iOnB3");
    let digest = authorization("/digest", "corp", Box::default());
    assert!(digest.starts_with("Authorization: Digest username=\"CORP\\\\bob\""), "{digest}");
    let bearer = Header { name: text("Authorization"), value: text("Bearer x") };
    let before = server.seen().len();
    assert_eq!(authorization("/both", "corp", [bearer].into()), "Authorization: Bearer x");
    assert_eq!(server.seen().len(), before + 1, "the question is the answer");
}

#[test]
fn a_location_with_control_bytes_is_followed_as_by_jmeter() {
    let server = Server::answering(|request| match request.line() {
        "GET /start HTTP/1.1" => crate::server::response("302 Found", "Location: /a\u{1}b\r\n", b""),
        _ => ok(b"there"),
    });
    let mut world = World::new();
    let follows =
        |path| HttpSampler { redirects: busyhour_http::Redirects::Follow, ..get(server.port, path) };
    let result = world.visit(&follows("/start"));
    assert!(result.success, "{}", result.message);
    assert!(result.url.ends_with("/a%01b"), "{}", result.url);
    assert_eq!(server.seen().last().unwrap().line(), "GET /a%01b HTTP/1.1");
}
