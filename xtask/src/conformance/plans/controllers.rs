//! Logic controllers: which children run, how often, in which order.

use busyhour_standin::Order;

use super::super::elements::*;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = basic();
    cases.extend(conditions());
    cases.extend(chances());
    cases.extend(transactions());
    cases.extend(actions());
    cases
}

fn basic() -> Vec<Description> {
    vec![
        case(
            "loop-controller",
            &["LoopController"],
            plan([loops("users", "2").with([
                loop_controller("three times", "3").with([get("inner", "/inner?i=${__jm__three times__idx}")]),
                get("after", "/after"),
            ])]),
        )
        .why("The index variable __jm__NAME__idx counts from 0 and starts again with each pass of the parent."),
        case(
            "loop-controller-nested",
            &["LoopController"],
            plan([group("users").with([loop_controller("outer", "2").with([
                get("head", "/head?o=${__jm__outer__idx}"),
                loop_controller("inner", "2").with([get("body", "/body?o=${__jm__outer__idx}&i=${__jm__inner__idx}")]),
            ])])]),
        ),
        case(
            "loop-controller-zero",
            &["LoopController"],
            plan([loops("users", "2").with([
                loop_controller("never", "0").with([get("never", "/never")]),
                loop_controller("once", "${n}").with([get("n", "/n?n=${n}")]),
                get("after", "/after"),
                variables("vars", &[("n", "1")]),
            ])]),
        )
        .why("No loop at all for 0; the number may come from a variable."),
        case(
            "loop-controller-bad-number",
            &["LoopController"],
            plan([group("users").with([
                loop_controller("unset", "${nothing}").with([get("in", "/in")]),
                get("after", "/after"),
            ])]),
        )
        .why("A number of loops that is no number counts as 0."),
        case(
            "simple-controller",
            &["GenericController"],
            plan([loops("users", "2").with([
                simple("a").with([get("one", "/one"), simple("b").with([get("two", "/two")])]),
                simple("empty"),
                get("three", "/three"),
            ])]),
        ),
        case(
            "disabled-elements",
            &["GenericController", "HTTPSamplerProxy"],
            plan([
                group("off").off().with([get("no", "/no")]),
                group("users").with([
                    simple("off").off().with([get("no", "/no")]),
                    get("no", "/no").off(),
                    get("yes", "/yes").with([headers("off", &[("X-Off", "1")]).off()]),
                ]),
            ]),
        )
        .why("A disabled element takes its subtree along; disabled thread groups do not count when groups are numbered."),
        case(
            "once-only-controller",
            &["OnceOnlyController"],
            plan([loops("users", "3").with([
                once("login").with([get("login", "/login"), get("home", "/home")]),
                get("work", "/work"),
            ])]),
        ),
        case(
            "once-only-in-loop",
            &["OnceOnlyController", "LoopController"],
            plan([loops("users", "2").with([
                loop_controller("loop", "2").with([once("first").with([get("first", "/first")]), get("each", "/each")]),
            ])]),
        )
        .why("Inside a Loop Controller: once per start of that loop."),
        case(
            "foreach-controller",
            &["ForeachController"],
            plan([loops("users", "2").with([
                variables("vars", &[("id_1", "a"), ("id_2", "b"), ("id_3", "c"), ("id_5", "e")]),
                for_each("each", "id", "x").with([get("one", "/one?x=${x}&i=${__jm__each__idx}"), get("two", "/two?x=${x}")]),
                get("after", "/after?x=${x}"),
            ])]),
        )
        .why("Ends at the first gap in the numbering; after the loop the output variable holds the first value again."),
        case(
            "foreach-controller-range",
            &["ForeachController"],
            plan([group("users").with([
                variables("vars", &[("id1", "a"), ("id2", "b"), ("id3", "c"), ("id4", "d")]),
                for_each("range", "id", "x")
                    .set("ForeachController.useSeparator", false)
                    .set("ForeachController.startIndex", "1")
                    .set("ForeachController.endIndex", "3")
                    .with([get("range", "/range?x=${x}")]),
                for_each("none", "missing", "y").with([get("none", "/none")]),
                get("after", "/after?y=${y}"),
            ])]),
        )
        .why("Without separator; start index excluded, end index included. No variable, no pass."),
        case(
            "foreach-regex",
            &["ForeachController", "RegexExtractor"],
            plan([loops("users", "2").with([
                get("page", "/page").with([regex("row", "class=\"row\">(\\w+)=(\\d+)<", "$1$:$2$", "-1", "")]),
                for_each("rows", "row", "r").with([get("row", "/row?r=${r}&n=${row_matchNr}")]),
                for_each("groups", "row", "r").with([loop_controller("deep", "2").with([get("deep", "/deep?r=${r}&g=${row_2_g1}")])]),
            ])]),
        ),
        case(
            "interleave-controller",
            &["InterleaveControl"],
            plan([loops("users", "4").with([
                controller("InterleaveControl", "InterleaveControlGui", "turns")
                    .set("InterleaveControl.style", 0)
                    .set("InterleaveControl.accrossThreads", false)
                    .with([get("a", "/a"), simple("pair").with([get("b", "/b"), get("c", "/c")]), get("d", "/d")]),
                get("after", "/after"),
            ])]),
        )
        .why("Style 0: of a sub-controller one request a turn."),
        case(
            "interleave-sub-controllers",
            &["InterleaveControl"],
            plan([loops("users", "5").with([
                controller("InterleaveControl", "InterleaveControlGui", "turns")
                    .set("InterleaveControl.style", 1)
                    .set("InterleaveControl.accrossThreads", false)
                    .with([get("a", "/a"), simple("pair").with([get("b", "/b"), get("c", "/c")]), get("d", "/d")]),
                get("after", "/after"),
            ])]),
        )
        .why("Style 1: a sub-controller runs to its end in one turn."),
        case(
            "switch-controller",
            &["SwitchController"],
            plan([loops("users", "4").with([
                counter("n", "0", "", "1", "n"),
                controller("SwitchController", "SwitchControllerGui", "by number")
                    .set("SwitchController.value", "${n}")
                    .with([get("zero", "/zero"), get("one", "/one"), simple("two").with([get("t1", "/t1"), get("t2", "/t2")])]),
                controller("SwitchController", "SwitchControllerGui", "by name")
                    .set("SwitchController.value", "Beta")
                    .with([get("alpha", "/alpha"), get("beta", "/beta"), get("default", "/default")]),
            ])]),
        )
        .why("Out of range: the first child; names are compared whatever their case."),
    ]
}

