//! Pages whose content is taken from the request.

use crate::response::{Response, percent_decode};

/// The response to `/say/KIND?TEXT` or `/frames/N`.
pub(crate) fn respond(endpoint: &str, kind: &str, target: &str) -> Response {
    if endpoint == "frames" {
        let depth: u32 = kind.parse().unwrap_or(0);
        let frame = match depth.checked_sub(1) {
            Some(next) => format!("<iframe src=\"/frames/{next}\"></iframe>"),
            None => String::new(),
        };
        return Response::new(
            200,
            "text/html; charset=utf-8",
            format!("<img src=\"/image-{depth}\">{frame}"),
        );
    }
    let media = match kind {
        "html" => "text/html; charset=utf-8",
        "bare" => "text/html",
        "css" => "text/css",
        "xml" => "application/xml; charset=utf-8",
        "xhtml" => "application/xhtml+xml",
        "json" => "application/json",
        _ => "text/plain; charset=utf-8",
    };
    let text = target.split_once('?').map_or("", |(_, text)| text);
    Response::new(200, media, percent_decode(&text.replace('+', " ")))
}
