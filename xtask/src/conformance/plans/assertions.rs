//! Assertions: success, failure, and the messages of failures.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = responses();
    cases.extend(others());
    cases
}

/// A plan with one sampler per assertion, each labelled by the assertion's name.
fn each(path: &str, assertions: Vec<(&str, Node)>) -> Node {
    let mut users = group("users");
    for (label, assertion) in assertions {
        users = users.with([get(label, path).with([assertion])]);
    }
    plan([users])
}

fn responses() -> Vec<Description> {
    let covers = &["ResponseAssertion"];
    let data =
        |test_type, patterns: &[&str]| response_assertion("check", "response_data", test_type, patterns);
    let field =
        |name: &str, test_type, pattern: &str| response_assertion("check", name, test_type, &[pattern]);
    vec![
        case(
            "response-assertion-types",
            covers,
            each(
                "/page",
                vec![
                    ("contains", data(2, &["alpha=\\d"])),
                    ("contains fails", data(2, &["delta=\\d"])),
                    ("matches fails", data(1, &["<html>.*"])),
                    ("matches", data(1, &["(?s)<html>.*</html>\\s*"])),
                    ("equals fails", data(8, &["<html>"])),
                    ("substring", data(16, &["$5.00 (net) [x]"])),
                    ("substring fails", data(16, &["alpha=\\d"])),
                    ("not contains", data(6, &["delta"])),
                    ("not contains fails", data(6, &["alpha"])),
                    ("not substring fails", data(20, &["alpha"])),
                    ("not equals", data(12, &["x"])),
                    ("not matches", data(5, &["x"])),
                    ("broken pattern", data(2, &["(unclosed"])),
                    ("blank", data(2, &[""])),
                    ("no patterns", data(2, &[])),
                ],
            ),
        ),
        case(
            "response-assertion-and-or",
            covers,
            each(
                "/page",
                vec![
                    ("and", data(16, &["alpha", "beta"])),
                    ("and fails", data(16, &["alpha", "delta", "omega"])),
                    ("or", data(48, &["delta", "beta"])),
                    ("or fails", data(48, &["delta", "omega"])),
                    ("or not", data(52, &["alpha", "omega"])),
                    ("or not fails", data(52, &["alpha", "beta"])),
                    ("or contains", data(34, &["de.ta", "be.a"])),
                ],
            ),
        ),
        case(
            "response-assertion-equals",
            covers,
            each(
                "/same",
                vec![
                    ("equal", data(8, &["GET /same"])),
                    ("longer", data(8, &["GET /same and more"])),
                    ("shorter", data(8, &["GET /s"])),
                    ("differs", data(8, &["GET /some"])),
                    ("case", data(8, &["get /same"])),
                ],
            ),
        )
        .why("The message of Equals shows where the texts part."),
        case(
            "response-assertion-fields",
            covers,
            each(
                "/page",
                vec![
                    ("text", field("response_data", 16, "absent")),
                    ("document", field("response_data_as_document", 16, "absent")),
                    ("code", field("response_code", 8, "201")),
                    ("message", field("response_message", 8, "Fine")),
                    ("headers", field("response_headers", 16, "X-Absent")),
                    ("headers there", field("response_headers", 16, "Content-Type: text/html")),
                    ("request headers", field("request_headers", 16, "User-Agent: Apache")),
                    ("request headers fail", field("request_headers", 16, "X-Absent")),
                    ("url", field("sample_label", 16, "/nowhere")),
                    ("url there", field("sample_label", 16, "/page")),
                    ("request data", field("request_data", 16, "GET")),
                ],
            ),
        ),
        case(
            "response-assertion-status-line",
            covers,
            each(
                "/status/404",
                vec![
                    ("fails twice", field("response_code", 8, "200")),
                    ("ignored", field("response_code", 8, "404").set("Assertion.assume_success", true)),
                    (
                        "ignored but fails",
                        field("response_code", 8, "200").set("Assertion.assume_success", true),
                    ),
                    ("passes", field("response_code", 1, "4\\d\\d")),
                ],
            ),
        )
        .why("A passed assertion does not save a failed sample, unless the status is ignored."),
        case(
            "response-assertion-messages",
            covers,
            plan([group("users").with([
                variables("v", &[("word", "absent"), ("n", "7")]),
                get("custom", "/page").with([data(16, &["absent"])
                    .set("Assertion.custom_message", "missing ${word}: \"quoted\", comma")]),
                get("two", "/page").with([
                    data(16, &["one thing"]),
                    response_assertion("second", "response_code", 8, &["500"]),
                ]),
                get("variable", "/page").with([data(16, &["${word}${n}"])]),
                get("lines", "/page").with([data(16, &["two\nlines"])]),
                get("long", "/page").with([data(16, &["0123456789".repeat(30).as_str()])]),
            ])]),
        )
        .why("With several failed assertions the column holds the messages as recorded."),
        case(
            "response-assertion-scopes",
            covers,
            plan([group("users").with([
                variables("v", &[("text", "some text")]),
                get("parent", "/redirect/302/1").with([response_assertion(
                    "p",
                    "response_data",
                    16,
                    &["moved"],
                )]),
                get("children", "/redirect/302/1").with([response_assertion(
                    "c",
                    "response_data",
                    16,
                    &["moved"],
                )
                .set("Assertion.scope", "children")]),
                get("all", "/redirect/302/1").with([response_assertion(
                    "a",
                    "response_data",
                    16,
                    &["landed"],
                )
                .set("Assertion.scope", "all")]),
                get("variable", "/x").with([response_assertion("v", "response_data", 16, &["text"])
                    .set("Assertion.scope", "variable")
                    .set("Scope.variable", "text")]),
                get("variable fails", "/x").with([response_assertion("v", "response_data", 16, &["absent"])
                    .set("Assertion.scope", "variable")
                    .set("Scope.variable", "text")]),
            ])]),
        ),
        case(
            "assertions-at-levels",
            covers,
            plan([
                response_assertion("plan", "response_code", 16, &["4"]),
                group("users").with([
                    response_assertion("group", "response_message", 16, &["Not"]),
                    get("both", "/x").with([response_assertion("own", "response_data", 16, &["absent"])]),
                    get("not found", "/status/404"),
                ]),
            ]),
        )
        .why("Assertions of all levels apply, the nearest first or last as recorded."),
    ]
}

