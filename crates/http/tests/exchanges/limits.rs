//! What a response may cost, and what happens to one that exceeds a limit.

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
use crate::world::{KEEP, World, get, get_securely, manager, text};

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
fn a_hundred_thousand_stacked_encodings_fail_their_sample_only() {
    let server = Server::answering(|request| match request.line().contains("/stacked") {
        true => {
            let names = vec!["gzip"; 100_000].join(",");
            response("200 OK", &format!("Content-Encoding: {names}\r\n"), b"x")
        }
        false => ok(b"fine"),
    });
    let mut world = World::new();
    for keep in KEEP {
        let result = world.sample(&get(server.port, "/stacked"), keep);
        assert_eq!(result.code, "Non HTTP response code: org.apache.http.MessageConstraintException");
        assert!(result.message.ends_with("Maximum number of content encodings exceeded (5)"));
        assert!(world.sample(&get(server.port, "/"), keep).success);
    }
    assert_eq!(busyhour_limits::take(), [(Limit::ContentEncodings, 2)]);
}

#[test]
fn a_body_that_is_needed_is_kept_up_to_a_limit_and_one_that_is_not_is_counted() {
    let server = Server::answering(|_| ok(&[b'x'; 200_000]));
    let mut world = World::new();
    let refused = limited(get(server.port, "/"), BodyLimit::Refuse(100_000));
    let result = world.visit(&refused);
    assert_eq!(result.code, "Non HTTP response code: org.apache.http.ContentTooLongException");
    assert!(result.message.contains("longer than the 100,000 bytes"), "{}", result.message);
    assert!(!result.success && result.body.len() < 1000 && result.body.capacity() < 100_000);
    assert_eq!(busyhour_limits::take(), [(Limit::BodyBytes, 1)]);
    let result = world.sample(&refused, KEEP[1]);
    assert!(result.success, "{}", result.message);
    assert_eq!(result.body_bytes, 200_000);
    // As under JMeter's property.
    let result = world.visit(&limited(get(server.port, "/"), BodyLimit::Truncate(1000)));
    assert_eq!((result.success, result.body.len(), result.body_bytes), (true, 1000, 200_000));
    let result = world.visit(&limited(get(server.port, "/"), BodyLimit::Unlimited));
    assert_eq!((result.success, result.body.len()), (true, 200_000));
    // Of a sum nothing is kept.
    let summed = HttpSampler { md5: true, ..refused };
    let result = world.visit(&summed);
    assert_eq!((result.success, result.body.len()), (true, 32), "{}", result.message);
    assert_eq!(busyhour_limits::take(), []);
}

#[test]
fn a_request_ends_at_its_deadline() {
    let behaviours: [fn(&mut crate::server::Peer); 4] = [
        // Nothing at all.
        |_| {},
        // A head in drops.
        |peer| {
            peer.send(b"HTTP/1.1 200 OK\r\nX-Slow: ");
        },
        // A body of known length that stops.
        |peer| peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc"),
        // Chunks, many and small, and then none.
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
        for keep in KEEP {
            let mut world = World::new();
            let result = world.sample(&with_deadline(get(server.port, "/"), 50), keep);
            assert_eq!(result.code, "Non HTTP response code: java.net.SocketTimeoutException");
            let words = "The request took longer than its deadline of 50ms (--request-deadline)";
            assert_eq!(result.message, format!("Non HTTP response message: {words}"));
            assert!(result.times.end.since(result.times.start) >= 50_000_000 && !result.success);
            assert_eq!(busyhour_limits::take(), [(Limit::RequestDeadline, 1)]);
        }
    }
}

#[test]
fn the_deadline_covers_the_handshake_and_leaves_fast_responses_alone() {
    let silent = Server::start(|mut peer| while peer.request().is_some() {});
    let (code, _) = World::new().outcome(&with_deadline(get_securely(silent.port, "/"), 50));
    assert_eq!(code, "Non HTTP response code: java.net.SocketTimeoutException");
    assert_eq!(busyhour_limits::take(), [(Limit::RequestDeadline, 1)]);
    let server = Server::answering(|_| ok(b"fast"));
    let mut world = World::new();
    for _ in 0..3 {
        assert!(world.visit(&with_deadline(get(server.port, "/"), 60_000)).success);
    }
    assert_eq!(server.connections(), [0, 0, 0]);
    assert!(busyhour_limits::take().is_empty());
}

#[test]
fn a_server_that_is_never_content_with_an_answer() {
    let server = Server::answering(|_| {
        let asks = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", stale=true\r\n";
        response("401 Unauthorized", asks, b"")
    });
    let mut world = World::new();
    let result = world.visit(&HttpSampler { auth: manager(server.port, "", false), ..get(server.port, "/") });
    assert_eq!(result.code, "401");
    assert_eq!(server.seen().len(), 1 + AUTHENTICATION_ROUNDS_MAX as usize);
    assert_eq!(busyhour_limits::take(), [(Limit::AuthenticationRounds, 1)]);
}

