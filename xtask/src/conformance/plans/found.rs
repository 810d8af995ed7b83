//! What running real plans beside JMeter has taught: each case is a difference that was mended.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = requests();
    cases.extend(old_plans());
    cases
}

fn old_upload(name: &str, field: &str) -> Node {
    request("POST", name, "/up")
        .set("HTTPSampler.FILE_NAME", "${__P(CASE)}/up.txt")
        .set("HTTPSampler.FILE_FIELD", field)
        .set("HTTPSampler.mimetype", "text/plain")
}

/// Plans as JMeter 2 wrote them.
fn old_plans() -> Vec<Description> {
    let debug = |name: &str| {
        Node::new("DebugSampler", "TestBeanGUI", name)
            .set("displayJMeterProperties", false)
            .set("displayJMeterVariables", true)
            .set("displaySystemProperties", false)
    };
    let bench = |text: String, children: &str| {
        let bench = "    <WorkBench guiclass=\"WorkBenchGui\" testclass=\"WorkBench\" testname=\"WorkBench\" enabled=\"true\">\n      \
                     <boolProp name=\"WorkBench.save\">true</boolProp>\n    </WorkBench>\n";
        let end = "  </hashTree>\n</jmeterTestPlan>";
        let tree = format!("    <hashTree>\n{children}    </hashTree>\n");
        text.replace(end, &format!("{bench}{tree}{end}"))
    };
    let http = "<HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"on the bench\">\
                <stringProp name=\"HTTPSampler.domain\">${__P(HOST)}</stringProp><stringProp name=\"HTTPSampler.port\">${__P(PORT)}</stringProp>\
                <stringProp name=\"HTTPSampler.path\">/bench</stringProp><stringProp name=\"HTTPSampler.method\">GET</stringProp>\
                </HTTPSamplerProxy><hashTree/>\n";
    let bench_group = group("bench users").with([get("one", "http://${__P(HOST)}:${__P(PORT)}/bench")]);
    let bench_group = bare_plan([bench_group]).document();
    let from = bench_group.find("<ThreadGroup").unwrap_or(0);
    let bench_group = bench_group[from..].replace("    </hashTree>\n  </hashTree>\n</jmeterTestPlan>\n", "");
    vec![
        case("debug-before-http", &["DebugSampler"], plan([group("users").with([debug("a"), get("b", "/b"), debug("c")])]))
            .why("JMeter keeps a token among the variables once a server has answered")
            .property("jmeter.save.saveservice.samplerData", "false"),
        case("old-workbench", &["WorkBench"], plan([group("users").with([get("a", "/a")])]))
            .why("a sampler left on the workbench is nothing")
            .edit(|text| bench(text, http)),
        case("old-workbench-group", &["WorkBench"], plan([group("users").with([get("a", "/a")])]))
            .why("a thread group left on the workbench runs in JMeter, and its samples are written, too")
            .order(Order::Connections)
            .mask_columns(&["allThreads"])
            .edit(|text| bench(text, &bench_group)),
        case(
            "old-properties",
            &["ThreadGroup", "HTTPSamplerProxy"],
            plan([group("users").with([
                old_upload("as body", "").set("HTTPSampler.path", "/body"),
                old_upload("as a part", "field"),
                request("POST", "name alone", "/body").set("HTTPSampler.FILE_NAME", "${__P(CASE)}/up.txt"),
                get("typed", "/a"),
                headers("headers", &[("X-Old", "1")]),
            ])]),
        )
        .why(
            "numbers by tags of their own, schedules of JMeter 2 that nobody reads any more, elements without `enabled`, \
             full class names, a header named by its element; the file that JMeter 2 named in the sampler itself is not sent \
             any more",
        )
        .file("up.txt", "old")
        .mask("boundary=[-_A-Za-z0-9]{20,}", "boundary={B}")
        .mask("--[-_A-Za-z0-9]{25,}--\r\n\\z", "--{B}-- at the end")
        .mask("--[-_A-Za-z0-9]{25,}", "--{B}")
        .mask("^Content-Length: [0-9]{3}$", "Content-Length: {N}")
        .mask_columns(&["sentBytes"])
        .edit(|text| {
            text.replace(" enabled=\"true\"", "")
                .replace(
                    "<stringProp name=\"ThreadGroup.num_threads\">1</stringProp>",
                    "<intProp name=\"ThreadGroup.num_threads\">1</intProp>\n        \
                     <longProp name=\"ThreadGroup.start_time\">1136214245000</longProp>\n        \
                     <longProp name=\"ThreadGroup.end_time\">1136214245000</longProp>",
                )
                .replace(
                    "<stringProp name=\"LoopController.loops\">1</stringProp>",
                    "<intProp name=\"LoopController.loops\">2</intProp>",
                )
                .replace("testclass=\"ThreadGroup\"", "testclass=\"org.apache.jmeter.threads.ThreadGroup\"")
                .replace("elementType=\"Header\"", "elementType=\"org.apache.jmeter.protocol.http.control.Header\"")
                .replace("<stringProp name=\"Header.name\">", "<stringProp name=\"TestElement.name\">")
        }),
        case(
            "http-implementation-java",
            &["HTTPSamplerProxy"],
            plan([group("users").with([
                get("java", "/a").set("HTTPSampler.implementation", "Java"),
                raw("POST", "post", "/body", "x").set("HTTPSampler.implementation", "Java"),
            ])]),
        )
        .why("Java's own HTTP client: other headers in another order, nothing known of the bytes sent"),
        case("old-http-tags", &["HTTPSampler", "HTTPSampler2"], plan([group("users").with([get("a", "/a"), get("b", "/b")])]))
            .why("HTTPSampler2 is HttpClient's; a HTTPSampler would be Java's own client")
            .edit(|text| text.replace("HTTPSamplerProxy", "HTTPSampler2")),
    ]
}

fn requests() -> Vec<Description> {
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
