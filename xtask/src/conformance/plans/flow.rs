//! Controllers that choose, end or hold users, modules and included files, and what meets, waits and interrupts.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = choices();
    cases.extend(reactions());
    cases.extend(modules());
    cases.extend(meetings());
    cases.extend(interrupts());
    cases
}

fn switch(name: &str, value: &str) -> Node {
    controller("SwitchController", "SwitchControllerGui", name).set("SwitchController.value", value)
}

fn runtime(name: &str, seconds: &str) -> Node {
    controller("RunTime", "RunTimeGui", name).set("RunTime.seconds", seconds)
}

fn on_failure(name: &str, action: i32) -> Node {
    controller("ResultAction", "ResultActionGui", name).set("OnError.action", action)
}

fn module(name: &str, path: &[&str]) -> Node {
    controller("ModuleController", "ModuleControllerGui", name).set("ModuleController.node_path", texts(path))
}

fn include(name: &str, file: &str) -> Node {
    controller("IncludeController", "IncludeControllerGui", name).set("IncludeController.includepath", file)
}

fn fragment(name: &str) -> Node {
    Node::new("TestFragmentController", "TestFragmentControllerGui", name)
}

fn critical(name: &str, lock: &str) -> Node {
    controller("CriticalSectionController", "CriticalSectionControllerGui", name)
        .set("CriticalSectionController.lockName", lock)
}

fn sync_timer(name: &str, size: i32, timeout_ms: i64) -> Node {
    Node::new("SyncTimer", "TestBeanGUI", name).set("groupSize", size).set("timeoutInMs", timeout_ms)
}

fn sample_timeout(name: &str, ms: &str) -> Node {
    Node::new("SampleTimeout", "SampleTimeoutGui", name).set("InterruptTimer.timeout", ms)
}

fn failing(name: &str) -> Node {
    get(name, "/status/500")
}

fn pause(name: &str, ms: &str) -> Node {
    action(name, 1, 0, ms)
}

fn threads(group: Node, threads: &str, ramp_up_s: &str) -> Node {
    group.set("ThreadGroup.num_threads", threads).set("ThreadGroup.ramp_time", ramp_up_s)
}

fn choices() -> Vec<Description> {
    vec![
        case(
            "switch-selections",
            &["SwitchController"],
            plan([loops("users", "2").with([
                variables("vars", &[("name", "gamma"), ("blank", " ")]),
                switch("no child of the name", "Nobody").with([get("a", "/a1"), get("b", "/b1")]),
                switch("a default", "Nobody").with([get("a", "/a2"), simple("DEFAULT").with([get("b", "/b2"), get("c", "/c2")])]),
                switch("blank", "${blank}").with([get("a", "/a3"), get("b", "/b3")]),
                switch("beyond", "7").with([get("a", "/a4"), get("b", "/b4")]),
                switch("negative", "-1").with([get("a", "/a5"), get("b", "/b5")]),
                switch("a name that varies", "gamma").with([get("a", "/a6"), get("${name}", "/b6")]),
                switch("too large", "99999999999").with([get("a", "/a7"), get("b", "/b7")]),
                switch("unset", "${unset}").with([get("a", "/a8"), get("b", "/b8")]),
                switch("empty", "0"),
                get("after", "/after"),
            ])]),
        )
        .why("Names are compared to the letter, only `default` is not; a blank is the first child, a number beyond the last, too."),
        case(
            "switch-children-that-end",
            &["SwitchController", "OnceOnlyController", "LoopController"],
            plan([loops("users", "4").with([
                switch("one that ends", "1").with([
                    get("zero", "/zero"),
                    loop_controller("never", "0").with([get("never", "/never")]),
                    get("two", "/two"),
                    get("three", "/three"),
                ]),
                switch("once", "once").with([get("first", "/first"), once("once").with([get("once", "/once")]), get("last", "/last")]),
                loop_controller("deep", "2").with([switch("in a loop", "${__jm__deep__idx}").with([get("d0", "/d0"), get("d1", "/d1")])]),
            ])]),
        )
        .why("What stands behind a child that has nothing to do does not run."),
        case(
            "runtime-controller",
            &["RunTime"],
            plan([loops("users", "2").with([
                runtime("two seconds", "2").with([get("in", "/in"), pause("pause", "750")]),
                runtime("none", "0").with([get("never", "/never")]),
                runtime("no number", "x").with([get("never", "/never")]),
                runtime("one second", "${__P(unset,1)}").with([
                    once("once").with([get("once", "/once")]),
                    loop_controller("loop", "2").with([get("l", "/l"), pause("pause", "400")]),
                ]),
                get("after", "/after"),
            ])]),
        )
        .why("The time is looked at before each sample: a sample that has begun ends, the pass it is in does not."),
    ]
}

