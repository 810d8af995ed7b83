//! The responses of the stand-in server by path. They depend only on the request, except for that to `/seq`, which contains a
//! counter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::application;
use crate::compressed;
use crate::digest;
use crate::pages;
use crate::proxy;
use crate::request::ReceivedRequest;
use crate::response::{Response, WireResponse, percent_decode};

/// A document for JSON processors: it contains objects, arrays, several kinds of numbers, null, and nested values.
const JSON: &str = r#"{"store":{"book":[{"category":"reference","author":"Nigel Rees","title":"Sayings of the Century","price":8.95},{"category":"fiction","author":"Evelyn Waugh","title":"Sword of Honour","price":12.99},{"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99}],"bicycle":{"color":"red","price":19.95}},"id":42,"big":12345678901234567890,"ratio":1.50,"name":"Zoë","none":null,"yes":true,"no":false,"empty":[],"void":{},"tags":["a","b","c"],"quote":"say \"hi\" \\ /","exp":1e3}"#;

/// A page for tests of regular expressions, boundaries and embedded resources.
const PAGE: &str = "<html><head><title>A page &amp; more</title><link rel=\"stylesheet\" href=\"/style.css\"></head>\n<body>\n<p class=\"row\">alpha=1</p>\n<p class=\"row\">beta=22</p>\n<p class=\"row\">gamma=333</p>\n<form action=\"/login\"><input type=\"hidden\" name=\"token\" value=\"t0k-9\"></form>\n<img src=\"/one.png\"><img src=\"two.png\">\n<script src=\"/code.js\"></script>\n<p>price: $5.00 (net) [x]</p>\n</body></html>\n";

/// A page that declares its encoding in a `meta` element.
const META: &[u8] = b"<html><head><meta http-equiv=\"Content-Type\" content=\"text/html; charset=ISO-8859-1\"></head>caf\xe9</html>";

/// A small XML document.
const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<list><item id=\"1\">one</item><item id=\"2\">two</item></list>\n";

/// The state between requests: the counter of `/seq`.
#[derive(Default)]
pub(crate) struct State {
    /// Whether the server simulates an application that responds to every path, instead of the paths of [`State::respond`].
    is_application: bool,
    sequence: AtomicU64,
}

impl State {
    /// The state of a server that simulates an application.
    pub(crate) fn application() -> Self {
        Self { is_application: true, ..Self::default() }
    }

