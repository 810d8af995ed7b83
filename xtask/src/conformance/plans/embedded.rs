//! Embedded resources of pages.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

/// The path at which the stand-in says `text` as content of that kind.
fn say(kind: &str, text: &str) -> String {
    use std::fmt::Write as _;
    let mut path = format!("/say/{kind}?");
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            path.push(char::from(byte));
        } else {
            write!(path, "%{byte:02X}").expect("a string takes any text");
        }
    }
    path
}

/// A page with its embedded resources.
fn page(name: &str, path: &str) -> Node {
    get(name, path).set("HTTPSampler.image_parser", true)
}

fn html(name: &str, text: &str) -> Node {
    page(name, &say("html", text))
}

pub fn cases() -> Vec<Description> {
    const EMBEDDED: &[&str] = &["HTTPSamplerProxy", "HTTPSampler.image_parser"];
    let mut cases = vec![
        case("embedded", EMBEDDED, plan([group("users").with([page("page", "/page"), get("after", "/after")])]))
            .why("The page itself is the first sub-result; bytes and end count all of them."),
        case(
            "embedded-tags",
            EMBEDDED,
            plan([group("users").with([
                html(
                    "tags",
                    "<html><head><link rel=stylesheet href=a.css><link rel='Shortcut Icon' href=a.ico><link rel=preload href=pre>\
                     <link rel=alternate href=no><link href=no2><script src='s.js'></script><script>var x = '<img src=no3>';</script>\
                     <style>@import 'no4'; p { background: url('no5') }</style></head><body background=body.png>\
                     <img src=\" i.png \n\"><IMG SRC=I2.png><img><img src=''><iframe src=if><img src=no6></iframe>\
                     <noscript><img src=no7></noscript><table background=t.png><tr background=tr.png><td BACKGROUND=td.png></table>\
                     <embed src=e><bgsound src=bg><input type=image src=in.png><input type=text src=no8><input src=no9>\
                     <object codebase=cb data=d></object><applet code=ap.class></applet><applet codebase=ac archive=x.jar></applet>\
                     <applet codebase=ac code=y.class></applet><textarea><img src=no10></textarea><!-- <img src=no11> -->\
                     <p style=\"background: url('st.png')\"><p style='background:url(no12)'><p style='x:url(\"p.png\")'>\
                     <img src=last.png",
                ),
            ])]),
        )
        .why("What is looked for: no srcset, no unquoted URLs in styles, nothing inside raw text; an unfinished tag does not count."),
        case(
            "embedded-urls",
            EMBEDDED,
            plan([group("users").with([
                html(
                    "urls",
                    "<img src=one.png><img src=one.png><img src=./one.png><img src='/a/../two.png'><img src='../up.png'>\
                     <img src='/a//b.png'><img src='x?a=1&amp;b=2'><img src='y#frag'><img src='sp ace.png'><img src='pipe|.png'>\
                     <img src='data:image/png;base64,AA'><img src='javascript:x'><img src='?q'>\
                     <img src='//127.0.0.1:${__P(PORT)}/slashes'><img src='http:relative'><img src='pc%20t%zz'>\
                     <img src='\u{fc}.png'><img src='a&#47;b'>",
                ),
                html("base", "<base href='/deep/er/'><img src=based.png><base href='other/'><img src=twice.png>"),
                html("self", "<img src='#top'>"),
                html("none", "<p>nothing</p>"),
                html("empty", ""),
            ])]),
        )
        .why("Each URL once as it is written; dot segments and double slashes go only then, so that two may fetch the same."),
        case(
            "embedded-content",
            EMBEDDED,
            plan([group("users").with([
                page("css", &say("css", "@charset 'x';@import 'a.css'; @import url(b.css) screen;@import url(\"c.css\"); p { background: url(d.png) } @import 'e.css';")),
                html("with css", &format!("<link rel=stylesheet href=\"{}\">", say("css", "@import '/nested.css'; p {}"))),
                page("plain", &say("plain", "<img src=no>")),
                page("json", &say("json", "<img src=no>")),
                page("xml", &say("xml", "<a><img src='x.png'/></a>")),
                page("xhtml", &say("xhtml", "<a><img src='y.png'/></a>")),
                page("bare", &say("bare", "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=iso-8859-1\"><img src='bare.png'>")),
            ])]),
        )
        .property("jmeter.save.saveservice.encoding", "true")
        .why("Style sheets are followed to their imports only; a page that names its own encoding is saved with it."),
        case(
            "embedded-filters",
            EMBEDDED,
            plan([group("users").with([
                page("allow", "/page").set("HTTPSampler.embedded_url_re", ".*png"),
                page("allow part", "/page").set("HTTPSampler.embedded_url_re", "png"),
                page("exclude", "/page").set("HTTPSampler.embedded_url_exclude_re", ".*\\.(css|js)"),
                page("both", "/page")
                    .set("HTTPSampler.embedded_url_re", "${re}")
                    .set("HTTPSampler.embedded_url_exclude_re", ".*two.*"),
                page("malformed", "/page").set("HTTPSampler.embedded_url_re", "(png"),
                page("all out", "/page").set("HTTPSampler.embedded_url_exclude_re", ".*"),
                variables("v", &[("re", ".*(png|js)")]),
            ])]),
        )
        .why("Patterns match whole URLs; a malformed one is passed over."),
        case(
            "embedded-failures",
            EMBEDDED,
            plan([group("users").with([
                html("failing", "<img src=/status/404><img src=/fine><img src=/status/500>"),
                html("dropped", "<img src=/drop><img src=/fine>"),
                html("bad host", "<img src='http://127.0.0.1:1/x'><img src=/fine>"),
                page("page itself", "/status/404"),
            ])]),
        )
        .mask("Connect to 127.0.0.1:1 .*?failed: Connection refused[^,]*", "Connect to 127.0.0.1:1 failed")
        .mask_columns(&["bytes"])
        .why("A page fails with any of its resources, and its message lists those that failed so far."),
        case(
            "embedded-failures-ignored",
            EMBEDDED,
            plan([group("users").with([html("failing", "<img src=/status/404><img src=/fine><img src=/status/500>")])]),
        )
        .property("httpsampler.ignore_failed_embedded_resources", "true"),
        case(
            "embedded-frames",
            EMBEDDED,
            plan([group("users").with([page("frames", "/frames/3"), page("too deep", "/frames/9")])]),
        )
        .why("A frame is a page of its own; the sixth frame deep is given up. JMeter leaves the thread's name out of the first result of each."),
    ];
    cases.extend(more());
    cases
}

