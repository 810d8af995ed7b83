//! Load profiles: the number of users over time, for the thread groups of jmeter-plugins. These groups define their load with a
//! table, steps or a target instead of JMeter's ramp-up time.

use busyhour_diagnostic::Diagnostic;
use busyhour_plan::{Element, Property};
use busyhour_program::population::lifetimes::{Steps, UltimateRow};
use busyhour_program::population::{Level, Lifetimes, Population};
use busyhour_program::template::Template;

use crate::context::Context;
use crate::elements::groups::GroupClass;
use crate::plugin_arrivals::unit_s;
use crate::shape_notation;

/// The table of the Ultimate Thread Group, and the JMeter property that replaces it.
const TABLE: &str = "ultimatethreadgroupdata";
const SCHEDULE: &str = "threads_schedule";

/// The load profile of a group: when its users start and stop.
pub(crate) struct LoadProfile {
    pub(crate) profile: Population,
    /// The number of passes of each user; `None` if the group's own controller determines it.
    pub(crate) passes: Option<Template>,
    /// The largest number of simultaneous users, as far as it is known.
    pub(crate) users: Template,
    /// Whether all passes of a user belong to the same visitor, so that cookies and caches are retained between passes.
    pub(crate) same_user: bool,
}

/// The suffix that the names of a group's threads have after the group's name. The plugins name threads after the
/// thread that starts them.
pub(crate) fn thread_suffix(class: GroupClass) -> &'static str {
    if class.has_thread_starter() { "-ThreadStarter" } else { "" }
}

/// The load profile of a group, if it has one. `is_open`: whether arrivals start its sessions, so that a number of users over
/// time has no effect.
pub(crate) fn load_profile<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: GroupClass,
    is_open: bool,
) -> Option<LoadProfile> {
    let logs_starts = element.text("LogFilename").is_some_and(|name| !name.trim().is_empty());
    if class.has_thread_starter() && logs_starts {
        let text = "the file in which the thread group logs its starts is not written";
        context.findings.warn(element, "setting-without-effect", text);
    }
    match class {
        GroupClass::Main | GroupClass::SetUp | GroupClass::TearDown | GroupClass::OpenModel => None,
        GroupClass::Ultimate if !is_open => ultimate_profile(context, element),
        GroupClass::Stepping if !is_open => Some(stepping_profile(context, element)),
        GroupClass::Concurrency if !is_open => Some(concurrency_profile(context, element)),
        GroupClass::Ultimate | GroupClass::Stepping | GroupClass::Concurrency => None,
        // The arrivals of the command line replace those of the group.
        GroupClass::Arrivals | GroupClass::FreeFormArrivals if context.options.open.is_some() => None,
        GroupClass::Arrivals | GroupClass::FreeFormArrivals => Some(LoadProfile {
            profile: Population::Arrivals,
            passes: Some(passes(context, element)),
            users: Template::literal("1"),
            same_user: same_user(context, element),
        }),
    }
}

fn ultimate_profile<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<LoadProfile> {
    let rows = ultimate(context, element)?;
    let users = rows
        .iter()
        .try_fold(0_i64, |sum, row| Some(sum + row.users.as_literal()?.trim().parse().unwrap_or(0)));
    let users = Template::literal(&users.unwrap_or(0).to_string());
    let profile = Population::Lifetimes(Lifetimes::Ultimate(rows));
    // In the plugin, each pass is a new visitor.
    Some(LoadProfile { profile, passes: None, users, same_user: false })
}

fn stepping_profile<'p>(context: &mut Context<'p>, element: Element<'p>) -> LoadProfile {
    let steps = Steps {
        users: context.text_or(element, "ThreadGroup.num_threads", "0"),
        delay_s: context.text_or(element, "Threads initial delay", "0"),
        burst: context.text_or(element, "Start users count burst", "0"),
        step_users: context.text_or(element, "Start users count", "0"),
        step_period_s: context.text_or(element, "Start users period", "0"),
        ramp_up_s: context.text_or(element, "rampUp", "0"),
        hold_s: context.text_or(element, "flighttime", "0"),
        stop_users: context.text_or(element, "Stop users count", "0"),
        stop_period_s: context.text_or(element, "Stop users period", "0"),
    };
    let users = steps.users.clone();
    let profile = Population::Lifetimes(Lifetimes::Stepping(Box::new(steps)));
    LoadProfile { profile, passes: None, users, same_user: false }
}

fn concurrency_profile<'p>(context: &mut Context<'p>, element: Element<'p>) -> LoadProfile {
    let level = Level {
        target: context.text_or(element, "TargetLevel", "1"),
        ramp_up: trimmed(context, element, "RampUp", ""),
        steps: trimmed(context, element, "Steps", ""),
        hold: trimmed(context, element, "Hold", "1"),
        unit_s: unit_s(element),
    };
    LoadProfile {
        users: level.target.clone(),
        profile: Population::Level(level),
        passes: Some(passes(context, element)),
        same_user: same_user(context, element),
    }
}

/// Whether all passes of a user belong to the same visitor; false in plans that are older than this setting of the plugins.
fn same_user<'p>(context: &mut Context<'p>, element: Element<'p>) -> bool {
    context.flag(element, "same_user_on_next_iteration", false)
}