    /// Returns the response to a request:
    ///
    /// | path | response |
    /// |---|---|
    /// | `/json`, `/page`, `/xml`, `/latin1`, `/utf8`, `/meta`, `/image` | fixed documents |
    /// | `/bytes/N` | N bytes of `x` |
    /// | `/seq` | `seq=1`, `seq=2`, …, counted since the start of the server |
    /// | `/body` | the request's body |
    /// | `/certificate` | `certificate=NAME;` with the name in the client's certificate, or with `none` |
    /// | `/status/CODE` | a response with this status |
    /// | `/redirect/CODE/N` | N redirects with a relative `Location`, the last one to `/landed` |
    /// | `/redirect-absolute/CODE`, `/redirect-parent/CODE`, `/redirect-none/CODE`, `/redirect-loop` | a redirect of the kind in the path |
    /// | `/cookie/NAME/VALUE[/ATTRIBUTES]` | sets a cookie with percent-encoded attributes |
    /// | `/set-cookie/NAME/VALUE` | sets a cookie with `Path=/` |
    /// | `/auth` | 401 without Basic authorization for `user:secret` |
    /// | `/digest/KIND` | 401 without Digest authorization for `user:secret`; see the `digest` module |
    /// | `/brotli/KIND` | `hello`, compressed with Brotli: complete or invalid |
    /// | `/gzip`, `/gzip-chunked`, `/deflate` | a compressed text |
    /// | `/broken/KIND`, `/broken/KIND/chunked` | a body that cannot be decompressed; see the `compressed` module |
    /// | `/chunked`, `/close`, `/until-close`, `/drop`, `/truncated`, `/garbage` | a body with valid or invalid framing |
    /// | `/slow/MS` | a response after this number of milliseconds |
    /// | `/cache/KIND` | cache validators and lifetimes; 304 if the request contains the same validator |
    /// | `/header/NAME` | the value of this request header |
    /// | `/say/KIND?TEXT` | the decoded text as this kind of content; see the `pages` module |
    /// | `/frames/N` | a page with an image and, if N is not 0, a frame of `/frames/N-1` |
    /// | `/ws…` with an upgrade | a WebSocket; see the `websocket` module |
    /// | any other path | status 200 and `METHOD target` as text |
    ///
    /// As a proxy, the server can also require credentials; see the `proxy` module. `client` is the client's certificate in
    /// DER.
    pub(crate) fn respond(&self, request: &ReceivedRequest, client: Option<&[u8]>) -> WireResponse {
        let target = request.target();
        if let Some(response) = proxy::respond(request) {
            return response;
        }
        // A target in absolute form, which clients send to proxies, starts with the origin.
        let target = target
            .strip_prefix("http://")
            .map_or(target.as_str(), |rest| rest.find('/').map_or("/", |slash| &rest[slash..]));
        if self.is_application {
            return application::respond(request, target);
        }
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        match segments.as_slice() {
            ["json"] => Response::new(200, "application/json", JSON).sized(request),
            ["page"] => Response::new(200, "text/html; charset=utf-8", PAGE).sized(request),
            ["xml"] => Response::new(200, "application/xml", XML).sized(request),
            ["latin1"] => Response::new(200, "text/plain; charset=ISO-8859-1", *b"caf\xe9=1;").sized(request),
            ["meta"] => Response::new(200, "text/html", META).sized(request),
            ["image"] => Response::new(200, "image/png", *b"\x89PNG\r\n").sized(request),
            ["utf8"] => Response::text("café=1;").sized(request),
            ["bytes", n] => {
                Response::new(200, "application/octet-stream", vec![b'x'; n.parse().unwrap_or(0)])
                    .sized(request)
            }
            ["seq"] => {
                let n = self.sequence.fetch_add(1, Ordering::SeqCst) + 1;
                Response::text(format!("seq={n};")).sized(request)
            }
            ["body"] => Response::text(request.body.clone()).sized(request),
            ["certificate"] => {
                let name = client.and_then(common_name).unwrap_or("none");
                Response::text(format!("certificate={name};")).sized(request)
            }
            ["status", code] => {
                let code = code.parse().unwrap_or(500);
                Response::new(code, "text/plain; charset=utf-8", format!("status {code}")).sized(request)
            }
            ["header", name] => Response::text(request.header(name).unwrap_or_default()).sized(request),
            ["slow", ms] => {
                let mut response = Response::text("slow").sized(request);
                response.delay = Some(Duration::from_millis(ms.parse().unwrap_or(0)));
                response
            }
            ["digest", kind] => digest::respond(kind, request).sized(request),
            ["brotli", kind] => {
                const HELLO: &[u8] = b"\x0b\x02\x80hello\x03";
                let body = match *kind {
                    "good" => HELLO,
                    "cut" => &HELLO[..6],
                    _ => b"\xff\xff\xff\xff",
                };
                Response::text(body).with("Content-Encoding", "br").sized(request)
            }
            ["auth"] => authorize(request).sized(request),
            ["set-cookie", name, value] => set_cookies(&[name, value, "; Path=/"]).sized(request),
            ["cookie", rest @ ..] => set_cookies(rest).sized(request),
            [first, rest @ ..] if first.starts_with("redirect") => {
                redirect(first, rest, request).sized(request)
            }
            ["cache", kind] => cached(kind, request).sized(request),
            ["say" | "frames", kind] => pages::respond(segments[0], kind, target).sized(request),
            _ => framing_response(&segments, target, request),
        }
    }
}

fn framing_response(segments: &[&str], target: &str, request: &ReceivedRequest) -> WireResponse {
    let plain = compressed::plain();
    match segments {
        ["gzip" | "gzip-chunked" | "deflate" | "broken", ..] => match compressed::respond(segments) {
            Some(response) if segments[0] == "gzip-chunked" || segments.get(2) == Some(&"chunked") => {
                response.chunked(request)
            }
            Some(response) => response.sized(request),
            None => Response::new(404, "text/plain; charset=utf-8", "no such body").sized(request),
        },
        ["chunked"] => Response::text(plain).chunked(request),
        ["close"] => {
            let mut response = Response::text("closing").with("Connection", "close").sized(request);
            response.close = true;
            response
        }
        ["until-close"] => Response::text("until the end").until_close(),
        ["drop"] => WireResponse { bytes: Vec::new(), close: true, delay: None },
        ["truncated"] => Response::text("short").with("Content-Length", "50").until_close(),
        ["garbage"] => WireResponse { bytes: b"this is not HTTP\r\n\r\n".to_vec(), close: true, delay: None },
        _ => Response::text(format!("{} {target}", request.method())).sized(request),
    }
}

fn authorize(request: &ReceivedRequest) -> Response {
    // The value is `user:secret` in base64.
    if request.header("authorization").as_deref() == Some("Basic dXNlcjpzZWNyZXQ=") {
        Response::text("welcome")
    } else {
        Response::new(401, "text/plain; charset=utf-8", "who are you?")
            .with("WWW-Authenticate", "Basic realm=\"vault\"")
    }
}

fn set_cookies(segments: &[&str]) -> Response {
    let mut response = Response::text("cookies");
    for cookie in segments.chunks(3) {
        let (name, value) = (cookie.first().unwrap_or(&""), cookie.get(1).unwrap_or(&""));
        let attributes = percent_decode(cookie.get(2).unwrap_or(&""));
        response = response.with("Set-Cookie", format!("{name}={value}{attributes}"));
    }
    response
}

