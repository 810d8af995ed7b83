//! Listeners that write XML, and those that save what was received.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

/// Whatever an XML file can show.
const EVERYTHING: [(&str, bool); 9] = [
    ("xml", true),
    ("responseData", true),
    ("samplerData", true),
    ("responseHeaders", true),
    ("requestHeaders", true),
    ("encoding", true),
    ("sampleCount", true),
    ("fileName", true),
    ("fieldNames", false),
];

const COVERS: &[&str] = &["ResultCollector"];

pub fn cases() -> Vec<Description> {
    let mut cases = xml();
    cases.extend(saved());
    cases.extend(of_plugins());
    cases
}

fn writer(name: &str, file: &str, changed: &[(&'static str, bool)]) -> Node {
    listener("SimpleDataWriter", name, file, changed)
}

fn xml() -> Vec<Description> {
    let everything = || writer("all", "all.xml", &EVERYTHING);
    vec![
        case(
            "listener-xml-requests",
            COVERS,
            plan([group("users").with([
                cookies("jar", &[("given", "a+b", "127.0.0.1", "/")]),
                arg(arg(request("POST", "form", "/body"), "a", "1 & 2", true), "b", "<c>", false),
                raw(
                    "POST",
                    "raw",
                    "/body",
                    "line 1\nline 2 ${__char(9)}tab ${__char(13)} ${__char(1)} \u{e9}\u{20ac}",
                ),
                raw("PUT", "put", "/body", "x"),
                request("HEAD", "head", "/page"),
                request("DELETE", "delete", "/x"),
                get("sets", "/set-cookie/later/1"),
                get("sends", "/after?a=1&b=%20"),
                get("latin", "/latin1"),
                get("page without charset", "/meta"),
                get("picture", "/image"),
                get("empty", "/status/204"),
                everything(),
            ])]),
        )
        .why("Cookies, method and body sent stand apart; data that is no text is not shown."),
        case(
            "listener-xml-redirects",
            COVERS,
            plan([group("users").with([
                request("POST", "followed", "/redirect/302/2"),
                request("POST", "inside the client", "/redirect/302/2")
                    .set("HTTPSampler.follow_redirects", false)
                    .set("HTTPSampler.auto_redirects", true),
                get("not followed", "/redirect/301/1").set("HTTPSampler.follow_redirects", false),
                request("POST", "kept", "/redirect/307/1"),
                everything(),
            ])]),
        ),
        case(
            "listener-xml-on-error",
            COVERS,
            plan([group("users").with([
                get("good", "/good"),
                get("bad", "/status/500"),
                raw("POST", "asserted", "/body", "sent").with([response_assertion(
                    "no",
                    "response_data",
                    2,
                    &["absent"],
                )]),
                transaction("t", false, false).with([get("in", "/status/404")]),
                transaction("p", true, false)
                    .with([get("in parent", "/status/404"), get("good in parent", "/good")]),
                writer(
                    "on error",
                    "on-error.xml",
                    &[("xml", true), ("responseDataOnError", true), ("url", false)],
                ),
            ])]),
        )
        .why("Response data on errors brings what was sent along."),
        case(
            "listener-xml-failures",
            COVERS,
            plan([group("users").with([
                get("refused", "/x").set("HTTPSampler.port", "1"),
                get("illegal", "/a b|c"),
                get("unknown protocol", "/x").set("HTTPSampler.protocol", "gopher"),
                get("after", "/after"),
                writer("failures", "failures.xml", &[("xml", true), ("samplerData", true), ("bytes", false)]),
            ])]),
        ),
        case(
            "listener-xml-nested",
            COVERS,
            plan([group("users").with([
                transaction("outer", true, false).with([
                    transaction("inner", true, false).with([
                        get("redirected", "/redirect/302/1").with([response_assertion(
                            "held",
                            "response_data",
                            2,
                            &["landed"],
                        )]),
                        get("own", "/own").with([writer("own", "own.xml", &[("xml", true)])]),
                    ]),
                    get("beside", "/beside"),
                    response_assertion("of the transaction", "response_data", 2, &["a"])
                        .set("Assertion.scope", "all"),
                ]),
                writer("whole", "whole.xml", &[("xml", true)]),
                writer("flat", "flat.xml", &[("xml", true), ("subresults", false), ("assertions", false)]),
            ])]),
        ),
        case(
            "listener-xml-choice",
            COVERS,
            plan([group("users").with([
                get("good", "/good"),
                get("bad", "/status/500"),
                writer("errors", "errors.xml", &[("xml", true)]).set("ResultCollector.error_logging", true),
                writer("successes", "successes.xml", &[("xml", true)])
                    .set("ResultCollector.success_only_logging", true),
                writer("nothing", "nothing.xml", &[("xml", true), ("url", false)])
                    .set("ResultCollector.success_only_logging", true)
                    .off(),
                simple("deep").with([writer("nobody", "nobody.xml", &[("xml", true)])]),
            ])]),
        )
        .why("A file to which nothing is written has a begin and an end all the same."),
        case(
            "listener-xml-variables",
            COVERS,
            plan([loops("users", "2").with([
                counter("n", "1", "", "1", "n_1"),
                variables("v", &[("a", "<\"x\">"), ("b$c", "d")]),
                get("page", "/redirect/302/1"),
                writer("few", "few.xml", &[("xml", true), ("url", false), ("sentBytes", false)]),
            ])]),
        )
        .property("sample_variables", "n_1,a,b$c,unset,__jm__users__idx")
        .why("Variables are attributes; XStream spells their names out."),
        case(
            "listener-xml-same-file",
            COVERS,
            plan([
                loops("a", "1").with([get("one", "/one"), writer("first", "same.xml", &[("xml", true)])]),
                loops("b", "1").with([
                    get("two", "/two"),
                    writer("second", "same.xml", &[("xml", true), ("url", false), ("label", false)]),
                ]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .property("jmeter.save.saveservice.xml_pi", "<?xml-stylesheet type=\"text/xsl\" href=\"x.xsl\"?>")
        .property("jmeter.save.saveservice.autoflush", "true"),
        case(
            "results-xml-functional-mode",
            COVERS,
            plan([group("users").with([
                get("one", "/one"),
                raw("POST", "two", "/body", "sent"),
                writer("xml", "listener.xml", &[("xml", true), ("url", false)]),
                writer("csv", "listener.csv", &[("url", false)]),
            ])])
            .set("TestPlan.functional_mode", true),
        )
        .property("jmeter.save.saveservice.output_format", "xml"),
        case(
            "listener-csv-encoding",
            COVERS,
            plan([group("users").with([
                get("latin", "/latin1"),
                get("page without charset", "/meta"),
                get("bytes", "/bytes/3"),
                writer("csv", "encoding.csv", &[("encoding", true)]),
            ])]),
        )
        .why("A page may name its encoding itself."),
    ]
}

/// Listeners of jmeter-plugins that write files.
fn of_plugins() -> Vec<Description> {
    const FLEXIBLE: &str = "kg.apc.jmeter.reporters.FlexibleFileWriter";
    const COLLECTOR: &str = "kg.apc.jmeter.vizualizers.CorrectedResultCollector";
    const PLUGINS: [&str; 2] = ["kg.apc:jmeter-plugins-ffw:2.0", "kg.apc:jmeter-plugins-cmn-jmeter:0.8"];
    let columns = |name: &str, file: &str, columns: &str, overwrite: bool| {
        Node::new(FLEXIBLE, "kg.apc.jmeter.reporters.FlexibleFileWriterGui", name)
            .set("filename", format!("${{__P(OUT)}}/{file}"))
            .set("columns", columns)
            .set("overwrite", overwrite)
    };
    let graph = |file: &str, saved: &[(&'static str, bool)]| {
        writer("graph", file, saved).set("interval_grouping", "500").set("include_checkbox_state", false)
    };
    vec![
        case(
            "listener-columns",
            &[FLEXIBLE],
            plan([loops("users", "2").with([
                counter("n", "1", "", "1", "n"),
                get("one & two", "/redirect/302/1"),
                raw("POST", "bad", "/body", "x${n}").with([response_assertion("no", "response_data", 2, &["absent"])]),
                transaction("t", true, false).with([get("in", "/in")]),
                columns(
                    "all",
                    "all.txt",
                    "sampleLabel|\\t|isSuccsessful|isFailed|,|isSuccessful||responseCode|;|responseMessage|;|threadName|;|\
                     sentBytes|;|receivedBytes|;|responseSize|;|responseHeaderSize|;|sampleCount|;|errorCount|;|threadsCount|;|\
                     grpThreads|;|URL|;|variable#0|;|variable#1|;|variable#2|;|variable#x|\\n|\\r\\n",
                    false,
                )
                .set("header", "head\\tx\\n")
                .set("footer", "the end"),
                columns("data", "data.txt", "requestData|\\n|requestHeaders|\\n|responseHeaders|\\n|responseData|\\n", true),
            ])]),
        )
        .property("sample_variables", "n,unset")
        .plugins(&PLUGINS)
        .why("What is no field stands for itself, isSuccessful among it; an empty column is a bar."),
        case(
            "listener-plugin-graph",
            &[COLLECTOR],
            plan([group("users").with([
                get("one", "/one"),
                graph("graph.csv", &[("threadCounts", false), ("url", false)]),
                graph("graph.xml", &[("threadCounts", false), ("url", false), ("xml", true)]),
            ])]),
        )
        .edit(|plan| {
            plan.replace("<ResultCollector ", &format!("<{COLLECTOR} "))
                .replace("</ResultCollector>", &format!("</{COLLECTOR}>"))
                .replace("testclass=\"ResultCollector\"", &format!("testclass=\"{COLLECTOR}\""))
        })
        .plugins(&PLUGINS)
        .why("The numbers of threads are saved whatever the plan says."),
    ]
}

fn saver(name: &str, prefix: &str) -> Node {
    Node::new("ResultSaver", "ResultSaverGui", name)
        .set("FileSaver.filename", format!("${{__P(OUT)}}/{prefix}"))
        .set("FileSaver.errorsonly", false)
        .set("FileSaver.skipautonumber", false)
        .set("FileSaver.skipsuffix", false)
        .set("FileSaver.successonly", false)
}

fn saved() -> Vec<Description> {
    vec![
        case(
            "listener-save-responses",
            &["ResultSaver"],
            plan([group("users").with([
                get("text", "/text").with([saver("own", "own_")]),
                get("page", "/page"),
                get("redirected", "/redirect/302/1"),
                get("bad", "/status/500").with([
                    saver("errors", "error_${__threadNum}_").set("FileSaver.errorsonly", true),
                    saver("successes", "success_").set("FileSaver.successonly", true),
                ]),
                transaction("t", true, false).with([get("in", "/in")]),
                transaction("u", false, false).with([get("in u", "/in-u")]),
                saver("all", "all_").set("FileSaver.variablename", "file").set("FileSaver.numberPadLen", "3"),
                saver("without transactions", "some_").set("FileSaver.ignoreTC", true),
                get("shows", "/shown?file=${file}&first=${file1}&second=${file2}"),
                writer("rows", "rows.csv", &[("fileName", true)]),
                writer("elements", "elements.xml", &[("xml", true), ("fileName", true), ("url", false)]),
            ])]),
        )
        .why("Files are numbered over all samples; the variables hold the names of the sample and of those inside it."),
        case(
            "listener-save-responses-names",
            &["ResultSaver"],
            plan([group("users").with([
                get("one", "/latin1").with([saver("bare", "bare.txt")
                    .set("FileSaver.skipautonumber", true)
                    .set("FileSaver.skipsuffix", true)]),
                get("two", "/xml").with([saver("suffix", "suffix").set("FileSaver.skipautonumber", true)]),
                get("three", "/status/204").with([saver("unknown", "unknown")]),
                saver("number", "number").set("FileSaver.skipsuffix", true),
            ])]),
        ),
    ]
}
