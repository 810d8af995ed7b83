//! Configuration elements of HTTP: headers, cookies, cache, authorization, defaults.

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = header_managers();
    cases.extend(cookie_managers());
    cases.extend(cache_and_authorization());
    cases
}

fn header_managers() -> Vec<Description> {
    vec![
        case(
            "headers-merge",
            &["HeaderManager"],
            plan([
                headers("plan", &[("X-Plan", "1"), ("X-Who", "plan"), ("Accept", "text/html")]),
                group("users").with([
                    headers("group", &[("X-Group", "${__threadNum}"), ("x-who", "group")]),
                    get("none", "/none"),
                    get("own", "/own").with([
                        headers("own", &[("X-Own", "${name}"), ("X-Who", "sampler")]),
                        headers("second", &[("X-Second", "2"), ("X-Own", "other")]),
                    ]),
                    simple("deep").with([
                        headers("deep", &[("X-Deep", "1"), ("X-Group", "deep")]),
                        get("deep", "/deep"),
                    ]),
                    variables("v", &[("name", "value")]),
                ]),
            ]),
        )
        .why("The nearest wins by name; order of the merged headers as recorded."),
        case(
            "headers-special",
            &["HeaderManager"],
            plan([group("users").with([
                headers(
                    "all",
                    &[
                        ("User-Agent", "mine/1.0"),
                        ("Host", "example.test"),
                        ("Accept-Encoding", "gzip, deflate"),
                        ("Connection", "close"),
                        ("Content-Length", "99"),
                        ("X-Empty", ""),
                        ("X-Twice", "1"),
                        ("X-Twice", "2"),
                        ("", "no name"),
                        ("X-Uml", "Zoe"),
                    ],
                ),
                get("get", "/get"),
                raw("POST", "post", "/post", "body")
                    .with([headers("type", &[("Content-Type", "application/json")])]),
            ])]),
        )
        .why("Content-Length from the manager is left out; Connection and Host as recorded."),
        case(
            "headers-content-type",
            &["HeaderManager"],
            plan([group("users").with([
                arg(request("POST", "form", "/form"), "a", "b", true)
                    .with([headers("t", &[("Content-Type", "text/x-form")])]),
                arg(request("POST", "plain", "/form"), "a", "b", true),
                raw("PUT", "raw", "/raw", "{\"a\":1}"),
                raw("PATCH", "json", "/raw", "{\"a\":1}")
                    .with([headers("t", &[("content-type", "application/json; charset=utf-8")])]),
            ])]),
        ),
    ]
}