fn conditions() -> Vec<Description> {
    vec![
        case(
            "if-expression",
            &["IfController", "__jexl3", "__groovy"],
            plan([loops("users", "2").with([
                variables("vars", &[("a", "5"), ("t", "TRUE"), ("word", "true")]),
                if_expression("jexl", "${__jexl3(${a} > 3)}").with([get("jexl", "/jexl")]),
                if_expression("jexl no", "${__jexl3(${a} < 3)}").with([get("jexl-no", "/no")]),
                if_expression("groovy", "${__groovy(vars.get('a') == '5')}").with([get("groovy", "/groovy")]),
                if_expression("upper", "${t}").with([get("upper", "/upper")]),
                if_expression("word", "${word}").with([get("word", "/word")]),
                if_expression("spaces", " true ").with([get("spaces", "/spaces")]),
                if_expression("unset", "${unset}").with([get("unset", "/no")]),
                if_expression("blank", "").with([get("blank", "/no")]),
                if_expression("one", "1").with([get("one", "/no")]),
            ])]),
        )
        .why("True is the text `true` in any case, trimmed or not as recorded; everything else is false."),
        case(
            "if-javascript",
            &["IfController", "__javaScript"],
            plan([loops("users", "2").with([
                variables("vars", &[("a", "5"), ("s", "abc")]),
                if_script("number", "${a} > 3").with([get("number", "/number")]),
                if_script("string", "\"${s}\" == \"abc\"").with([get("string", "/string")]),
                if_script("no", "${a} == 4 || \"${s}\".length > 3").with([get("no", "/no")]),
                if_script("math", "Math.max(${a}, 7) % 2 == 1 && !(\"${s}\" != 'abc')").with([get("math", "/math")]),
                if_script("broken", "${a} >").with([get("broken", "/no")]),
                if_script("word", "true").with([get("word", "/word")]),
                if_script("truthy", "1").with([get("truthy", "/no")]),
                if_script("unset", "\"${unset}\" == \"\\${unset}\"").with([get("unset", "/unset")]),
            ])]),
        )
        .why("The value, as a string, must be `true`: a truthy 1 is not. A script that does not compile is false."),
        case(
            "if-evaluate-all",
            &["IfController"],
            plan([group("users").with([
                variables("vars", &[("go", "true")]),
                if_expression("each", "${go}").set("IfController.evaluateAll", true).with([
                    get("first", "/first").with([boundary("go", "GET /f", "st", "1", "none")]),
                    get("second", "/second"),
                ]),
                if_expression("once", "${__jexl3(\"${go}\" == \"ir\")}")
                    .with([get("third", "/third").with([boundary("go", "zzz", "yyy", "1", "none")]), get("fourth", "/fourth")]),
                get("after", "/after?go=${go}"),
            ])]),
        )
        .why("evaluateAll asks again before each child; without it the condition is asked once per pass."),
        case(
            "if-nested-in-loop",
            &["IfController", "LoopController"],
            plan([group("users").with([loop_controller("loop", "4").with([
                if_expression("even", "${__jexl3(${__jm__loop__idx} % 2 == 0)}").with([get("even", "/even"), get("even2", "/even2")]),
                if_expression("odd", "${__jexl3(${__jm__loop__idx} % 2 == 1)}")
                    .with([loop_controller("deep", "2").with([get("odd", "/odd?i=${__jm__loop__idx}")])]),
            ])])]),
        ),
        case(
            "while-condition",
            &["WhileController"],
            plan([loops("users", "2").with([
                get("reset", "/reset").with([boundary("seq", "GET /", "set", "1", "none")]),
                while_controller("until", "${__jexl3(\"${__jm__until__idx}\" != \"3\")}")
                    .with([get("poll", "/poll?i=${__jm__until__idx}")]),
                get("after", "/after?i=${__jm__until__idx}"),
            ])]),
        ),
        case(
            "while-variable",
            &["WhileController", "__javaScript"],
            plan([group("users").with([
                while_controller("until three", "${__javaScript(\"${seq}\" != \"3\")}")
                    .with([get("seq", "/seq").with([boundary("seq", "seq=", ";", "1", "none")]), get("in", "/in?s=${seq}")]),
                get("after", "/after?s=${seq}"),
                while_controller("false", "false").with([get("never", "/never")]),
                while_controller("FALSE", "FALSE").with([get("never", "/never")]),
            ])]),
        )
        .why("The condition is asked before each pass; the text `false` in any case ends the loop."),
        case(
            "while-blank",
            &["WhileController"],
            plan([loops("users", "2").with([
                while_controller("ok", "").with([get("seq", "/seq").with([response_assertion("until even", "response_data", 2, &["seq=[13579]"])])]),
                get("after", "/after"),
            ])]),
        )
        .why("Blank: until the last sample of a pass fails."),
        case(
            "while-last",
            &["WhileController"],
            plan([loops("users", "2").with([
                get("bad", "/status/500"),
                while_controller("last", "LAST").with([get("in", "/in")]),
                get("good", "/good"),
                while_controller("last again", "LAST").with([get("seq", "/seq").with([response_assertion("odd", "response_data", 2, &["seq=[13579]"])])]),
                get("after", "/after"),
            ])]),
        )
        .why("LAST is also asked before the first pass: a failed sample before the loop skips it."),
    ]
}

