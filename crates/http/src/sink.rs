//! Stores the parts of a response in the result as they arrive.

use busyhour_program::result::{Retention, SampleResult};
use busyhour_sample::DataType;

use crate::cache::CacheHeaders;
use crate::decode::Decoding;
use crate::failure::Failure;
use crate::limits::BodyLimit;
use crate::response::Sink;
use crate::retained_body::{BodyBudget, PAGE_START_BYTES, RetainedBody};
use crate::settings::HttpSampler;

/// The parts of a response head that the sampler needs.
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) http_1_0: bool,
    pub(crate) location: Option<String>,
    /// The decoder, if the body is compressed.
    pub(crate) decoding: Option<Decoding>,
    /// The challenges of the server.
    pub(crate) challenges: Vec<String>,
    /// Whether a proxy requests Basic authentication.
    pub(crate) proxy_asks: bool,
    pub(crate) wants_cookies: bool,
    pub(crate) wants_cache: bool,
    pub(crate) cookies: Vec<String>,
    pub(crate) cache: CacheHeaders,
    /// The MD5 sum of the body, if only that is retained.
    pub(crate) md5: Option<Box<md5::Md5>>,
}

impl Head {
    pub(crate) fn new(sampler: &HttpSampler) -> Self {
        Self::with_needs(sampler.cookies.is_some(), sampler.cache.is_some())
    }

    /// Creates an empty head; the flags select whether cookies and the headers for a cache are stored.
    pub(crate) fn with_needs(wants_cookies: bool, wants_cache: bool) -> Self {
        Self {
            status: 0,
            http_1_0: false,
            location: None,
            decoding: None,
            challenges: Vec::new(),
            proxy_asks: false,
            wants_cookies,
            wants_cache,
            cookies: Vec::new(),
            cache: CacheHeaders::default(),
            md5: None,
        }
    }
}

/// Writes a response into a result.
pub(crate) struct ResponseSink<'a> {
    pub(crate) head: &'a mut Head,
    pub(crate) result: &'a mut SampleResult,
    pub(crate) keep: Retention,
    /// The limit on the retained part of the body.
    pub(crate) limit: BodyLimit,
    /// The remaining budget of the sample for bodies, if it has several responses.
    pub(crate) budget: Option<&'a BodyBudget>,
}

impl Sink for ResponseSink<'_> {
    fn head(&mut self, response: &httparse::Response<'_, '_>) -> Result<(), Failure> {
        use std::fmt::Write as _;
        let (head, result) = (&mut *self.head, &mut *self.result);
        head.status = response.code.unwrap_or(0);
        head.http_1_0 = response.version == Some(0);
        result.outcome.code.clear();
        for place in [100, 10, 1] {
            result.outcome.code.push(char::from(b'0' + (head.status / place % 10) as u8));
        }
        result.outcome.message.clear();
        result.outcome.message.push_str(response.reason.unwrap_or_default());
        if self.keep.response_headers {
            let version = if head.http_1_0 { "HTTP/1.0" } else { "HTTP/1.1" };
            let _ = writeln!(result.response_headers, "{version} {} {}", head.status, result.outcome.message);
        }
        for header in &*response.headers {
            if self.keep.response_headers {
                let value = latin(header.value);
                let _ = writeln!(result.response_headers, "{}: {value}", header.name);
            }
            let name = header.name;
            let text = || Some(latin(header.value).into_owned());
            match name.len() {
                12 if name.eq_ignore_ascii_case("content-type") => {
                    result.content_type.clear();
                    result.content_type.push_str(&latin(header.value));
                }
                8 if head.status / 100 == 3 && name.eq_ignore_ascii_case("location") => {
                    head.location = text()
                }
                16 if head.decoding.is_none() && name.eq_ignore_ascii_case("content-encoding") => {
                    head.decoding = Decoding::named(header.value)?;
                }
                16 if head.status == 401 && name.eq_ignore_ascii_case("www-authenticate") => {
                    head.challenges.extend(text());
                }
                18 if head.status == 407 && name.eq_ignore_ascii_case("proxy-authenticate") => {
                    let scheme = header.value.trim_ascii().split(|byte| *byte == b' ').next();
                    head.proxy_asks |= scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic"));
                }
                10 if head.wants_cookies && name.eq_ignore_ascii_case("set-cookie") => {
                    head.cookies.extend(text());
                }
                13 if head.wants_cache && name.eq_ignore_ascii_case("last-modified") => {
                    head.cache.last_modified = text()
                }
                7 if head.wants_cache && name.eq_ignore_ascii_case("expires") => head.cache.expires = text(),
                4 if head.wants_cache && name.eq_ignore_ascii_case("etag") => head.cache.etag = text(),
                13 if head.wants_cache && name.eq_ignore_ascii_case("cache-control") => {
                    head.cache.cache_control = text()
                }
                4 if head.wants_cache && name.eq_ignore_ascii_case("date") => head.cache.date = text(),
                4 if head.wants_cache && name.eq_ignore_ascii_case("vary") => head.cache.vary = text(),
                _ => {}
            }
        }
        set_type(result);
        Ok(())
    }

    fn body(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let Head { decoding, md5, .. } = &mut *self.head;
        let SampleResult { body, body_memory: memory, .. } = &mut *self.result;
        let (limit, budget) = (self.limit, self.budget);
        let mut retained =
            self.keep.body.then_some(RetainedBody { body, memory, limit, budget, md5: md5.as_deref_mut() });
        match (decoding, &mut retained) {
            (Some(decoding), retained) => decoding.feed(piece, retained.as_mut()),
            (None, Some(retained)) => retained.push(piece),
            (None, None) => Ok(()),
        }
    }

    fn ignores_body(&self) -> bool {
        !self.keep.body && self.head.decoding.is_none()
    }
}

