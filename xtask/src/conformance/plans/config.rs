//! Configuration elements that give values: variables, counters, data sets, user parameters.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = variable_sources();
    cases.extend(data_sets());
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