fn chances() -> Vec<Description> {
    vec![
        case(
            "random-controller",
            &["RandomController"],
            plan([loops("users", "6").with([
                controller("RandomController", "RandomControlGui", "one of")
                    .set("InterleaveControl.style", 1)
                    .with([get("r1", "/r1"), get("r2", "/r2"), get("r3", "/r3")]),
                get("after", "/after"),
            ])]),
        )
        .mask("\\br[123]\\b", "r{N}")
        .why("One child per pass, by chance."),
        case(
            "random-controller-ignore-sub",
            &["RandomController"],
            plan([loops("users", "6").with([
                controller("RandomController", "RandomControlGui", "one of")
                    .set("InterleaveControl.style", 0)
                    .with([
                        simple("s1").with([get("a1", "/a1"), get("b1", "/b1")]),
                        simple("s2").with([get("a2", "/a2"), get("b2", "/b2")]),
                    ]),
                get("after", "/after"),
            ])]),
        )
        .mask("\\b[ab][12]\\b", "{ANY}")
        .why("Style 0: one request of the chosen sub-controller, the next one when it is chosen again."),
        case(
            "random-order-controller",
            &["RandomOrderController"],
            plan([loops("users", "5").with([controller(
                "RandomOrderController",
                "RandomOrderControllerGui",
                "shuffled",
            )
            .with([get("a", "/a"), get("b", "/b"), get("c", "/c")])])]),
        )
        .order(Order::Any)
        .why("Every child once per pass."),
        case(
            "throughput-percent",
            &["ThroughputController"],
            plan([loops("users", "10").with([
                throughput("30%", 1, "30.0", true)
                    .with([get("thirty", "/thirty"), get("with it", "/with-it")]),
                throughput("75%", 1, "75.0", true).with([get("seventyfive", "/seventyfive")]),
                throughput("0%", 1, "0.0", true).with([get("zero", "/zero")]),
                throughput("100%", 1, "100.0", true).with([get("hundred", "/hundred")]),
            ])]),
        )
        .why("Runs when (100·runs + 50) / (iteration + 1) < percent."),
        case(
            "throughput-total",
            &["ThroughputController"],
            plan([loops("users", "4").with([
                throughput("two", 0, "2", true).with([get("two", "/two")]),
                throughput("shared", 0, "3", false).with([get("shared", "/shared")]),
                get("after", "/after"),
            ])]),
        ),
        case(
            "throughput-shared",
            &["ThroughputController"],
            plan([loops("users", "10").set("ThreadGroup.num_threads", "3").with([
                throughput("half", 1, "50.0", false).with([get("half", "/half")]),
                throughput("four", 0, "4", false).with([get("four", "/four")]),
                throughput("one each", 0, "1", true).with([get("one each", "/one-each")]),
            ])]),
        )
        .order(Order::Any)
        .mask(" 1-\\d", " 1-{N}")
        .mask_columns(&["grpThreads", "allThreads"])
        .why("Counted over all users: 15 of 30, 4 in all; per user: 3."),
    ]
}

