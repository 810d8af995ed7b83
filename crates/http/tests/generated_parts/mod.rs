//! Responses and pages in which generated parts are repeated. Shared by the ordinary tests and the fuzz target `parts`.

use busyhour_http::limits::{BodyLimit, LINK_BYTES_MAX, RESOURCE_ADDRESS_BYTES_MAX};
use busyhour_http::{read_challenge, read_links, read_resources, read_whole};
use busyhour_limits::repeated::GeneratedInput;
use busyhour_program::result::SampleResult;

#[rustfmt::skip]
const PAGE: &[&str] = &[
    "<p>", "</p>", "<", ">", "&", "&amp;", "\0", "\"", "'", "=", "/", " ", "\n", "é", "~", "a~", " a='b'", " href=a~", " src='a~'",
    "<img src=a~>", "<a href='a?b=c&d=~'>", "<base href=b/>", "<base href='//o/'>", "<link rel=icon href=a>", "<form action=a>", "</form>",
    "<input name=a value=b>", "<select name=s>", "<option value=~>", "<textarea name=t>", "<!--", "-->", "<!--[if IE 6]>",
    "<![endif]-->", "<![if !IE 6]>", "<script>", "</script>", "<style>", " style=\"x:url('a~')\"", "<applet codebase=a code=b>",
    "../", "javascript:", "@import 'a~';", "@import url(a~);", "url(", "/*", "*/", "{", "}", ";", "\\41 ", "<frame src=a>",
];

#[rustfmt::skip]
const HEAD: &[&str] = &[
    "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 401 Who\r\n", "\r\n", "\n", " ", "\t", ":", ",", ";", "=", "\"", "~", "\0", "\u{e9}",
    "a: b\r\n", " folded\r\n", "no colon\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Set-Cookie: a~=b; Path=/\r\n",
    "Content-Encoding: gzip\r\n", "Content-Encoding: gzip, deflate, br\r\n", "WWW-Authenticate: Digest realm=r, nonce=n\r\n", "Cache-Control: ",
    "max-age=9, ", "Connection: close\r\n", "Vary: a~\r\n", "1\r\nx\r\n", "1;a=b\r\nx\r\n", "0\r\n", "hello",
];

const CHALLENGE: &[&str] =
    &["Digest ", "Basic ", "nonce=", "n", "realm=\"r\"", ",", "=", "\"", "\\", " ", "\u{2003}", "a~", "é"];

/// The minimum number of bytes that are counted for a link or a field.
const LINK_ITEM_BYTES: usize = 128;

/// The maximum number of bytes of a generated input.
const BYTES_MAX: usize = 4 << 20;

/// Parses the input that `bytes` determine, with at most `count_max` parts.
pub fn check(bytes: &[u8], count_max: usize) {
    let (kind, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let generated = |fragments| GeneratedInput::new(rest, fragments, count_max, BYTES_MAX);
    match kind % 5 {
        0 | 1 => check_page(&generated(PAGE).0.text(), kind % 2 == 0),
        2 => {
            let _ = read_challenge(&generated(CHALLENGE).0.text(), "nonce");
        }
        _ => {
            let (input, rest) = generated(HEAD);
            let piece = 1 + usize::from(rest.first().copied().unwrap_or(0)) * 50;
            let text = format!("HTTP/1.1 200 OK\r\n{}", input.text());
            match read_whole(text.as_bytes(), piece, BodyLimit::default()) {
                Ok(result) => {
                    assert!(result.sizes.header_bytes + result.sizes.body_bytes <= text.len() as u64)
                }
                Err(failure) => assert!(!failure.class.is_empty() && failure.message.len() < 1_000),
            }
        }
    }
    let _ = busyhour_limits::take_counts();
}

fn check_page(text: &str, is_html: bool) {
    let page = SampleResult {
        body: text.as_bytes().to_vec(),
        content_type: if is_html { "text/html" } else { "text/css" }.to_owned(),
        url: "http://h/dir/page".to_owned(),
        ..SampleResult::default()
    };
    if let Ok((urls, _)) = read_resources(&page, "Mozilla/4.0 (compatible; MSIE 6.0)") {
        assert!(urls.iter().map(String::len).sum::<usize>() <= RESOURCE_ADDRESS_BYTES_MAX);
    }
    let links = read_links(text, &page.url);
    assert!(links.len() + links.iter().sum::<usize>() <= LINK_BYTES_MAX / LINK_ITEM_BYTES);
}
