//! The limits for responses, and the results of responses that exceed them.

use std::sync::Arc;
use std::time::Duration;

use busyhour_http::cookies::CookieManager;
use busyhour_http::embedded::Embedded;
use busyhour_http::limits::{AUTHENTICATION_ROUNDS_MAX, BodyLimit, COOKIES_MAX, RESOURCES_MAX};
use busyhour_http::{HttpSampler, Redirects, SharedHttp};
use busyhour_limits::Limit;
use busyhour_program::result::SampleResult;
use busyhour_program::template::Template;

use crate::server::{Server, ok, response};
use crate::test_user::{RETENTIONS, TestUser, get, get_securely, manager, text};

fn limited(sampler: HttpSampler, limit: BodyLimit) -> HttpSampler {
    let mut shared = SharedHttp::default();
    shared.body_limit = limit;
    HttpSampler { shared: Arc::new(shared), ..sampler }
}

fn with_deadline(sampler: HttpSampler, ms: u64) -> HttpSampler {
    let mut shared = SharedHttp::default();
    shared.request_deadline = Some(Duration::from_millis(ms));
    HttpSampler { shared: Arc::new(shared), ..sampler }
}

#[test]
fn a_hundred_thousand_stacked_encodings_fail_only_their_sample() {
    let server = Server::responding(|request| match request.line().contains("/stacked") {
        true => {
            let names = vec!["gzip"; 100_000].join(",");
            response("200 OK", &format!("Content-Encoding: {names}\r\n"), b"x")
        }
        false => ok(b"fine"),
    });
    let mut user = TestUser::new();
    for keep in RETENTIONS {
        let result = user.sample_with(&get(server.port, "/stacked"), keep);
        assert_eq!(result.outcome.code, "Non HTTP response code: org.apache.http.MessageConstraintException");
        assert!(result.outcome.message.ends_with("Maximum number of content encodings exceeded (5)"));
        assert!(user.sample_with(&get(server.port, "/"), keep).outcome.success);
    }
    assert_eq!(busyhour_limits::take_counts(), [(Limit::ContentEncodings, 2)]);
}

#[test]
fn retained_bodies_are_limited_and_discarded_bodies_are_counted() {
    let server = Server::responding(|_| ok(&[b'x'; 200_000]));
    let mut user = TestUser::new();
    let rejecting = limited(get(server.port, "/"), BodyLimit::Refuse(100_000));
    let result = user.sample(&rejecting);
    assert_eq!(result.outcome.code, "Non HTTP response code: org.apache.http.ContentTooLongException");
    assert!(result.outcome.message.contains("exceeds the 100,000 bytes"), "{}", result.outcome.message);
    assert!(!result.outcome.success && result.body.len() < 1000 && result.body.capacity() < 100_000);
    assert_eq!(busyhour_limits::take_counts(), [(Limit::BodyBytes, 1)]);
    let result = user.sample_with(&rejecting, RETENTIONS[1]);
    assert!(result.outcome.success, "{}", result.outcome.message);
    assert_eq!(result.sizes.body_bytes, 200_000);
    // As with JMeter's property, a longer body is truncated and the sample passes.
    let result = user.sample(&limited(get(server.port, "/"), BodyLimit::Truncate(1000)));
    assert_eq!((result.outcome.success, result.body.len(), result.sizes.body_bytes), (true, 1000, 200_000));
    let result = user.sample(&limited(get(server.port, "/"), BodyLimit::Unlimited));
    assert_eq!((result.outcome.success, result.body.len()), (true, 200_000));
    // For an MD5 sum, no body is retained.
    let summed = HttpSampler { md5: true, ..rejecting };
    let result = user.sample(&summed);
    assert_eq!((result.outcome.success, result.body.len()), (true, 32), "{}", result.outcome.message);
    assert_eq!(busyhour_limits::take_counts(), []);
}

#[test]
fn a_request_ends_at_its_deadline() {
    let behaviours: [fn(&mut crate::server::Peer); 4] = [
        // No response.
        |_| {},
        // A head that is sent slowly.
        |peer| {
            peer.send(b"HTTP/1.1 200 OK\r\nX-Slow: ");
        },
        // An incomplete body of known length.
        |peer| peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc"),
        // Many small chunks without a last one.
        |peer| {
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            for _ in 0..10_000 {
                peer.send(b"1;x=y\r\na\r\n");
            }
        },
    ];
    for behaviour in behaviours {
        let server = Server::start(move |mut peer| {
            while peer.request().is_some() {
                behaviour(&mut peer);
            }
        });
        for keep in RETENTIONS {
            let mut user = TestUser::new();
            let result = user.sample_with(&with_deadline(get(server.port, "/"), 50), keep);
            assert_eq!(result.outcome.code, "Non HTTP response code: java.net.SocketTimeoutException");
            let message = "The request took longer than its deadline of 50ms (--request-deadline)";
            assert_eq!(result.outcome.message, format!("Non HTTP response message: {message}"));
            assert!(result.times.end.since(result.times.start) >= 50_000_000 && !result.outcome.success);
            assert_eq!(busyhour_limits::take_counts(), [(Limit::RequestDeadline, 1)]);
        }
    }
}

