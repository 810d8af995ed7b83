//! Controllers of plugins, and what hands texts from user to user.

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};
use busyhour_standin::Order;

/// What jmeter-plugins share.
const COMMON: &str = "kg.apc:jmeter-plugins-cmn-jmeter:0.8";
const FIFO: [&str; 2] = ["kg.apc:jmeter-plugins-fifo:0.2", COMMON];
const PARAMETERIZED: [&str; 2] = ["kg.apc:jmeter-plugins-prmctl:0.4", COMMON];
const PARALLEL: [&str; 2] = ["com.blazemeter:jmeter-parallel:0.12", COMMON];
const WEIGHTED: [&str; 2] = ["com.blazemeter:jmeter-plugins-wsc:0.7", COMMON];

pub fn cases() -> Vec<Description> {
    let mut cases = parameterized();
    cases.extend(weighted());
    cases.extend(queues());
    cases.extend(parallel());
    cases
}

fn arguments(items: &[(&str, &str)]) -> Value {
    let items = items.iter().map(|(name, value)| {
        let properties = [("Argument.name", *name), ("Argument.value", *value), ("Argument.metadata", "=")];
        let properties = properties.map(|(key, value)| (key.to_owned(), value.into())).to_vec();
        ((*name).to_owned(), Value::Element("Argument", properties))
    });
    Value::Element("Arguments", vec![("Arguments.arguments".into(), Value::List(items.collect()))])
}

fn parameterized() -> Vec<Description> {
    let controller = |name: &str, items: &[(&str, &str)]| {
        controller(
            "kg.apc.jmeter.control.ParameterizedController",
            "kg.apc.jmeter.control.ParameterizedControllerGui",
            name,
        )
        .set("ParameterizedController", arguments(items))
    };
    let action = |name: &str, items: &[(&str, &str)]| {
        Node::new(
            "kg.apc.jmeter.control.sampler.SetVariablesAction",
            "kg.apc.jmeter.control.sampler.SetVariablesActionGui",
            name,
        )
        .set("SetVariablesAction", arguments(items))
    };
    vec![
        case(
            "parameterized-controller",
            &["kg.apc.jmeter.control.ParameterizedController", "kg.apc.jmeter.control.sampler.SetVariablesAction"],
            plan([loops("users", "2").with([
                variables("vars", &[("a", "1"), ("b", "2")]),
                controller("first", &[("a", "x"), ("c", "${b}"), ("${a}", "named")]).with([
                    get("one", "/one?a=${a}&b=${b}&c=${c}&x=${x}"),
                    action("set", &[("a", "set"), ("b", "${a}"), ("d", "${__threadNum}")]),
                    get("two", "/two?a=${a}&b=${b}&c=${c}&d=${d}"),
                ]),
                get("after", "/after?a=${a}&b=${b}&c=${c}&d=${d}"),
                controller("nothing in it", &[("e", "set all the same")]),
                get("end", "/end?e=${e}"),
                controller("counts", &[("n", "${__counter(TRUE,)}")]).with([get("n1", "/n?n=${n}"), simple("inner").with([get("n2", "/n?n=${n}")]), get("n3", "/n?n=${n}")]),
            ])]),
        )
        .plugins(&PARAMETERIZED)
        .why("The controller sets its variables whenever it is asked for its next sampler, the action when it is passed."),
    ]
}

