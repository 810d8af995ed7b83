//! Elements that look at JSON by other paths than the JSON Extractor's, that compare, that stop the test, and variables
//! from a file: JMESPath, the JSON elements of jmeter-plugins, Compare Assertion, AutoStop, Variables From CSV File.

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};

/// The plugins in the form in which Maven Central has them.
const EXTRAS: [&str; 3] = [
    "kg.apc:jmeter-plugins-extras:1.4.0",
    "kg.apc:jmeter-plugins-extras-libs:1.4.0",
    "kg.apc:jmeter-plugins-common:1.4.0",
];

pub fn cases() -> Vec<Description> {
    vec![
        jmes_extractor_case(),
        jmes_assertion_case(),
        plugin_extractor_case(),
        plugin_assertion_case(),
        compare_case(),
        variables_case(),
        stops_on_errors(),
        stops_on_times(),
    ]
}

const DOCUMENT: &str = r#"{"a":{"b":[{"c":1,"n":"x"},{"c":2.50,"n":"y"},{"c":3,"n":null}]},"s":"text","t":true,"z":null,"e":[],"big":12345678901234567890,"k y":"blank","o":{"p":1,"q":[1,2]}}"#;

fn document(nodes: Vec<Node>) -> Node {
    nodes.into_iter().fold(raw("POST", "document", "/body", DOCUMENT), |sampler, node| sampler.with([node]))
}

/// A request whose body shows the variables.
fn show(names: &[&str]) -> Node {
    let body: Vec<String> = names.iter().map(|name| format!("{name}=[${{{name}}}]")).collect();
    raw("POST", "show", "/body", &body.join("\n"))
}

fn jmes(variable: &str, path: &str, number: &str) -> Node {
    Node::new("JMESPathExtractor", "JMESPathExtractorGui", variable)
        .set("JMESExtractor.referenceName", variable)
        .set("JMESExtractor.jmesPathExpr", path)
        .set("JMESExtractor.matchNumber", number)
        .set("JMESExtractor.defaultValue", "none")
}

fn jmes_extractor_case() -> Description {
    let paths = [
        ("a", "a.b[*].c", "-1"),
        ("b", "a.b[1].c", "1"),
        ("c", "a.b[?c > `1`].n", "1"),
        ("d", "s", ""),
        ("e", "missing", "1"),
        ("f", "z", "1"),
        ("g", "e", "-1"),
        ("h", "o", "1"),
        ("i", "length(a.b)", "1"),
        ("j", "\"k y\"", "1"),
        ("k", "big", "1"),
        ("l", "a.b[*].n", "3"),
        ("m", "a.b[*].c", "9"),
        ("n", "a.b[", "1"),
        ("o", "a.b[*].c | [1]", "1"),
        ("p", "{x: s, y: t}", "1"),
        ("q", "a.b[-1].c", "1"),
        ("r", "sort_by(a.b, &c)[0].c", "1"),
        ("s", "join(',', a.b[?n].n)", "1"),
        ("t", "t", "1"),
    ];
    let nodes = paths.iter().map(|(variable, path, number)| jmes(variable, path, number)).collect();
    let names: Vec<&str> = paths.iter().map(|(variable, ..)| *variable).collect();
    let more =
        ["a_1", "a_2", "a_3", "a_matchNr", "b_matchNr", "g_matchNr", "e_matchNr", "l_matchNr", "m_matchNr"];
    case(
        "jmespath-extractor",
        &["JMESPathExtractor"],
        plan([group("users").with([
            document(nodes),
            show(&[names.as_slice(), &more].concat()),
            raw("POST", "no JSON", "/body", "no JSON").with([jmes("a", "a", "1")]),
            show(&["a", "a_1", "a_matchNr"]),
            variables("v", &[("doc", "[\"first\",\"second\"]")]),
            get("variable", "/any")
                .with([jmes("b", "[1]", "1").set("Sample.scope", "variable").set("Scope.variable", "doc")]),
            show(&["b"]),
        ])]),
    )
}

fn jmes_assertion(path: &str, expected: Option<&str>, is_regex: bool) -> Node {
    Node::new("JMESPathAssertion", "JMESPathAssertionGui", "jmes")
        .set("JMES_PATH", path)
        .set("EXPECTED_VALUE", expected.unwrap_or_default())
        .set("JSONVALIDATION", expected.is_some())
        .set("EXPECT_NULL", false)
        .set("INVERT", false)
        .set("ISREGEX", is_regex)
}

fn each(assertions: Vec<(&str, Node)>) -> Node {
    let request = |(name, assertion): (&str, Node)| raw("POST", name, "/body", DOCUMENT).with([assertion]);
    plan([assertions.into_iter().map(request).fold(group("users"), |group, node| group.with([node]))])
}