/// Clears the result for the response to a repeated request.
pub(crate) fn reset_response(result: &mut SampleResult) {
    for text in [
        &mut result.outcome.code,
        &mut result.outcome.message,
        &mut result.response_headers,
        &mut result.content_type,
    ] {
        text.clear();
    }
    result.body.clear();
}

/// Decodes a header: as UTF-8 if it is valid, otherwise as ISO-8859-1.
pub(crate) fn latin(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(),
    }
}

/// Sets data type and encoding from the content type (`setEncodingAndType`).
fn set_type(result: &mut SampleResult) {
    const BINARY: [&str; 3] = ["image/", "audio/", "video/"];
    const TEXT: [&str; 4] = ["audio/x-mpegurl", "audio/mpegurl", "video/f4m", "image/svg+xml"];
    let kind = result.content_type.as_str();
    if kind.is_empty() {
        return;
    }
    if let Some(at) = find_ignoring_case(kind, "charset=") {
        let charset = &kind[at + "charset=".len()..];
        let charset = charset.split(';').next().unwrap_or_default();
        result.content.encoding.clear();
        result.content.encoding.push_str(charset.trim_matches(['"', '\'']));
    }
    let is_text = TEXT.iter().any(|text| kind.starts_with(text))
        || !BINARY.iter().any(|binary| kind.starts_with(binary));
    result.content.data_type = if is_text { DataType::Text } else { DataType::Binary };
}

/// Sets the encoding that the page specifies in its first [`PAGE_START_BYTES`] bytes, if the headers specify none.
pub(crate) fn detect_encoding(result: &mut SampleResult) {
    const META: &str = "<meta http-equiv=\"content-type\" content=\"";
    if !result.content.encoding.is_empty() || !result.content_type.starts_with("text/html") {
        return;
    }
    let begin = &result.body[..result.body.len().min(PAGE_START_BYTES)];
    let Some(at) = begin.windows(META.len()).position(|text| text.eq_ignore_ascii_case(META.as_bytes()))
    else {
        return;
    };
    let content = &begin[at + META.len()..];
    let Some(end) = content.iter().position(|byte| *byte == b'"') else { return };
    let content = latin(&content[..end]).into_owned();
    let header = std::mem::replace(&mut result.content_type, content);
    set_type(result);
    result.content_type = header;
}

fn find_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    text.as_bytes().windows(wanted.len()).position(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_specify_its_encoding() {
        let found = |content_type: &str, body: &str| {
            let mut result = SampleResult { content_type: content_type.into(), ..SampleResult::default() };
            result.body.extend_from_slice(body.as_bytes());
            set_type(&mut result);
            detect_encoding(&mut result);
            assert_eq!(result.content_type, content_type);
            result.content.encoding
        };
        let meta = "<html><META http-equiv=\"Content-Type\" content=\"text/html; charset=ISO-8859-15\">";
        assert_eq!(found("text/html", meta), "ISO-8859-15");
        assert_eq!(found("text/html;charset=utf-8", meta), "utf-8");
        assert_eq!(found("text/plain", meta), "");
        assert_eq!(found("text/html", &format!("{}{meta}", " ".repeat(2000))), "");
        assert_eq!(
            found("text/html", "<meta http-equiv=\"content-type\" content=\"text/html; charset=x"),
            ""
        );
    }
}
