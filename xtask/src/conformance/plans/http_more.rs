//! HTTP beyond the ordinary: who is there, names and addresses, what changes a sampler.

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = authorization();
    cases.extend(names());
    cases.extend(modifiers());
    cases.extend(samplers());
    cases
}

/// An authorization manager for one user: mechanism, name, password, realm.
fn auth(mechanism: &str, user: &str, password: &str, realm: &str) -> Node {
    let properties = vec![
        ("Authorization.url".into(), "http://127.0.0.1:${__P(PORT)}/".into()),
        ("Authorization.username".into(), user.into()),
        ("Authorization.password".into(), password.into()),
        ("Authorization.domain".into(), "".into()),
        ("Authorization.realm".into(), realm.into()),
        ("Authorization.mechanism".into(), mechanism.into()),
    ];
    let list = vec![(String::new(), Value::Element("Authorization", properties))];
    Node::new("AuthManager", "AuthPanel", "auth")
        .set("AuthManager.auth_list", Value::List(list))
        .set("AuthManager.controlledByThreadGroup", false)
}

fn authorization() -> Vec<Description> {
    let masked = |description: Description| {
        description
            .mask("response=\"[0-9a-f]*\"", "response=\"{HASH}\"")
            .mask("cnonce=\"[0-9a-f]{16}\"", "cnonce=\"{DRAWN}\"")
    };
    vec![
        masked(case(
            "authorization-digest",
            &["AuthManager"],
            plan([loops("users", "2").with([
                auth("DIGEST", "user", "secret", ""),
                get("md5", "/digest/md5?a=b%20c"),
                get("sess", "/digest/sess"),
                get("sha256", "/digest/sha256"),
                get("old", "/digest/old"),
                get("int", "/digest/int"),
                get("stale", "/digest/stale"),
                raw("POST", "post", "/digest/md5", "the body"),
                raw("POST", "post int", "/digest/int", "the body"),
                get("basic", "/auth"),
                get("both", "/digest/both"),
                get("elsewhere", "/fine"),
            ])]),
        ))
        .why("Each sample asks first and answers then; bytes are those of the last exchange. The digest is checked by the server."),
        masked(case(
            "authorization-digest-wrong",
            &["AuthManager"],
            plan([group("users").with([
                auth("DIGEST", "user", "wrong", ""),
                get("wrong", "/digest/md5"),
                get("unknown", "/digest/unknown"),
                get("token", "/digest/token"),
            ])]),
        ))
        .why("Where no answer can be made the request is sent once more as it was."),
        masked(case(
            "authorization-digest-after-basic",
            &["AuthManager"],
            plan([group("users").with([
                auth("BASIC_DIGEST", "user", "secret", ""),
                get("digest", "/digest/md5"),
                get("both", "/digest/both"),
                get("basic", "/auth"),
            ])]),
        ))
        .why("Basic goes out unasked; a server that asks for Digest only gets it, one that asks for Basic too gets no second answer."),
        masked(case(
            "authorization-realm",
            &["AuthManager"],
            plan([
                group("other realm").with([auth("DIGEST", "user", "secret", "cellar"), get("digest", "/digest/md5")]),
                group("realm").with([auth("DIGEST", "user", "secret", "vault"), get("digest", "/digest/md5")]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )),
        masked(case(
            "authorization-not-preemptive",
            &["AuthManager"],
            plan([group("users").with([
                auth("BASIC", "user", "secret", "vault"),
                get("basic", "/auth"),
                get("digest", "/digest/md5"),
                get("both", "/digest/both"),
            ])]),
        ))
        .property("httpclient4.auth.preemptive", "false"),
    ]
}

fn names() -> Vec<Description> {
    let host = |name: &str, address: &str| {
        let properties =
            vec![("StaticHost.Name".into(), name.into()), ("StaticHost.Address".into(), address.into())];
        (name.to_owned(), Value::Element("StaticHost", properties))
    };
    let dns = |hosts: Vec<(String, Value)>| {
        Node::new("DNSCacheManager", "DNSCachePanel", "dns")
            .set("DNSCacheManager.servers", Value::List(Vec::new()))
            .set("DNSCacheManager.hosts", Value::List(hosts))
            .set("DNSCacheManager.clearEachIteration", true)
            .set("DNSCacheManager.isCustomResolver", false)
    };
    let to = |name: &str, host: &str| get(name, &format!("/{name}")).set("HTTPSampler.domain", host);
    let from = |name: &str, source: &str, kind: i32| {
        get(name, "/from").set("HTTPSampler.ipSource", source).set("HTTPSampler.ipSourceType", kind)
    };
    vec![
        case(
            "dns-static-hosts",
            &["DNSCacheManager"],
            plan([loops("users", "2").with([
                dns(vec![
                    host("shop.test", "127.0.0.1"),
                    host("both.test", "127.0.0.1, localhost"),
                    host("${v}.test", "127.0.0.1"),
                ]),
                variables("v", &[("v", "named")]),
                to("static", "shop.test"),
                to("again", "shop.test"),
                to("both", "both.test"),
                to("variable", "named.test"),
                to("address", "127.0.0.1"),
                to("localhost", "localhost"),
            ])]),
        )
        .why("Static hosts are reached at the addresses of the plan; the Host header names them."),
        case(
            "http-source-address",
            &["HTTPSamplerProxy", "HTTPSampler.ipSource"],
            plan([group("users").with([
                from("none", "", 0),
                from("address", "127.0.0.1", 0),
                from("again", "127.0.0.1", 0),
                from("name", "localhost", 0),
                from("device", "lo", 1),
                from("device 4", "lo", 2),
                from("not here", "192.0.2.7", 0),
                from("no device", "nosuch9", 1),
            ])]),
        )
        .why("Connections from an address are for samplers with the same address."),
    ]
}

fn modifiers() -> Vec<Description> {
    let rewriting = |argument: &str| {
        Node::new("URLRewritingModifier", "URLRewritingModifierGui", "rewriting")
            .set("argument_name", argument)
            .set("path_extension", false)
            .set("path_extension_no_equals", false)
            .set("path_extension_no_questionmark", false)
            .set("cache_value", false)
            .set("encode", false)
    };
    let page = "/say/html?%3Ca%20href%3D%22%2Fx%3Bsid%3Dabc%3Fy%22%3E%3Cinput%20name%3D%22token%22%20type%3D%22hidden%22%20value%3D%22t%2B%2041%22%3E";
    vec![
        link_parser(),
        case(
            "url-rewriting",
            &["URLRewritingModifier"],
            plan([
                group("path").with([
                    rewriting("sid").set("path_extension", true),
                    get("page", page),
                    get("next", "/next"),
                    get("page again", page),
                    get("old one", "/next;sid=old?q=1"),
                ]),
                group("variants").with([
                    get("page", page),
                    get("no question mark", "/next").with([rewriting("sid")
                        .set("path_extension", true)
                        .set("path_extension_no_questionmark", true)]),
                    get("page", page),
                    get("no equals", "/next").with([rewriting("sid=")
                        .set("path_extension", true)
                        .set("path_extension_no_equals", true)
                        .set("path_extension_no_questionmark", true)]),
                ]),
                loops("arguments", "2").with([
                    rewriting("token").set("cache_value", true),
                    get("page", page),
                    arg(get("argument", "/next"), "a", "b", true),
                    arg(request("POST", "kept", "/next"), "token", "old", true),
                ]),
                group("encode").with([
                    rewriting("token").set("encode", true),
                    get("page", page),
                    get("argument", "/next"),
                ]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .why("A value goes from the last response into path or arguments, for one request; it is kept only if the element keeps it."),
        case(
            "regex-user-parameters",
            &["RegExUserParameters"],
            plan([group("users").with([
                get("page", "/say/html?%3Ci%20n%3D%22a%22%20v%3D%221%22%3E%3Ci%20n%3D%22b%22%20v%3D%222%262%22%3E")
                    .with([regex("found", "n=\"(.*?)\" v=\"(.*?)\"", "$1$", "-1", "none")]),
                arg(arg(get("replaced", "/next"), "a", "old", true), "c", "stays", true).with([parameters("found")]),
                arg(request("POST", "posted", "/next"), "b", "old", true).with([parameters("found")]),
                arg(get("nothing", "/next"), "a", "old", true).with([parameters("other")]),
            ])]),
        ),
    ]
}

fn parameters(variable: &str) -> Node {
    Node::new("RegExUserParameters", "RegExUserParametersGui", "parameters")
        .set("RegExUserParameters.regex_ref_name", variable)
        .set("RegExUserParameters.param_names_gr_nr", "1")
        .set("RegExUserParameters.param_values_gr_nr", "2")
}

fn samplers() -> Vec<Description> {
    let charset = |name: &str| {
        raw("POST", name, "/p", "\u{20ac}\u{e9}\u{65e5}").set("HTTPSampler.contentEncoding", name)
    };
    vec![
        case(
            "http-charsets",
            &["HTTPSamplerProxy"],
            plan([group("users").with([
                charset("windows-1252"),
                charset("ISO-8859-15"),
                charset("Shift_JIS"),
                charset("GBK"),
                arg(request("POST", "form", "/p"), "\u{e9}", "\u{20ac} \u{65e5}", true)
                    .set("HTTPSampler.contentEncoding", "windows-1252"),
            ])]),
        ),
        case(
            "http-brotli",
            &["HTTPSamplerProxy"],
            plan([group("users").with([
                get("good", "/brotli/good").with([boundary("b", "he", "o", "1", "none")]),
                get("cut", "/brotli/cut"),
                get("rubbish", "/brotli/rubbish"),
                get("unread", "/brotli/good"),
                get("shows", "/shows?${b}"),
            ])]),
        ),
        case(
            "graphql",
            &["HTTPSamplerProxy", "GraphQLHTTPSamplerGui"],
            plan([group("users").with([
                raw("POST", "post", "/body", "{\"operationName\":null,\"variables\":{\"id\":1},\"query\":\"{ hero(id: $id) { name } }\"}")
                    .set("GraphQLHTTPSampler.operationName", "")
                    .set("GraphQLHTTPSampler.query", "{ hero(id: $id) { name } }")
                    .set("GraphQLHTTPSampler.variables", "{\"id\":1}"),
                arg(get("get", "/get"), "query", "{ hero { name } }", true)
                    .set("GraphQLHTTPSampler.query", "{ hero { name } }"),
            ])]),
        )
        .edit(|document| document.replace("HttpTestSampleGui", "GraphQLHTTPSamplerGui"))
        .why("What is sent stands in the plan as the arguments of an ordinary request."),
        case(
            "http-properties",
            &["HTTPSamplerProxy"],
            plan([group("users").with([
                get("one", "/one"),
                get("two", "/two").with([headers("agent", &[("User-Agent", "mine")])]),
            ])]),
        )
        .property("httpclient4.default_user_agent_disabled", "true"),
    ]
}

/// The HTML Link Parser; where more than one link would fit, there is chance.
fn link_parser() -> Description {
    const PAGE: &str = "<html><head><title>t</title></head><body>\n\
        <a href=\"/next?a=1&amp;b=x%20y\">next</a> <a href=\"deep/er.html#there\">deeper</a>\n\
        <a href=\"javascript:go()\">go</a> <a href=\"../../up.html?bare\">up</a> <a name=\"n\">name</a>\n\
        <form action=\"/send\" method=\"post\"><p><input name=\"user\" value=\"Zo%C3%AB\"><input name=\"token\" value=\"t+1\">\n\
        <select name=\"size\"><option value=\"s\">S</option></select><textarea name=\"note\">some text</textarea></p></form>\n\
        </body></html>";
    let page = || raw("POST", "page", "/body", PAGE);
    let parser = || Node::new("AnchorModifier", "AnchorModifierGui", "HTML Link Parser");
    let followed = |sampler: Node| [page(), sampler.with([parser()])];
    let mut samplers = Vec::new();
    samplers.extend(followed(get("by path", "/next")));
    samplers.extend(followed(get("by pattern", "/de.*html")));
    samplers.extend(followed(arg(get("by argument", ".*"), "x y", "", true)));
    samplers.extend(followed(get("above the root", "/up.html")));
    samplers.extend(followed(get("without a slash", "next")));
    samplers.extend(followed(get("no link", "/nowhere")));
    samplers.extend(followed(arg(
        arg(request("POST", "form", "/se.d"), "user", ".*", true),
        "to.*",
        ".*",
        true,
    )));
    samplers.extend(followed(arg(
        arg(request("POST", "values", "/send"), "note", "some.*", true),
        "size",
        "l",
        true,
    )));
    samplers.extend(followed(get("other host", "/next").set("HTTPSampler.domain", "localhost")));
    samplers.push(raw(
        "POST",
        "frames",
        "/body",
        "<html><frameset><frame src=\"/framed/1\"></frameset></html>",
    ));
    samplers.push(get("frame", "/framed/.").with([parser()]));
    samplers.push(get("after no page", "/next").with([parser()]));
    case(
        "html-link-parser",
        &["AnchorModifier"],
        plan([samplers.into_iter().fold(group("users"), |group, sampler| group.with([sampler]))]),
    )
    .why("The port stays the request's own; so do the values that a form has no match for.")
}
