//! Result files: the main one under its properties, those of listeners, the Debug Sampler; timers.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = save_properties();
    cases.extend(listeners());
    cases.extend(timers());
    cases
}

/// A plan whose results hold a success, a failure, an awkward label, a transaction and sub-results.
fn varied() -> Node {
    let awkward = "a, \"b\"\tc; d\ne";
    plan([group("users, \"all\"").with([
        get("plain", "/plain"),
        get(awkward, "/awkward").with([response_assertion("no", "response_data", 16, &["x, \"y\"\nz"])]),
        get("redirected", "/redirect/302/1"),
        transaction("t", false, false).with([get("in", "/status/404")]),
        transaction("p", true, false).with([get("in parent", "/bytes/10")]),
    ])])
}

const SAVE: &str = "jmeter.save.saveservice.";

fn save_properties() -> Vec<Description> {
    let covers = &["ResultCollector"];
    let with = |name: &'static str, properties: &[(&str, &str)]| {
        properties.iter().fold(case(name, covers, varied()), |case, (key, value)| {
            case.property(&format!("{SAVE}{key}"), value)
        })
    };
    vec![
        with("results-default", &[]).why("Which fields are quoted: those with delimiter, quote or line end."),
        with("results-tab", &[("default_delimiter", "\\t")]).setting(|s| s.delimiter = Some('\t')),
        with("results-semicolon", &[("default_delimiter", ";")]).setting(|s| s.delimiter = Some(';')),
        with("results-no-header", &[("print_field_names", "false")]).setting(|s| {
            let names = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
                bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";
            s.columns = names.split(',').map(str::to_owned).collect();
        }),
        with(
            "results-few-columns",
            &[
                ("bytes", "false"),
                ("sent_bytes", "false"),
                ("thread_counts", "false"),
                ("url", "false"),
                ("idle_time", "false"),
                ("connect_time", "false"),
                ("latency", "false"),
                ("data_type", "false"),
                ("assertion_results_failure_message", "false"),
                ("response_message", "false"),
                ("time", "false"),
            ],
        ),
        with(
            "results-all-columns",
            &[("hostname", "true"), ("filename", "true"), ("encoding", "true"), ("sample_count", "true")],
        ),
        with("results-no-subresults", &[("subresults", "false")]),
        with("results-timestamp-none", &[("timestamp_format", "none")]),
        with("results-timestamp-format", &[("timestamp_format", "yyyy/MM/dd HH:mm:ss.SSS")])
            .why("Only that the column is there: its text is a time."),
        case(
            "results-sample-variables",
            covers,
            plan([loops("users", "2").with([
                counter("n", "1", "", "1", "n"),
                get("page", "/page").with([regex("row", "row\">([^<]*)<", "$1$", "${n}", "")]),
                get("other", "/other?n=${n}"),
            ])]),
        )
        .property("sample_variables", "n,row,unset"),
        case(
            "results-sample-variables-spaces",
            covers,
            plan([loops("my users", "2").with([
                variables("v", &[("a", "1"), ("b", "2"), (" b", "3")]),
                get("page", "/page"),
            ])]),
        )
        .property("sample_variables", "__jm__my users__idx,a, b,,b,,")
        .why("Names are cut at commas and not trimmed; empty ones count unless they are the last."),
        with("results-xml", &[("output_format", "xml")]),
        with(
            "results-xml-everything",
            &[
                ("output_format", "xml"),
                ("response_data", "true"),
                ("samplerData", "true"),
                ("responseHeaders", "true"),
                ("requestHeaders", "true"),
                ("assertion_results", "all"),
                ("encoding", "true"),
                ("sample_count", "true"),
            ],
        ),
    ]
}

