//! Controllers inside controllers, and errors and flow control that leave several of them at once.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

fn interleave(name: &str, style: i32) -> Node {
    controller("InterleaveControl", "InterleaveControlGui", name)
        .set("InterleaveControl.style", style)
        .set("InterleaveControl.accrossThreads", false)
}

/// An action when the loop of the thread group is at `index`.
fn at(index: &str, action_node: Node) -> Node {
    if_expression("at", &format!("${{__jexl3(${{__jm__users__idx}} == {index})}}")).with([action_node])
}

pub fn cases() -> Vec<Description> {
    let ids = || variables("v", &[("id_1", "a"), ("id_2", "b"), ("no_1", "1"), ("no_2", "2"), ("no_3", "3")]);
    let mut cases = vec![
        case(
            "nesting-foreach-in-foreach",
            &["ForeachController"],
            plan([loops("users", "2").with([
                ids(),
                for_each("outer", "id", "x").with([
                    get("before", "/before?x=${x}"),
                    for_each("inner", "no", "y").with([get("pair", "/pair?x=${x}&y=${y}")]),
                    get("after", "/after?x=${x}&y=${y}"),
                ]),
            ])]),
        ),
        case(
            "nesting-while-in-loop",
            &["WhileController", "LoopController"],
            plan([group("users").with([loop_controller("loop", "3").with([
                while_controller("while", "${__jexl3(${__jm__while__idx} < 2)}")
                    .with([get("in", "/in?l=${__jm__loop__idx}&w=${__jm__while__idx}")]),
                get("after", "/after?l=${__jm__loop__idx}&w=${__jm__while__idx}"),
            ])])]),
        ),
        case(
            "nesting-once-only",
            &["OnceOnlyController", "TransactionController", "IfController"],
            plan([loops("users", "3").with([
                transaction("t", false, false).with([once("once").with([get("login", "/login")]), get("work", "/work")]),
                if_expression("later", "${__jexl3(${__jm__users__idx} > 0)}").with([once("once late").with([get("late", "/late")])]),
                loop_controller("loop", "2").with([simple("s").with([once("once in loop").with([get("first", "/first")])]), get("each", "/each")]),
                once("empty"),
                get("end", "/end"),
            ])]),
        )
        .why("What counts as the first time of a Once Only Controller that is not reached at first, or sits in a loop."),
        case(
            "nesting-throughput-in-loop",
            &["ThroughputController", "LoopController"],
            plan([loops("users", "3").with([loop_controller("loop", "4").with([
                throughput("half", 1, "50.0", true).with([get("half", "/half")]),
                throughput("two", 0, "2", true).with([loop_controller("deep", "2").with([get("deep", "/deep")])]),
                get("each", "/each"),
            ])])]),
        )
        .why("What an iteration is for a Throughput Controller inside a loop."),
        case(
            "nesting-interleave",
            &["InterleaveControl"],
            plan([loops("users", "6").with([
                interleave("outer", 0).with([
                    interleave("inner", 0).with([get("a", "/a"), get("b", "/b")]),
                    get("c", "/c"),
                    loop_controller("loop", "2").with([get("d", "/d")]),
                ]),
                get("end", "/end"),
            ])]),
        ),
        case(
            "nesting-interleave-sub",
            &["InterleaveControl"],
            plan([loops("users", "6").with([
                interleave("outer", 1).with([
                    interleave("inner", 1).with([get("a", "/a"), get("b", "/b")]),
                    loop_controller("loop", "2").with([get("d", "/d"), get("e", "/e")]),
                ]),
                get("end", "/end"),
            ])]),
        ),
        case(
            "nesting-interleave-if",
            &["InterleaveControl", "IfController"],
            plan([loops("users", "5").with([
                interleave("turns", 0).with([
                    if_expression("always", "true").with([get("a", "/a")]),
                    transaction("t", false, false).with([get("b", "/b")]),
                    transaction("p", true, false).with([get("c", "/c")]),
                ]),
                get("end", "/end"),
            ])]),
        )
        .why("A controller as a child takes one turn. (An If Controller that is false makes JMeter's Interleave Controller overflow its stack.)"),
        case(
            "nesting-random-order-of-groups",
            &["RandomOrderController"],
            plan([loops("users", "4").with([controller("RandomOrderController", "RandomOrderControllerGui", "shuffled").with([
                simple("s1").with([get("a1", "/s1"), get("b1", "/s1")]),
                simple("s2").with([get("a2", "/s2"), get("b2", "/s2")]),
            ])])]),
        )
        .mask("\\b([ab]|s)[12]\\b", "$1{N}")
        .why("Each sub-controller runs to its end before the next."),
        case(
            "nesting-switch",
            &["SwitchController", "TransactionController"],
            plan([loops("users", "3").with([
                controller("SwitchController", "SwitchControllerGui", "switch").set("SwitchController.value", "${__jm__users__idx}").with([
                    loop_controller("zero", "2").with([get("z", "/z")]),
                    transaction("one", false, false).with([get("o", "/o"), get("o2", "/o2")]),
                    controller("SwitchController", "SwitchControllerGui", "inner").set("SwitchController.value", "two").with([get("one", "/i1"), get("two", "/i2")]),
                ]),
                get("end", "/end"),
            ])]),
        ),
        case(
            "nesting-transactions-deep",
            &["TransactionController", "LoopController", "IfController"],
            plan([loops("users", "2").with([transaction("outer", true, false).with([
                loop_controller("loop", "2").with([
                    transaction("inner", true, false).with([get("a", "/a"), if_expression("yes", "true").with([get("b", "/b")])]),
                ]),
                simple("s").with([get("c", "/c")]),
            ])])]),
        ),
        case(
            "nesting-transaction-empty-branches",
            &["TransactionController", "IfController"],
            plan([loops("users", "2").with([
                transaction("plain", false, false).with([if_expression("no", "false").with([get("never", "/never")])]),
                transaction("parent", true, false).with([if_expression("no", "false").with([get("never", "/never")])]),
                transaction("first only", false, false).with([
                    if_expression("first", "${__jexl3(${__jm__users__idx} == 0)}").with([get("first", "/first")]),
                ]),
                get("end", "/end"),
            ])]),
        )
        .why("A transaction in which nothing ran leaves a sample without thread and counts, but none when no sampler ran before it in the thread."),
    ];
    cases.extend(leaving());
    cases
}