#[test]
fn the_deadline_covers_the_handshake_and_does_not_affect_fast_responses() {
    let silent = Server::start(|mut peer| while peer.request().is_some() {});
    let (code, _) = TestUser::new().outcome(&with_deadline(get_securely(silent.port, "/"), 50));
    assert_eq!(code, "Non HTTP response code: java.net.SocketTimeoutException");
    assert_eq!(busyhour_limits::take_counts(), [(Limit::RequestDeadline, 1)]);
    let server = Server::responding(|_| ok(b"fast"));
    let mut user = TestUser::new();
    for _ in 0..3 {
        assert!(user.sample(&with_deadline(get(server.port, "/"), 60_000)).outcome.success);
    }
    assert_eq!(server.connections(), [0, 0, 0]);
    assert!(busyhour_limits::take_counts().is_empty());
}

#[test]
fn a_server_that_always_requires_authentication() {
    let server = Server::responding(|_| {
        let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", stale=true\r\n";
        response("401 Unauthorized", challenge, b"")
    });
    let mut user = TestUser::new();
    let result = user.sample(&HttpSampler { auth: manager(server.port, "", false), ..get(server.port, "/") });
    assert_eq!(result.outcome.code, "401");
    assert_eq!(server.requests().len(), 1 + AUTHENTICATION_ROUNDS_MAX as usize);
    assert_eq!(busyhour_limits::take_counts(), [(Limit::AuthenticationRounds, 1)]);
}

#[test]
fn the_number_of_cookies_is_limited() {
    let server = Server::responding(|request| {
        let path = request.line().split(' ').nth(1).unwrap_or_default();
        let cookies: String =
            (0..1000).map(|number| format!("Set-Cookie: {}{number}=x; Path=/\r\n", &path[1..])).collect();
        response("200 OK", &cookies, b"")
    });
    let mut user = TestUser::new();
    let cookies = Some(Arc::new(CookieManager::default()));
    for path in ["/a", "/b", "/c", "/d", "/e"] {
        let sampler = HttpSampler { cookies: cookies.clone(), ..get(server.port, path) };
        assert!(user.sample(&sampler).outcome.success);
    }
    let sent = server.requests()[4].header("Cookie").unwrap().to_owned();
    assert_eq!(sent.split("; ").count(), COOKIES_MAX);
    assert!(sent.starts_with("b0=x; "), "{}", &sent[..40]);
    // The cookies of the fourth and the fifth response exceed the limit.
    let exceeded = busyhour_limits::take_counts();
    let [(Limit::Cookies, responses)] = exceeded[..] else { panic!("{exceeded:?}") };
    assert!(responses >= 2);
}

#[test]
fn the_number_of_embedded_resources_is_limited() {
    let server = Server::responding(|_| {
        let page: String = (0..RESOURCES_MAX + 5)
            .map(|number| format!("<img src=\"file:/no such directory/{number}.png\">"))
            .collect();
        response("200 OK", "Content-Type: text/html\r\n", page.as_bytes())
    });
    let embedded = Embedded {
        allow: Template::default(),
        exclude: Template::default(),
        at_once: None,
        matches: |_, _| Some(true),
    };
    let mut user = TestUser::new();
    let sampler = HttpSampler { embedded: Some(Box::new(embedded)), ..get(server.port, "/") };
    let result = user.sample(&sampler);
    assert!(!result.outcome.success);
    // The page, its resources, and its failure.
    assert_eq!(result.sub_results.len(), 1 + RESOURCES_MAX + 1);
    let last = &result.sub_results[RESOURCES_MAX + 1];
    assert!(
        last.outcome.message.ends_with("Maximum number of embedded resources exceeded (10,000)"),
        "{}",
        last.outcome.message
    );
    assert_eq!(busyhour_limits::take_counts(), [(Limit::Resources, 1)]);
}

/// A sampler whose samples retain at most `bytes` bytes of all their bodies.
fn with_body_budget(sampler: HttpSampler, bytes: usize, limit: BodyLimit) -> HttpSampler {
    let mut shared = SharedHttp::default();
    shared.sample_bytes_max = Some(bytes);
    shared.body_limit = limit;
    HttpSampler { shared: Arc::new(shared), ..sampler }
}