fn jmes_assertion_case() -> Description {
    case(
        "jmespath-assertion",
        &["JMESPathAssertion"],
        each(vec![
            ("exists", jmes_assertion("s", None, false)),
            ("missing", jmes_assertion("missing", None, false)),
            ("null", jmes_assertion("z", None, false)),
            ("value", jmes_assertion("s", Some("text"), false)),
            ("other value", jmes_assertion("s", Some("texts"), false)),
            ("pattern", jmes_assertion("s", Some("te.*"), true)),
            ("other pattern", jmes_assertion("s", Some("e"), true)),
            ("number", jmes_assertion("a.b[1].c", Some("2.5"), false)),
            ("list", jmes_assertion("a.b[*].n", Some("[\"x\",\"y\",null]"), false)),
            ("element of a list", jmes_assertion("a.b[*].n", Some("y"), false)),
            ("empty list", jmes_assertion("e", None, false)),
            ("object", jmes_assertion("o", Some("{\"p\":1,\"q\":[1,2]}"), false)),
            ("expected null", jmes_assertion("z", Some(""), false).set("EXPECT_NULL", true)),
            ("expected null fails", jmes_assertion("s", Some(""), false).set("EXPECT_NULL", true)),
            ("inverted", jmes_assertion("missing", None, false).set("INVERT", true)),
            ("inverted fails", jmes_assertion("s", Some("text"), false).set("INVERT", true)),
            ("true", jmes_assertion("t", Some("true"), false)),
        ]),
    )
}

const PLUGIN_EXTRACTOR: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor";

fn plugin_json(variable: &str, path: &str) -> Node {
    const GUI: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.gui.JSONPathExtractorGui";
    Node::new(PLUGIN_EXTRACTOR, GUI, variable)
        .set("VAR", variable)
        .set("JSONPATH", path)
        .set("DEFAULT", "none")
        .set("VARIABLE", "")
        .set("SUBJECT", "BODY")
}

fn plugin_extractor_case() -> Description {
    let paths = [
        ("a", "$.a.b[*].c"),
        ("b", "$.a.b[1].c"),
        ("c", "$.s"),
        ("d", "$.missing"),
        ("e", "$.z"),
        ("f", "$.e"),
        ("g", "$.o.p"),
        ("h", "$.t"),
        ("i", "$.big"),
        ("j", "$..n"),
        ("k", "$.a.b[?(@.c > 1)].n"),
        ("l", "$.["),
        ("m", "$.a.b.length()"),
        ("n", "$['k y']"),
        ("o", "$.nothing[*]"),
    ];
    let nodes = paths.iter().map(|(variable, path)| plugin_json(variable, path)).collect();
    let names: Vec<&str> = paths.iter().map(|(variable, _)| *variable).collect();
    case(
        "plugin-json-extractor",
        &[PLUGIN_EXTRACTOR],
        plan([group("users").with([
            document(nodes),
            show(&[names.as_slice(), &["a_1", "a_2", "a_3", "a_matchNr", "k_1", "b_1"]].concat()),
            raw("POST", "no JSON", "/body", "no JSON").with([plugin_json("c", "$.s")]),
            show(&["c"]),
            variables("v", &[("doc", "{\"x\":\"from a variable\"}")]),
            get("variable", "/any")
                .with([plugin_json("c", "$.x").set("SUBJECT", "VAR").set("VARIABLE", "doc")]),
            show(&["c"]),
        ])]),
    )
    .plugins(&EXTRAS)
    .why(
        "Later releases of the plugin, which are followed here, show objects as JSON and count nothing as 0.",
    )
}

const PLUGIN_ASSERTION: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion";

fn plugin_assertion(path: &str, expected: Option<&str>) -> Node {
    const GUI: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.gui.JSONPathAssertionGui";
    Node::new(PLUGIN_ASSERTION, GUI, "json")
        .set("JSON_PATH", path)
        .set("EXPECTED_VALUE", expected.unwrap_or_default())
        .set("JSONVALIDATION", expected.is_some())
        .set("EXPECT_NULL", false)
        .set("INVERT", false)
}

fn plugin_assertion_case() -> Description {
    case(
        "plugin-json-assertion",
        &[PLUGIN_ASSERTION],
        each(vec![
            ("exists", plugin_assertion("$.s", None)),
            ("missing", plugin_assertion("$.missing", None)),
            ("value", plugin_assertion("$.s", Some("text"))),
            ("other value", plugin_assertion("$.s", Some("texts"))),
            ("pattern", plugin_assertion("$.s", Some("te.*"))),
            ("number", plugin_assertion("$.a.b[1].c", Some("2.5"))),
            ("whole number", plugin_assertion("$.a.b[0].c", Some("1"))),
            ("element of a list", plugin_assertion("$.a.b[*].n", Some("y"))),
            ("no element of a list", plugin_assertion("$.a.b[*].n", Some("w"))),
            ("list", plugin_assertion("$.o.q", Some("[1,2]"))),
            ("object", plugin_assertion("$.o", Some("{\"p\":1,\"q\":[1,2]}"))),
            ("true", plugin_assertion("$.t", Some("true"))),
            ("null", plugin_assertion("$.z", Some("")).set("EXPECT_NULL", true)),
            ("null fails", plugin_assertion("$.s", Some("")).set("EXPECT_NULL", true)),
            ("inverted", plugin_assertion("$.missing", None).set("INVERT", true)),
            ("inverted fails", plugin_assertion("$.s", Some("text")).set("INVERT", true)),
            ("no path", plugin_assertion("$.[", None)),
        ]),
    )
    .plugins(&EXTRAS)
    .mask_columns(&["failureMessage"])
    .why("Later releases of the plugin, which are followed here, have other words.")
}