#[test]
fn cookies_without_end_are_forgotten() {
    let server = Server::answering(|request| {
        let path = request.line().split(' ').nth(1).unwrap_or_default();
        let cookies: String =
            (0..1000).map(|number| format!("Set-Cookie: {}{number}=x; Path=/\r\n", &path[1..])).collect();
        response("200 OK", &cookies, b"")
    });
    let mut world = World::new();
    let cookies = Some(Arc::new(CookieManager::default()));
    for path in ["/a", "/b", "/c", "/d", "/e"] {
        let sampler = HttpSampler { cookies: cookies.clone(), ..get(server.port, path) };
        assert!(world.visit(&sampler).success);
    }
    let sent = server.seen()[4].header("Cookie").unwrap().to_owned();
    assert_eq!(sent.split("; ").count(), COOKIES_MAX);
    assert!(sent.starts_with("b0=x; "), "{}", &sent[..40]);
    // The fourth response and the fifth.
    let exceeded = busyhour_limits::take();
    let [(Limit::Cookies, responses)] = exceeded[..] else { panic!("{exceeded:?}") };
    assert!(responses >= 2);
}

#[test]
fn a_page_with_more_resources_than_a_sample_fetches() {
    let server = Server::answering(|_| {
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
    let mut world = World::new();
    let sampler = HttpSampler { embedded: Some(Box::new(embedded)), ..get(server.port, "/") };
    let result = world.visit(&sampler);
    assert!(!result.success);
    // The page, its resources, and what is wrong with it.
    assert_eq!(result.sub_results.len(), 1 + RESOURCES_MAX + 1);
    let last = &result.sub_results[RESOURCES_MAX + 1];
    assert!(
        last.message.ends_with("Maximum number of embedded resources exceeded (10,000)"),
        "{}",
        last.message
    );
    assert_eq!(busyhour_limits::take(), [(Limit::Resources, 1)]);
}

/// A sampler whose samples keep at most so many bytes of all their bodies.
fn with_room(sampler: HttpSampler, bytes: usize, limit: BodyLimit) -> HttpSampler {
    let mut shared = SharedHttp::default();
    shared.sample_bytes_max = Some(bytes);
    shared.body_limit = limit;
    HttpSampler { shared: Arc::new(shared), ..sampler }
}

fn bytes_kept(result: &SampleResult) -> usize {
    let parts: usize = result.sub_results.iter().map(bytes_kept).sum();
    parts.max(result.body.len())
}

/// Redirects fifteen times, with 100,000 bytes in each response.
fn redirecting() -> Server {
    Server::answering(|request| {
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
    let mut world = World::new();
    let refuse = BodyLimit::default();
    let result = world.visit(&with_room(following.clone(), 1_000_000, refuse));
    assert_eq!(result.code, "Non HTTP response code: org.apache.http.ContentTooLongException");
    assert!(result.message.contains("are longer than the 1,000,000 bytes"), "{}", result.message);
    assert_eq!(result.sub_results.len(), 11);
    assert!((1_000_000..1_001_000).contains(&bytes_kept(result)), "{}", bytes_kept(result));
    assert_eq!(busyhour_limits::take(), [(Limit::SampleBodyBytes, 1)]);
    // The next sample has all of the room again.
    let last = HttpSampler { path: text("/7"), ..following.clone() };
    assert!(world.visit(&with_room(last, 1_000_000, refuse)).success);
    // Enough room, bodies that nobody needs, and a plan that asks for all.
    assert!(world.visit(&with_room(following.clone(), 1_600_000, refuse)).success);
    assert!(world.sample(&with_room(following.clone(), 1_000_000, refuse), KEEP[1]).success);
    assert!(world.visit(&with_room(following.clone(), 1_000_000, BodyLimit::Unlimited)).success);
    // Of redirects inside the client only the last body is kept.
    let unseen = HttpSampler { redirects: Redirects::Auto, ..following };
    assert!(world.visit(&with_room(unseen, 200_000, refuse)).success);
    assert_eq!(busyhour_limits::take(), []);
}

#[test]
fn the_bodies_of_embedded_resources_share_the_limit_of_their_page() {
    let server = Server::answering(|request| match request.line().contains("/image") {
        true => response("200 OK", "Content-Type: image/png\r\n", &[b'x'; 100_000]),
        false => {
            let images: String = (0..15).map(|number| format!("<img src=\"/image{number}\">")).collect();
            response("200 OK", "Content-Type: text/html\r\n", images.as_bytes())
        }
    });
    let mut world = World::new();
    for at_once in [None, Some(text("6"))] {
        let embedded = Embedded {
            allow: Template::default(),
            exclude: Template::default(),
            at_once,
            matches: |_, _| Some(true),
        };
        let page = HttpSampler { embedded: Some(Box::new(embedded)), ..get(server.port, "/") };
        let result = world.visit(&with_room(page.clone(), 1_000_000, BodyLimit::default()));
        assert!(!result.success && result.message.contains("longer than the 1,000,000 bytes"));
        assert!(bytes_kept(result) < 1_010_000, "{}", bytes_kept(result));
        let exceeded = busyhour_limits::take();
        assert!(matches!(exceeded[..], [(Limit::SampleBodyBytes, 6..)]), "{exceeded:?}");
        let result = world.visit(&with_room(page, 2_000_000, BodyLimit::default()));
        assert!(result.success, "{}", result.message);
        assert_eq!((result.sub_results.len(), busyhour_limits::take().len()), (16, 0));
    }
}

#[test]
fn a_page_cannot_make_the_generator_read_a_device() {
    let mut world = World::new();
    let sampler = HttpSampler {
        protocol: text("file"),
        domain: Template::default(),
        port: Template::default(),
        ..get(0, "/dev/zero")
    };
    let (code, message) = world.outcome(&sampler);
    assert_eq!(code, "Non HTTP response code: java.io.FileNotFoundException");
    assert!(message.ends_with("/dev/zero (not a regular file)"), "{message}");
}