fn reactions() -> Vec<Description> {
    let loop_of = |name: &str, action: i32| {
        loops(name, "2").with([
            loop_controller("loop", "2").with([
                simple("inside").with([
                    failing("fails").with([on_failure("handler", action)]),
                    get("behind", &format!("/behind{action}")),
                ]),
                get("rest", &format!("/rest{action}")),
            ]),
            get("end", &format!("/end{action}")),
        ])
    };
    vec![
        case(
            "result-status-each-action",
            &["ResultAction"],
            plan([loop_of("continue", 0), loop_of("stop thread", 1), loop_of("next thread loop", 4), loop_of("next of loop", 5), loop_of("break", 6), loop_of("unknown", 9)])
                .set("TestPlan.serialize_threadgroups", true),
        ),
        case(
            "result-status-stop-test",
            &["ResultAction"],
            plan([loop_of("stop test", 2), loop_of("never", 0)]).set("TestPlan.serialize_threadgroups", true),
        ),
        case(
            "result-status-stop-test-now",
            &["ResultAction"],
            plan([loop_of("stop now", 3), loop_of("never", 0)]).set("TestPlan.serialize_threadgroups", true),
        ),
        case(
            "result-status-in-scope",
            &["ResultAction", "TransactionController", "ResponseAssertion"],
            plan([
                loops("of the group", "2").with([
                    on_failure("group's", 1),
                    transaction("parent", true, false).with([failing("fails"), get("goes on", "/on1")]),
                    get("after", "/after1"),
                ]),
                loops("of the transaction's child", "2").with([
                    transaction("parent", true, false).with([
                        simple("inside").with([on_failure("inner", 4), failing("fails"), get("never", "/never2")]),
                    ]),
                    get("never", "/never2"),
                ]),
                loops("two handlers", "2").with([
                    failing("fails").with([on_failure("near", 4)]),
                    get("never", "/never3"),
                    on_failure("far", 1),
                ]),
                loops("assertion", "2").with([
                    get("ok", "/body").with([response_assertion("no", "Assertion.response_data", 2, &["nowhere"]), on_failure("h", 1)]),
                    get("never", "/never4"),
                ]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .why("A handler is a listener: around a parent transaction it sees the transaction's sample and does nothing; assertions count."),
    ]
}

fn modules() -> Vec<Description> {
    let included = bare_plan([
        variables("outside the fragment", &[("outside", "not read")]),
        fragment("first").off().with([
            variables("inside", &[("inside", "read")]),
            get("one", "/inc/one?o=${outside}&i=${inside}&v=${v}"),
            get("off", "/inc/off").off(),
            module("no module", &["Test Plan", "Test Plan", "first"]),
            include("deeper", "deeper.jmx"),
        ]),
        fragment("second").with([get("never", "/never")]),
    ])
    .document();
    let deeper = bare_plan([fragment("deep").with([
        get("deep", "/inc/deep?v=${v}"),
        counter("c", "1", "", "1", "c"),
        get("c", "/inc/c?c=${c}"),
    ])])
    .document();
    vec![
        case(
            "module-controller",
            &["ModuleController", "TestFragmentController"],
            plan([
                fragment("parts").off().with([
                    headers("of the fragment", &[("X-Fragment", "1")]),
                    simple("login").with([get("in", "/login"), get("off", "/off").off(), counter("n", "1", "", "1", "n")]),
                    simple("double").with([get("first", "/first")]),
                    simple("double").with([get("second", "/second?n=${n}")]),
                    loop_controller("disabled", "2").off().with([get("loop", "/loop?i=${__jm__disabled__idx}")]),
                    simple("nested").with([module("inner", &["Test Plan", "Test Plan", "parts", "double"])]),
                ]),
                loops("users", "2").with([
                    module("m1", &["Test Plan", "Test Plan", "parts", "login"]),
                    module("m2", &["anything", "Test Plan", "parts", "double"])
                        .with([get("own child", "/own"), headers("own header", &[("X-Own", "1")])]),
                    module("m3", &["Test Plan", "Test Plan", "parts", "disabled"]),
                    module("m4", &["Test Plan", "Test Plan", "parts", "login"]),
                    module("m5", &["Test Plan", "Test Plan", "parts", "nested"]),
                    module("m6", &["Test Plan", "Test Plan", "parts"]),
                    module("off", &["Test Plan", "Test Plan", "parts", "login"]).off(),
                    headers("of the group", &[("X-Group", "1")]),
                    simple("local").with([get("local", "/local")]),
                    module("m7", &["Test Plan", "Test Plan", "users", "local"]),
                ]),
            ]),
        )
        .why("A copy of the target, enabled, stands below each Module Controller in place of its own children; of targets of one name the last; what stands beside the target stays behind."),
        case(
            "include-controller",
            &["IncludeController", "TestFragmentController"],
            plan([loops("users", "2").with([
                variables("vars", &[("v", "here")]),
                include("first", "included.jmx"),
                include("again", "included.jmx").with([get("own child", "/own")]),
                get("after", "/after?i=${inside}"),
            ])]),
        )
        .file("included.jmx", included)
        .file("deeper.jmx", deeper)
        .why("The children of the first Test Fragment, also of one that is disabled; what else the file holds is not read. Its own modules run nothing."),
    ]
}

fn meetings() -> Vec<Description> {
    vec![
        case(
            "critical-section",
            &["CriticalSectionController"],
            plan([
                group("first").with([
                    critical("one", "lock").with([
                        get("a in", "/a-in"),
                        pause("pause", "900"),
                        get("a out", "/a-out"),
                    ]),
                    pause("p", "300"),
                    get("a end", "/a-end"),
                ]),
                group("second").with([
                    pause("late", "300"),
                    critical("other", "${__P(unset,lock)}").with([
                        get("b in", "/b-in"),
                        critical("again", "lock").with([get("b inner", "/b-inner")]),
                        get("b out", "/b-out"),
                    ]),
                ]),
                group("third").with([
                    pause("late", "600"),
                    critical("another lock", "free").with([get("c in", "/c-in")]),
                    critical("no lock", "").with([get("c none", "/c-none")]),
                ]),
            ]),
        )
        .mask_columns(&["grpThreads", "allThreads"])
        .why("One lock for all groups; a thread takes a lock that it holds again."),
        case(
            "critical-section-left",
            &["CriticalSectionController", "LoopController", "ThreadGroup"],
            plan([
                loops("first", "2").set("ThreadGroup.on_sample_error", "startnextloop").with([critical(
                    "one", "lock",
                )
                .with([get("a in", "/a-in"), failing("leaves"), get("never", "/never")])]),
                group("second").with([
                    pause("late", "500"),
                    critical("one", "lock").with([
                        get("b in", "/b-in"),
                        action("stop", 0, 0, "0"),
                        get("never", "/never"),
                    ]),
                ]),
                group("third")
                    .with([pause("later", "900"), critical("one", "lock").with([get("c in", "/c-in")])]),
            ]),
        )
        .mask_columns(&["grpThreads", "allThreads"])
        .why("A jump out of the section, and the end of the thread, give the lock back."),
        case(
            "synchronizing-timer",
            &["SyncTimer"],
            plan([threads(loops("users", "2"), "2", "1").with([
                get("before", "/before?t=${__threadNum}"),
                get("together", "/together").with([sync_timer("two", 2, 0)]),
            ])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"]),
        case(
            "synchronizing-timer-whole-group",
            &["SyncTimer"],
            plan([threads(group("users"), "3", "1").with([
                get("before", "/before?t=${__threadNum}"),
                get("together", "/together")
                    .with([sync_timer("all", 0, 0), constant_timer("and a pause", "100")]),
            ])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"]),
        case(
            "synchronizing-timer-timeout",
            &["SyncTimer"],
            plan([group("users")
                .with([get("alone", "/alone").with([sync_timer("three", 3, 300)]), get("after", "/after")])]),
        ),
        case(
            "synchronizing-timer-scheduled",
            &["SyncTimer"],
            plan([group("users")
                .set("ThreadGroup.scheduler", true)
                .set("ThreadGroup.duration", "1")
                .with([get("alone", "/alone").with([sync_timer("three", 3, 0)]), get("after", "/after")])]),
        )
        .why("Nobody waits beyond the end of the schedule; the sample is made then."),
    ]
}

fn interrupts() -> Vec<Description> {
    vec![
        case(
            "sample-timeout",
            &["SampleTimeout"],
            plan([group("users").with([
                get("slow", "/slow/3000").with([
                    sample_timeout("limit", "400"),
                    response_assertion("body", "Assertion.response_data", 2, &["RequestAborted|Socket"]),
                ]),
                get("quick", "/quick"),
                get("beside", "/slow/900"),
                pause("no sample", "600"),
                get("after", "/after"),
            ])]),
        )
        .why("A time limit holds for all samplers of its thread group, wherever it stands."),
        case(
            "sample-timeout-values",
            &["SampleTimeout"],
            plan([
                group("none").with([
                    sample_timeout("zero", "0"),
                    sample_timeout("no number", "x"),
                    get("slow", "/slow/500"),
                ]),
                group("a variable").with([
                    variables("vars", &[("limit", "300")]),
                    sample_timeout("long", "5000"),
                    sample_timeout("limit", "${limit}"),
                    get("slow", "/slow/2000"),
                ]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        ),
    ]
}
