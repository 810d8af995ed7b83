//! The command line, proxies, HTTPS, and plans as older versions of JMeter wrote them.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let show = || {
        raw(
            "POST",
            "show",
            "/body",
            "a=${__P(a)} b=${__P(b)} sys=${__P(sys,none)} glob=${__P(glob,none)} twice=${__P(twice)}",
        )
    };
    let mut cases = vec![
        case("command-line-properties", &["__P"], plan([group("users").with([show()])]))
            .setting(|s| {
                let arguments =
                    ["-Dsys=1", "-Gglob=2", "-Jtwice=first", "-Jtwice=second", "-Ja", "-J", "b=spaced out"];
                s.arguments = arguments.map(str::to_owned).to_vec();
            })
            .why(
                "-J without a value sets nothing; the last of two wins; -D is seen by __P, too; -G is for remote engines only.",
            ),
        case(
            "proxy-of-sampler",
            &["HTTPSamplerProxy"],
            bare_plan([group("users").with([
                proxied(get("through", "/through?a=1").set("HTTPSampler.domain", "example.test")),
                proxied(
                    raw("POST", "post", "/post", "body")
                        .set("HTTPSampler.domain", "example.test")
                        .set("HTTPSampler.port", "8080"),
                ),
                proxied(get("redirect", "/redirect/302/1").set("HTTPSampler.domain", "example.test")),
                proxied(get("login", "/login").set("HTTPSampler.domain", "example.test"))
                    .set("HTTPSampler.proxyUser", "me")
                    .set("HTTPSampler.proxyPass", "secret"),
            ])]),
        )
        .why("The request goes to the proxy with the whole URL as its target; credentials wait for a 407."),
        case(
            "proxy-authorization",
            &["HTTPSamplerProxy"],
            bare_plan([group("users").with([
                known(through("guarded.test", "/first")),
                known(through("guarded.test", "/again")),
                known(through("guarded.test", "/redirect/302/1")),
                known(raw("POST", "post", "/post", "body").set("HTTPSampler.domain", "guarded.test")),
                known(through("guarded.test", "/port").set("HTTPSampler.port", "8080")),
                stranger(through("guarded.test", "/wrong")),
                stranger(through("guarded.test", "/wrong-again")),
                through("guarded.test", "/nobody"),
                known(through("closing.test", "/closed")),
                known(through("closing.test", "/kept")),
                known(through("silent.test", "/unsaid")),
                known(through("forbidden.test", "/forbidden")),
            ])]),
        )
        .why(
            "Credentials wait for a 407; from then on they are sent at once, to this server through this proxy. When they are refused they are not sent again.",
        ),
        case(
            "proxy-tunnel",
            &["HTTPSamplerProxy"],
            bare_plan([group("users").with([
                secure_through("example.test", "/open"),
                secure_through("example.test", "/again"),
                secure_through("example.test", "/close"),
                secure_through("example.test", "/anew"),
                known(secure_through("guarded.test", "/close")),
                known(secure_through("guarded.test", "/known")),
                stranger(secure_through("guarded.test", "/wrong")),
                stranger(secure_through("guarded.test", "/wrong-again")),
                secure_through("guarded.test", "/nobody"),
                known(secure_through("closing.test", "/close")),
                known(secure_through("closing.test", "/known")),
                known(secure_through("silent.test", "/unsaid")),
                secure_through("forbidden.test", "/forbidden"),
                known(secure_through("guarded.test", "/status/407")),
            ])]),
        )
        .why("The same for tunnels: a proxy's refusal is the sample's response."),
        case(
            "proxy-of-command-line",
            &["HTTPSamplerProxy"],
            bare_plan([group("users").with([
                get("through", "/through").set("HTTPSampler.domain", "example.test"),
                get("with a header of its own", "/own")
                    .set("HTTPSampler.domain", "example.test")
                    .with([headers("h", &[("Proxy-Connection", "close")])]),
                get("direct", "/direct")
                    .set("HTTPSampler.domain", "127.0.0.1")
                    .set("HTTPSampler.port", "${__P(PORT)}"),
            ])]),
        )
        .setting(|s| {
            s.arguments = ["-H", "127.0.0.1", "-P", "{PORT}", "-N", "127.0.0.1"].map(str::to_owned).to_vec()
        }),
        legacy(),
        case(
            "plan-property-types",
            &["ThreadGroup", "LoopController", "HTTPSamplerProxy"],
            plan([group("users")
                .set("ThreadGroup.num_threads", 1)
                .set("ThreadGroup.ramp_time", 0_i64)
                .set("ThreadGroup.scheduler", "false")
                .with([
                    controller("LoopController", "LoopControlPanel", "number")
                        .set("LoopController.loops", 2)
                        .with([get("a", "/a")]),
                    controller("LoopController", "LoopControlPanel", "forever flag")
                        .set("LoopController.continue_forever", "true")
                        .set("LoopController.loops", 2_i64)
                        .with([get("b", "/b")
                            .set("HTTPSampler.follow_redirects", "true")
                            .set("HTTPSampler.use_keepalive", "false")]),
                    constant_timer("t", "1").set("ConstantTimer.delay", 1),
                ])]),
        )
        .why("The same property as stringProp, intProp, longProp or boolProp means the same."),
    ];
    cases.extend(https());
    cases
}

