//! What starts samples by a schedule: the Precise Throughput Timer, the Open Model Thread Group.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    vec![
        case(
            "precise-throughput-timer",
            &["PreciseThroughputTimer"],
            plan([two_seconds("users").with([
                get("a", "/a?i=${__jm__users__idx}"),
                get("b", "/b?i=${__jm__users__idx}"),
                precise("precise", "8", "1"),
            ])]),
        )
        .edit(|plan| {
            plan.replace("<stringProp name=\"throughput\">8</stringProp>", &as_saved("doubleProp", "throughput", "8.0"))
        })
        .why("With this seed two windows hold 8 starts each, and none lies within half a second of the end."),
        case(
            "precise-throughput-timer-batches",
            &["PreciseThroughputTimer"],
            plan([two_seconds("users")
                .with([get("a", "/a?i=${__jm__users__idx}"), precise("precise", "${__P(RATE,0)}", "2")])]),
        )
        .property("RATE", "15.5")
        .why("15.5 samples a second in batches of 2 are 8 batches in each window: fractions are rounded up."),
        case(
            "precise-throughput-timer-two",
            &["PreciseThroughputTimer"],
            plan([two_seconds("users").with([
                get("a", "/a?i=${__jm__users__idx}").with([precise("first", "8", "1")]),
                get("b", "/b?i=${__jm__users__idx}").with([precise("second", "100", "1")]),
            ])]),
        )
        .why("A group has one schedule: the settings of the timer that is used first hold for all of its timers."),
        case(
            "open-model-even",
            &["OpenModelThreadGroup"],
            plan([open_model("open", "rate(50/s) even_arrivals(1 s) pause(1 s)").with([get("a", "/a")])]),
        )
        .order(Order::Any)
        .mask_columns(&["threadName", "grpThreads", "allThreads"])
        .why("One request for each arrival, by a thread of its own. Thread names differ."),
        case(
            "open-model-random",
            &["OpenModelThreadGroup"],
            plan([open_model("open", "rate(0/s) random_arrivals(600 ms) rate(57/s) random_arrivals(300 ms) pause(1 s)")
                .set("OpenModelThreadGroup.random_seed", "7")
                .with([get("a", "/a"), get("b", "/b")])]),
        )
        .order(Order::Any)
        .mask_columns(&["threadName", "grpThreads", "allThreads"])
        .why("17.1 and 17.1 expected arrivals are 17 and 17."),
    ]
}

/// A group of one thread that goes on for two seconds.
fn two_seconds(name: &str) -> Node {
    loops(name, "-1").set("ThreadGroup.scheduler", true).set("ThreadGroup.duration", "2")
}

/// A Precise Throughput Timer in windows of 1 s, whose seed leaves a gap of a second around 2 s: at 8 starts a
/// second they lie at 1.486 s and 2.541 s.
fn precise(name: &str, per_second: &str, batch: &str) -> Node {
    Node::new("PreciseThroughputTimer", "TestBeanGUI", name)
        .set("throughput", per_second)
        .set("throughputPeriod", 1)
        .set("duration", 1_i64)
        .set("batchSize", batch)
        .set("batchThreadDelay", 0)
        .set("exactLimit", 10_000)
        .set("randomSeed", 10_588_i64)
}

/// A property as JMeter saves its number types without a short form.
fn as_saved(tag: &str, name: &str, value: &str) -> String {
    format!("<{tag}><name>{name}</name><value>{value}</value><savedValue>0.0</savedValue></{tag}>")
}

fn open_model(name: &str, schedule: &str) -> Node {
    let controller = Value::Element("OpenModelThreadGroupController", Vec::new());
    Node::new("OpenModelThreadGroup", "OpenModelThreadGroupGui", name)
        .set("ThreadGroup.main_controller", controller)
        .set("ThreadGroup.on_sample_error", "continue")
        .set("OpenModelThreadGroup.schedule", schedule)
        .set("OpenModelThreadGroup.random_seed", "")
}
