//! Configuration elements: variables, counters, data sets, headers, cookies, cache, authorization; scoping.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = variable_sources();
    cases.extend(data_sets());
    cases.extend(header_managers());
    cases.extend(cookie_managers());
    cases.extend(cache_and_authorization());
    cases
}

fn variable_sources() -> Vec<Description> {
    let show = "/v?a=${a}&b=${b}&c=${c}";
    vec![
        case(
            "variables-user-defined",
            &["Arguments", "TestPlan"],
            plan_variable(
                plan_variable(
                    plan([
                        variables("first", &[("b", "from-b-${a}"), ("c", "early")]),
                        group("users").with([
                            get("one", show),
                            simple("deep").with([variables("last", &[("c", "late"), ("d", "${b}")])]),
                            get("two", "/v?d=${d}"),
                        ]),
                    ]),
                    "a",
                    "plan",
                ),
                "z",
                "last",
            ),
        )
        .why("Evaluated once at the start, whatever their place; the last one wins; references to others as recorded."),
        case(
            "variables-functions-once",
            &["Arguments", "__counter"],
            plan([loops("users", "3").with([
                variables("v", &[("once", "${__counter(FALSE,)}"), ("p", "${__P(X,default)}")]),
                get("one", "/v?once=${once}&p=${p}&each=${__counter(FALSE,)}"),
            ])]),
        )
        .why("A function in a user defined variable runs once; the counter of the request is another instance."),
        case(
            "variables-unknown",
            &["Arguments"],
            plan([group("users").with([
                raw("POST", "body", "/body", "x=${unknown} y=${also unknown} z=$unknown {a} $$ ${ ${}"),
                raw("POST", "escapes", "/body", "\\${a} \\$ \\\\ \\, \\x"),
            ])]),
        )
        .why("What is no variable stays as text; which backslashes vanish."),
        case(
            "variables-nested-names",
            &["__V", "__eval", "__evalVar"],
            plan([group("users").with([
                variables("v", &[("a_1", "one"), ("a_2", "two"), ("n", "2"), ("text", "n is ${n}"), ("q", "$")]),
                raw("POST", "body", "/body", "V=${__V(a_${n})} W=${__V(a_${m},dflt)} X=${__V(a_9)} E=${__eval(n=${n} a=${__V(a_1)})} F=${__evalVar(text)} T=${text}"),
            ])]),
        ),
        case(
            "variables-built-in",
            &["__property"],
            plan([loops("users", "2").with([
                raw("POST", "body", "/body", "ok=${JMeterThread.last_sample_ok} day=${START.HMS} none=${TESTSTART.XX}"),
                get("bad", "/status/500"),
                raw("POST", "after", "/body", "ok=${JMeterThread.last_sample_ok}"),
            ])]),
        )
        .mask("day=[0-9]{6}", "day={HMS}")
        .why("last_sample_ok follows each sample; START.HMS is the start of the run."),
        case(
            "counter",
            &["CounterConfig"],
            plan([loops("users", "5").with([
                counter("c1", "1", "3", "1", "c1"),
                counter("c2", "10", "", "5", "c2").set("CounterConfig.format", "000"),
                counter("c3", "", "", "2", "c3"),
                get("one", "/c?c1=${c1}&c2=${c2}&c3=${c3}"),
                get("two", "/c?c1=${c1}&c2=${c2}&c3=${c3}"),
            ])]),
        )
        .why("One step per iteration, back to the start after the end; a blank start is 0."),
        case(
            "counter-in-loop",
            &["CounterConfig"],
            plan([loops("users", "2").with([
                loop_controller("loop", "3").with([counter("in", "1", "", "1", "in"), get("in", "/in?in=${in}&out=${out}")]),
                counter("out", "100", "", "-1", "out"),
                get("after", "/after?in=${in}&out=${out}"),
            ])]),
        )
        .why("A counter inside a controller steps with each pass of that controller; the end of a negative step."),
        case(
            "counter-reset",
            &["CounterConfig"],
            plan([loops("users", "2").with([loop_controller("loop", "2").with([
                counter("c", "1", "", "1", "c").set("CounterConfig.reset_on_tg_iteration", true),
                get("in", "/in?c=${c}"),
            ])])]),
        ),
        case(
            "counter-shared",
            &["CounterConfig"],
            plan([loops("users", "2").set("ThreadGroup.num_threads", "3").with([
                counter("shared", "1", "", "1", "s").set("CounterConfig.per_user", false),
                counter("own", "1", "", "1", "o"),
                get("one", "/c?s=${s}&x=1"),
                get("own", "/c?o=${o}"),
            ])]),
        )
        .order(Order::Any)
        .mask(" 1-[123],", " 1-{N},")
        .mask("^users 1-[123]$", "users 1-{N}")
        .mask_columns(&["grpThreads", "allThreads"]),
        case(
            "random-variable",
            &["RandomVariableConfig"],
            plan([loops("users", "4").with([
                random_variable("r", "7", "7", ""),
                random_variable("f", "5", "5", "ID_000"),
                random_variable("wide", "1", "9", ""),
                get("one", "/r?r=${r}&f=${f}&w=${wide}"),
            ])]),
        )
        .mask("w=[1-9]", "w={DIGIT}"),
        case(
            "user-parameters",
            &["UserParameters"],
            plan([loops("users", "2").set("ThreadGroup.num_threads", "3").set("ThreadGroup.ramp_time", "3").with([
                get("one", "/u?name=${name}&word=${word}"),
                user_parameters("params", &["name", "word"], &[&["ann", "a"], &["bob", "b"]], true),
            ])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("User 3 takes the values of user 1 again."),
        case(
            "user-parameters-per-sample",
            &["UserParameters", "__counter"],
            plan([loops("users", "2").with([
                user_parameters("each", &["e"], &[&["${__counter(TRUE,)}"]], false),
                user_parameters("once", &["o"], &[&["${__counter(TRUE,)}"]], true),
                get("one", "/u?e=${e}&o=${o}"),
                get("two", "/u?e=${e}&o=${o}"),
            ])]),
        )
        .why("Once per iteration, or before each sample."),
    ]
}

fn random_variable(name: &str, low: &str, high: &str, format: &str) -> Node {
    Node::new("RandomVariableConfig", "TestBeanGUI", name)
        .set("maximumValue", high)
        .set("minimumValue", low)
        .set("outputFormat", format)
        .set("perThread", true)
        .set("randomSeed", "")
        .set("variableName", name)
}

fn data_sets() -> Vec<Description> {
    let show = "/d?a=${a}&b=${b}";
    let three = "1,one\n2,two\n3,three\n";
    let one_user = |count: &str, set: Node| plan([loops("users", count).with([set, get("d", show)])]);
    let covers = &["CSVDataSet"];
    vec![
        case("csv-recycle", covers, one_user("5", csv("set", "data.csv", "a,b"))).file("data.csv", three),
        case("csv-end-of-file", covers, one_user("5", csv("set", "data.csv", "a,b").set("recycle", false)))
            .file("data.csv", three)
            .why("Past the end: the text <EOF>, which no URL may hold."),
        case(
            "csv-stop-thread",
            covers,
            one_user("5", csv("set", "data.csv", "a,b").set("recycle", false).set("stopThread", true)),
        )
        .file("data.csv", three),
        case("csv-header-names", covers, one_user("4", csv("set", "data.csv", "")))
            .file("data.csv", "a,b\n1,one\n2,two\n")
            .why("Without names the first line gives them."),
        case(
            "csv-ignore-first-line",
            covers,
            one_user("4", csv("set", "data.csv", "a,b").set("ignoreFirstLine", true)),
        )
        .file("data.csv", "x,y\n1,one\n2,two\n"),
        case(
            "csv-quoted",
            covers,
            plan([loops("users", "4").with([
                csv("set", "data.csv", "a,b").set("quotedData", true),
                raw("POST", "d", "/body", "[${a}] [${b}]"),
            ])]),
        )
        .file("data.csv", "\"1,5\",\"say \"\"hi\"\"\"\nplain,\"two\nlines\"\n\"\", x \na\"b,c\n"),
        case(
            "csv-unquoted",
            covers,
            plan([loops("users", "4")
                .with([csv("set", "data.csv", "a,b,c"), raw("POST", "d", "/body", "[${a}] [${b}] [${c}]")])]),
        )
        .file("data.csv", "\"1\",\"2\",3\n1,2\n1,2,3,4\n , x ,\n")
        .why("Too few fields leave what was there; too many are dropped; quotes and blanks stay."),
        case(
            "csv-blank-lines",
            covers,
            plan([loops("users", "4")
                .with([csv("set", "data.csv", "a,b"), raw("POST", "d", "/body", "[${a}] [${b}]")])]),
        )
        .file("data.csv", "1,2\r\n\r\n3,4\r\n\r\n")
        .why("A blank line gives <EOF> to every variable, without ending the data."),
        case(
            "csv-tab",
            covers,
            plan([loops("users", "2").with([
                csv("set", "data.csv", "a,b").set("delimiter", "\\t"),
                raw("POST", "d", "/body", "[${a}] [${b}]"),
            ])]),
        )
        .file("data.csv", "1,5\ttwo\nx\ty\n"),
        case(
            "csv-long-delimiter",
            covers,
            plan([loops("users", "2").with([
                csv("set", "data.csv", "a,b").set("delimiter", "}}"),
                raw("POST", "d", "/body", "[${a}] [${b}]"),
            ])]),
        )
        .file("data.csv", "1}}2\n3}4}}5\n"),
        case(
            "csv-encoding",
            covers,
            plan([loops("users", "2").with([
                csv("set", "data.csv", "a").set("fileEncoding", "UTF-8"),
                raw("POST", "d", "/body", "[${a}]").set("HTTPSampler.contentEncoding", "UTF-8"),
            ])]),
        )
        .file("data.csv", "Zoë\n日本\n"),
        case(
            "csv-file-from-variable",
            covers,
            plan([loops("users", "2")
                .with([csv("set", "${__P(DATA,data)}.csv", "${__P(FIRST,a)},b"), get("d", show)])]),
        )
        .file("data.csv", three),
        case(
            "csv-in-controller",
            covers,
            plan([loops("users", "2").with([
                loop_controller("loop", "2").with([csv("set", "data.csv", "a,b"), get("in", show)]),
                get("after", show),
            ])]),
        )
        .file("data.csv", three)
        .why("A row per pass of the thread group or of the controller around it, as recorded."),
        case(
            "csv-two-sets",
            covers,
            plan([loops("users", "3").with([
                csv("one", "data.csv", "a"),
                csv("two", "data.csv", "b,c"),
                get("d", "/d?a=${a}&b=${b}&c=${c}"),
            ])]),
        )
        .file("data.csv", three)
        .why("Two sets over one file share its lines; of two sets side by side the second reads first."),
        case(
            "csv-share-all",
            covers,
            plan([loops("users", "2")
                .set("ThreadGroup.num_threads", "2")
                .with([csv("set", "data.csv", "a,b"), get("d", show)])]),
        )
        .file("data.csv", "1,a\n2,b\n3,c\n4,d\n")
        .order(Order::Any)
        .mask("^users 1-[12]$", "users 1-{N}")
        .mask_columns(&["grpThreads", "allThreads"]),
        case(
            "csv-share-thread",
            covers,
            plan([loops("users", "2")
                .set("ThreadGroup.num_threads", "2")
                .with([csv("set", "data.csv", "a,b").set("shareMode", "shareMode.thread"), get("d", show)])]),
        )
        .file("data.csv", three)
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"]),
        case(
            "csv-share-group",
            covers,
            plan([
                csv("set", "data.csv", "a,b").set("shareMode", "shareMode.group"),
                loops("first", "2").with([get("d", show)]),
                loops("second", "2").with([get("d", show)]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .file("data.csv", three),
        case(
            "csv-share-named",
            covers,
            plan([
                loops("first", "1")
                    .with([csv("set", "data.csv", "a,b").set("shareMode", "mine"), get("d", show)]),
                loops("second", "1")
                    .with([csv("set", "data.csv", "a,b").set("shareMode", "mine"), get("d", show)]),
                loops("third", "1")
                    .with([csv("set", "data.csv", "a,b").set("shareMode", "yours"), get("d", show)]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .file("data.csv", three),
    ]
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
        .why("Still fresh: no request at all, a row with 204 and a message of its own; otherwise validators are sent."),
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
    use super::super::jmx::Value;
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