fn more() -> Vec<Description> {
    const EMBEDDED: &[&str] = &["HTTPSamplerProxy", "HTTPSampler.image_parser"];
    vec![
        case(
            "embedded-redirects",
            EMBEDDED,
            plan([group("users").with([
                page("to page", "/redirect-to/page"),
                html("resource", "<img src=/redirect/302/2><img src=/fine>"),
                page("auto", "/redirect-to/page")
                    .set("HTTPSampler.follow_redirects", false)
                    .set("HTTPSampler.auto_redirects", true),
                page("not", "/redirect-to/page").set("HTTPSampler.follow_redirects", false),
            ])]),
        )
        .why("Behind a redirect the page and its resources stand beside the hops."),
        case(
            "embedded-managers",
            EMBEDDED,
            plan([loops("users", "2").with([
                cookies("jar", &[("mine", "1", "127.0.0.1", "/")]),
                cache("cache"),
                headers("headers", &[("X-Test", "${__threadNum}"), ("Referer", "here")]),
                html("page", "<img src=/set-cookie/s/9><img src=/after><img src=/cache/max-age><img src=/cache/etag>"),
                get("after", "/after"),
            ])]),
        )
        .why("Resources share headers, cookies and cache with their page; one that the cache has leaves no trace."),
        case(
            "embedded-methods",
            EMBEDDED,
            plan([group("users").with([
                arg(request("POST", "form", "/say/html?%3Cimg+src%3D%2Fone%3E"), "a", "b", true)
                    .set("HTTPSampler.image_parser", true),
                raw("POST", "raw", "/say/html?%3Cimg%20src%3D%2Fone%3E", "the body")
                    .set("HTTPSampler.image_parser", true),
            ])]),
        )
        .why("Resources are fetched with GET; a raw body goes along with each."),
        case(
            "embedded-at-once",
            EMBEDDED,
            plan([group("users").with([
                page("page", "/page")
                    .set("HTTPSampler.concurrentDwn", true)
                    .set("HTTPSampler.concurrentPool", "3"),
                page("bad number", "/page")
                    .set("HTTPSampler.concurrentDwn", true)
                    .set("HTTPSampler.concurrentPool", "x"),
                page("one", "/page")
                    .set("HTTPSampler.concurrentDwn", true)
                    .set("HTTPSampler.concurrentPool", "1"),
            ])]),
        )
        .order(Order::Any)
        .why("Sub-results keep the order of the page."),
        case(
            "embedded-at-once-cookies",
            EMBEDDED,
            plan([group("users").with([
                cookies("jar", &[("mine", "1", "127.0.0.1", "/")]),
                html("page", "<img src=/set-cookie/s/9><img src=/set-cookie/t/8><img src=/set-cookie/mine/new>")
                    .set("HTTPSampler.concurrentDwn", true)
                    .set("HTTPSampler.concurrentPool", "4"),
                get("after", "/after"),
            ])]),
        )
        .order(Order::Any)
        .why("Downloads at the same time do not see one another's cookies; afterwards the user has them all, each download's beside those it began with."),
        case(
            "embedded-scopes",
            EMBEDDED,
            plan([group("users").with([
                page("page", "/page").with([
                    response_assertion("children", "response_code", 8, &["200"]).set("Assertion.scope", "children"),
                    regex("all", "(two|html)", "$1$", "-1", "none").set("Sample.scope", "all"),
                ]),
                get("shows", "/shows?${all_matchNr}"),
            ])]),
        ),
        case(
            "http-bodies-cut",
            &["HTTPSamplerProxy"],
            plan([group("users").with([
                get("long", "/bytes/100").with([regex("b", "(?s)(.*)", "$1$", "1", "none")]),
                get("short", "/seq").with([regex("c", "(?s)(.*)", "$1$", "1", "none")]),
                raw("POST", "show", "/body", "${b} ${c}"),
            ])]),
        )
        .property("httpsampler.max_bytes_to_store_per_request", "10"),
    ]
}
