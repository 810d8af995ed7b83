//! Limits the load and duration of each kind of thread group.

use busyhour_plan::{Element, Property};

use super::edits::Edits;

/// The maximum number of users of a thread group whose data do not depend on the order of users.
const USERS_MAX: u64 = 2;
/// The maximum number of iterations of a group or a loop.
pub(super) const LOOPS_MAX: u64 = 2;
/// The duration of groups that also end after a time: long enough for all iterations.
const AMPLE_DURATION_S: &str = "30";
/// The duration of groups that only end after a time, and their starts per second.
const SHORT_DURATION_S: &str = "1";
const STARTS_PER_S: &str = "4";

/// Adds the edits of a thread group; none for other elements. `single_user`: users share data, so that only one may
/// run.
pub(super) fn edits(element: Element<'_>, single_user: bool, edits: &mut Edits) {
    let users = if single_user { 1 } else { USERS_MAX };
    match element.kind() {
        "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => {
            if exceeds(element.text("ThreadGroup.num_threads"), users) {
                edits.set("ThreadGroup.num_threads", users.to_string());
            }
            edits.set("ThreadGroup.ramp_time", "0");
            edits.set("ThreadGroup.scheduler", "false");
            limit_loops(element, edits);
        }
        "kg.apc.jmeter.threads.UltimateThreadGroup" => {
            // The first row starts all users, the others none.
            let rows = element.collection("ultimatethreadgroupdata").into_iter().flat_map(Property::items);
            for (at, row) in rows.enumerate() {
                let users = if at == 0 { users } else { 0 }.to_string();
                for (cell, text) in row.items().zip([&*users, "0", "0", AMPLE_DURATION_S, "0"]) {
                    edits.value(cell.id(), text);
                }
            }
            limit_loops(element, edits);
        }
        "kg.apc.jmeter.threads.SteppingThreadGroup" => {
            edits.set("ThreadGroup.num_threads", users.to_string());
            for name in ["Threads initial delay", "Start users period", "Stop users period", "rampUp"] {
                edits.set(name, "0");
            }
            edits.set("Start users count burst", users.to_string());
            edits.set("flighttime", AMPLE_DURATION_S);
            limit_loops(element, edits);
        }
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup" => {
            limit_duration(edits, &users.to_string());
        }
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup" => limit_duration(edits, STARTS_PER_S),
        "OpenModelThreadGroup" => {
            let schedule = format!("rate({STARTS_PER_S}/s) even_arrivals({SHORT_DURATION_S} s)");
            edits.set("OpenModelThreadGroup.schedule", schedule);
        }
        _ => {}
    }
}

/// Sets the common settings of the groups of one plugin.
fn limit_duration(edits: &mut Edits, target: &str) {
    for (name, text) in
        [("TargetLevel", target), ("RampUp", "0"), ("Steps", "1"), ("Hold", SHORT_DURATION_S), ("Unit", "S")]
    {
        edits.set(name, text);
    }
}

/// Limits the loops of a group's main controller.
fn limit_loops(element: Element<'_>, edits: &mut Edits) {
    let main = element.element("ThreadGroup.main_controller");
    let item = |name| main.and_then(|main| main.property(name));
    if let Some(forever) = item("LoopController.continue_forever") {
        edits.value(forever.id(), "false");
    }
    if let Some(loops) = item("LoopController.loops")
        && exceeds(Some(loops.text().unwrap_or("")), LOOPS_MAX)
    {
        edits.value(loops.id(), LOOPS_MAX.to_string());
    }
}

/// Whether a number exists and is larger than `limit`, or is an expression.
pub(super) fn exceeds(text: Option<&str>, limit: u64) -> bool {
    text.is_some_and(|text| text.trim().parse::<u64>().map_or(true, |number| number > limit))
}