fn weighted() -> Vec<Description> {
    let switch = |name: &str, rows: &[(&str, &str)]| {
        let rows = rows
            .iter()
            .enumerate()
            .map(|(at, (child, weight))| (at.to_string(), texts(&[child, weight, "true"])));
        controller(
            "com.blazemeter.jmeter.control.WeightedSwitchController",
            "com.blazemeter.jmeter.control.WeightedSwitchControllerGui",
            name,
        )
        .set("Weights", Value::List(rows.collect()))
        .set("IsRandomChoice", false)
    };
    vec![
        case(
            "weighted-switch",
            &["com.blazemeter.jmeter.control.WeightedSwitchController"],
            plan([loops("users", "10").with([
                switch("flat", &[("a", "5"), ("b", "3"), ("c", "2")]).with([
                    get("a", "/a"),
                    simple("b").with([get("b1", "/b1"), get("b2", "/b2")]),
                    get("c", "/c"),
                ]),
                get("end", "/end"),
            ])]),
        )
        .plugins(&WEIGHTED)
        .why("Each pass goes to the child that is furthest behind its share."),
        case(
            "weighted-switch-nested",
            &[
                "com.blazemeter.jmeter.control.WeightedSwitchController",
                "TransactionController",
                "LoopController",
            ],
            plan([loops("users", "6").with([
                switch("outer", &[("t", "1"), ("l", "${__P(unset,1)}"), ("w", "1")]).with([
                    transaction("t", true, false).with([get("t1", "/t1"), get("t2", "/t2")]),
                    loop_controller("l", "2").with([get("l1", "/l1?i=${__jm__l__idx}")]),
                    switch("w", &[("x", "1"), ("y", "1")]).with([
                        get("x", "/x"),
                        transaction("y", false, false).with([
                            get("y1", "/y1"),
                            counter("n", "1", "", "1", "n"),
                            get("y2", "/y2?n=${n}"),
                        ]),
                    ]),
                ]),
                switch("one row", &[("only", "7")])
                    .with([simple("only")
                        .with([get("only", "/only"), once("once").with([get("once", "/once")])])]),
                get("end", "/end"),
            ])]),
        )
        .plugins(&WEIGHTED),
    ]
}

fn queues() -> Vec<Description> {
    let put = |queue: &str, value: &str| {
        Node::new(
            "kg.apc.jmeter.modifiers.FifoPutPostProcessor",
            "kg.apc.jmeter.modifiers.FifoPutPostProcessorGui",
            "put",
        )
        .set("FifoName", queue)
        .set("Value", value)
    };
    let pop = |queue: &str, variable: &str, timeout_s: &str| {
        Node::new(
            "kg.apc.jmeter.modifiers.FifoPopPreProcessor",
            "kg.apc.jmeter.modifiers.FifoPopPreProcessorGui",
            "pop",
        )
        .set("FifoName", queue)
        .set("Variable", variable)
        .set("Timeout", timeout_s)
    };
    vec![
        case(
            "fifo-between-groups",
            &["kg.apc.jmeter.modifiers.FifoPutPostProcessor", "kg.apc.jmeter.modifiers.FifoPopPreProcessor"],
            plan([
                loops("reader", "2").with([get("read", "/read?x=${x}").with([pop("q", "x", "")])]),
                loops("writer", "2").with([
                    action("wait", 1, 0, "500"),
                    get("write", "/write")
                        .with([put("q", "v${__counter(TRUE,)}"), constant_timer("t", "200")]),
                ]),
                group("in vain").with([
                    variables("vars", &[("y", "before")]),
                    action("wait", 1, 0, "2000"),
                    get("nothing", "/nothing?y=${__V(y,unset)}").with([pop("empty", "y", "1")]),
                    get("not at all", "/nothing?z=${__V(z,unset)}").with([pop("empty", "z", "0")]),
                ]),
            ]),
        )
        .mask_columns(&["grpThreads", "allThreads"])
        .plugins(&FIFO),
        case(
            "function-fifo",
            &["__fifoPut", "__fifoGet", "__fifoPop", "__fifoSize"],
            plan([group("users").with([
                get("put", "/put?a=${__fifoPut(q,one)}&b=${__fifoPut(q,two)}&n=${__fifoSize(q,n)}"),
                get("get", "/get?n=${n}&a=${__fifoGet(q,x)}&b=${__fifoGet(q)}&e=${__fifoGet(empty)}."),
                get("pop", "/pop?x=${x}&a=${__fifoPop(q,y)}&b=${__fifoPop(q)}&n=${__fifoSize(q)}"),
                get("none", "/none?y=${y}&a=${__fifoPop(q,y)}"),
                get("after", "/after?y=${__V(y,unset)}"),
            ])]),
        )
        .property("kg.apc.jmeter.functions.FifoTimeout", "0")
        .plugins(&FIFO),
    ]
}