/// A sampler that goes to the port under TLS.
fn secure(sampler: Node) -> Node {
    sampler.set("HTTPSampler.protocol", "https").set("HTTPSampler.port", "${__P(TLS_PORT)}")
}

fn https() -> Vec<Description> {
    vec![
        case(
            "https",
            &["HTTPSamplerProxy"],
            plan([loops("users", "2").with([
                secure(get("get", "/get?a=1")),
                secure(raw("POST", "post", "/body", "body")),
                get("plain", "/plain"),
                secure(get("chunked", "/chunked")),
                secure(get("redirect", "/redirect/302/1")),
                secure(get("close", "/close")),
                secure(get("missing", "/status/404")),
            ])]),
        )
        .why("Any certificate is accepted, whoever vouches for it. A connection for each scheme stays open."),
        case(
            "https-new-user",
            &["HTTPSamplerProxy", "ThreadGroup"],
            plan([loops("users", "2")
                .set("ThreadGroup.same_user_on_next_iteration", false)
                .with([secure(get("one", "/one")), secure(get("two", "/two"))])]),
        ),
        case(
            "https-cookies",
            &["CookieManager", "HTTPSamplerProxy"],
            plan([group("users").with([
                cookies("jar", &[]),
                secure(get("set", "/cookie/sec/2/%3B%20Path%3D%2F%3B%20Secure/open/1/%3B%20Path%3D%2F")),
                secure(get("secure", "/use")),
                get("plain", "/use"),
            ])]),
        )
        .why("Secure cookies go over TLS only."),
    ]
}

fn proxied(sampler: Node) -> Node {
    sampler.set("HTTPSampler.proxyHost", "${__P(HOST)}").set("HTTPSampler.proxyPort", "${__P(PORT)}")
}

fn through(host: &str, path: &str) -> Node {
    proxied(get(path.trim_start_matches('/'), path).set("HTTPSampler.domain", host))
}

fn secure_through(host: &str, path: &str) -> Node {
    through(host, path).set("HTTPSampler.protocol", "https")
}

fn known(sampler: Node) -> Node {
    proxied(sampler).set("HTTPSampler.proxyUser", "me").set("HTTPSampler.proxyPass", "secret")
}

fn stranger(sampler: Node) -> Node {
    known(sampler).set("HTTPSampler.proxyPass", "wrong")
}

/// A plan in the words of JMeter 2: other class names, properties that are gone, a workbench.
fn legacy() -> Description {
    let old = |tag, gui, name: &str, path: &str| {
        Node::new(tag, gui, name)
            .set("HTTPSampler.domain", "${HOST}")
            .set("HTTPSampler.port", "${PORT}")
            .set("HTTPSampler.connect_timeout", "")
            .set("HTTPSampler.response_timeout", "")
            .set("HTTPSampler.protocol", "http")
            .set("HTTPSampler.contentEncoding", "")
            .set("HTTPSampler.path", path)
            .set("HTTPSampler.method", "GET")
            .set("HTTPSampler.follow_redirects", true)
            .set("HTTPSampler.auto_redirects", false)
            .set("HTTPSampler.use_keepalive", true)
            .set("HTTPSampler.DO_MULTIPART_POST", false)
            .set("HTTPSampler.monitor", false)
            .set("HTTPSampler.embedded_url_re", "")
            .set("HTTPSampler.implementation", "HttpClient3.1")
    };
    let plan = plan_variable(
        plan_variable(
            bare_plan([group("users")
                .set("ThreadGroup.start_time", 1_373_789_594_000_i64)
                .set("ThreadGroup.end_time", 1_373_789_594_000_i64)
                .with([
                    old("HTTPSampler", "HttpTestSampleGui", "one", "/one"),
                    old("HTTPSampler2", "HttpTestSampleGui2", "two", "/two"),
                    old("HTTPSamplerProxy", "HttpTestSampleGui", "three", "/three"),
                ])]),
            "HOST",
            "${__P(HOST)}",
        ),
        "PORT",
        "${__P(PORT)}",
    );
    case("plan-of-jmeter-2", &["HTTPSamplerProxy", "WorkBench"], plan)
        .edit(|text| {
            let workbench = "    <WorkBench guiclass=\"WorkBenchGui\" testclass=\"WorkBench\" testname=\"WorkBench\" enabled=\"true\">\n      \
                <boolProp name=\"WorkBench.save\">true</boolProp>\n    </WorkBench>\n    <hashTree>\n      \
                <HTTPSampler guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSampler\" testname=\"never\">\n        \
                <stringProp name=\"HTTPSampler.path\">/never</stringProp>\n      </HTTPSampler>\n      <hashTree/>\n    </hashTree>\n";
            text.replace(" jmeter=\"5.6.3\"", " jmeter=\"2.9 r1437961\"")
                .replace("properties=\"5.0\"", "properties=\"2.4\"")
                .replace(" enabled=\"true\"", "")
                .replace("  </hashTree>\n</jmeterTestPlan>", &format!("{workbench}  </hashTree>\n</jmeterTestPlan>"))
        })
        .why("Old names of classes, no enabled attribute, start and end times, a workbench, whose samplers do not run.")
}