fn redirect(kind: &str, segments: &[&str], request: &ReceivedRequest) -> Response {
    let code: u16 = segments.first().and_then(|code| code.parse().ok()).unwrap_or(302);
    let host = request.header("host").unwrap_or_default();
    let location = match kind {
        "redirect-absolute" => Some(format!("http://{host}/landed?by=absolute")),
        "redirect-parent" => Some("../landed?by=parent".to_owned()),
        "redirect-space" => Some("/landed?by=a space|bar".to_owned()),
        "redirect-cookie" => Some("/landed?by=cookie".to_owned()),
        "redirect-to" => (!segments.is_empty()).then(|| format!("/{}", segments.join("/"))),
        "redirect-loop" => Some("/redirect-loop".to_owned()),
        "redirect-none" => None,
        _ => match segments.get(1).and_then(|count| count.parse::<u32>().ok()) {
            Some(n) if n > 1 => Some(format!("/redirect/{code}/{}", n - 1)),
            _ => Some("/landed".to_owned()),
        },
    };
    let mut response = Response::new(code, "text/plain; charset=utf-8", "moved");
    if kind == "redirect-cookie" {
        response = response.with("Set-Cookie", "hop=1; Path=/");
    }
    match location {
        Some(location) => response.with("Location", location),
        None => response,
    }
}

fn cached(kind: &str, request: &ReceivedRequest) -> Response {
    const TAG: &str = "\"v1\"";
    const DATE: &str = "Thu, 01 Jan 2015 00:00:00 GMT";
    let fresh = request.header("if-none-match").as_deref() == Some(TAG)
        || request.header("if-modified-since").as_deref() == Some(DATE);
    let response = if fresh { Response::empty(304) } else { Response::text(format!("cache {kind}")) };
    match kind {
        "etag" => response.with("ETag", TAG),
        "modified" => response.with("Last-Modified", DATE),
        "both" => response.with("Last-Modified", DATE).with("ETag", TAG),
        "max-age" => response.with("Cache-Control", "max-age=3600"),
        "private" => response.with("Cache-Control", "private, max-age=3600").with("ETag", TAG),
        "no-store" => response.with("Cache-Control", "no-store").with("ETag", TAG),
        "no-cache" => response.with("Cache-Control", "no-cache").with("ETag", TAG),
        "expires" => response.with("Expires", "Fri, 01 Jan 2038 00:00:00 GMT"),
        "expired" => response.with("Expires", DATE).with("ETag", TAG),
        "vary" => response.with("Cache-Control", "max-age=3600").with("Vary", "X-Kind"),
        _ => response,
    }
}

/// The last common name in a certificate. It is that of the owner, because the name of the issuer precedes it.
fn common_name(certificate: &[u8]) -> Option<&str> {
    /// The object identifier of common names, 2.5.4.3, in DER.
    const COMMON_NAME: &[u8] = &[0x06, 0x03, 0x55, 0x04, 0x03];
    let at = certificate.windows(COMMON_NAME.len()).rposition(|bytes| bytes == COMMON_NAME)?;
    let [_tag, length, text @ ..] = &certificate[at + COMMON_NAME.len()..] else { return None };
    std::str::from_utf8(text.get(..usize::from(*length))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response_to(path: &str, header: &str) -> String {
        let wire = format!("GET {path} HTTP/1.1\r\n{header}\r\n\r\n");
        let request = ReceivedRequest::read(&mut wire.as_bytes()).unwrap().unwrap();
        String::from_utf8_lossy(&State::default().respond(&request, None).bytes).into_owned()
    }

    #[test]
    fn unknown_paths_echo_the_target() {
        assert_eq!(
            response_to("/x?a=b", "Host: h"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 10\r\n\r\nGET /x?a=b"
        );
    }

    #[test]
    fn redirects_count_down() {
        assert!(response_to("/redirect/301/2", "Host: h").contains("301 Moved Permanently"));
        assert!(response_to("/redirect/301/2", "Host: h").contains("Location: /redirect/301/1\r\n"));
        assert!(response_to("/redirect/301/1", "Host: h").contains("Location: /landed\r\n"));
    }

    #[test]
    fn matching_validators_are_answered_without_a_body() {
        let text = response_to("/cache/etag", "If-None-Match: \"v1\"");
        assert_eq!(text, "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n");
    }

    #[test]
    fn cookie_attributes_come_from_the_path() {
        let text = response_to("/cookie/a/1/%3B%20Path%3D%2Fdeep/b/2", "Host: h");
        assert!(text.contains("Set-Cookie: a=1; Path=/deep\r\nSet-Cookie: b=2\r\n"), "{text}");
    }

    #[test]
    fn the_json_document_is_json() {
        serde_json::from_str::<serde_json::Value>(JSON).unwrap();
    }
}