fn retained_bytes(result: &SampleResult) -> usize {
    let parts: usize = result.sub_results.iter().map(retained_bytes).sum();
    parts.max(result.body.len())
}

/// Redirects fifteen times, with 100,000 bytes in each response.
fn redirecting() -> Server {
    Server::responding(|request| {
        let path = request.line().split(' ').nth(1).unwrap_or_default();
        let hop: u32 = path[1..].parse().unwrap_or_default();
        let head = format!("Location: /{}\r\n", hop + 1);
        let status = if hop < 15 { "302 Found" } else { "200 OK" };
        response(status, &head, &[b'x'; 100_000])
    })
}

#[test]
fn the_bodies_of_redirects_share_one_limit() {
    let server = redirecting();
    let following = HttpSampler { redirects: Redirects::Follow, ..get(server.port, "/0") };
    let mut user = TestUser::new();
    let refuse = BodyLimit::default();
    let result = user.sample(&with_body_budget(following.clone(), 1_000_000, refuse));
    assert_eq!(result.outcome.code, "Non HTTP response code: org.apache.http.ContentTooLongException");
    assert!(result.outcome.message.contains("exceed the 1,000,000 bytes"), "{}", result.outcome.message);
    assert_eq!(result.sub_results.len(), 11);
    assert!((1_000_000..1_001_000).contains(&retained_bytes(result)), "{}", retained_bytes(result));
    assert_eq!(busyhour_limits::take_counts(), [(Limit::SampleBodyBytes, 1)]);
    // The next sample has the complete budget again.
    let last = HttpSampler { path: text("/7"), ..following.clone() };
    assert!(user.sample(&with_body_budget(last, 1_000_000, refuse)).outcome.success);
    // The sample succeeds with a sufficient budget, with bodies that are not retained, and without a limit.
    assert!(user.sample(&with_body_budget(following.clone(), 1_600_000, refuse)).outcome.success);
    assert!(
        user.sample_with(&with_body_budget(following.clone(), 1_000_000, refuse), RETENTIONS[1])
            .outcome
            .success
    );
    assert!(
        user.sample(&with_body_budget(following.clone(), 1_000_000, BodyLimit::Unlimited)).outcome.success
    );
    // With redirects inside the client, only the last body is retained.
    let automatic = HttpSampler { redirects: Redirects::Auto, ..following };
    assert!(user.sample(&with_body_budget(automatic, 200_000, refuse)).outcome.success);
    assert_eq!(busyhour_limits::take_counts(), []);
}

#[test]
fn the_bodies_of_embedded_resources_share_the_limit_of_their_page() {
    let server = Server::responding(|request| match request.line().contains("/image") {
        true => response("200 OK", "Content-Type: image/png\r\n", &[b'x'; 100_000]),
        false => {
            let images: String = (0..15).map(|number| format!("<img src=\"/image{number}\">")).collect();
            response("200 OK", "Content-Type: text/html\r\n", images.as_bytes())
        }
    });
    let mut user = TestUser::new();
    for at_once in [None, Some(text("6"))] {
        let embedded = Embedded {
            allow: Template::default(),
            exclude: Template::default(),
            at_once,
            matches: |_, _| Some(true),
        };
        let page = HttpSampler { embedded: Some(Box::new(embedded)), ..get(server.port, "/") };
        let result = user.sample(&with_body_budget(page.clone(), 1_000_000, BodyLimit::default()));
        assert!(!result.outcome.success && result.outcome.message.contains("exceed the 1,000,000 bytes"));
        assert!(retained_bytes(result) < 1_010_000, "{}", retained_bytes(result));
        let exceeded = busyhour_limits::take_counts();
        assert!(matches!(exceeded[..], [(Limit::SampleBodyBytes, 6..)]), "{exceeded:?}");
        let result = user.sample(&with_body_budget(page, 2_000_000, BodyLimit::default()));
        assert!(result.outcome.success, "{}", result.outcome.message);
        assert_eq!((result.sub_results.len(), busyhour_limits::take_counts().len()), (16, 0));
    }
}

#[test]
fn pages_cannot_refer_to_devices() {
    let mut user = TestUser::new();
    let sampler = HttpSampler {
        protocol: text("file"),
        domain: Template::default(),
        port: Template::default(),
        ..get(0, "/dev/zero")
    };
    let (code, message) = user.outcome(&sampler);
    assert_eq!(code, "Non HTTP response code: java.io.FileNotFoundException");
    assert!(message.ends_with("/dev/zero (not a regular file)"), "{message}");
}