fn compare(name: &str) -> Node {
    Node::new("CompareAssertion", "TestBeanGUI", name)
        .set("compareContent", true)
        .set("compareTime", -1_i64)
        .set("stringsToSkip", Value::List(Vec::new()))
}

fn compare_case() -> Description {
    let skipped = |regex: &str, substitute: &str| {
        let properties =
            vec![("regex".to_owned(), regex.into()), ("substitute".to_owned(), substitute.into())];
        (String::new(), Value::Element("SubstitutionElement", properties))
    };
    let said = |name: &str, text: &str| raw("POST", name, "/body", text);
    case(
        "compare-assertion",
        &["CompareAssertion"],
        plan([
            loops("content", "2").with([
                compare("all"),
                said("first", "one ${__threadNum}"),
                said("same", "one 1"),
                said("other", "two"),
                said("again", "one 1"),
            ]),
            group("substituted").with([
                compare("numbers do not matter").set(
                    "stringsToSkip",
                    Value::List(vec![skipped("[0-9]+", "N"), skipped("(b)lue", "red")]),
                ),
                said("first", "item 17 blue"),
                said("same", "item 4 red"),
                said("other", "item x red"),
            ]),
            group("times").with([
                compare("alone").set("compareContent", false).set("compareTime", 100_i64),
                get("quick", "/quick"),
                get("slow", "/slow/300"),
                get("quick again", "/quick"),
            ]),
        ])
        .set("TestPlan.serialize_threadgroups", true),
    )
    .why("Once two of an iteration differ, all that follow in it fail.")
}

fn variables_case() -> Description {
    case(
        "variables-from-csv",
        &["kg.apc.jmeter.config.VariablesFromCSV"],
        plan([
            Node::new(
                "kg.apc.jmeter.config.VariablesFromCSV",
                "kg.apc.jmeter.config.VariablesFromCSVGui",
                "variables",
            )
            .set("variablesPrefix", "p_")
            .set("filename", "${__P(CASE)}/variables.csv")
            .set("delimiter", ";")
            .set("skipLines", 1)
            .set("storeSysProp", false),
            group("users").with([show(&[
                "p_first", "p_second", "p_third", "p_bare", "p_two", "p_ blank ", "p_blank", "p_quoted", "p_last", "p_name", "p_",
            ])]),
        ]),
    )
    .file(
        "variables.csv",
        "name;value\nfirst;1\nsecond; two words \nthird;\nbare\n\ntwo;a;b\n blank ;x\nquoted;\"q;r\"\nfirst;again\n;nameless\nlast;${__P(HOST)}",
    )
    .plugins(&EXTRAS)
}

fn auto_stop() -> Node {
    Node::new("kg.apc.jmeter.reporters.AutoStop", "kg.apc.jmeter.reporters.AutoStopGui", "stop")
        .set("avg_response_time", "0")
        .set("avg_response_time_length", "1")
        .set("error_rate", "0")
        .set("error_rate_length", "1")
        .set("avg_response_latency", "0")
        .set("avg_response_latency_length", "1")
}

/// Endless requests, with pauses between them.
///
/// The plugin stops JMeter by a packet to `port`: at the usual one it would stop whoever listens there first.
fn endless(name: &'static str, port: &str, path: &str, stop: Node) -> Description {
    case(
        name,
        &["kg.apc.jmeter.reporters.AutoStop"],
        plan([loops("users", "-1").with([get("again", path), constant_timer("pause", "100"), stop])]),
    )
    .plugins(&EXTRAS)
    .property("jmeterengine.nongui.port", port)
    .property("jmeterengine.nongui.maxport", port)
    .setting(|settings| settings.collapse = true)
}

fn stops_on_errors() -> Description {
    let stop = auto_stop().set("error_rate", "50").set("error_rate_length", "1");
    endless("auto-stop-errors", "45871", "/status/500", stop).why("The plan would never end by itself.")
}

fn stops_on_times() -> Description {
    let stop = auto_stop().set("avg_response_time", "30").set("avg_response_time_length", "1");
    endless("auto-stop-times", "45872", "/slow/60", stop)
}