fn transactions() -> Vec<Description> {
    vec![
        case(
            "transaction",
            &["TransactionController"],
            plan([loops("users", "2").with([
                transaction("checkout", false, false).with([get("one", "/one"), get("two", "/bytes/100")]),
                get("after", "/after"),
            ])]),
        )
        .why("An additional sample after its children: message `Number of samples in transaction : N, number of failing samples : M`."),
        case(
            "transaction-failing",
            &["TransactionController"],
            plan([group("users").with([
                transaction("checkout", false, true).with([get("one", "/one"), get("two", "/status/500"), get("three", "/status/404")]),
                transaction("asserted", false, false).with([
                    get("one", "/one").with([response_assertion("no", "response_data", 16, &["absent"])]),
                ]),
                transaction("empty", false, false),
            ])]),
        ),
        case(
            "transaction-parent",
            &["TransactionController"],
            plan([loops("users", "2").with([
                transaction("checkout", true, false).with([get("one", "/one"), get("two", "/bytes/100")]),
                get("after", "/after"),
            ])]),
        )
        .why("The parent's row comes first, then those of its children, which are its sub-results."),
        case(
            "transaction-parent-failing",
            &["TransactionController"],
            plan([group("users").with([
                transaction("checkout", true, false).with([get("one", "/one"), get("two", "/status/500"), get("three", "/status/404")]),
                transaction("empty", true, false),
                get("last", "/last?ok=${JMeterThread.last_sample_ok}"),
            ])]),
        ),
        case(
            "transaction-nested",
            &["TransactionController"],
            plan([group("users").with([
                transaction("outer", false, false).with([
                    get("one", "/one"),
                    transaction("inner", false, false).with([get("two", "/two"), get("three", "/three")]),
                    get("four", "/four"),
                ]),
            ])]),
        ),
        case(
            "transaction-nested-parent",
            &["TransactionController"],
            plan([group("users").with([
                transaction("outer", true, false).with([
                    get("one", "/one"),
                    transaction("inner", true, false).with([get("two", "/two"), get("three", "/three")]),
                    get("four", "/four"),
                ]),
                transaction("outer mixed", false, false).with([
                    get("five", "/five"),
                    transaction("inner parent", true, false).with([get("six", "/six"), get("seven", "/seven")]),
                ]),
                transaction("outer parent", true, false).with([
                    get("eight", "/eight"),
                    transaction("inner plain", false, false).with([get("nine", "/nine")]),
                ]),
            ])]),
        ),
        case(
            "transaction-controllers-inside",
            &["TransactionController", "LoopController", "IfController"],
            plan([group("users").with([transaction("t", false, false).with([
                loop_controller("loop", "2").with([get("in", "/in")]),
                if_expression("no", "false").with([get("never", "/never")]),
                if_expression("yes", "true").with([get("yes", "/yes")]),
            ])])]),
        )
        .why("Three samples, but the message counts five: controllers that end inside the transaction count, too."),
        case(
            "transaction-assertion",
            &["TransactionController", "ResponseAssertion"],
            plan([group("users").with([
                transaction("parent", true, false).with([
                    response_assertion("code", "response_code", 8, &["200"]),
                    get("one", "/one"),
                ]),
                transaction("plain", false, false).with([
                    response_assertion("data", "response_data", 16, &["two"]),
                    get("two", "/two"),
                    get("three", "/three"),
                ]),
            ])]),
        )
        .why("An assertion under the controller meets the samples below it, not the transaction's own."),
    ]
}

