//! Thread groups of jmeter-plugins.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};

/// The thread groups, and what they share with other plugins.
const PLUGINS: [&str; 2] = ["kg.apc:jmeter-plugins-casutg:2.10", "kg.apc:jmeter-plugins-cmn-jmeter:0.8"];

const ULTIMATE: &str = "kg.apc.jmeter.threads.UltimateThreadGroup";
const STEPPING: &str = "kg.apc.jmeter.threads.SteppingThreadGroup";
const CONCURRENCY: &str = "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";
const ARRIVALS: &str = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
const FREE_FORM: &str = "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup";

pub fn cases() -> Vec<Description> {
    let mut cases = ultimate_cases();
    cases.extend(stepping_cases());
    cases.extend(concurrency_cases());
    cases.extend(arrivals_cases());
    cases.into_iter().map(|case| case.plugins(&PLUGINS)).collect()
}

/// A plan whose first request, slow in a Java machine that has just begun, belongs to nobody.
fn warm<const N: usize>(children: [Node; N]) -> Node {
    plan([setup_group("warm up").with([get("warm", "/warm")])]).with(children)
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
            warm([ultimate("users", &[&["3", "0", "3", "1", "1"], &["1", "2", "0", "1", "0"]])
                .with(one_request())]),
        )
        .edit(|plan| plan.replace(">2</stringProp>\n            <stringProp name=\"48\">0<", ">${__P(DELAY,2)}</stringProp>\n            <stringProp name=\"48\">0<"))
        .property("DELAY", "4")
        .why("The last thread of a row starts first: after 1 s the third, after 3 s the first; then the next row's."),
        case(
            "ultimate-group-ends",
            &[ULTIMATE],
            warm([ultimate("users", &[&["2", "0", "0", "2", "4"]]).with([paced("2500")])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("The first thread of a row ends last: after 6 s it has made 2 requests, the second after 4 s one."),
        case(
            "ultimate-group-empty-row",
            &[ULTIMATE],
            warm([ultimate("users", &[&["0", "1", "0", "0", "0"], &["2", "0", "0", "1", "0"]])
                .with(one_request())]),
        )
        .why("A row without threads takes one all the same, and the last row lacks it."),
        case(
            "ultimate-group-property",
            &[ULTIMATE],
            warm([ultimate("users", &[&["9", "0", "0", "9", "0"]]).with(one_request())]),
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
            warm([stepping("users", ["4", "${__P(NOT,0)}", "1", "2", "1", "2", "1", "1", "1"])
                .with(one_request())]),
        )
        .why("One thread at once; the steps of two begin after 3 s and 6 s, a second apart within each."),
        case(
            "stepping-group-ends",
            &[STEPPING],
            warm([stepping("users", ["3", "0", "0", "2", "1", "0", "2", "1", "2"]).with([paced("2200")])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("Two threads at 0 s, one at 1 s; the first ends at 3 s, the others 2 s after one another."),
    ]
}

/// A group of the plugins whose threads a thread of its own starts.
fn started_by_thread(tag: &'static str, name: &str, settings: &[(&str, &str)]) -> Node {
    let controller = Value::Element("com.blazemeter.jmeter.control.VirtualUserController", Vec::new());
    let gui = match tag {
        CONCURRENCY => "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroupGui",
        ARRIVALS => "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroupGui",
        _ => "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroupGui",
    };
    let node = Node::new(tag, gui, name)
        .set("ThreadGroup.main_controller", controller)
        .set("ThreadGroup.on_sample_error", "continue")
        .set("LogFilename", "")
        .set("Iterations", "")
        .set("Unit", "S");
    settings.iter().fold(node, |node, (name, value)| node.set(name, *value))
}

fn concurrency(name: &str, target: &str, ramp: &str, steps: &str, hold: &str) -> Node {
    let settings = [("TargetLevel", target), ("RampUp", ramp), ("Steps", steps), ("Hold", hold)];
    started_by_thread(CONCURRENCY, name, &settings)
}

fn concurrency_cases() -> Vec<Description> {
    vec![
        case(
            "concurrency-group-level",
            &[CONCURRENCY],
            warm([concurrency("users", "${__P(LEVEL,1)}", "", "", "2").with([paced("1200")])]),
        )
        .property("LEVEL", "2")
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("A pause at the end of the hold time is not cut: the second sample comes after it. Names are odd."),
        case(
            "concurrency-group-iterations",
            &[CONCURRENCY],
            warm([concurrency("users", "1", "0", "0", "3").set("Iterations", "2").with([paced("600")])]),
        )
        .why("A thread that has made its iterations is replaced by a new one."),
        case(
            "concurrency-group-steps",
            &[CONCURRENCY],
            warm([concurrency("users", "4", "2", "2", "1").with([
                get("a", "/a?t=${__threadNum}"),
                action("stay", 1, 0, "3500"),
                get("no", "/no"),
            ])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("Two threads at once, two a second later; after the hold time nobody begins another sample."),
        case(
            "concurrency-group-replaces",
            &[CONCURRENCY],
            warm([concurrency("users", "2", "0.01", "1", "0.01")
                .set("Unit", "M")
                .with([get("a", "/status/500?t=${__threadNum}").with([constant_timer("pace", "700")])])
                .set("ThreadGroup.on_sample_error", "stopthread")]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("Each thread stops on its error, and its place is taken at once."),
    ]
}

fn arrivals(name: &str, per_minute: &str, ramp: &str, steps: &str, hold: &str) -> Node {
    let settings = [
        ("TargetLevel", per_minute),
        ("RampUp", ramp),
        ("Steps", steps),
        ("Hold", hold),
        ("ConcurrencyLimit", ""),
    ];
    started_by_thread(ARRIVALS, name, &settings).set("Unit", "M")
}

fn arrivals_cases() -> Vec<Description> {
    let numbered = || [counter("pass", "1", "", "1", "n"), get("a", "/a?t=${__threadNum}&n=${n}")];
    vec![
        case(
            "arrivals-group-even",
            &[ARRIVALS],
            warm([variables("v", &[("rate", "${__P(RATE,60)}")]), arrivals("users", "${rate}", "", "", "0.05").with(numbered())]),
        )
        .property("RATE", "150")
        .why("An arrival every 0.4 s for 3 s. One thread serves them all, as the same user."),
        case(
            "arrivals-group-limit",
            &[ARRIVALS],
            warm([arrivals("users", "150", "", "", "0.05").set("ConcurrencyLimit", "1").with([paced("600")])]),
        )
        .why("An arrival that finds the one thread busy is lost: every second one."),
        case(
            "arrivals-group-ends",
            &[ARRIVALS],
            warm([arrivals("users", "75", "", "", "0.03").with([
                get("a", "/a?t=${__threadNum}"),
                get("b", "/b?t=${__threadNum}").with([constant_timer("pause", "2000")]),
                get("c", "/c?t=${__threadNum}"),
            ])]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .why("When the schedule is over, at 2.4 s, sessions end after the sample they are in: c comes once."),
        case(
            "arrivals-group-ramp",
            &[ARRIVALS],
            warm([arrivals("users", "150", "0.02", "", "0.02").with([get("a", "/a")])]),
        )
        .why("A ramp-up without steps has no arrivals: the formula gives a rate of 0 as long as there was none."),
        case(
            "arrivals-group-steps",
            &[ARRIVALS],
            warm([arrivals("users", "290", "0.03", "2", "0.01").with([get("a", "/a")])]),
        )
        .order(Order::Any)
        .mask_columns(&["threadName", "grpThreads", "allThreads"])
        .why("2.4 a second for a second, then 4.8 a second for 2 s."),
        case(
            "arrivals-group-iterations",
            &[ARRIVALS],
            warm([arrivals("users", "150", "", "", "0.02").set("Iterations", "2").with(numbered())]),
        )
        .why("After two arrivals the thread ends; the next one takes a new thread."),
        case(
            "free-form-arrivals-group",
            &[FREE_FORM],
            warm([started_by_thread(FREE_FORM, "users", &[("ConcurrencyLimit", "")])
                .set("Unit", "M")
                .set("Schedule", table(&[&["90", "90", "0.02"], &["60", "60", "0.03"]]))
                .with(numbered())]),
        )
        .why("Ends of rows are cut to whole seconds: 1.5 a second for 1 s, then 1 a second for 1 s. Three arrivals."),
    ]
}
