//! Compressed bodies.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

const HTTP: &[&str] = &["HTTPSamplerProxy"];

/// Bodies of the stand-in's `/broken/KIND`; most cannot be unpacked.
const KINDS: &str = "gzip-plain gzip-byte gzip-method gzip-head gzip-only-head gzip-half gzip-no-trailer \
    gzip-half-trailer gzip-checksum gzip-length gzip-block gzip-tail gzip-long-tail gzip-twice gzip-empty \
    gzip-empty/chunked gzip-plain/chunked gzip-half/chunked gzip-tail/chunked gzip-twice/chunked gzip-capitals \
    gzip-list gzip-x gzip-error zlib-plain zlib-byte zlib-half zlib-block zlib-checksum zlib-no-trailer zlib-tail \
    zlib-empty zlib-empty/chunked raw raw-half unknown";

pub fn cases() -> Vec<Description> {
    vec![
        case(
            "http-compressed",
            HTTP,
            plan([group("users").with([
                headers("h", &[("Accept-Encoding", "gzip, deflate")]),
                get("gzip", "/gzip").with([response_assertion(
                    "text",
                    "response_data",
                    16,
                    &["quick brown"],
                )]),
                get("gzip chunked", "/gzip-chunked").with([response_assertion(
                    "text",
                    "response_data",
                    16,
                    &["quick brown"],
                )]),
                get("deflate", "/deflate").with([response_assertion(
                    "text",
                    "response_data",
                    16,
                    &["quick brown"],
                )]),
                get("chunked", "/chunked"),
                request("HEAD", "head", "/gzip"),
            ])]),
        )
        .why("`bytes` counts what came over the wire: headers and the compressed body."),
        case(
            "http-compressed-unasked",
            HTTP,
            plan([group("users").with([
                get("gzip", "/gzip").with([response_assertion(
                    "text",
                    "response_data",
                    16,
                    &["quick brown"],
                )]),
                get("deflate", "/deflate").with([response_assertion(
                    "text",
                    "response_data",
                    16,
                    &["quick brown"],
                )]),
            ])]),
        ),
        case(
            "http-compressed-broken",
            HTTP,
            plan([broken(|kind| vec![get(kind, &format!("/broken/{kind}"))])
                .with([request("HEAD", "head", "/broken/gzip-plain"), get("after", "/after")])]),
        )
        .why("A body that cannot be unpacked fails the sample; nothing counts as sent then."),
        case(
            "http-compressed-broken-read",
            HTTP,
            plan([broken(|kind| {
                let read = regex("text", "^(.{1,40})", "$1$", "1", "none");
                let sampler = get(kind, &format!("/broken/{kind}")).with([read]);
                vec![sampler, raw("POST", "show", "/body", "${text}")]
            })]),
        )
        .why("The same where somebody reads the bodies: what an extractor finds in them."),
    ]
}

fn broken(samplers: impl Fn(&str) -> Vec<Node>) -> Node {
    let samplers = KINDS.split_whitespace().flat_map(samplers);
    samplers.fold(group("users"), |group, sampler| group.with([sampler]))
}