fn actions() -> Vec<Description> {
    let failing = || get("bad", "/status/500");
    vec![
        case(
            "action-pause",
            &["TestAction"],
            plan([loops("users", "2").with([get("a", "/a"), action("rest", 1, 0, "1"), get("b", "/b")])]),
        )
        .why("A Flow Control Action leaves no sample."),
        case(
            "action-stop-thread",
            &["TestAction"],
            plan([loops("users", "3").with([
                get("a", "/a"),
                if_expression("second", "${__jexl3(${__jm__users__idx} == 1)}")
                    .with([action("stop", 0, 0, "")]),
                get("b", "/b"),
            ])]),
        ),
        case(
            "action-stop-test",
            &["TestAction"],
            bare_plan([
                defaults("d")
                    .set("HTTPSampler.domain", "${__P(HOST)}")
                    .set("HTTPSampler.port", "${__P(PORT)}"),
                loops("users", "3").with([get("a", "/a"), action("stop", 0, 2, ""), get("b", "/b")]),
                teardown_group("down").with([get("down", "/down")]),
            ])
            .set("TestPlan.tearDown_on_shutdown", true),
        ),
        case(
            "action-stop-now",
            &["TestAction"],
            plan([loops("users", "3").with([get("a", "/a"), action("stop", 2, 2, ""), get("b", "/b")])]),
        ),
        case(
            "action-next-loop",
            &["TestAction"],
            plan([loops("users", "3").with([
                get("a", "/a"),
                if_expression("second", "${__jexl3(${__jm__users__idx} == 1)}")
                    .with([action("next", 3, 0, "")]),
                get("b", "/b"),
            ])]),
        )
        .why("Action 3: go on with the next loop of the thread."),
        case(
            "action-next-of-current-loop",
            &["TestAction", "LoopController"],
            plan([loops("users", "2").with([
                loop_controller("loop", "3").with([
                    get("a", "/a?i=${__jm__loop__idx}"),
                    if_expression("second", "${__jexl3(${__jm__loop__idx} == 1)}")
                        .with([action("next", 4, 0, "")]),
                    get("b", "/b?i=${__jm__loop__idx}"),
                ]),
                get("c", "/c"),
            ])]),
        )
        .why("Action 4: next iteration of the current loop."),
        case(
            "action-break-loop",
            &["TestAction", "LoopController", "ForeachController", "WhileController"],
            plan([loops("users", "2").with([
                variables("v", &[("id_1", "a"), ("id_2", "b"), ("id_3", "c")]),
                loop_controller("loop", "3").with([
                    get("a", "/a?i=${__jm__loop__idx}"),
                    if_expression("second", "${__jexl3(${__jm__loop__idx} == 1)}")
                        .with([action("break", 5, 0, "")]),
                    get("b", "/b?i=${__jm__loop__idx}"),
                ]),
                for_each("each", "id", "x").with([
                    get("each", "/each?x=${x}"),
                    if_expression("x is b", "${__jexl3(\"${x}\" == \"b\")}")
                        .with([action("break", 5, 0, "")]),
                ]),
                while_controller("while", "${__jexl3(${__jm__while__idx} < 5)}").with([
                    get("w", "/w?i=${__jm__while__idx}"),
                    if_expression("w is 2", "${__jexl3(${__jm__while__idx} == 2)}")
                        .with([action("break", 5, 0, "")]),
                ]),
                get("c", "/c"),
            ])]),
        ),
        case(
            "result-status-next-of-current-loop",
            &["ResultAction"],
            plan([loops("users", "2").with([
                loop_controller("loop", "2").with([
                    failing()
                        .with([controller("ResultAction", "ResultActionGui", "on failure")
                            .set("OnError.action", 5)]),
                    get("b", "/b"),
                ]),
                get("c", "/c"),
            ])]),
        ),
    ]
}