/// The text of a setting, trimmed as by the editor of the plugins.
fn trimmed<'p>(context: &mut Context<'p>, element: Element<'p>, name: &str, default: &str) -> Template {
    match element.property(name) {
        Some(property) => context.parse(property.text().unwrap_or("").trim(), property),
        None => Template::literal(default),
    }
}

/// The number of passes of each user; an empty text and 0 mean no limit.
fn passes<'p>(context: &mut Context<'p>, element: Element<'p>) -> Template {
    let text = context.at_start(element, "Iterations");
    match text.parse::<i64>() {
        Ok(limit) if limit > 0 => Template::literal(&limit.to_string()),
        Ok(_) => Template::literal("-1"),
        Err(_) if text.is_empty() => Template::literal("-1"),
        Err(_) => {
            let finding = Diagnostic::error(
                "invalid-value",
                format!("the iterations limit {text:?} is not an integer"),
            );
            context.findings.add_at(element, "Iterations", finding);
            Template::literal("-1")
        }
    }
}

/// The rows of the Ultimate Thread Group.
fn ultimate<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Vec<UltimateRow>> {
    if let Some(text) = context.options.properties.get(SCHEDULE).filter(|text| !text.is_empty()) {
        let (rows, wrong) = parse_spawns(&text);
        for chunk in wrong {
            let text = format!("{chunk:?} in the property {SCHEDULE} cannot be parsed and is ignored");
            context.findings.add(element.locate(Diagnostic::warning("invalid-value", text)).with_hint(
                "users, delay, startup, hold and shutdown: -Jthreads_schedule='spawn(10,0s,1m,5m,10s)'",
            ));
        }
        return Some(rows);
    }
    // An early version of the plugin stored the table under the name of the property.
    let table = element.collection(TABLE).or_else(|| element.collection(SCHEDULE));
    let mut rows = Vec::new();
    for row in table.into_iter().flat_map(Property::items) {
        let cells: Vec<Property<'p>> = row.items().collect();
        let [users, delay, startup, hold, shutdown, ..] = cells.as_slice() else {
            let text = format!("a row of the Ultimate Thread Group has {} cells", cells.len());
            let finding = row.locate(Diagnostic::error("invalid-value", text));
            context
                .findings
                .add(finding.with_hint("a row has users, delay, startup, hold and shutdown time"));
            return None;
        };
        let mut parse = |cell: &Property<'p>| context.parse(cell.text().unwrap_or(""), *cell);
        rows.push(UltimateRow {
            users: parse(users),
            delay_s: parse(delay),
            startup_s: parse(startup),
            hold_s: parse(hold),
            shutdown_s: parse(shutdown),
        });
    }
    if rows.is_empty() {
        context.findings.warn(
            element,
            "no-schedule",
            "the Ultimate Thread Group has no rows: nothing will be sent",
        );
    }
    Some(rows)
}

/// Parses `spawn(users,delay,startup,hold,shutdown) …`: the rows, and the parts that cannot be parsed.
fn parse_spawns(text: &str) -> (Vec<UltimateRow>, Vec<String>) {
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    let mut chunks: Vec<&str> = text.split(')').collect();
    while chunks.last().is_some_and(|chunk| chunk.is_empty()) {
        chunks.pop();
    }
    for chunk in chunks {
        match spawn(chunk) {
            Some(row) => rows.push(row),
            None => wrong.push(chunk.trim().to_owned()),
        }
    }
    (rows, wrong)
}

fn spawn(chunk: &str) -> Option<UltimateRow> {
    let parts: Vec<&str> = chunk.split(['(', ',']).collect();
    let [name, users, delay, startup, hold, shutdown, ..] = parts.as_slice() else { return None };
    if !name.trim().eq_ignore_ascii_case("spawn") {
        return None;
    }
    let time = |text: &str| match text.trim() {
        "" => Some(Template::literal("0")),
        text => shape_notation::seconds(text).ok().map(|seconds| Template::literal(&seconds.to_string())),
    };
    let users: i32 = users.trim().parse().ok()?;
    Some(UltimateRow {
        users: Template::literal(&users.to_string()),
        delay_s: time(delay)?,
        startup_s: time(startup)?,
        hold_s: time(hold)?,
        shutdown_s: time(shutdown)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<[String; 5]>, Vec<String>) {
        let (rows, wrong) = parse_spawns(text);
        let texts = |row: &UltimateRow| {
            [&row.users, &row.delay_s, &row.startup_s, &row.hold_s, &row.shutdown_s]
                .map(|cell| cell.as_literal().unwrap().to_owned())
        };
        (rows.iter().map(texts).collect(), wrong)
    }

    #[test]
    fn schedules_of_the_command_line_are_parsed() {
        let (rows, wrong) = read("spawn(1,1s,1m,1h,1m30s) Spawn( 20 , 0 , 3s , , 2 )");
        assert_eq!(rows, [["1", "1", "60", "3600", "90"], ["20", "0", "3", "0", "2"]]);
        assert!(wrong.is_empty());
        let (rows, wrong) = read("spawn(1,0,0,0) fork(1,1,1,1,1) spawn(x,1,1,1,1) spawn(2,0,0,1,0)");
        assert_eq!(rows, [["2", "0", "0", "1", "0"]]);
        assert_eq!(wrong, ["spawn(1,0,0,0", "fork(1,1,1,1,1", "spawn(x,1,1,1,1"]);
    }
}
