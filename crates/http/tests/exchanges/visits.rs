//! What a user carries from one request to the next: cookies, a cache; and redirects.

use std::sync::Arc;

use busyhour_http::cache::{CacheManager, WhenFresh};
use busyhour_http::cookies::CookieManager;
use busyhour_http::{HttpSampler, Redirects};
use busyhour_program::clock::Clock;
use busyhour_program::result::SampleResult;

use crate::server::{Request, Server, ok, response};
use crate::world::{World, get, text};

fn path(request: &Request) -> &str {
    request.line().split(' ').nth(1).unwrap_or_default()
}

fn with_cookies(sampler: HttpSampler, manager: &Arc<CookieManager>) -> HttpSampler {
    HttpSampler { cookies: Some(Arc::clone(manager)), ..sampler }
}

#[test]
fn cookies_come_back_where_they_belong() {
    let server = Server::answering(|request| match path(request) {
        "/login" => {
            response("200 OK", "Set-Cookie: id=7; Path=/\r\nSet-Cookie: in=shop; Path=/shop\r\n", b"")
        }
        "/logout" => {
            let gone = "Set-Cookie: id=; Path=/; Expires=Thu, 01 Jan 1970 00:00:01 GMT\r\n";
            response("200 OK", gone, b"")
        }
        _ => ok(b""),
    });
    let manager = Arc::new(CookieManager { check: true, clear_each_iteration: true, ..Default::default() });
    let mut world = World::new();
    let mut cookies = |path: &str| {
        world.visit(&with_cookies(get(server.port, path), &manager));
        server.seen().last().unwrap().header("Cookie").map(str::to_owned)
    };
    assert_eq!(cookies("/login"), None);
    assert_eq!(cookies("/shop/cart").as_deref(), Some("in=shop; id=7"));
    assert_eq!(cookies("/shopping").as_deref(), Some("id=7"));
    assert_eq!(cookies("/logout").as_deref(), Some("id=7"));
    assert_eq!(cookies("/"), None);
    assert_eq!(cookies("/shop").as_deref(), Some("in=shop"));
    world.next_iteration(true);
    world.visit(&with_cookies(get(server.port, "/shop"), &manager));
    assert_eq!(server.seen().last().unwrap().header("Cookie"), None);
}

#[test]
fn cookies_of_one_user_are_not_another_s_and_expire() {
    let server = Server::answering(|request| match path(request) {
        "/set" => response("200 OK", "Set-Cookie: short=1; Max-Age=10\r\n", b""),
        _ => ok(b""),
    });
    let manager = Arc::new(CookieManager { check: true, ..Default::default() });
    let (mut one, mut other) = (World::on(Clock::manual(1_700_000_000_000)), World::new());
    let at = |path| with_cookies(get(server.port, path), &manager);
    one.visit(&at("/set"));
    other.visit(&at("/"));
    one.later(9);
    one.visit(&at("/"));
    one.later(2);
    one.visit(&at("/"));
    let seen = server.seen();
    let sent: Vec<_> = seen.iter().map(|request| request.header("Cookie")).collect();
    assert_eq!(sent, [None, None, Some("short=1"), None]);
}

fn cached(sampler: HttpSampler, manager: &Arc<CacheManager>) -> HttpSampler {
    HttpSampler { cache: Some(Arc::clone(manager)), ..sampler }
}

fn cache(use_expires: bool, when_fresh: WhenFresh) -> Arc<CacheManager> {
    Arc::new(CacheManager {
        clear_each_iteration: false,
        controlled_by_group: false,
        use_expires,
        size_max: 10,
        when_fresh,
    })
}

#[test]
fn a_cached_copy_is_revalidated() {
    let server = Server::answering(|request| {
        if request.header("If-None-Match") == Some("\"v1\"") {
            response("304 Not Modified", "ETag: \"v1\"\r\n", b"").into_iter().collect()
        } else {
            response("200 OK", "ETag: \"v1\"\r\nLast-Modified: Sat, 01 Jan 2022 00:00:00 GMT\r\n", b"body")
        }
    });
    let manager = cache(false, WhenFresh::NoSample);
    let mut world = World::new();
    let sampler = cached(get(server.port, "/a"), &manager);
    let codes = [(); 3].map(|()| world.visit(&sampler).code.clone());
    assert_eq!(codes, ["200", "304", "304"]);
    let seen = server.seen();
    assert_eq!(seen[1].header("If-Modified-Since"), Some("Sat, 01 Jan 2022 00:00:00 GMT"));
    assert_eq!(server.connections(), [0, 0, 0]);
}

#[test]
fn a_fresh_copy_needs_no_request_until_it_expires() {
    let own = WhenFresh::Sample { code: "204".into(), message: "(ex cache)".into() };
    for (when_fresh, ignored, code) in [(WhenFresh::NoSample, true, ""), (own, false, "204")] {
        let server = Server::answering(|_| response("200 OK", "Cache-Control: max-age=30\r\n", b"body"));
        let manager = cache(true, when_fresh);
        let mut world = World::on(Clock::manual(1_700_000_000_000));
        let sampler = cached(get(server.port, "/a"), &manager);
        assert_eq!(world.visit(&sampler).code, "200");
        world.later(29);
        let result = world.visit(&sampler);
        assert_eq!((result.ignore, result.code.as_str(), result.success), (ignored, code, true));
        assert_eq!(result.bytes(), 0);
        world.later(2);
        assert_eq!(world.visit(&sampler).code, "200");
        assert_eq!(server.seen().len(), 2);
    }
}

