//! Responses for third-party plans, which expect a real application: pages with forms and resources, JSON with common field
//! names, a session cookie, and a redirect after a login. A response depends only on the request.

use std::fmt::Write as _;

use crate::request::ReceivedRequest;
use crate::response::{Response, WireResponse};

/// Names of hidden form fields from which plans typically extract values.
const HIDDEN: [&str; 8] = [
    "csrf_token",
    "_csrf",
    "token",
    "__VIEWSTATE",
    "sesskey",
    "logintoken",
    "form_build_id",
    "authenticity_token",
];

/// The response of an application that responds to every path.
pub(crate) fn respond(request: &ReceivedRequest, target: &str) -> WireResponse {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let lower = path.to_ascii_lowercase();
    let mark = mark(target);
    let mut response = match lower.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "css" => Response::new(200, "text/css", "body { background: url(/back.png) }\n"),
        "js" => Response::new(200, "application/javascript", format!("var id = {mark};\n")),
        "png" | "gif" | "jpg" | "jpeg" | "ico" | "svg" | "woff" | "woff2" => {
            Response::new(200, "image/png", b"\x89PNG\r\n\x1a\n".to_vec())
        }
        _ if prefers(request, "xml") || lower.ends_with(".asmx") => {
            Response::new(200, "text/xml; charset=utf-8", xml(mark))
        }
        _ if prefers(request, "json") || lower.contains("api") || lower.ends_with("json") => {
            Response::new(200, "application/json;charset=UTF-8", json(mark, path))
        }
        _ if request.method() == "POST" && (lower.contains("login") || lower.contains("signin")) => {
            Response::new(302, "text/html; charset=UTF-8", "").with("Location", format!("/home?id={mark}"))
        }
        _ => Response::new(200, "text/html; charset=UTF-8", page(mark, path)),
    };
    if !request.header("cookie").is_some_and(|cookie| cookie.contains("SESSIONID=")) {
        response = response.with("Set-Cookie", format!("SESSIONID=s{mark}; Path=/; HttpOnly"));
    }
    response.sized(request)
}

/// Whether the client prefers this media type: it sends such content, or the type comes first in its `Accept` header.
fn prefers(request: &ReceivedRequest, kind: &str) -> bool {
    let header = |name| request.header(name).unwrap_or_default().to_ascii_lowercase();
    let first = header("accept").split(',').next().unwrap_or_default().to_owned();
    header("content-type").contains(kind) || (first.contains(kind) && !first.contains("html"))
}

/// A number that depends on the target of the request, so that values extracted by a plan vary.
fn mark(target: &str) -> u32 {
    // FNV-1a of 32 bits.
    target.bytes().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
        % 1_000_000
}

fn page(mark: u32, path: &str) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html><head><title>Welcome &amp; {path}</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n<script src=\"/code.js\"></script></head>\n<body>\n<form action=\"/login\" method=\"post\">\n"
    );
    for name in HIDDEN {
        writeln!(page, "<input type=\"hidden\" name=\"{name}\" value=\"{name}-{mark}\" />")
            .expect("a string");
    }
    for id in 1..=3 {
        writeln!(page, "<a href=\"/item?id={id}&amp;of={mark}\">Item {id}</a> <img src=\"/image{id}.png\">")
            .expect("a string");
    }
    writeln!(page, "</form>\n<p id=\"result\">success {mark}</p>\n</body></html>").expect("a string");
    page
}

fn json(mark: u32, path: &str) -> String {
    format!(
        "{{\"id\":{mark},\"code\":0,\"status\":\"ok\",\"success\":true,\"message\":\"success\",\"path\":\"{path}\",\
         \"token\":\"t-{mark}\",\"access_token\":\"a-{mark}\",\"data\":{{\"id\":{mark},\"token\":\"t-{mark}\",\
         \"list\":[{{\"id\":1,\"name\":\"one\"}},{{\"id\":2,\"name\":\"two\"}}]}},\"items\":[{{\"id\":1}},{{\"id\":2}}]}}"
    )
}

fn xml(mark: u32) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<answer><id>{mark}</id><status>ok</status></answer>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response_to(wire: &str) -> String {
        let request = ReceivedRequest::read(&mut wire.as_bytes()).unwrap().unwrap();
        let target = request.target();
        String::from_utf8(respond(&request, &target).bytes).unwrap()
    }

    #[test]
    fn the_content_matches_the_requested_type() {
        let page = response_to("GET /shop?a=1 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(page.contains("text/html") && page.contains("Set-Cookie: SESSIONID=s"), "{page}");
        let json = response_to(
            "GET /shop HTTP/1.1\r\nAccept: application/json, text/html\r\nCookie: SESSIONID=s\r\n\r\n",
        );
        let (head, body) = json.split_once("\r\n\r\n").unwrap();
        assert!(!head.contains("Set-Cookie"), "{head}");
        serde_json::from_str::<serde_json::Value>(body).unwrap();
        assert!(
            response_to("POST /Login HTTP/1.1\r\nContent-Length: 0\r\n\r\n").contains("Location: /home?id=")
        );
        assert!(response_to("GET /a.css HTTP/1.1\r\n\r\n").contains("text/css"));
    }
}
