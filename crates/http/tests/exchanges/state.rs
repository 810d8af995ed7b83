//! The state that a user keeps between requests (cookies, cache), and redirects.

use std::sync::Arc;

use busyhour_http::cache::{CacheManager, WhenFresh};
use busyhour_http::cookies::CookieManager;
use busyhour_http::{HttpSampler, Redirects};
use busyhour_program::clock::Clock;
use busyhour_program::result::SampleResult;

use crate::server::{Request, Server, ok, response};
use crate::test_user::{TestUser, get, text};

fn path(request: &Request) -> &str {
    request.line().split(' ').nth(1).unwrap_or_default()
}

fn with_cookies(sampler: HttpSampler, manager: &Arc<CookieManager>) -> HttpSampler {
    HttpSampler { cookies: Some(Arc::clone(manager)), ..sampler }
}

#[test]
fn cookies_are_sent_to_matching_paths() {
    let server = Server::responding(|request| match path(request) {
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
    let mut user = TestUser::new();
    let mut cookies = |path: &str| {
        user.sample(&with_cookies(get(server.port, path), &manager));
        server.requests().last().unwrap().header("Cookie").map(str::to_owned)
    };
    assert_eq!(cookies("/login"), None);
    assert_eq!(cookies("/shop/cart").as_deref(), Some("in=shop; id=7"));
    assert_eq!(cookies("/shopping").as_deref(), Some("id=7"));
    assert_eq!(cookies("/logout").as_deref(), Some("id=7"));
    assert_eq!(cookies("/"), None);
    assert_eq!(cookies("/shop").as_deref(), Some("in=shop"));
    user.next_iteration(true);
    user.sample(&with_cookies(get(server.port, "/shop"), &manager));
    assert_eq!(server.requests().last().unwrap().header("Cookie"), None);
}

#[test]
fn cookies_are_private_to_their_user_and_expire() {
    let server = Server::responding(|request| match path(request) {
        "/set" => response("200 OK", "Set-Cookie: short=1; Max-Age=10\r\n", b""),
        _ => ok(b""),
    });
    let manager = Arc::new(CookieManager { check: true, ..Default::default() });
    let (mut first, mut other) = (TestUser::with_clock(Clock::manual(1_700_000_000_000)), TestUser::new());
    let at = |path| with_cookies(get(server.port, path), &manager);
    first.sample(&at("/set"));
    other.sample(&at("/"));
    first.advance(9);
    first.sample(&at("/"));
    first.advance(2);
    first.sample(&at("/"));
    let seen = server.requests();
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
fn cached_responses_are_revalidated() {
    let server = Server::responding(|request| {
        if request.header("If-None-Match") == Some("\"v1\"") {
            response("304 Not Modified", "ETag: \"v1\"\r\n", b"").into_iter().collect()
        } else {
            response("200 OK", "ETag: \"v1\"\r\nLast-Modified: Sat, 01 Jan 2022 00:00:00 GMT\r\n", b"body")
        }
    });
    let manager = cache(false, WhenFresh::NoSample);
    let mut user = TestUser::new();
    let sampler = cached(get(server.port, "/a"), &manager);
    let codes = [(); 3].map(|()| user.sample(&sampler).outcome.code.clone());
    assert_eq!(codes, ["200", "304", "304"]);
    let seen = server.requests();
    assert_eq!(seen[1].header("If-Modified-Since"), Some("Sat, 01 Jan 2022 00:00:00 GMT"));
    assert_eq!(server.connections(), [0, 0, 0]);
}

#[test]
fn fresh_responses_need_no_request_until_they_expire() {
    let configured = WhenFresh::Sample { code: "204".into(), message: "(ex cache)".into() };
    for (when_fresh, ignored, code) in [(WhenFresh::NoSample, true, ""), (configured, false, "204")] {
        let server = Server::responding(|_| response("200 OK", "Cache-Control: max-age=30\r\n", b"body"));
        let manager = cache(true, when_fresh);
        let mut user = TestUser::with_clock(Clock::manual(1_700_000_000_000));
        let sampler = cached(get(server.port, "/a"), &manager);
        assert_eq!(user.sample(&sampler).outcome.code, "200");
        user.advance(29);
        let result = user.sample(&sampler);
        assert_eq!(
            (result.marks.ignore, result.outcome.code.as_str(), result.outcome.success),
            (ignored, code, true)
        );
        assert_eq!(result.bytes(), 0);
        user.advance(2);
        assert_eq!(user.sample(&sampler).outcome.code, "200");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_redirect_to_a_page_that_is_fresh_in_the_cache_is_the_response_of_the_sample() {
    let server = Server::responding(|request| match path(request) {
        "/page" => response("200 OK", "Cache-Control: max-age=30\r\n", b"body"),
        _ => response("302 Found", "Location: /page\r\n", b"moved"),
    });
    let manager = cache(true, WhenFresh::NoSample);
    let mut user = TestUser::with_clock(Clock::manual(1_700_000_000_000));
    let sampler = HttpSampler { redirects: Redirects::Follow, ..cached(get(server.port, "/old"), &manager) };
    let outcome = |result: &SampleResult| {
        (
            result.outcome.code.clone(),
            result.body.clone(),
            result.outcome.success,
            result.marks.ignore,
            result.sub_results.len(),
        )
    };
    assert_eq!(outcome(user.sample(&sampler)), ("200".into(), b"body".into(), true, false, 2));
    assert_eq!(outcome(user.sample(&sampler)), ("302".into(), b"moved".into(), true, false, 1));
    assert_eq!(server.requests().len(), 3);
}

/// `/0` redirects to `/1` and so on to `/last`, which responds with a body.
fn redirect_chain(status: &'static str, last: u32) -> Server {
    Server::responding(move |request| {
        let at: u32 = path(request)[1..].parse().unwrap();
        if at == last {
            return ok(b"there");
        }
        response(status, &format!("Location: /{}\r\n", at + 1), b"moved")
    })
}

#[test]
fn followed_redirects_are_sub_results() {
    for status in ["301 Moved Permanently", "302 Found", "303 See Other"] {
        let server = redirect_chain(status, 3);
        let mut user = TestUser::new();
        let sampler =
            HttpSampler { method: text("POST"), redirects: Redirects::Follow, ..get(server.port, "/0") };
        let result = user.sample(&sampler);
        assert!(result.outcome.success, "{}", result.outcome.message);
        assert_eq!((result.outcome.code.as_str(), result.body.as_slice()), ("200", b"there".as_slice()));
        assert!(result.url.ends_with("/3"));
        let labels: Vec<&str> = result.sub_results.iter().map(|sub| sub.label.as_str()).collect();
        assert_eq!(labels, ["label-0", "label-1", "label-2", "label-3"]);
        let bytes: u64 = result.sub_results.iter().map(|sub| sub.bytes()).sum();
        assert_eq!(result.bytes(), bytes);
        let seen = server.requests();
        let lines: Vec<&str> = seen.iter().map(Request::line).collect();
        assert_eq!(lines, ["POST /0 HTTP/1.1", "GET /1 HTTP/1.1", "GET /2 HTTP/1.1", "GET /3 HTTP/1.1"]);
        assert_eq!(server.connections(), [0; 4]);
    }
}

#[test]
fn automatic_redirects_have_no_sub_results() {
    let server = redirect_chain("302 Found", 2);
    let mut user = TestUser::new();
    let sampler = HttpSampler { redirects: Redirects::Auto, ..get(server.port, "/0") };
    let result = user.sample(&sampler);
    assert_eq!((result.outcome.code.as_str(), result.body.as_slice()), ("200", b"there".as_slice()));
    assert!(result.sub_results.is_empty());
    assert!(result.times.connect_ns > 0, "the connect time includes the first connection");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn redirects_that_are_not_followed_are_the_result() {
    let server = redirect_chain("302 Found", 9);
    let result_of = |redirects, method: &str, port| {
        let mut user = TestUser::new();
        let result = user.sample(&HttpSampler { method: text(method), redirects, ..get(port, "/0") });
        (result.outcome.code.clone(), result.body.clone())
    };
    assert_eq!(result_of(Redirects::None, "GET", server.port), ("302".into(), b"moved".to_vec()));
    // A 307 requires an identical request, which JMeter sends only for GET and HEAD.
    let permanent = redirect_chain("307 Temporary Redirect", 1);
    assert_eq!(result_of(Redirects::Follow, "GET", permanent.port).0, "200");
    assert_eq!(result_of(Redirects::Follow, "POST", permanent.port).0, "307");
}

#[test]
fn endless_redirects_are_stopped() {
    let server = redirect_chain("302 Found", u32::MAX);
    let mut user = TestUser::new();
    let sampler = HttpSampler { redirects: Redirects::Follow, ..get(server.port, "/0") };
    let result = user.sample(&sampler);
    assert!(!result.outcome.success);
    let message = "Non HTTP response message: Exceeded maximum number of redirects: 20";
    assert_eq!(
        (result.outcome.code.as_str(), result.outcome.message.as_str()),
        ("Non HTTP response code: java.io.IOException", message)
    );
    assert_eq!(server.requests().len(), 21);
}

#[test]
fn redirects_send_cookies_and_can_lead_to_other_servers() {
    let other = Server::responding(|_| ok(b"other"));
    let port = other.port;
    let server = Server::responding(move |_| {
        let headers = format!("Set-Cookie: id=1; Path=/\r\nLocation: http://127.0.0.1:{port}/landed?a=b\r\n");
        response("302 Found", &headers, b"")
    });
    let manager = Arc::new(CookieManager { check: true, ..Default::default() });
    let mut user = TestUser::new();
    let sampler = HttpSampler { redirects: Redirects::Follow, ..get(server.port, "/") };
    assert_eq!(user.sample(&with_cookies(sampler, &manager)).body, b"other");
    let seen = other.requests();
    assert_eq!(seen[0].line(), "GET /landed?a=b HTTP/1.1");
    // Cookies are independent of ports.
    assert_eq!(seen[0].header("Cookie"), Some("id=1"));
    assert_eq!(seen[0].header("Host"), Some(format!("127.0.0.1:{port}").as_str()));
}