#[test]
fn a_redirect_to_a_fresh_copy_is_the_last_response() {
    let server = Server::answering(|request| match path(request) {
        "/page" => response("200 OK", "Cache-Control: max-age=30\r\n", b"body"),
        _ => response("302 Found", "Location: /page\r\n", b"moved"),
    });
    let manager = cache(true, WhenFresh::NoSample);
    let mut world = World::on(Clock::manual(1_700_000_000_000));
    let sampler = HttpSampler { redirects: Redirects::Follow, ..cached(get(server.port, "/old"), &manager) };
    let outcome = |result: &SampleResult| {
        (result.code.clone(), result.body.clone(), result.success, result.ignore, result.sub_results.len())
    };
    assert_eq!(outcome(world.visit(&sampler)), ("200".into(), b"body".into(), true, false, 2));
    assert_eq!(outcome(world.visit(&sampler)), ("302".into(), b"moved".into(), true, false, 1));
    assert_eq!(server.seen().len(), 3);
}

/// `/0` leads to `/1` and so on to `/last`, which answers.
fn staircase(status: &'static str, last: u32) -> Server {
    Server::answering(move |request| {
        let at: u32 = path(request)[1..].parse().unwrap();
        if at == last {
            return ok(b"there");
        }
        response(status, &format!("Location: /{}\r\n", at + 1), b"moved")
    })
}

#[test]
fn followed_redirects_are_samples_within_the_sample() {
    for status in ["301 Moved Permanently", "302 Found", "303 See Other"] {
        let server = staircase(status, 3);
        let mut world = World::new();
        let sampler =
            HttpSampler { method: text("POST"), redirects: Redirects::Follow, ..get(server.port, "/0") };
        let result = world.visit(&sampler);
        assert!(result.success, "{}", result.message);
        assert_eq!((result.code.as_str(), result.body.as_slice()), ("200", b"there".as_slice()));
        assert!(result.url.ends_with("/3"));
        let labels: Vec<&str> = result.sub_results.iter().map(|sub| sub.label.as_str()).collect();
        assert_eq!(labels, ["label-0", "label-1", "label-2", "label-3"]);
        let bytes: u64 = result.sub_results.iter().map(|sub| sub.bytes()).sum();
        assert_eq!(result.bytes(), bytes);
        let seen = server.seen();
        let lines: Vec<&str> = seen.iter().map(Request::line).collect();
        assert_eq!(lines, ["POST /0 HTTP/1.1", "GET /1 HTTP/1.1", "GET /2 HTTP/1.1", "GET /3 HTTP/1.1"]);
        assert_eq!(server.connections(), [0; 4]);
    }
}

#[test]
fn automatic_redirects_leave_one_sample() {
    let server = staircase("302 Found", 2);
    let mut world = World::new();
    let sampler = HttpSampler { redirects: Redirects::Auto, ..get(server.port, "/0") };
    let result = world.visit(&sampler);
    assert_eq!((result.code.as_str(), result.body.as_slice()), ("200", b"there".as_slice()));
    assert!(result.sub_results.is_empty());
    assert!(result.times.connect_ns > 0, "the connection of the first request counts");
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn redirects_that_are_not_followed_are_the_answer() {
    let server = staircase("302 Found", 9);
    let result_of = |redirects, method: &str, port| {
        let mut world = World::new();
        let result = world.visit(&HttpSampler { method: text(method), redirects, ..get(port, "/0") });
        (result.code.clone(), result.body.clone())
    };
    assert_eq!(result_of(Redirects::None, "GET", server.port), ("302".into(), b"moved".to_vec()));
    // 307 would have to be sent again as it was: JMeter does so for GET and HEAD only.
    let kept = staircase("307 Temporary Redirect", 1);
    assert_eq!(result_of(Redirects::Follow, "GET", kept.port).0, "200");
    assert_eq!(result_of(Redirects::Follow, "POST", kept.port).0, "307");
}

#[test]
fn endless_redirects_are_stopped() {
    let server = staircase("302 Found", u32::MAX);
    let mut world = World::new();
    let sampler = HttpSampler { redirects: Redirects::Follow, ..get(server.port, "/0") };
    let result = world.visit(&sampler);
    assert!(!result.success);
    let message = "Non HTTP response message: Exceeded maximum number of redirects: 20";
    assert_eq!(
        (result.code.as_str(), result.message.as_str()),
        ("Non HTTP response code: java.io.IOException", message)
    );
    assert_eq!(server.seen().len(), 21);
}

#[test]
fn a_redirect_carries_cookies_and_crosses_servers() {
    let other = Server::answering(|_| ok(b"other"));
    let port = other.port;
    let server = Server::answering(move |_| {
        let headers = format!("Set-Cookie: id=1; Path=/\r\nLocation: http://127.0.0.1:{port}/landed?a=b\r\n");
        response("302 Found", &headers, b"")
    });
    let manager = Arc::new(CookieManager { check: true, ..Default::default() });
    let mut world = World::new();
    let sampler = HttpSampler { redirects: Redirects::Follow, ..get(server.port, "/") };
    assert_eq!(world.visit(&with_cookies(sampler, &manager)).body, b"other");
    let seen = other.seen();
    assert_eq!(seen[0].line(), "GET /landed?a=b HTTP/1.1");
    // Cookies are independent of ports.
    assert_eq!(seen[0].header("Cookie"), Some("id=1"));
    assert_eq!(seen[0].header("Host"), Some(format!("127.0.0.1:{port}").as_str()));
}
