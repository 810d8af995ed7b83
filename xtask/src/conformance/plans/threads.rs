//! Thread groups: users, loops, order, scheduler, what happens on errors.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = groups();
    cases.extend(on_error());
    cases.extend(schedules());
    cases
}

fn threads(name: &str, threads: &str, count: &str) -> Node {
    loops(name, count).set("ThreadGroup.num_threads", threads)
}

fn groups() -> Vec<Description> {
    vec![
        case(
            "threads-side-by-side",
            &["ThreadGroup", "__threadNum"],
            plan([threads("users", "3", "2").with([
                get("a", "/a?t=${__threadNum}&i=${__jm__users__idx}"),
                get("b", "/b?t=${__threadNum}"),
            ])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("The loop index of a thread group goes by the group's name."),
        case(
            "threads-from-properties",
            &["ThreadGroup", "__P"],
            plan([threads("users", "${__P(USERS,1)}", "${__P(LOOPS,3)}")
                .set("ThreadGroup.ramp_time", "${__P(RAMP,0)}")
                .with([get("a", "/a?t=${__threadNum}")])]),
        )
        .property("USERS", "2")
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"]),
        case(
            "threads-ramp-up",
            &["ThreadGroup"],
            plan([threads("users", "4", "1").set("ThreadGroup.ramp_time", "2").with([get("a", "/a?t=${__threadNum}")])]),
        )
        .why("Users start half a second apart, so they come one after another."),
        case(
            "threads-delayed-start",
            &["ThreadGroup"],
            plan([threads("users", "4", "1")
                .set("ThreadGroup.ramp_time", "2")
                .set("ThreadGroup.delayedStart", true)
                .with([get("a", "/a?t=${__threadNum}")])]),
        ),
        case(
            "threads-none",
            &["ThreadGroup"],
            plan([threads("nobody", "0", "1").with([get("no", "/no")]), group("users").with([get("a", "/a")])]),
        )
        .why("A group without users still takes its number: the next one is 2."),
        case(
            "threads-no-loops",
            &["ThreadGroup"],
            plan([threads("users", "1", "0").with([get("no", "/no")]), group("others").with([get("a", "/a")])]),
        ),
        case(
            "groups-serialized",
            &["TestPlan", "ThreadGroup"],
            plan([
                loops("first", "2").with([get("a", "/a")]),
                loops("second", "2").with([get("b", "/b")]),
                group("third").with([get("c", "/c?name=${__threadGroupName}")]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        ),
        case(
            "groups-side-by-side",
            &["ThreadGroup", "__threadGroupName"],
            plan([
                loops("first", "2").with([get("a", "/a?g=${__threadGroupName}")]),
                loops("second", "3").with([get("b", "/b?g=${__threadGroupName}")]),
            ]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"]),
        case(
            "groups-setup-teardown",
            &["SetupThreadGroup", "PostThreadGroup", "__setProperty", "__property"],
            plan([
                teardown_group("down").with([get("bye", "/bye?p=${__property(made)}")]),
                group("users").with([get("work", "/work?p=${__P(made)}")]),
                setup_group("up 1").with([get("init", "/init?x=${__setProperty(made,yes)}")]),
                setup_group("up 2").with([get("init2", "/init2?p=${__P(made,not)}")]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .why("Set-up groups come first whatever their place, tear-down groups last; each kind is numbered by itself."),
        case(
            "same-user-next-iteration",
            &["ThreadGroup", "CookieManager"],
            plan([loops("users", "3").with([cookies("jar", &[]), get("set", "/set-cookie/a/1"), get("use", "/use")])]),
        )
        .why("The same user: connection and cookies stay."),
        case(
            "new-user-next-iteration",
            &["ThreadGroup", "CookieManager", "CacheManager"],
            plan([loops("users", "3").set("ThreadGroup.same_user_on_next_iteration", false).with([
                cookies("jar", &[]).set("CookieManager.controlledByThreadGroup", true),
                cache("cache").set("CacheManager.controlledByThread", true),
                get("before", "/before"),
                get("set", "/set-cookie/a/1"),
                get("etag", "/cache/etag"),
                get("use", "/use"),
            ])]),
        )
        .why("A new user each iteration: new connection; cookies and cache are cleared when they are under the group's control."),
        case(
            "new-user-uncontrolled",
            &["ThreadGroup", "CookieManager"],
            plan([loops("users", "2").set("ThreadGroup.same_user_on_next_iteration", false).with([
                cookies("jar", &[]),
                get("before", "/before"),
                get("set", "/set-cookie/a/1"),
            ])]),
        ),
        case(
            "same-user-legacy-default",
            &["ThreadGroup"],
            plan([threads("users", "1", "2").with([get("a", "/a"), get("b", "/b")])]),
        )
        .property("httpclient.reset_state_on_thread_group_iteration", "false"),
        case(
            "thread-variables-survive-iterations",
            &["ThreadGroup", "RegexExtractor"],
            plan([loops("users", "3").with([
                variables("v", &[("n", "start")]),
                get("a", "/seq?n=${n}").with([regex("n", "seq=(\\d+);", "$1$", "1", "none")]),
            ])]),
        )
        .why("User defined variables are set once, not at each iteration."),
    ]
}

fn on_error() -> Vec<Description> {
    let failing = |name: &str, action: &str| {
        loops(name, "2").set("ThreadGroup.on_sample_error", action).with([
            get("a", "/a"),
            loop_controller("loop", "2").with([get("bad", "/status/503"), get("in", "/in")]),
            get("b", "/b"),
        ])
    };
    let two = |action: &str| {
        plan([
            failing("users", action),
            group("next").with([get("next", "/next")]),
            teardown_group("down").with([get("down", "/down")]),
        ])
        .set("TestPlan.serialize_threadgroups", true)
        .set("TestPlan.tearDown_on_shutdown", true)
    };
    let covers = &["ThreadGroup"];
    vec![
        case("on-error-continue", covers, two("continue")),
        case("on-error-start-next-loop", covers, two("startnextloop")),
        case("on-error-stop-thread", covers, two("stopthread")),
        case("on-error-stop-test", covers, two("stoptest")),
        case("on-error-stop-test-now", covers, two("stoptestnow")),
        case(
            "on-error-stop-test-no-teardown",
            &["ThreadGroup", "PostThreadGroup"],
            plan([failing("users", "stoptest"), teardown_group("down").with([get("down", "/down")])]),
        )
        .why("Without tearDown_on_shutdown a stopped test leaves its tear-down groups out."),
        case(
            "on-error-assertion",
            &["ThreadGroup", "ResponseAssertion"],
            plan([loops("users", "2").set("ThreadGroup.on_sample_error", "startnextloop").with([
                get("a", "/a").with([response_assertion("no", "response_data", 16, &["absent"])]),
                get("b", "/b"),
            ])]),
        )
        .why("A failed assertion is an error like any other."),
        case(
            "on-error-transaction",
            &["ThreadGroup", "TransactionController"],
            plan([loops("users", "2").set("ThreadGroup.on_sample_error", "startnextloop").with([
                transaction("plain", false, false).with([get("bad", "/status/500"), get("rest", "/rest")]),
                get("after", "/after"),
            ])]),
        )
        .why("A transaction that an error cuts short still writes its sample."),
        case(
            "on-error-transaction-parent",
            &["ThreadGroup", "TransactionController"],
            plan([loops("users", "2").set("ThreadGroup.on_sample_error", "startnextloop").with([
                transaction("parent", true, false).with([get("bad", "/status/500"), get("rest", "/rest")]),
                get("after", "/after"),
            ])]),
        ),
        case(
            "on-error-in-setup",
            &["SetupThreadGroup"],
            plan([
                setup_group("up")
                    .set("ThreadGroup.on_sample_error", "stoptest")
                    .with([get("bad", "/status/500")]),
                group("users").with([get("a", "/a")]),
            ]),
        )
        .why("A set-up group that stops the test lets no other group start."),
        case(
            "result-status-actions",
            &["ResultAction"],
            plan([
                loops("stop thread", "2")
                    .with([get("bad", "/status/500").with([result_action(1)]), get("never", "/never")]),
                loops("next loop", "2")
                    .with([get("bad", "/status/500").with([result_action(4)]), get("never", "/never")]),
                loops("break", "1").with([
                    loop_controller("loop", "3")
                        .with([get("bad", "/status/500").with([result_action(6)]), get("never", "/never")]),
                    get("after", "/after"),
                ]),
                loops("go on", "1")
                    .with([get("bad", "/status/500").with([result_action(0)]), get("after", "/after")]),
                loops("stop", "2")
                    .with([get("bad", "/status/500").with([result_action(2)]), get("never", "/never")]),
                loops("not started", "2").with([get("never", "/never")]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        ),
    ]
}

fn result_action(action: i32) -> Node {
    controller("ResultAction", "ResultActionGui", "on failure").set("OnError.action", action)
}

fn schedules() -> Vec<Description> {
    vec![
        case(
            "forever-until-stopped",
            &["ThreadGroup", "TestAction"],
            plan([loops("users", "-1").with([
                get("a", "/a?i=${__jm__users__idx}"),
                if_expression("third", "${__jexl3(${__jm__users__idx} == 2)}").with([action("stop", 0, 0, "")]),
            ])]),
        ),
        case(
            "scheduler-duration",
            &["ThreadGroup"],
            plan([loops("users", "-1")
                .set("ThreadGroup.scheduler", true)
                .set("ThreadGroup.duration", "1")
                .with([get("a", "/a").with([constant_timer("pace", "20")])])]),
        )
        .setting(|s| s.collapse = true)
        .why("Forever, but for one second."),
        case(
            "scheduler-delay",
            &["ThreadGroup"],
            plan([
                late("60"),
                loops("early", "1").with([get("early", "/early")]),
            ]),
        )
        .mask_columns(&["allThreads"]),
        case(
            "scheduler-no-duration",
            &["ThreadGroup"],
            plan([
                late(""),
                group("others").with([get("others", "/others")]),
            ]),
        )
        .why("With the scheduler on, a blank or zero duration is an error: the group does not start, the others do."),
        case(
            "scheduler-loops-end-first",
            &["ThreadGroup"],
            plan([loops("users", "2")
                .set("ThreadGroup.scheduler", true)
                .set("ThreadGroup.duration", "30")
                .with([get("a", "/a")])]),
        ),
        case(
            "scheduler-off",
            &["ThreadGroup"],
            plan([loops("users", "2").set("ThreadGroup.duration", "1").set("ThreadGroup.delay", "50").with([get("a", "/a")])]),
        )
        .why("Without the scheduler flag duration and delay mean nothing."),
    ]
}

fn late(duration: &str) -> Node {
    group("late")
        .set("ThreadGroup.scheduler", true)
        .set("ThreadGroup.duration", duration)
        .set("ThreadGroup.delay", "1")
        .with([get("late", "/late")])
}
