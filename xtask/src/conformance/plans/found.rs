//! What running real plans beside JMeter has taught: each case is a difference that was mended.

use super::super::elements::*;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let empty = || headers("no content type", &[("Content-Type", "")]);
    vec![
        case(
            "http-content-type-empty",
            &["HTTPSamplerProxy", "HeaderManager"],
            plan([group("users").with([
                empty(),
                raw("POST", "raw", "/body", "{\"a\": 1}"),
                arg(request("POST", "form", "/body"), "a", "b c", true),
                arg(request("POST", "multipart", "/header/content-type"), "a", "b", true)
                    .set("HTTPSampler.DO_MULTIPART_POST", true),
                request("PUT", "nothing", "/body"),
            ])]),
        )
        .why("a Content-Type header without a value is sent, and HttpClient adds none of its own to it")
        .mask("boundary=[-_A-Za-z0-9]{20,}", "boundary={B}")
        .mask("--[-_A-Za-z0-9]{25,}--\r\n\\z", "--{B}-- at the end")
        .mask("--[-_A-Za-z0-9]{25,}", "--{B}")
        .mask("^Content-Length: [0-9]+", "Content-Length: {N}")
        .mask_columns(&["bytes", "sentBytes"]),
        case(
            "http-no-host",
            &["HTTPSamplerProxy"],
            bare_plan([group("users").with([
                arg(get("query", ""), "a", "b c", true),
                arg(get("path and query", "x/y?z=1"), "a", "b", true),
                get("odd characters", "/x?a=${unknown}"),
                arg(request("POST", "post", "/x"), "a", "b", true),
                get("https", "/x").set("HTTPSampler.protocol", "https"),
            ])]),
        )
        .why("without a host the URL is put together as far as it goes, and looked at, before the host is missed"),
    ]
}