/// A listener whose save configuration names nothing but `saved`.
fn saving(name: &str, file: &str, saved: &[(&'static str, bool)]) -> Node {
    listener("SimpleDataWriter", name, file, &[]).set("saveConfig", Value::SaveConfig(saved.to_vec()))
}

fn listeners() -> Vec<Description> {
    let covers = &["ResultCollector"];
    vec![
        case(
            "listener-file",
            covers,
            plan([group("users").with([
                get("one", "/one"),
                get("two", "/status/500"),
                listener("SimpleDataWriter", "writer", "all.csv", &[]),
            ])]),
        ),
        case(
            "listener-save-config",
            covers,
            plan([group("users").with([
                get("one", "/one"),
                get("two", "/status/500").with([response_assertion("no", "response_data", 16, &["absent"])]),
                listener(
                    "ViewResultsFullVisualizer",
                    "few",
                    "few.csv",
                    &[
                        ("latency", false),
                        ("threadName", false),
                        ("url", false),
                        ("connectTime", false),
                        ("idleTime", false),
                        ("bytes", false),
                        ("sampleCount", true),
                    ],
                ),
                listener(
                    "SummaryReport",
                    "no names",
                    "names.csv",
                    &[
                        ("fieldNames", true),
                        ("message", false),
                        ("saveAssertionResultsFailureMessage", false),
                    ],
                ),
            ])]),
        ),
        case(
            "listener-save-config-absent",
            covers,
            plan([group("users").with([
                get("one", "/one"),
                get("two", "/status/500"),
                saving("few", "few.csv", &[("label", true), ("code", true), ("fieldNames", true)]),
                saving("no names", "names.csv", &[("label", true), ("bytes", true), ("success", false)]),
            ])]),
        )
        .property("jmeter.save.saveservice.hostname", "true")
        .why("What a listener's save configuration does not name is off, whatever the properties say."),
        case(
            "listener-scopes",
            covers,
            plan([
                group("users").with([
                    get("one", "/one").with([listener("SimpleDataWriter", "own", "one.csv", &[])]),
                    simple("deep")
                        .with([get("two", "/two"), listener("SimpleDataWriter", "deep", "deep.csv", &[])]),
                    get("three", "/three"),
                ]),
                listener("SimpleDataWriter", "plan", "plan.csv", &[]),
            ]),
        )
        .why("A listener hears the samplers at and below its parent."),
        case(
            "listener-errors-only",
            covers,
            plan([group("users").with([
                get("one", "/one"),
                get("two", "/status/500"),
                listener("SimpleDataWriter", "errors", "errors.csv", &[])
                    .set("ResultCollector.error_logging", true),
                listener("SimpleDataWriter", "successes", "successes.csv", &[])
                    .set("ResultCollector.success_only_logging", true),
            ])]),
        ),
        case(
            "listener-xml",
            covers,
            plan([group("users").with([
                get("one & <two>", "/one?a=1&b=2"),
                get("two", "/status/500").with([response_assertion(
                    "no \"way\"",
                    "response_data",
                    16,
                    &["absent <&>"],
                )]),
                get("redirected", "/redirect/302/1"),
                transaction("t", true, false).with([get("in", "/in")]),
                listener("ViewResultsFullVisualizer", "xml", "all.xml", &[("xml", true)]),
            ])]),
        ),
        case(
            "listener-same-file",
            covers,
            plan([
                loops("a", "1")
                    .with([get("one", "/one"), listener("SimpleDataWriter", "first", "same.csv", &[])]),
                loops("b", "1")
                    .with([get("two", "/two"), listener("SimpleDataWriter", "second", "same.csv", &[])]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        ),
        case(
            "listener-without-file",
            covers,
            plan([group("users").with([
                get("one", "/one"),
                listener("ViewResultsFullVisualizer", "View Results Tree", "", &[]),
                listener("StatVisualizer", "Aggregate Report", "", &[]),
                listener("TableVisualizer", "View Results in Table", "", &[]).off(),
            ])]),
        ),
        case(
            "debug-sampler",
            &["DebugSampler", "ResultCollector"],
            plan([group("users").with([
                variables("v", &[("b", "2"), ("a", "one & two"), ("c", "x\ny")]),
                get("page", "/page").with([regex("row", "row\">(\\w+)=", "$1$", "-1", "none")]),
                debug("Debug ${b}"),
                listener(
                    "SimpleDataWriter",
                    "writer",
                    "debug.xml",
                    &[
                        ("xml", true),
                        ("responseData", true),
                        ("samplerData", true),
                        ("responseHeaders", true),
                    ],
                ),
            ])]),
        )
        .mask("(START\\.[A-Z]+|TESTSTART\\.MS)=[0-9-]+", "$1={START}")
        .mask(" by=\"[0-9]+\"", " by=\"{BYTES}\"")
        .mask_columns(&["bytes"])
        .mask("org\\.apache\\.jmeter\\.threads\\.[A-Za-z]+@[0-9a-f]+", "{OBJECT}"),
        case(
            "debug-sampler-values",
            &["DebugSampler", "RegexExtractor"],
            plan([loops("users", "2").with([
                variables("v", &[("a", "1")]),
                debug("debug").with([
                    regex("seen", "(?m)^a=(.*)$", "$1$", "1", "none"),
                    regex("thread", "(START\\.\\w+)=", "$1$", "-1", ""),
                ]),
                raw("POST", "show", "/body", "${seen} ${thread_matchNr} ${thread_1} ${thread_2} ${thread_3}"),
            ])]),
        )
        .mask_columns(&["bytes"]),
        case(
            "debug-sampler-new-user",
            &["DebugSampler", "ThreadGroup"],
            plan([loops("users", "2").set("ThreadGroup.same_user_on_next_iteration", false).with([
                debug("debug").with([regex("same", "__jmv_SAME_USER=(.*)", "$1$", "1", "none")]),
                get("show", "/show?same=${same}"),
            ])]),
        )
        .why("What is kept among the variables says whether iterations go on as the same user.")
        .mask_columns(&["bytes"]),
        case(
            "debug-sampler-options",
            &["DebugSampler"],
            plan([group("users").with([
                debug("nothing").set("displayJMeterVariables", false),
                debug("properties")
                    .set("displayJMeterVariables", false)
                    .set("displayJMeterProperties", true)
                    .with([regex("p", "(?m)^GIVEN=(.*)$", "$1$", "1", "none")]),
                raw("POST", "show", "/body", "${p}"),
            ])]),
        )
        .property("GIVEN", "x")
        .mask_columns(&["bytes"]),
    ]
}

fn timers() -> Vec<Description> {
    let named = |tag, gui, name: &str, delay: &str, range: &str| {
        Node::new(tag, gui, name).set("ConstantTimer.delay", delay).set("RandomTimer.range", range)
    };
    let throughput_timer = |mode: i32, per_minute: &str| {
        Node::new("ConstantThroughputTimer", "TestBeanGUI", "throughput")
            .set("calcMode", mode)
            .set("throughput", per_minute)
    };
    vec![
        case(
            "timers",
            &["ConstantTimer", "UniformRandomTimer", "GaussianRandomTimer", "PoissonRandomTimer"],
            plan([loops("users", "2").with([
                constant_timer("constant", "5"),
                named("UniformRandomTimer", "UniformRandomTimerGui", "uniform", "1", "5.0"),
                named("GaussianRandomTimer", "GaussianRandomTimerGui", "gaussian", "3", "1.0"),
                named("PoissonRandomTimer", "PoissonRandomTimerGui", "poisson", "1", "3"),
                get("one", "/one"),
                get("two", "/two").with([constant_timer("own", "10")]),
            ])]),
        ),
        case(
            "timers-order",
            &["ConstantTimer", "UserParameters"],
            plan([loops("users", "2").with([
                variables("v", &[("x", "start")]),
                get("one", "/one?x=${x}&y=${y}&z=${z}").with([
                    constant_timer("own", "${__intSum(1,1,z)}"),
                    user_parameters("before", &["y"], &[&["${__intSum(20,2,x)}"]], false),
                ]),
                constant_timer("group", "${__intSum(${z},1,x)}"),
            ])]),
        )
        .why(
            "Pre-processors run before timers, timers before the sampler; the order of timers of two levels.",
        ),
        case(
            "timers-scope",
            &["ConstantTimer"],
            plan([group("users").with([
                get("one", "/one?x=${x}"),
                simple("deep").with([
                    constant_timer("deep", "${__counter(FALSE,x)}"),
                    get("two", "/two?x=${x}"),
                    get("three", "/three?x=${x}"),
                ]),
                get("four", "/four?x=${x}"),
                variables("v", &[("x", "0")]),
            ])]),
        )
        .why("A timer delays each sampler at and below its parent."),
        case(
            "timers-action",
            &["TestAction", "ConstantTimer"],
            plan([group("users").with([
                variables("v", &[("x", "0")]),
                action("pause", 1, 0, "0").with([constant_timer("t", "${__counter(FALSE,x)}")]),
                get("one", "/one?x=${x}"),
            ])]),
        )
        .why("The timer of a Flow Control Action counts, though the action is no sample."),
        case(
            "timers-bad-delay",
            &["ConstantTimer"],
            plan([group("users").with([
                constant_timer("t", "${unset}"),
                constant_timer("u", ""),
                get("one", "/one"),
            ])]),
        ),
        case(
            "throughput-timer-modes",
            &["ConstantThroughputTimer"],
            plan([
                loops("this thread", "3").with([throughput_timer(0, "6000.0"), get("a", "/a")]),
                loops("all", "3").with([throughput_timer(1, "6000.0"), get("b", "/b")]),
                loops("group", "3").with([throughput_timer(2, "6000.0"), get("c", "/c")]),
                loops("all shared", "3").with([throughput_timer(3, "6000.0"), get("d", "/d")]),
                loops("group shared", "3").with([throughput_timer(4, "6000.0"), get("e", "/e")]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        ),
        case(
            "timers-many-threads",
            &["ConstantTimer", "ConstantThroughputTimer"],
            plan([loops("users", "3").set("ThreadGroup.num_threads", "3").with([
                constant_timer("t", "5"),
                get("one", "/one?t=${__threadNum}").with([throughput_timer(2, "60000.0")]),
            ])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"]),
        case(
            "transaction-timers",
            &["TransactionController", "ConstantTimer"],
            plan([group("users").with([
                transaction("with", false, true).with([constant_timer("t", "5"), get("one", "/one")]),
                transaction("without", true, false).with([constant_timer("t", "5"), get("two", "/two")]),
            ])]),
        ),
    ]
}