fn cookie_managers() -> Vec<Description> {
    let path = |attributes: &str| format!("/cookie/a/1/{attributes}");
    vec![
        case(
            "cookies",
            &["CookieManager"],
            plan([loops("users", "2").with([
                cookies("jar", &[("mine", "${v}", "127.0.0.1", "/"), ("deep", "2", "127.0.0.1", "/deep"), ("other", "3", "example.test", "/")]),
                variables("v", &[("v", "one")]),
                get("none", "/none"),
                get("set", "/set-cookie/s/9"),
                get("use", "/use"),
                get("deep", "/deep/er"),
            ])]),
        ),
        case(
            "cookies-clear-each-iteration",
            &["CookieManager"],
            plan([loops("users", "2").with([
                cookies("jar", &[("mine", "1", "127.0.0.1", "/")]).set("CookieManager.clearEachIteration", true),
                get("before", "/before"),
                get("set", "/set-cookie/s/9"),
                get("use", "/use"),
            ])]),
        ),
        case(
            "cookies-attributes",
            &["CookieManager"],
            plan([group("users").with([
                cookies("jar", &[]),
                get("default path", "/cookie/p/1"),
                get("same dir", "/cookie/p/x"),
                get("domain", "/cookie/d/1/%3B%20Path%3D%2F%3B%20Domain%3D127.0.0.1/bad/2/%3B%20Path%3D%2F%3B%20Domain%3Dexample.test"),
                get("flags", "/cookie/h/1/%3B%20Path%3D%2F%3B%20HttpOnly/sec/2/%3B%20Path%3D%2F%3B%20Secure/ss/3/%3B%20Path%3D%2F%3B%20SameSite%3DLax"),
                get("expiry", "/cookie/e/1/%3B%20Path%3D%2F%3B%20Expires%3DFri%2C%2001%20Jan%202038%2000%3A00%3A00%20GMT/m/2/%3B%20Path%3D%2F%3B%20Max-Age%3D100"),
                get("use", "/use"),
                get("replace", "/cookie/e/new/%3B%20Path%3D%2F/h//%3B%20Path%3D%2F"),
                get("use2", "/use"),
                get("remove", "/cookie/e/1/%3B%20Path%3D%2F%3B%20Expires%3DTue%2C%2002%20Jan%202001%2000%3A00%3A00%20GMT/d/x/%3B%20Path%3D%2F%3B%20Expires%3DThu%2C%2001%20Jan%201970%2000%3A00%3A00%20GMT"),
                get("use3", "/use"),
            ])]),
        )
        .why("A cookie that expired is taken away; but one that expires at the epoch itself, the usual way to delete, counts as a session cookie and stays. A path with // is normalised and its escapes decoded."),
        case(
            "cookies-quoting",
            &["CookieManager"],
            plan([group("users").with([
                cookies("jar", &[("q", "\"quoted\"", "127.0.0.1", "/"), ("sp", "a b", "127.0.0.1", "/")]),
                get("set", "/cookie/v/a=b%20c/%3B%20Path%3D%2F/w/1/%3B%20Path%3D%2F%3B%20Version%3D1"),
                get("use", "/use"),
            ])]),
        ),
        case(
            "cookies-policies",
            &["CookieManager"],
            plan([
                loops("ignore", "1").with([
                    cookies("jar", &[("mine", "1", "127.0.0.1", "/")]).set("CookieManager.policy", "ignoreCookies"),
                    get("set", "/set-cookie/s/9"),
                    get("use", "/use"),
                ]),
                loops("netscape", "1").with([
                    cookies("jar", &[("mine", "1", "127.0.0.1", "/")]).set("CookieManager.policy", "netscape"),
                    get("set", "/set-cookie/s/9"),
                    get("use", "/use"),
                ]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        ),
        case(
            "cookies-policy-compatibility",
            &["CookieManager"],
            plan([group("users").with([
                cookies("jar", &[("mine", "1", "127.0.0.1", "/")]).set("CookieManager.policy", "compatibility"),
                get("set", "/set-cookie/s/9"),
                get("use", "/use"),
            ])]),
        )
        .why("Cookies of version 1 come with their attributes."),
        case(
            "cookies-no-host",
            &["CookieManager", "HTTPSamplerProxy"],
            bare_plan([
                loops("with cookies", "1").with([cookies("jar", &[]), get("no host", "/use")]),
                loops("without", "1").with([get("no host", "/use")]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .why("The cookies of no host are asked for before the host is missed."),
        case(
            "cookies-policy-rfc2109",
            &["CookieManager"],
            plan([
                loops("of the server", "2").with([
                    cookies("jar", &[]).set("CookieManager.policy", "rfc2109"),
                    get("set", "/set-cookie/s/9"),
                    get("use", "/use"),
                    get("attributes", "/cookie/deep/1/%3B%20Path%3D%2Fdeep/plain/2/%3B%20Comment%3Dx/aged/3/%3B%20Max-Age%3D100%3B%20Path%3D%2F"),
                    get("deep", "/deep/page"),
                    get("not deep", "/deeper"),
                    get("version", "/cookie/v/1/%3B%20Version%3D1%3B%20Path%3D%2F"),
                    get("versions", "/use"),
                    get("expires", "/cookie/e/1/%3B%20Expires%3DThu%2C%2001%20Jan%201970%2000%3A00%3A10%20GMT%3B%20Path%3D%2F"),
                    get("no date", "/cookie/use"),
                    get("domain", "/cookie/d/1/%3B%20Domain%3D127.0.0.1/x/1/%3B%20Domain%3Dexample.test"),
                    get("own domain", "/use"),
                ]),
                loops("of the plan", "1").with([
                    cookies("jar", &[("mine", "1", "127.0.0.1", "/"), ("other", "1", "example.test", "/")])
                        .set("CookieManager.policy", "rfc2109"),
                    get("mine", "/use"),
                    get("set", "/set-cookie/s/9"),
                    get("both", "/use"),
                ]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .why("Cookies go back with version, path and domain; a comma in a header begins another cookie, and dates are not read."),
        case(
            "cookies-as-variables",
            &["CookieManager"],
            plan([group("users").with([
                cookies("jar", &[]),
                get("set", "/set-cookie/s/9"),
                get("use", "/use?s=${COOKIE_s}"),
            ])]),
        )
        .property("CookieManager.save.cookies", "true"),
        case(
            "cookies-nearest-manager",
            &["CookieManager"],
            plan([
                cookies("outer", &[("outer", "1", "127.0.0.1", "/")]),
                group("users").with([
                    get("outer", "/set-cookie/s/9"),
                    simple("deep").with([cookies("inner", &[("inner", "2", "127.0.0.1", "/")]), get("inner", "/set-cookie/t/8"), get("inner2", "/use")]),
                    get("outer2", "/use"),
                ]),
            ]),
        )
        .why("Managers do not merge, and the outermost serves the sampler, not the nearest."),
        case(
            "cookies-and-header",
            &["CookieManager", "HeaderManager"],
            plan([group("users").with([
                cookies("jar", &[("jar", "1", "127.0.0.1", "/")]),
                headers("h", &[("Cookie", "header=2")]),
                get("use", "/use"),
            ])]),
        ),
        case(
            "cookies-of-headers",
            &["HeaderManager", "ResponseAssertion"],
            plan([group("users").with([
                get("one", "/one").with([
                    headers("h", &[("Cookie", "a=1; b=2")]),
                    response_assertion("shown", "request_data", 2, &["Cookie Data:\\sa=1; b=2\\s"]),
                ]),
                get("two", "/two").with([
                    headers("first", &[("Cookie", "a=1"), ("cookie", "b=2")]),
                    response_assertion("shown", "request_data", 2, &["Cookie Data:\\sa=1\\scookie: b=2\\s"]),
                ]),
                get("none", "/none").with([response_assertion("shown", "request_data", 2, &["no cookies"])]),
            ])]),
        )
        .why("Cookies that a header names are shown as cookies."),
        case(
            "cookies-none",
            &["HTTPSamplerProxy"],
            plan([group("users").with([get("set", "/set-cookie/s/9"), get("use", &path("x"))])]),
        )
        .why("Without a manager cookies are not kept."),
    ]
}

fn cache_and_authorization() -> Vec<Description> {
    let twice = |kind: &str| get(kind, &format!("/cache/{kind}"));
    vec![
        case(
            "cache",
            &["CacheManager"],
            plan([loops("users", "2").with([
                cache("cache"),
                twice("etag"),
                twice("modified"),
                twice("both"),
                twice("max-age"),
                twice("private"),
                twice("no-store"),
                twice("no-cache"),
                twice("expires"),
                twice("expired"),
                twice("plain"),
            ])]),
        )
        .why("Still fresh: no request and no row; an ETag or Last-Modified alone counts as fresh. Otherwise validators are sent."),
        case(
            "cache-no-expires",
            &["CacheManager"],
            plan([loops("users", "2").with([
                cache("cache").set("useExpires", false),
                twice("etag"),
                twice("max-age"),
                twice("expires"),
                twice("private"),
            ])]),
        ),
        case(
            "cache-clear-each-iteration",
            &["CacheManager"],
            plan([loops("users", "2").with([cache("cache").set("clearEachIteration", true), twice("etag"), twice("etag"), twice("max-age"), twice("max-age")])]),
        ),
        case(
            "cache-vary-and-methods",
            &["CacheManager"],
            plan([group("users").with([
                cache("cache"),
                twice("vary").with([headers("k", &[("X-Kind", "1")])]),
                twice("vary").with([headers("k", &[("X-Kind", "1")])]),
                twice("vary").with([headers("k", &[("X-Kind", "2")])]),
                request("POST", "post", "/cache/max-age"),
                request("POST", "post", "/cache/max-age"),
                get("query", "/cache/max-age?a=1"),
                get("query", "/cache/max-age?a=2"),
                get("query", "/cache/max-age?a=1"),
            ])]),
        ),
        case(
            "cache-custom-codes",
            &["CacheManager"],
            plan([loops("users", "2").with([cache("cache"), twice("max-age")])]),
        )
        .property("cache_manager.cached_resource_mode", "RETURN_CUSTOM_STATUS")
        .property("RETURN_CUSTOM_STATUS.code", "299")
        .property("RETURN_CUSTOM_STATUS.message", "from cache"),
        case(
            "authorization-basic",
            &["AuthManager"],
            plan([loops("users", "2").with([
                authorization("auth", &[["http://127.0.0.1:${__P(PORT)}/auth", "user", "${password}", "", ""]]),
                variables("v", &[("password", "secret")]),
                get("auth", "/auth"),
                get("elsewhere", "/elsewhere"),
                get("under", "/auth/deep"),
            ])]),
        )
        .why("Whether the credentials come at once or after a 401."),
        case(
            "authorization-wrong",
            &["AuthManager"],
            plan([group("users").with([
                authorization("auth", &[["http://127.0.0.1:${__P(PORT)}/", "user", "wrong", "", ""]]),
                get("auth", "/auth"),
                get("elsewhere", "/elsewhere"),
            ])]),
        ),
        case(
            "managers-nearest",
            &["AuthManager", "CacheManager"],
            plan([
                authorization("outer", &[["http://127.0.0.1:${__P(PORT)}/", "outer", "o", "", ""]]),
                cache("outer").set("useExpires", false),
                loops("users", "2").with([
                    authorization("inner", &[["http://127.0.0.1:${__P(PORT)}/auth", "user", "secret", "", ""]]),
                    cache("inner"),
                    get("auth", "/auth"),
                    get("fresh", "/cache/max-age"),
                ]),
            ]),
        )
        .why("As with cookies: of two managers the outermost serves."),
        case("authorization-none", &["AuthManager"], plan([group("users").with([get("auth", "/auth")])])),
        case(
            "authorization-mechanism",
            &["AuthManager"],
            plan([group("users").with([
                basic_everywhere(),
                get("auth", "/auth"),
                get("elsewhere", "/elsewhere"),
            ])]),
        ),
        case(
            "defaults-merge",
            &["ConfigTestElement"],
            plan([
                arg(defaults("plan"), "from", "plan", false).set("HTTPSampler.path", "/default").set("HTTPSampler.protocol", "http"),
                group("users").with([
                    get("nothing", ""),
                    arg(get("own", "/own"), "own", "1", false),
                    arg(get("same name", "/own"), "from", "sampler", false),
                    simple("deep").with([
                        arg(defaults("deep"), "deep", "1", false).set("HTTPSampler.path", "/deeper").set("HTTPSampler.domain", "127.0.0.1"),
                        get("deep", ""),
                    ]),
                    get("own query", "/own?q=1"),
                    request("POST", "post", ""),
                ]),
            ]),
        )
        .why("Defaults fill in what the sampler leaves blank; arguments of the defaults come along."),
    ]
}

fn basic_everywhere() -> Node {
    let entry = [
        ("Authorization.url", ""),
        ("Authorization.username", "user"),
        ("Authorization.password", "secret"),
        ("Authorization.domain", ""),
        ("Authorization.realm", ""),
        ("Authorization.mechanism", "BASIC"),
    ];
    let entry = entry.map(|(name, value)| (name.to_owned(), value.into())).to_vec();
    let list = Value::List(vec![(String::new(), Value::Element("Authorization", entry))]);
    authorization("auth", &[]).set("AuthManager.auth_list", list)
}