fn leaving() -> Vec<Description> {
    let bad = || get("bad", "/status/500");
    vec![
        case(
            "leaving-next-loop-from-depth",
            &["ThreadGroup", "LoopController", "TransactionController"],
            plan([loops("users", "2").set("ThreadGroup.on_sample_error", "startnextloop").with([
                get("start", "/start"),
                transaction("t", false, false).with([loop_controller("loop", "2").with([
                    simple("s").with([get("in", "/in?i=${__jm__loop__idx}"), bad(), get("never", "/never")])
                ])]),
                get("end", "/end"),
            ])]),
        )
        .why("Controllers that an error leaves begin anew in the next iteration."),
        case(
            "leaving-foreach-and-while",
            &["ThreadGroup", "ForeachController", "WhileController"],
            plan([loops("users", "2").set("ThreadGroup.on_sample_error", "startnextloop").with([
                variables("v", &[("id_1", "a"), ("id_2", "b")]),
                for_each("each", "id", "x").with([
                    get("in", "/in?x=${x}"),
                    while_controller("while", "${__jexl3(${__jm__while__idx} < 3)}").with([
                        get("w", "/w?i=${__jm__while__idx}"),
                        if_expression("b", "${__jexl3(\"${x}\" == \"b\")}").with([bad()]),
                    ]),
                ]),
                get("end", "/end"),
            ])]),
        ),
        case(
            "leaving-interleave",
            &["ThreadGroup", "InterleaveControl"],
            plan([loops("users", "4").set("ThreadGroup.on_sample_error", "startnextloop").with([
                interleave("turns", 0).with([
                    simple("first").with([get("a", "/a"), bad(), get("never", "/never")]),
                    get("b", "/b"),
                ]),
                get("end", "/end"),
            ])]),
        )
        .why("After an error the turn goes on, and a group left half-way goes on where it was left."),
        case(
            "leaving-next-of-current-loop",
            &["TestAction", "LoopController", "TransactionController"],
            plan([loops("users", "2").with([
                loop_controller("outer", "2").with([transaction("t", false, false).with([
                    loop_controller("inner", "2").with([
                        get("a", "/a?o=${__jm__outer__idx}&i=${__jm__inner__idx}"),
                        action("next", 4, 0, ""),
                        get("never", "/never"),
                    ]),
                    get("after inner", "/after-inner"),
                    action("next outer", 4, 0, ""),
                    get("never", "/never"),
                ])]),
                get("end", "/end"),
            ])]),
        )
        .why("The current loop is the nearest loop around, through a transaction."),
        case(
            "leaving-break-in-transaction",
            &["TestAction", "TransactionController"],
            plan([loops("users", "2").with([
                loop_controller("outer", "3").with([
                    transaction("plain", false, false).with([
                        get("a", "/a"),
                        action("break", 5, 0, ""),
                        get("never", "/never"),
                    ]),
                    get("never", "/never"),
                ]),
                loop_controller("outer 2", "3").with([transaction("parent", true, false).with([
                    get("b", "/b"),
                    action("break", 5, 0, ""),
                    get("never", "/never"),
                ])]),
                get("end", "/end"),
            ])]),
        ),
        case(
            "leaving-break-at-top",
            &["TestAction", "ThreadGroup"],
            plan([loops("users", "3").with([
                get("a", "/a"),
                at("1", action("break", 5, 0, "")),
                get("b", "/b"),
            ])]),
        )
        .why("With no loop but the thread group's own."),
        case(
            "leaving-stop-thread-in-transaction",
            &["TestAction", "TransactionController"],
            plan([
                loops("users", "2").with([
                    transaction("plain", false, false).with([
                        get("a", "/a"),
                        action("stop", 0, 0, ""),
                        get("never", "/never"),
                    ]),
                    get("never", "/never"),
                ]),
                loops("others", "2").with([transaction("parent", true, false).with([
                    get("b", "/b"),
                    action("stop", 0, 0, ""),
                    get("never", "/never"),
                ])]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .why("The transaction that is under way leaves its sample only if it is a parent, and then without a message."),
        case(
            "leaving-on-error-stop-thread-in-parent",
            &["ThreadGroup", "TransactionController"],
            plan([loops("users", "2").set("ThreadGroup.on_sample_error", "stopthread").with([
                transaction("parent", true, false).with([get("a", "/a"), bad(), get("never", "/never")]),
                get("never", "/never"),
            ])]),
        ),
    ]
}
