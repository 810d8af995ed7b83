//! The HTTP sampler: what goes over the wire, and what comes of the answers.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

const HTTP: &[&str] = &["HTTPSamplerProxy"];

pub fn cases() -> Vec<Description> {
    let mut cases = targets();
    cases.extend(bodies());
    cases.extend(uploads());
    cases.extend(redirects());
    cases.extend(connections());
    cases.extend(failures());
    cases
}

fn follow(sampler: Node, follow: bool, auto: bool) -> Node {
    sampler.set("HTTPSampler.follow_redirects", follow).set("HTTPSampler.auto_redirects", auto)
}

fn targets() -> Vec<Description> {
    let methods = ["GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "TRACE"];
    let odd = "a b&c=d+e/f?g#h%20é~*'()!$,;:@\"<>[]{}|\\^`";
    vec![
        case(
            "http-methods",
            HTTP,
            plan([group("users").with(methods.map(|method| request(method, method, "/method?q=1")))]),
        ),
        case(
            "http-methods-arguments",
            HTTP,
            plan([group("users")
                .with(methods.map(|method| arg(request(method, method, "/method"), "a", "b c", true)))]),
        )
        .why("GET and OPTIONS carry arguments in the query, DELETE in query and body, HEAD and TRACE nowhere, the others in the body."),
        case(
            "http-paths",
            HTTP,
            plan([group("users").with([
                get("blank", ""),
                get("no slash", "noslash"),
                get("slash", "/"),
                get("dots", "/a/../b/./c"),
                get("double", "//a//b"),
                get("percent", "/a%20b%2Fc"),
                get("query", "/q?a=1&b=&c&=d"),
                get("fragment", "/f#frag"),
                get("question", "/f?"),
                get("plus", "/a+b?c+d"),
                get("semicolon", "/a;b=1"),
                get("padded", " /padded "),
                get("full", "http://127.0.0.1:${__P(PORT)}/full?x=1"),
                get("full no path", "http://127.0.0.1:${__P(PORT)}"),
            ])]),
        ),
        case(
            "http-paths-illegal",
            HTTP,
            plan([group("users").with([
                get("space", "/a b"),
                get("brace", "/a{b}"),
                get("pipe", "/a?b=c|d"),
                get("percent", "/a%zz"),
                get("umlaut", "/Zoë?x=é"),
                get("quote", "/a?b=\"c\""),
                get("bracket", "/a?b[]=1"),
                get("backslash", "/a\\b"),
                get("caret", "/a?b=^"),
                get("after", "/after"),
            ])]),
        )
        .why("What java.net.URI refuses is a failed sample without a request; a blank in the path is escaped, and only there."),
        case(
            "http-arguments-get",
            HTTP,
            plan([group("users").with([
                arg(arg(get("encoded", "/q"), "na me", odd, true), "empty", "", true),
                arg(arg(get("as is", "/q"), "a", "1%202+3", false), "b", "x/y:z", false),
                arg(get("with query", "/q?x=1"), "a", "1", true),
                arg(get("with question mark", "/q?"), "a", "1", true),
                arg(get("variable", "/q"), "v", "${v}", true),
                variables("v", &[("v", "x y=z")]),
            ])]),
        ),
        case(
            "http-arguments-post",
            HTTP,
            plan([group("users").with([
                arg(arg(request("POST", "encoded", "/p?keep=1"), "na me", odd, true), "empty", "", true),
                arg(arg(request("POST", "as is", "/p"), "a", "1%202+3", false), "b", odd, false),
                arg(request("POST", "latin1", "/p"), "a", "é€", true)
                    .set("HTTPSampler.contentEncoding", "ISO-8859-1"),
                arg(request("POST", "utf8", "/p"), "a", "é€", true)
                    .set("HTTPSampler.contentEncoding", "UTF-8"),
                arg(request("PUT", "put", "/p"), "a", "1 2", true),
                arg(request("PATCH", "patch", "/p"), "a", "1 2", true),
                arg(request("DELETE", "delete", "/p"), "a", "1 2", true),
                request("POST", "none", "/p"),
            ])]),
        ),
        case(
            "http-arguments-nameless",
            HTTP,
            plan([group("users").with([
                arg(request("POST", "one", "/p"), "", "{\"a\": 1}", false),
                arg(arg(request("POST", "two", "/p"), "", "part one ", false), "", "part two", false),
                arg(arg(request("POST", "mixed", "/p"), "", "value", false), "b", "2", false),
                arg(get("get", "/q"), "", "value", false),
            ])]),
        )
        .why("Arguments without names are the raw body, put together, if all have none; else the nameless are dropped. Even a GET sends them as body."),
        case(
            "http-arguments-from-variables",
            HTTP,
            plan([loops("users", "2").with([
                variables("v", &[("name", "key"), ("value", "a&b")]),
                counter("n", "1", "", "1", "n"),
                arg(get("${name} ${n}", "/q/${n}"), "${name}", "${value}-${n}", true),
                arg(request("POST", "post ${n}", "/p/${n}"), "${name}", "${value}-${n}", false),
            ])]),
        ),
        case(
            "http-target-from-variables",
            HTTP,
            bare_plan([group("users").with([
                variables("v", &[("scheme", "http"), ("host", "${__P(HOST)}"), ("verb", "PUT")]),
                get("here", "/x")
                    .set("HTTPSampler.protocol", "${scheme}")
                    .set("HTTPSampler.domain", "${host}")
                    .set("HTTPSampler.port", "${__P(PORT)}")
                    .set("HTTPSampler.method", "${verb}"),
                get("integer port", "/x").set("HTTPSampler.domain", "${host}:${__P(PORT)}"),
            ])]),
        ),
    ]
}

fn bodies() -> Vec<Description> {
    vec![
        case(
            "http-body",
            HTTP,
            plan([loops("users", "2").with([
                variables("v", &[("x", "1 & 2"), ("empty", "")]),
                raw("POST", "json", "/p", "{\n  \"a\": \"${x}\",\n  \"b\": \"é\"\n}"),
                raw("PUT", "put", "/p", "a=${x}&b=c d"),
                raw("PATCH", "patch", "/p", "<x/>"),
                raw("DELETE", "delete", "/p", "gone"),
                raw("GET", "get", "/p", "body of get"),
                raw("POST", "empty", "/p", ""),
                raw("POST", "blank variable", "/p", "${empty}"),
                raw("POST", "newlines", "/p", "a\r\nb\nc\n"),
            ])]),
        )
        .why("Without a Content-Type from a header manager a raw body is text/plain in the content encoding, UTF-8 by default."),
        case(
            "http-body-encoding",
            HTTP,
            plan([group("users").with([
                raw("POST", "none", "/p", "é€"),
                raw("POST", "utf8", "/p", "é€").set("HTTPSampler.contentEncoding", "UTF-8"),
                raw("POST", "latin1", "/p", "é€").set("HTTPSampler.contentEncoding", "ISO-8859-1"),
                raw("PUT", "put latin1", "/p", "é").set("HTTPSampler.contentEncoding", "ISO-8859-1"),
                raw("PUT", "put none", "/p", "é"),
            ])]),
        ),
        case(
            "http-md5",
            HTTP,
            plan([group("users").with([
                get("md5", "/bytes/1000").set("HTTPSampler.md5", true).with([
                    boundary("b", "", "\u{1}", "1", "none"),
                    regex("m", "^(.*)$", "$1$", "1", "none"),
                ]),
                raw("POST", "show", "/body", "${m}"),
            ])]),
        ),
        case(
            "http-embedded-off",
            HTTP,
            plan([group("users").with([get("page", "/page"), get("after", "/after")])]),
        )
        .why("Without the image parser nothing else is fetched."),
        case(
            "http-statuses",
            HTTP,
            plan([group("users").with(
                [200, 201, 204, 304, 399, 400, 401, 404, 500, 503, 600]
                    .map(|code| get(&code.to_string(), &format!("/status/{code}"))),
            )]),
        )
        .why("2xx and 3xx are successes. The reason phrase is the message."),
        case(
            "http-implementations",
            HTTP,
            plan([group("users").with([
                get("blank", "/x").set("HTTPSampler.implementation", ""),
                get("hc4", "/x").set("HTTPSampler.implementation", "HttpClient4"),
                get("hc3", "/x").set("HTTPSampler.implementation", "HttpClient3.1"),
            ])]),
        ),
    ]
}

fn uploads() -> Vec<Description> {
    let boundary_masks = |description: Description| {
        description
            .mask("boundary=[-_A-Za-z0-9]{20,}", "boundary={BOUNDARY}")
            .mask("--[-_A-Za-z0-9]{25,}--\r\n\\z", "--{BOUNDARY}-- at the end")
            .mask("--[-_A-Za-z0-9]{25,}", "--{BOUNDARY}")
            .mask("^Content-Length: [0-9]+", "Content-Length: {N}")
            .mask_columns(&["sentBytes"])
            .file("up load.txt", "line one\nline two é\n")
            .file("data.json", "{\"a\": 1}")
    };
    let text = ("up load.txt", "upload", "text/plain");
    let multipart = |sampler: Node| sampler.set("HTTPSampler.DO_MULTIPART_POST", true);
    let plain = arg(arg(request("POST", "arguments", "/up"), "a", "1 2", false), "b", "é&<", true);
    vec![
        boundary_masks(
            case(
                "http-upload",
                HTTP,
                plan([group("users").with([
                    files(multipart(request("POST", "one file", "/up")), &[text]),
                    files(
                        multipart(arg(request("POST", "with argument", "/up"), "a", "1 2", false)),
                        &[text],
                    ),
                    files(request("POST", "not said to be multipart", "/up"), &[text]),
                    files(
                        multipart(request("POST", "two files", "/up")),
                        &[text, ("data.json", "json", "application/json")],
                    ),
                    files(multipart(request("POST", "no type", "/up")), &[("data.json", "json", "")]),
                    files(request("PUT", "put", "/up"), &[text]),
                ])]),
            )
            .why("The boundary is drawn by chance; the length of the request varies with it."),
        ),
        boundary_masks(case(
            "http-multipart-arguments",
            HTTP,
            plan([group("users").with([
                multipart(plain.clone()),
                multipart(plain.clone()).set("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", true),
                files(multipart(plain.clone()), &[text])
                    .set("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", true),
                multipart(plain.clone()).set("HTTPSampler.contentEncoding", "UTF-8"),
                multipart(plain).with([headers(
                    "h",
                    &[("Content-Type", "multipart/form-data; boundary=mine"), ("X-A", "1")],
                )]),
            ])]),
        )),
        case(
            "http-upload-as-body",
            HTTP,
            plan([group("users").with([
                files(request("POST", "post", "/up"), &[("data.json", "", "application/json")]),
                files(request("PUT", "put", "/up"), &[("data.json", "", "application/json")]),
                files(request("POST", "no type", "/up"), &[("data.json", "", "")]),
                files(
                    arg(request("POST", "with argument", "/up"), "a", "1", false),
                    &[("data.json", "", "text/plain")],
                ),
                files(request("POST", "missing", "/up"), &[("missing.json", "", "text/plain")]),
            ])]),
        )
        .file("data.json", "{\"a\": 1}")
        .why("One file without a parameter name is the body."),
    ]
}

fn redirects() -> Vec<Description> {
    let codes = [301, 302, 303, 307, 308];
    vec![
        case(
            "redirect-follow",
            HTTP,
            plan([group("users").with([
                get("chain", "/redirect/302/3"),
                get("absolute", "/redirect-absolute/302"),
                get("parent", "/redirect-parent/a/b"),
                get("none", "/redirect-none/302"),
                get("space", "/redirect-space/302"),
                get("query", "/redirect/301/1?q=1"),
            ])]),
        )
        .why("Followed by the sampler: each hop is a sub-result, named with -0, -1, …, with a row of its own; the whole has the sums and the URL of the last. Escapes in a Location are escaped again. A redirect without Location is a failure."),
        case(
            "redirect-follow-codes",
            HTTP,
            plan([
                group("users").with(codes.map(|code| get(&code.to_string(), &format!("/redirect/{code}/1"))))
            ]),
        ),
        case(
            "redirect-follow-post",
            HTTP,
            plan([group("users").with(codes.map(|code| {
                arg(request("POST", &code.to_string(), &format!("/redirect/{code}/1")), "a", "1", false)
            }))]),
        )
        .why("All but 307 turn a POST into a GET; 307 is followed only for GET and HEAD."),
        case(
            "redirect-follow-head-put",
            HTTP,
            plan([group("users").with([
                request("HEAD", "head", "/redirect/302/1"),
                raw("PUT", "put", "/redirect/302/1", "body"),
                request("DELETE", "delete", "/redirect/302/1"),
                raw("PUT", "put 307", "/redirect/307/1", "body"),
            ])]),
        ),
        case(
            "redirect-auto",
            HTTP,
            plan([group("users").with([
                follow(get("chain", "/redirect/302/3"), false, true),
                follow(get("absolute", "/redirect-absolute/301"), false, true),
                follow(arg(request("POST", "post", "/redirect/302/1"), "a", "1", false), false, true),
                follow(get("303", "/redirect/303/1"), false, true),
                follow(get("307", "/redirect/307/1"), false, true),
                follow(get("308", "/redirect/308/1"), false, true),
                follow(get("both", "/redirect/302/2"), true, true),
                follow(get("none", "/redirect-none/302"), false, true),
            ])]),
        )
        .why("Followed inside the client: one result, with the URL, bytes and sent bytes of the last hop."),
        case(
            "redirect-not",
            HTTP,
            plan([group("users")
                .with(codes.map(|code| {
                    follow(get(&code.to_string(), &format!("/redirect/{code}/2")), false, false)
                }))]),
        ),
        case(
            "redirect-loop",
            HTTP,
            plan([group("users")
                .with([get("loop", "/redirect-loop"), follow(get("auto", "/redirect-loop"), false, true)])]),
        )
        .why("The sampler follows as often as httpsampler.max_redirects says."),
        case(
            "redirect-max",
            HTTP,
            plan([group("users").with([get("three", "/redirect/302/3"), get("two", "/redirect/302/2")])]),
        )
        .property("httpsampler.max_redirects", "2"),
        case(
            "redirect-cookies-headers",
            &["HTTPSamplerProxy", "CookieManager", "HeaderManager"],
            plan([group("users").with([
                cookies("jar", &[]),
                headers("h", &[("X-Keep", "1")]),
                get("hop", "/redirect-cookie/302"),
                follow(get("auto", "/redirect-cookie/302"), false, true),
                get("use", "/use"),
            ])]),
        ),
        case(
            "redirect-auto-cookies",
            &["HTTPSamplerProxy", "CookieManager"],
            plan([group("users").with([
                cookies("jar", &[]),
                follow(get("lost on the way", "/redirect-cookie/302"), false, true),
                get("none", "/use"),
                get("set", "/set-cookie/own/1"),
                follow(get("the same all the way", "/redirect-cookie/302"), false, true),
                get("as before", "/use"),
            ])]),
        )
        .why("Of redirects followed inside the client only the last response's cookies are kept, and all hops send those of the first."),
        case(
            "redirect-assertions-extractors",
            &["HTTPSamplerProxy", "RegexExtractor", "ResponseAssertion"],
            plan([group("users").with([
                get("chain", "/redirect/302/2").with([
                    regex("body", "GET (\\S+)", "$1$", "1", "none"),
                    regex("code", "(\\d+)", "$1$", "1", "none").set("RegexExtractor.useHeaders", "code"),
                    regex("loc", "Location: (\\S+)", "$1$", "1", "none")
                        .set("RegexExtractor.useHeaders", "true"),
                    regex("url", "/([^/]*)$", "$1$", "1", "none").set("RegexExtractor.useHeaders", "URL"),
                    response_assertion("200", "response_code", 8, &["200"]),
                ]),
                raw("POST", "show", "/body", "${body} ${code} ${loc} ${url}"),
            ])]),
        ),
    ]
}

fn connections() -> Vec<Description> {
    vec![
        case(
            "http-keepalive-off",
            HTTP,
            plan([loops("users", "2").with([
                get("kept", "/a"),
                get("not kept", "/b").set("HTTPSampler.use_keepalive", false),
                get("again", "/c"),
            ])]),
        ),
        case(
            "http-server-closes",
            HTTP,
            plan([loops("users", "2").with([
                get("close", "/close"),
                get("until close", "/until-close"),
                get("again", "/again"),
            ])]),
        ),
        case(
            "http-connections-per-thread",
            HTTP,
            plan([loops("one", "2").with([get("a", "/a")]), loops("two", "2").with([get("b", "/b")])])
                .set("TestPlan.serialize_threadgroups", true),
        ),
    ]
}

fn failures() -> Vec<Description> {
    vec![
        case(
            "http-refused",
            HTTP,
            plan([group("users")
                .with([get("refused", "/x").set("HTTPSampler.port", "1"), get("after", "/after")])]),
        ),
        case(
            "http-response-timeout",
            HTTP,
            plan([group("users").with([
                get("slow", "/slow/1500")
                    .set("HTTPSampler.response_timeout", "200")
                    .set("HTTPSampler.connect_timeout", "1000"),
                get("after", "/after").set("HTTPSampler.response_timeout", "5000"),
            ])]),
        ),
        case(
            "http-dropped",
            HTTP,
            plan([group("users").with([get("drop", "/drop"), get("after", "/after")])]),
        )
        .why("A connection closed without an answer is not tried again."),
        case(
            "http-dropped-post",
            HTTP,
            plan([group("users").with([
                get("before", "/before"),
                raw("POST", "drop", "/drop", "x"),
                get("drop get", "/drop"),
                get("after", "/after"),
            ])]),
        ),
        case(
            "http-truncated",
            HTTP,
            plan([group("users").with([get("truncated", "/truncated"), get("after", "/after")])]),
        ),
        case(
            "http-garbage",
            HTTP,
            plan([group("users").with([get("garbage", "/garbage"), get("after", "/after")])]),
        ),
        case(
            "http-bad-target",
            HTTP,
            bare_plan([group("users").with([
                get("no domain", "/x"),
                get("bad protocol", "/x")
                    .set("HTTPSampler.protocol", "gopher")
                    .set("HTTPSampler.domain", "${__P(HOST)}"),
                get("unset domain", "/x").set("HTTPSampler.domain", "${nowhere}"),
                get("bad port", "/x")
                    .set("HTTPSampler.domain", "${__P(HOST)}")
                    .set("HTTPSampler.port", "${nowhere}"),
            ])]),
        ),
        case(
            "http-bad-host",
            HTTP,
            plan([["/moodle", "?x", "#x", "@x", " x", "\\x", "/"].iter().fold(
                group("users"),
                |group, end| {
                    let host = format!("${{__P(HOST)}}{end}");
                    group.with([get(end, "/x").set("HTTPSampler.domain", host.as_str())])
                },
            )]),
        )
        .why("With a slash in the host there is no URL at all, and the row has no label."),
        case(
            "http-bad-method",
            HTTP,
            plan([group("users").with([
                request("FOO", "foo", "/x"),
                request("get", "lower", "/x"),
                request("PROPFIND", "propfind", "/x"),
            ])]),
        ),
    ]
}