fn parallel() -> Vec<Description> {
    let parallel = |name: &str, parent: bool| {
        Node::new(
            "com.blazemeter.jmeter.controller.ParallelSampler",
            "com.blazemeter.jmeter.controller.ParallelControllerGui",
            name,
        )
        .set("PARENT_SAMPLE", parent)
    };
    // The threads have the plugin's names.
    let masked = |case: Description| {
        case.order(Order::Any).mask_columns(&["grpThreads", "allThreads", "threadName"]).plugins(&PARALLEL)
    };
    vec![
        masked(case(
            "parallel-controller",
            &["com.blazemeter.jmeter.controller.ParallelSampler"],
            plan([loops("users", "2").with([
                variables("vars", &[("v", "1")]),
                counter("n", "1", "", "1", "n"),
                parallel("side by side", false).with([
                    get("a", "/slow/300?v=${v}&n=${n}").with([regex("found", "(slow)", "$1$", "1", "none")]),
                    simple("b").with([get("b1", "/slow/100?b1"), get("b2", "/b2?v=${v}")]),
                    loop_controller("c", "2").with([get("c", "/c?i=${__jm__c__idx}")]),
                    get("fails", "/status/500"),
                ]),
                get("after", "/after?found=${found}"),
            ])]),
        )),
        masked(case(
            "parallel-controller-parent",
            &["com.blazemeter.jmeter.controller.ParallelSampler", "ResponseAssertion"],
            plan([
                loops("users", "2").with([
                    parallel("together ${__threadNum}", true)
                        .set("LIMIT_MAX_THREAD_NUMBER", true)
                        .set("MAX_THREAD_NUMBER", 2)
                        .with([
                            get("a", "/slow/100"),
                            simple("b").with([get("b1", "/b1"), get("b2", "/b2")]),
                            get("c", "/c"),
                        ]),
                    get("after", "/after"),
                ]),
                group("failing").with([
                    parallel("one fails", true).with([get("ok", "/ok"), get("fails", "/status/500")]),
                    parallel("assertion", true).with([
                        get("ok", "/ok"),
                        get("fine", "/fine").with([response_assertion(
                            "no",
                            "Assertion.response_data",
                            2,
                            &["nowhere"],
                        )]),
                    ]),
                    get("end", "/end"),
                ]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )),
        masked(case(
            "parallel-controller-flow",
            &[
                "com.blazemeter.jmeter.controller.ParallelSampler",
                "TransactionController",
                "ResultAction",
                "TestAction",
                "CookieManager",
            ],
            plan([
                loops("jumps", "2").with([
                    parallel("side by side", false).with([
                        simple("leaves").with([
                            get("fails", "/status/500").with([controller(
                                "ResultAction",
                                "ResultActionGui",
                                "next",
                            )
                            .set("OnError.action", 4)]),
                            get("never", "/never"),
                        ]),
                        get("finishes", "/slow/200"),
                        simple("breaks").with([action("break", 5, 0, "0"), get("never", "/never")]),
                    ]),
                    get("never", "/never"),
                ]),
                loops("transactions", "1").with([
                    transaction("around", false, false).with([
                        get("before", "/before"),
                        parallel("both", false).with([
                            get("a", "/slow/100"),
                            transaction("inside", false, false).with([get("b", "/b")]),
                        ]),
                    ]),
                    transaction("parent", true, false).with([
                        parallel("together", true).with([get("c", "/c"), get("d", "/d")]),
                        parallel("apart", false).with([get("e", "/e")]),
                        get("f", "/f"),
                    ]),
                ]),
                group("cookies").with([
                    cookies("jar", &[]),
                    get("first", "/set-cookie/one/1"),
                    parallel("both", false).with([
                        simple("set").with([get("set", "/set-cookie/two/2"), get("own", "/own")]),
                        get("without", "/slow/300?late"),
                    ]),
                    get("after", "/after"),
                ]),
                loops("stops", "2").with([
                    parallel("stop", false).with([
                        simple("s").with([action("stop", 0, 0, "0"), get("never", "/never")]),
                        get("finishes", "/slow/150"),
                    ]),
                    get("never", "/never"),
                ]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )),
    ]
}