fn others() -> Vec<Description> {
    let path = |label: &'static str, path: &str, expected: Option<&str>, regex: bool| {
        (label, json_assertion("json", path, expected, regex))
    };
    let holding = [
        ("json", "/json", json_assertion("json", "$.id", None, false)),
        (
            "jmes",
            "/json",
            Node::new("JMESPathAssertion", "JMESPathAssertionGui", "jmes")
                .set("JMES_PATH", "id")
                .set("JSONVALIDATION", false)
                .set("EXPECTED_VALUE", "")
                .set("EXPECT_NULL", false)
                .set("INVERT", false)
                .set("ISREGEX", true),
        ),
        (
            "xpath",
            "/xml",
            Node::new("XPathAssertion", "XPathAssertionGui", "xpath")
                .set("XPath.negate", false)
                .set("XPath.xpath", "//*")
                .set("XPath.validate", false)
                .set("XPath.whitespace", false)
                .set("XPath.tolerant", false)
                .set("XPath.namespace", false),
        ),
        (
            "beanshell",
            "/page",
            Node::new("BeanShellAssertion", "BeanShellAssertionGui", "beanshell")
                .set("BeanShellAssertion.query", "int sum = 1 + 1;")
                .set("BeanShellAssertion.filename", "")
                .set("BeanShellAssertion.parameters", "")
                .set("BeanShellAssertion.resetInterpreter", false),
        ),
        ("size", "/page", size_assertion("size", "response_data", "0", 3)),
    ];
    vec![
        case(
            "duration-assertion",
            &["DurationAssertion"],
            plan([group("users").with([
                get("quick", "/quick").with([duration_assertion("long", "10000")]),
                get("slow", "/slow/300").with([duration_assertion("short", "100")]),
                get("zero", "/quick").with([duration_assertion("zero", "0")]),
            ])]),
        )
        .mask("took [0-9,]+ milliseconds", "took {MS} milliseconds")
        .why("Zero means no limit."),
        case(
            "size-assertion",
            &["SizeAssertion"],
            each(
                "/bytes/100",
                vec![
                    ("equal", size_assertion("size", "response_data", "100", 1)),
                    ("equal fails", size_assertion("size", "response_data", "99", 1)),
                    ("not equal fails", size_assertion("size", "response_data", "100", 2)),
                    ("greater fails", size_assertion("size", "response_data", "100", 3)),
                    ("less fails", size_assertion("size", "response_data", "100", 4)),
                    ("at least", size_assertion("size", "response_data", "100", 5)),
                    ("at most fails", size_assertion("size", "response_data", "10", 6)),
                    ("headers", size_assertion("size", "response_headers", "10", 4)),
                    ("code", size_assertion("size", "response_code", "3", 1)),
                    ("message", size_assertion("size", "response_message", "3", 1)),
                    ("whole", size_assertion("size", "response_network_size", "100", 1)),
                ],
            ),
        ),
        case(
            "json-assertion",
            &["JSONPathAssertion"],
            each(
                "/json",
                vec![
                    path("exists", "$.id", None, false),
                    path("missing", "$.missing", None, false),
                    path("number", "$.id", Some("42"), false),
                    path("number fails", "$.id", Some("43"), false),
                    path("regex", "$.name", Some("Z.*"), true),
                    path("regex fails", "$.name", Some("o"), true),
                    path("equals", "$.name", Some("Zoë"), false),
                    path("ratio", "$.ratio", Some("1.5"), false),
                    path("list", "$.tags", Some("[\"a\",\"b\",\"c\"]"), false),
                    path("list element", "$.tags[*]", Some("b"), false),
                    path("list element fails", "$.tags[*]", Some("z"), false),
                    path("object", "$.store.bicycle", Some("{\"color\":\"red\",\"price\":19.95}"), false),
                    path("boolean", "$.yes", Some("true"), false),
                    path("empty list", "$.empty", None, false),
                    path("filter without match", "$.store.book[?(@.price > 1000)]", None, false),
                    path("bad path", "$.[", None, false),
                    ("inverted", json_assertion("json", "$.missing", None, false).set("INVERT", true)),
                    ("inverted fails", json_assertion("json", "$.id", Some("42"), false).set("INVERT", true)),
                    ("null", json_assertion("json", "$.none", Some(""), false).set("EXPECT_NULL", true)),
                    ("null fails", json_assertion("json", "$.id", Some(""), false).set("EXPECT_NULL", true)),
                    ("not null", json_assertion("json", "$.none", Some("x"), false)),
                ],
            ),
        ),
        case(
            "assertion-empty-messages",
            &["JSONPathAssertion", "JMESPathAssertion", "XPathAssertion", "BeanShellAssertion", "ResponseAssertion"],
            plan([group("users").with(holding.map(|(name, path, holds)| {
                get(name, path).with([holds, response_assertion("fails", "response_data", 16, &["not there"])])
            })).with([listener("SimpleDataWriter", "all", "all.xml", &[("xml", true), ("assertions", true)])])]),
        )
        .why("An assertion that holds may have an empty message all the same: the row of the CSV file then has that one, and none of those that follow."),
        case(
            "json-assertion-not-json",
            &["JSONPathAssertion"],
            each("/page", vec![path("page", "$.id", None, false)]),
        )
        .why("The message is the parser's."),
    ]
}
