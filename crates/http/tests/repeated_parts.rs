//! Responses and pages in which one part is repeated up to a million times: parsing them takes time proportional to
//! their length, or stops at a limit.

mod generated_parts;
mod parts;

use std::cell::Cell;
use std::pin::pin;
use std::task::{Context, Waker};

use busyhour_http::limits::{BodyLimit, COOKIES_MAX, RESOURCE_ADDRESS_BYTES_MAX};
use busyhour_http::{Failure, read_challenge, read_links, read_resources, read_whole};
use busyhour_limits::Limit;
use busyhour_limits::repeated::{
    COUNTS, COUNTS_UNOPTIMIZED, Repeated, check_generated, counts_at, read_all, read_counts,
};
use busyhour_program::result::SampleResult;
use busyhour_slices::{Polled, SLICE_NS, SlicedPoll, need_coroutines};

const PAGE: &str = "http://h/dir/page";

const fn repeated(before: &'static str, part: &'static str, after: &'static str) -> Repeated<'static> {
    Repeated { before, part, after }
}

/// The number of bytes per read from a connection.
const PIECE_BYTES: usize = 16 * 1024;

fn page(content_type: &str, text: &str) -> SampleResult {
    let (body, content_type) = (text.as_bytes().to_vec(), content_type.to_owned());
    SampleResult { body, content_type, url: PAGE.to_owned(), ..SampleResult::default() }
}

fn resources(content_type: &str, text: &str) -> (Vec<String>, Option<Failure>) {
    read_resources(&page(content_type, text), "Mozilla/4.0 (compatible; MSIE 6.0)").expect("addresses")
}

/// Parts without resources. The tests of pages repeat each part fewer than a million times: a million repetitions of every
/// part would take 400 s in a build without optimization.
const WITHOUT_RESOURCES: &[Repeated<'static>] = &[
    repeated("", "<p>", ""),
    repeated("", "</p>", ""),
    repeated("", "<", ""),
    repeated("", "<<p", ">"),
    repeated("", "</", ""),
    repeated("", "&", ""),
    repeated("", "&amp;", ""),
    repeated("", "&#~;", ""),
    repeated("", "\0", ""),
    repeated("", "\r", ""),
    repeated("", "<!-- c -->", ""),
    repeated("", "<!-- ", ""),
    repeated("<!-- ", "<!-- ", "-->"),
    repeated("<!-- ", "--!", "-->"),
    repeated("", "<!doctype html>", ""),
    repeated("", "<![if IE 7]>", ""),
    repeated("", "<!--[if IE 7]>x<![endif]-->", ""),
    repeated("", "<!--[if IE 6]>", "-->"),
    repeated("<!--[if IE 6", "|(IE 7)", "]>x<![endif]-->"),
    repeated("<p", " a='b'", ">"),
    repeated("<p", " a=\"b\"", ">"),
    repeated("<p", " a=b", ">"),
    repeated("<p", " a~='b'", ">"),
    repeated("<p", " a~", ">"),
    repeated("<p ", "=", ">"),
    repeated("<p", "/", ">"),
    repeated("<p a='", "&amp;", "'>"),
    repeated("<p style=\"", "url('", "\">"),
    repeated("<p style=\"", "' ", "\">"),
    repeated("<p style=\"", "url( ", "\">"),
    repeated("<script>", "</scrip", "</script>"),
    repeated("<script>", "<!--<script>", "</script>"),
    repeated("<textarea>", "<b>", "</textarea>"),
    repeated("<plaintext>", "<b>", ""),
];

#[test]
fn parts_of_pages_without_resources_take_linear_time() {
    read_counts(WITHOUT_RESOURCES, &COUNTS_UNOPTIMIZED, |input, count, text| {
        let (urls, excess) = resources("text/html", text);
        assert_eq!((urls.len(), excess), (0, None), "{count} parts: {input:?}");
        assert_eq!(read_links(text, PAGE).len(), 0, "{count} parts: {input:?}");
    });
    assert_eq!(busyhour_limits::take_counts(), []);
}

/// An error for each NUL byte would take 88 MB.
#[test]
fn errors_of_a_page_take_no_memory() {
    let page = page("text/html", &"\0".repeat(1_000_000));
    let mut found = None;
    let counted = allocation_counter::measure(|| found = Some(read_resources(&page, "")));
    assert_eq!(found.expect("the page is read").expect("its addresses are valid"), (Vec::new(), None));
    assert!(counted.bytes_max < 10_000_000, "{counted:?}");
}

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// A clock that advances by a quarter of a slice each time it is read.
fn clock() -> u64 {
    NOW.set(NOW.get() + SLICE_NS / 4);
    NOW.get()
}

#[test]
fn reading_a_page_is_suspended() {
    need_coroutines();
    for (part, expected) in [("<p>", 0), ("<img src=a>", 1)] {
        let text = part.repeat(100_000);
        let mut reading = pin!(SlicedPoll::new(async { resources("text/html", &text).0.len() }));
        let mut suspensions = 0;
        let found = loop {
            match reading.as_mut().poll(&Context::from_waker(Waker::noop()), clock) {
                Polled::Ready(found) => break found,
                Polled::Suspended => suspensions += 1,
                Polled::Pending => std::thread::yield_now(),
            }
        };
        assert_eq!(found, expected, "{part}");
        // The reader gets over 70 pieces, and a slice ends after four.
        assert!(suspensions > 10, "{part}: {suspensions}");
    }
}

/// Parts, each with a function from the number of repetitions to the number of resources.
const WITH_RESOURCES: &[(Repeated<'static>, fn(usize) -> usize)] = &[
    (repeated("", "<img src='a~'>", ""), |count| count),
    (repeated("", "<img src=a>", ""), |_| 1),
    (repeated("", "<link rel=icon href=a~>", ""), |count| count),
    (repeated("", "<input type=image src=a~>", ""), |count| count),
    (repeated("", "<p style=\"x:url('~')\">", ""), |count| count),
    (repeated("", "<b background=a~>", ""), |count| count),
    (repeated("", "<applet codebase=a~ code=b>", ""), |count| count),
    (repeated("", "<base href='/b/'><img src=a>", ""), |_| 1),
    (repeated("<img src='", "&amp;", "'>"), |_| 1),
    (repeated("<img src='", "a/../", "'>"), |_| 1),
    (repeated("<img", " src=a~", ">"), |_| 1),
];

#[test]
fn resources_of_a_page_are_found_or_limited() {
    for (input, expected) in WITH_RESOURCES {
        read_counts(std::slice::from_ref(input), &COUNTS_UNOPTIMIZED, |input, count, text| {
            let (urls, excess) = resources("text/html", text);
            match excess {
                None => assert_eq!(urls.len(), expected(count), "{count} parts: {input:?}"),
                Some(excess) => {
                    assert_eq!(excess.limit, Some(Limit::Resources), "{count} parts: {input:?}");
                    assert!(count == COUNTS_UNOPTIMIZED[2], "{count} parts: {input:?}");
                    assert!(urls.iter().map(String::len).sum::<usize>() <= RESOURCE_ADDRESS_BYTES_MAX);
                }
            }
        });
    }
}

/// Each relative base is longer than the previous one, so that the bases of a page of 14 MB would take terabytes.
#[test]
fn relative_bases_are_limited() {
    let input = repeated("", "<base href=b/>", "<img src=a>");
    read_counts(&[input], &COUNTS_UNOPTIMIZED, |_, count, text| {
        let (urls, excess) = resources("text/html", text);
        let limit = excess.and_then(|excess| excess.limit);
        let expected = if count == COUNTS[0] { (1, None) } else { (0, Some(Limit::Resources)) };
        assert_eq!((urls.len(), limit), expected, "{count}");
        assert_eq!(read_links(text, PAGE).len(), 0);
    });
}

#[test]
fn imports_of_a_style_sheet_are_found_or_limited() {
    let none = |_: usize| 0;
    let all = |count: usize| count;
    let inputs: &[(Repeated<'static>, fn(usize) -> usize)] = &[
        (repeated("", "@import 'a~';", ""), all),
        (repeated("", "@import url(a~);", ""), all),
        (repeated("", "@import url(\"a~\") screen;", ""), all),
        (repeated("", "@import url(a", ""), none),
        (repeated("", "@import url('a", ""), none),
        (repeated("", "@import url('a);", ""), none),
        (repeated("", "@import \"a", ""), none),
        (repeated("", "@import ", ""), none),
        (repeated("", "p { background: url('a~') }", ""), none),
        (repeated("", "/* c */", ""), none),
        (repeated("", "/*", ""), none),
        (repeated("", "<!--", ""), none),
        (repeated("", "{", ""), none),
        (repeated("", "}", ""), none),
        (repeated("", ";", ""), none),
        (repeated("", "'", ""), none),
        (repeated("@import 'a", "\\41 ", "';"), |_| 1),
        (repeated("", "\\", ""), none),
    ];
    for (input, expected) in inputs {
        read_counts(std::slice::from_ref(input), &COUNTS_UNOPTIMIZED, |input, count, text| {
            let (urls, excess) = resources("text/css", text);
            let is_limited = excess.is_some_and(|excess| excess.limit == Some(Limit::Resources));
            if !is_limited && expected(count) > 0 {
                assert_eq!(urls.len(), expected(count), "{count} parts: {input:?}");
            }
            assert!(!is_limited || count == COUNTS_UNOPTIMIZED[2], "{count} parts: {input:?}");
        });
    }
}

#[test]
fn links_and_fields_are_found_or_limited() {
    let inputs: &[(Repeated<'static>, fn(usize) -> (usize, usize))] = &[
        (repeated("", "<a href=a~>", ""), |count| (count, 0)),
        (repeated("", "<a href='a?b=c'>x</a>", ""), |count| (count, count)),
        (repeated("<a href='a?", "b=c&", "'>"), |count| (1, count)),
        (repeated("<a href='", "../", "x'>"), |_| (1, 0)),
        (repeated("", "<a href='javascript:x'>", ""), |_| (0, 0)),
        (repeated("", "<a name=a>", ""), |_| (0, 0)),
        (repeated("", "<frame src=a>", ""), |count| (count, 0)),
        (repeated("", "<form action=a>", ""), |count| (count, 0)),
        (repeated("", "<form action=a></form>", ""), |count| (count, 0)),
        (repeated("<form action=a>", "<input name=a value=b>", "</form>"), |count| (1, count)),
        (repeated("<form action=a>", "<input>", "</form>"), |count| (1, count)),
        (repeated("<form action=a><select name=s>", "<option value=o>", "</select>"), |count| (1, count)),
        (repeated("<form action=a>", "<select name=s><option></select>", "</form>"), |count| (1, count)),
        (repeated("<form action=a>", "<select name=s>", "<option>"), |_| (1, 1)),
        (repeated("<form action=a>", "<textarea name=t>x</textarea>", ""), |count| (1, count)),
        (repeated("<form action=a><textarea name=t>", "x\n<b>", "</textarea>"), |_| (1, 1)),
        (repeated("<form action=a>", "</form>", "<input>"), |_| (1, 1)),
        (repeated("", "<base href=b/>", "<a href=a>"), |_| (1, 0)),
    ];
    for (input, expected) in inputs {
        read_counts(std::slice::from_ref(input), &COUNTS_UNOPTIMIZED, |input, count, text| {
            let links = read_links(text, PAGE);
            let found = (links.len(), links.iter().sum::<usize>());
            let limits = busyhour_limits::take_counts();
            if limits.is_empty() {
                assert_eq!(found, expected(count), "{count} parts: {input:?}");
            } else {
                assert_eq!(
                    (limits.as_slice(), count),
                    (&[(Limit::LinkBytes, 1)][..], COUNTS_UNOPTIMIZED[2]),
                    "{input:?}"
                );
            }
        });
    }
}

fn whole(text: &str) -> Result<SampleResult, Failure> {
    read_whole(text.as_bytes(), PIECE_BYTES, BodyLimit::default())
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn bodies_of_many_parts_take_linear_time() {
    let inputs: &[(Repeated<'static>, fn(usize) -> usize)] = &[
        (repeated(CHUNKED, "1\r\nx\r\n", "0\r\n\r\n"), |count| count),
        (repeated(CHUNKED, "1;a=b\r\nx\r\n", "0\r\n\r\n"), |count| count),
        (repeated("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK\r\n", ""), |_| 3),
        (repeated("HTTP/1.1 200 OK\r\n\r\n", "\0", ""), |count| count),
    ];
    for (index, (input, expected)) in inputs.iter().enumerate() {
        read_counts(std::slice::from_ref(input), counts_at(index), |input, count, text| {
            let length = whole(text).map(|result| result.body.len());
            assert_eq!(length, Ok(expected(count)), "{count} parts: {input:?}");
        });
    }
}

/// A chunk of one byte, up to its extension.
const EXTENDED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1";
const LAST_CHUNK: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";

/// Parts that a message may repeat only up to a limit.
#[test]
fn parts_of_messages_are_limited_by_name() {
    let inputs = [
        (Limit::Headers, repeated("HTTP/1.1 200 OK\r\n", "a:b\r\n", "\r\n")),
        (Limit::Headers, repeated("HTTP/1.1 200 OK\r\n", "Set-Cookie: a~=b\r\n", "\r\n")),
        (Limit::HeadBytes, repeated("HTTP/1.1 401 Who\r\n", "WWW-Authenticate: Basic\r\n", "\r\n")),
        (Limit::HeadBytes, repeated("HTTP/1.1 200 OK\r\n", "Content-Length: 0\r\n", "\r\n")),
        (Limit::HeadBytes, repeated("HTTP/1.1 200 OK\r\na: b\r\n", " c\r\n", "\r\n")),
        (Limit::HeadBytes, repeated("HTTP/1.1 200 OK\r\na: b\r\n", "\t\r\n", "\r\n")),
        (Limit::HeadBytes, repeated("HTTP/1.1 200 OK\r\n", "no colon\r\n", "Content-Length: 0\r\n\r\n")),
        (Limit::HeadBytes, repeated("HTTP/1.1 200 OK\r\nCache-Control: ", "no-cache, ", "\r\n\r\n")),
        (Limit::HeadBytes, repeated("HTTP/1.1 200 OK\r\nConnection: ", "x,", "\r\n\r\n")),
        (Limit::HeadBytes, repeated("", "\r\n", "HTTP/1.1 200 OK\r\n\r\n")),
        (Limit::InterimResponses, repeated("", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n")),
        (Limit::ChunkExtensionBytes, repeated(EXTENDED, ";a=b", "\r\nx\r\n0\r\n\r\n")),
        (Limit::TrailerBytes, repeated(LAST_CHUNK, "a: b\r\n", "\r\n")),
        (Limit::ContentEncodings, repeated("HTTP/1.1 200 OK\r\nContent-Encoding: ", "gzip,", "\r\n\r\n")),
    ];
    for (limit, input) in inputs {
        read_all(&[input], |input, count, text| match whole(text) {
            Ok(_) => assert!(count < COUNTS[2], "{input:?}"),
            // A million of some parts exceed the limit of the head.
            Err(failure) => assert!(
                failure.limit == Some(limit) || count == COUNTS[2] && failure.limit == Some(Limit::HeadBytes),
                "{count} parts: {input:?} {failure:?}"
            ),
        });
    }
}

/// If each piece were parsed again together with all previous pieces, the time would grow with the square of the length.
#[test]
fn heads_in_small_pieces_take_linear_time() {
    for before in ["\n", "\r\n"] {
        let blank = format!("{}HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", before.repeat(400_000));
        let read = read_whole(blank.as_bytes(), 1, BodyLimit::default()).expect("a response");
        assert_eq!((read.sizes.header_bytes, read.body.as_slice()), (blank.len() as u64 - 1, &b"x"[..]));
    }
    let headers = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(60_000));
    assert!(read_whole(headers.as_bytes(), 1, BodyLimit::default()).is_ok());
}

/// If the whole value were trimmed after each folded line, the time for blank lines would grow with the square of their number.
#[test]
fn blank_folded_lines_take_linear_time() {
    let many = "x: y\r\n".repeat(100);
    for line in [" \r\n", "\t\r\nno colon\r\n", "\t\r\n"] {
        let head = format!("HTTP/1.1 200 OK\r\n{many}Content-Type:\r\n{}text/plain\r\n", line.repeat(69_000));
        let folded =
            format!("{} z\r\nLast: l\r\nContent-Length: 0\r\n\r\n", head.trim_end_matches("text/plain\r\n"));
        let result = whole(&folded).expect("a response");
        let expected = if line.contains("colon") { "" } else { "z" };
        assert_eq!(result.content_type, expected, "{line:?}");
    }
}

#[test]
fn members_of_a_compressed_body_take_linear_time() {
    // A gzip member and a stored block of raw deflate, both without content.
    let member = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let stored = [0, 0, 0, 0xFF, 0xFF];
    for count in COUNTS {
        for (encoding, part) in [("gzip", &member[..]), ("deflate", &stored[..])] {
            let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\n\r\n").into_bytes();
            bytes.extend(part.iter().cycle().take(part.len() * count));
            if encoding == "deflate" {
                bytes.extend([3, 0]);
            }
            let read = read_whole(&bytes, PIECE_BYTES, BodyLimit::default());
            assert_eq!(read.map(|result| result.body.len()), Ok(0), "{count} of {encoding}");
        }
    }
}

#[test]
fn challenges_of_many_parameters_take_linear_time() {
    let inputs = [
        repeated("Digest ", "a=b, ", "nonce=n"),
        repeated("Digest ", "a~=\"b\\\"\", ", "nonce=n"),
        repeated("Digest ", ",", "nonce=n"),
        repeated("Digest nonce=n,", "a,", "\u{2003}"),
        repeated("Digest nonce=n,a=", "\"", ""),
        repeated("Digest nonce=n,", "\u{2003}", ""),
    ];
    read_all(&inputs, |input, count, text| {
        assert_eq!(read_challenge(text, "nonce").as_deref(), Some("n"), "{count} parts: {input:?}");
    });
    let spaces = format!("Digest nonce=n,{}{}", "a,".repeat(300_000), "\u{2003}".repeat(300_000));
    assert_eq!(read_challenge(&spaces, "nonce").as_deref(), Some("n"));
}

/// As many cookies as the longest head can contain.
#[test]
fn cookies_of_one_response_take_linear_time() {
    let mut jars = parts::Jars::default();
    for number in 0..65_000 {
        jars.standard.receive(&format!("c{number}=x"));
    }
    assert_eq!(jars.standard.count(), COOKIES_MAX);
    let many = repeated("", "c~=x,", "").text(100_000);
    assert!(many.len() < 1 << 20 && jars.rfc2109.receive(&many));
    assert_eq!(jars.rfc2109.count(), COOKIES_MAX);
    // All cookies are invalid. If each of them had a message with the whole header, the messages would take gigabytes.
    let invalid = repeated("", "c d=x,", "").text(130_000);
    assert!(!jars.rfc2109.receive(&invalid));
    let attributes = repeated("a=b", ";c=d;path=/;max-age=9", "");
    read_counts(&[attributes], &COUNTS_UNOPTIMIZED, |_, _, text| {
        let mut jars = parts::Jars::default();
        assert!(jars.standard.receive(text) && jars.rfc2109.receive(text));
    });
}

/// A short run of the checks of the fuzz target `parts`, with a fixed seed.
#[test]
fn generated_parts_are_read_or_limited() {
    check_generated(19_910_806, 300, |bytes| generated_parts::check(bytes, 2_000));
}
