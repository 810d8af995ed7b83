//! What makes the load of a thread group small and short, group by group.

use busyhour_plan::{Element, Property};

use super::edits::Edits;

/// Users of a thread group, if their data do not depend on their order.
const USERS_MAX: u64 = 2;
/// Passes of a group or a loop.
pub(super) const LOOPS_MAX: u64 = 2;
/// Time for the passes of groups that end by the clock as well: long enough for all of them.
const ENOUGH_S: &str = "30";
/// Time of groups that end by the clock alone, and their starts in each second of it.
const SHORT_S: &str = "1";
const STARTS_PER_S: &str = "4";

/// The edits of a thread group; nothing for other elements. `alone`: users share data, so that only one may come.
pub(super) fn edits(element: Element<'_>, alone: bool, edits: &mut Edits) {
    let users = if alone { 1 } else { USERS_MAX };
    match element.kind() {
        "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => {
            if exceeds(element.text("ThreadGroup.num_threads"), users) {
                edits.set("ThreadGroup.num_threads", users.to_string());
            }
            edits.set("ThreadGroup.ramp_time", "0");
            edits.set("ThreadGroup.scheduler", "false");
            passes(element, edits);
        }
        "kg.apc.jmeter.threads.UltimateThreadGroup" => {
            // The first row brings all users, the others none: they are never come to.
            let rows = element.collection("ultimatethreadgroupdata").into_iter().flat_map(Property::items);
            for (at, row) in rows.enumerate() {
                let users = if at == 0 { users } else { 0 }.to_string();
                for (cell, text) in row.items().zip([&*users, "0", "0", ENOUGH_S, "0"]) {
                    edits.value(cell.id(), text);
                }
            }
            passes(element, edits);
        }
        "kg.apc.jmeter.threads.SteppingThreadGroup" => {
            edits.set("ThreadGroup.num_threads", users.to_string());
            for name in ["Threads initial delay", "Start users period", "Stop users period", "rampUp"] {
                edits.set(name, "0");
            }
            edits.set("Start users count burst", users.to_string());
            edits.set("flighttime", ENOUGH_S);
            passes(element, edits);
        }
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup" => {
            by_the_clock(edits, &users.to_string());
        }
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup" => by_the_clock(edits, STARTS_PER_S),
        "OpenModelThreadGroup" => {
            let schedule = format!("rate({STARTS_PER_S}/s) even_arrivals({SHORT_S} s)");
            edits.set("OpenModelThreadGroup.schedule", schedule);
        }
        _ => {}
    }
}

/// The settings that the groups of one plugin share.
fn by_the_clock(edits: &mut Edits, target: &str) {
    for (name, text) in
        [("TargetLevel", target), ("RampUp", "0"), ("Steps", "1"), ("Hold", SHORT_S), ("Unit", "S")]
    {
        edits.set(name, text);
    }
}

/// Bounds the loops of a group's own controller.
fn passes(element: Element<'_>, edits: &mut Edits) {
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

/// Whether a number that is there is larger, or is only known later.
pub(super) fn exceeds(text: Option<&str>, limit: u64) -> bool {
    text.is_some_and(|text| text.trim().parse::<u64>().map_or(true, |number| number > limit))
}
