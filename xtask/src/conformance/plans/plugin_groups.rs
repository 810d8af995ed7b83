//! Thread groups of jmeter-plugins.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};

/// The thread groups, and what they share with other plugins.
const PLUGINS: [&str; 2] = ["kg.apc:jmeter-plugins-casutg:2.10", "kg.apc:jmeter-plugins-cmn-jmeter:0.8"];

const ULTIMATE: &str = "kg.apc.jmeter.threads.UltimateThreadGroup";
const STEPPING: &str = "kg.apc.jmeter.threads.SteppingThreadGroup";

pub fn cases() -> Vec<Description> {
    let mut cases = ultimate_cases();
    cases.extend(stepping_cases());
    cases.into_iter().map(|case| case.plugins(&PLUGINS)).collect()
}

/// A user that makes one request and ends.
fn one_request() -> [Node; 2] {
    [get("a", "/a?t=${__threadNum}"), action("stop", 0, 0, "")]
}

/// A user that makes a request every so many milliseconds.
fn paced(ms: &str) -> Node {
    get("a", "/a?t=${__threadNum}").with([constant_timer("pace", ms)])
}

/// A table as jmeter-plugins save it: rows of cells.
fn table(rows: &[&[&str]]) -> Value {
    let rows = rows.iter().enumerate().map(|(at, row)| (at.to_string(), texts(row)));
    Value::List(rows.collect())
}

fn ultimate(name: &str, rows: &[&[&str]]) -> Node {
    looped(Node::new(ULTIMATE, "kg.apc.jmeter.threads.UltimateThreadGroupGui", name), "-1")
        .set("ultimatethreadgroupdata", table(rows))
        .set("ThreadGroup.on_sample_error", "continue")
}

fn ultimate_cases() -> Vec<Description> {
    vec![
        case(
            "ultimate-group-starts",
            &[ULTIMATE],
            plan([ultimate("users", &[&["3", "0", "3", "1", "1"], &["1", "2", "0", "1", "0"]])
                .with(one_request())]),
        )
        .edit(|plan| plan.replace(">2</stringProp>\n            <stringProp name=\"48\">0<", ">${__P(DELAY,2)}</stringProp>\n            <stringProp name=\"48\">0<"))
        .property("DELAY", "4")
        .why("The last thread of a row starts first: after 1 s the third, after 3 s the first; then the next row's."),
        case(
            "ultimate-group-ends",
            &[ULTIMATE],
            plan([ultimate("users", &[&["2", "0", "0", "1", "2"]]).with([paced("600")])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("The first thread of a row ends last: after 3 s it has made 4 requests, the second after 2 s 3."),
        case(
            "ultimate-group-empty-row",
            &[ULTIMATE],
            plan([ultimate("users", &[&["0", "1", "0", "0", "0"], &["2", "0", "0", "1", "0"]])
                .with(one_request())]),
        )
        .why("A row without threads takes one all the same, and the last row lacks it."),
        case(
            "ultimate-group-property",
            &[ULTIMATE],
            plan([ultimate("users", &[&["9", "0", "0", "9", "0"]]).with(one_request())]),
        )
        .property("threads_schedule", "spawn(1,1s,0s,1s,0) SPAWN( 1 , 0 , 0s , 1s , 0s ) wrong(1)")
        .why("The property takes the place of the table; what it says wrongly is left out."),
    ]
}

/// Numbers of a Stepping Thread Group: threads; initial delay; burst; threads, period and ramp-up of a step; hold; threads
/// and period of a step down.
fn stepping(name: &str, numbers: [&str; 9]) -> Node {
    let [threads, delay, burst, count, period, ramp, hold, down, down_period] = numbers;
    looped(Node::new(STEPPING, "kg.apc.jmeter.threads.SteppingThreadGroupGui", name), "-1")
        .set("ThreadGroup.on_sample_error", "continue")
        .set("ThreadGroup.num_threads", threads)
        .set("Threads initial delay", delay)
        .set("Start users count", count)
        .set("Start users count burst", burst)
        .set("Start users period", period)
        .set("Stop users count", down)
        .set("Stop users period", down_period)
        .set("flighttime", hold)
        .set("rampUp", ramp)
}

fn stepping_cases() -> Vec<Description> {
    vec![
        case(
            "stepping-group-starts",
            &[STEPPING],
            plan([stepping("users", ["4", "${__P(NOT,0)}", "1", "2", "1", "2", "1", "1", "1"])
                .with(one_request())]),
        )
        .why("One thread at once; the steps of two begin after 3 s and 6 s, a second apart within each."),
        case(
            "stepping-group-ends",
            &[STEPPING],
            plan([stepping("users", ["3", "0", "0", "2", "1", "0", "1", "1", "1"]).with([paced("600")])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("Two threads at 0 s, one at 1 s; the first ends at 2 s, the others a second after one another."),
    ]
}
