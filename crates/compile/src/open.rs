//! Which thread groups are walked by sessions that begin by schedule, and by which schedule.

use busyhour_arrivals::{ArrivalProcess, ParseError};
use busyhour_diagnostic::Diagnostic;
use busyhour_engine::open::{NoFreeUser, OpenWorkload};
use busyhour_engine::template::Template;
use busyhour_plan::{Element, Property};

use crate::context::Context;
use crate::plugin_arrivals;
use crate::support::{Role, role};

/// Property of a thread group: its arrivals. JMeter passes over it.
const ARRIVALS: &str = "busyhour.arrivals";

/// Property of a thread group: what becomes of an arrival that finds no free user.
const NO_FREE_USER: &str = "busyhour.no_free_user";

/// JMeter's Open Model Thread Group.
const OPEN_MODEL: &str = "OpenModelThreadGroup";
/// Its property of the schedule.
const SCHEDULE: &str = "OpenModelThreadGroup.schedule";

/// Users that an open workload may make when nothing else is said.
pub const USERS_MAX: u32 = 10_000;

/// Arrivals of the command line, for all main groups of a plan together.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// When sessions begin.
    pub process: ArrivalProcess,
    /// Weights of the groups, by name. Needed when the plan has several main groups.
    pub weights: Vec<(String, f64)>,
    /// What becomes of an arrival that finds no free user; `None`: users are made, up to [`USERS_MAX`].
    pub no_free_user: Option<NoFreeUser>,
    /// Users of each group when none are made; `None`: the group's own number.
    pub users: Option<u32>,
    /// Timers that set a rate are left out with a warning instead of refused.
    pub ignore_rate_timers: bool,
}

/// What is read of `queue`, `drop`, `grow to N`.
///
/// # Errors
/// The text is none of these.
pub fn no_free_user(text: &str) -> Result<NoFreeUser, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["queue"] => Ok(NoFreeUser::Queue),
        ["drop"] => Ok(NoFreeUser::Drop),
        ["grow"] => Ok(NoFreeUser::Grow(USERS_MAX)),
        ["grow", "to", number] => match number.replace('_', "").parse() {
            Ok(most) if most > 0 => Ok(NoFreeUser::Grow(most)),
            _ => Err(format!("{number:?} is no number of users: write for instance 'grow to 500'")),
        },
        _ => Err(format!("{text:?} is not known: it is 'queue', 'drop' or 'grow to N'")),
    }
}

/// How a main group becomes part of an open workload.
pub(crate) enum Opened {
    /// It starts its own users.
    Not,
    /// By the command line, with this weight.
    ByOptions(f64),
    /// By the plan.
    ByPlan(OpenWorkload),
}

/// Whether and how the group is part of an open workload; `index` is its number in the program.
pub(crate) fn of_group<'p>(context: &mut Context<'p>, element: Element<'p>, index: u32) -> Opened {
    if let Some(options) = &context.options.open {
        return match options.weights.as_slice() {
            [] => Opened::ByOptions(1.0),
            weights => {
                let name = element.name().to_owned();
                match weights.iter().find(|(known, _)| *known == name) {
                    Some((_, weight)) => Opened::ByOptions(*weight),
                    None => {
                        let finding = Diagnostic::error(
                            "no-weight",
                            format!(
                                "the arrivals of --arrivals are shared out by weight, and {name:?} has none"
                            ),
                        );
                        let hint = format!("add --weight '{name}=1', or '{name}=0' to leave the group out");
                        context.tell(element.locate(finding).with_hint(hint));
                        Opened::Not
                    }
                }
            }
        };
    }
    if element.kind() == OPEN_MODEL {
        return open_model(context, element, index).map_or(Opened::Not, Opened::ByPlan);
    }
    if plugin_arrivals::is_one(element) {
        return plugin_arrivals::workload(context, element, index).map_or(Opened::Not, Opened::ByPlan);
    }
    let Some(property) = element.property(ARRIVALS) else { return Opened::Not };
    let written = property.text().unwrap_or("").to_owned();
    let text = context.now(&written);
    if text.trim().is_empty() {
        return Opened::Not;
    }
    let process = match ArrivalProcess::parse(&text) {
        Ok(process) => process,
        Err(error) => {
            tell(context, property, &text, &error);
            return Opened::Not;
        }
    };
    if let Some(file) = process.unresolved() {
        let finding = Diagnostic::error(
            "unsupported-setting",
            format!("arrivals replayed from a file ({file}) cannot stand in a plan yet"),
        );
        context
            .tell(property.locate(finding).with_hint("say it on the command line: --arrivals 'replay(…)'"));
        return Opened::Not;
    }
    let no_free_user = match element.text(NO_FREE_USER).map(|text| context.now(text)) {
        None => NoFreeUser::Grow(USERS_MAX),
        Some(text) => no_free_user(&text).unwrap_or_else(|message| {
            let finding = Diagnostic::error("invalid-value", message);
            context.tell(element.locate(finding));
            NoFreeUser::Queue
        }),
    };
    Opened::ByPlan(OpenWorkload {
        process,
        groups: vec![(index, 1.0)],
        no_free_user,
        users: None,
        seed: None,
        ends_with_schedule: false,
    })
}

/// The arrivals of a thread group whose workload is open, as the plan writes them; the rates of plugins' groups stand in
/// several properties and are only named.
pub(crate) fn arrivals_of(group: Element<'_>) -> Option<&str> {
    if !matches!(role(group), Role::Group) {
        return None;
    }
    if plugin_arrivals::is_one(group) {
        return Some("by its own rates");
    }
    let name = if group.kind() == OPEN_MODEL { SCHEDULE } else { ARRIVALS };
    group.text(name).filter(|text| !text.trim().is_empty())
}

/// JMeter's Open Model Thread Group: its schedule keeps a fixed count, and ends what still runs.
fn open_model<'p>(context: &mut Context<'p>, element: Element<'p>, index: u32) -> Option<OpenWorkload> {
    let Some(property) = element.property(SCHEDULE) else {
        context.warn(element, "no-schedule", "the thread group has no schedule: nothing will be sent");
        return None;
    };
    let text = context.now(property.text().unwrap_or(""));
    let seed = context.number(element, "OpenModelThreadGroup.random_seed", 0);
    let process = match busyhour_arrivals::jmeter::parse_seeded(&text, seed) {
        Ok(process) => process,
        Err(error) => {
            tell(context, property, &text, &error);
            return None;
        }
    };
    context.warn(
        element,
        "fixed-count-arrivals",
        "the Open Model Thread Group draws a fixed number of arrivals at random times, as in JMeter: \
         their counts vary less than those of a Poisson process",
    );
    Some(OpenWorkload {
        process,
        groups: vec![(index, 1.0)],
        no_free_user: NoFreeUser::Grow(u32::MAX),
        users: None,
        // With JMeter's own seed the starts are fixed already; its 0 stands for a new schedule each time.
        seed: None,
        ends_with_schedule: true,
    })
}

fn tell(context: &mut Context<'_>, property: Property<'_>, text: &str, error: &ParseError) {
    let message =
        format!("the arrivals {text:?} cannot be read at character {}: {}", error.at + 1, error.message);
    let mut finding = property.locate(Diagnostic::error("invalid-arrivals", message));
    if let Some(hint) = &error.hint {
        finding = finding.with_hint(hint.clone());
    }
    context.tell(finding);
}

/// The open workloads of a plan, from what its groups said.
pub(crate) fn workloads(
    context: &mut Context<'_>,
    root: Element<'_>,
    opened: Vec<(u32, Opened)>,
) -> Vec<OpenWorkload> {
    let mut weights = Vec::new();
    let mut workloads = Vec::new();
    for (index, opened) in opened {
        match opened {
            Opened::Not => {}
            Opened::ByOptions(weight) => weights.push((index, weight)),
            Opened::ByPlan(workload) => workloads.push(workload),
        }
    }
    let Some(options) = &context.options.open else { return workloads };
    if weights.len() > 1 && options.weights.is_empty() {
        let finding = Diagnostic::error(
            "no-weight",
            format!(
                "the plan has {} thread groups: how the arrivals are shared out among them is not said",
                weights.len()
            ),
        );
        let groups = root.children().filter(|child| child.enabled() && role(*child) == Role::Group);
        let flags: Vec<String> = groups
            .filter(|group| is_main(*group))
            .map(|group| format!("--weight '{}=1'", group.name()))
            .collect();
        let hint = format!("say it with {}, or disable all but one", flags.join(" "));
        context.tell(root.locate(finding).with_hint(hint));
    }
    for (name, _) in &options.weights {
        // A weight that no group has would change the shares of the others without a word.
        let mut groups = root.children().filter(|child| child.enabled() && role(*child) == Role::Group);
        if !groups.any(|group| is_main(group) && group.name() == name) {
            let finding = Diagnostic::error(
                "unknown-group",
                format!("--weight names {name:?}, which no main thread group is called"),
            );
            context
                .tell(root.locate(finding).with_hint("a group's name is that in the plan, before functions"));
        }
    }
    if weights.iter().all(|(_, weight)| *weight == 0.0) {
        let finding = Diagnostic::error("no-weight", "no main thread group takes the arrivals of --arrivals");
        context.tell(root.locate(finding));
    }
    vec![OpenWorkload {
        process: options.process.clone(),
        groups: weights,
        no_free_user: options.no_free_user.unwrap_or(NoFreeUser::Grow(USERS_MAX)),
        users: options.users.map(|users| Template::literal(&users.to_string())),
        seed: None,
        ends_with_schedule: false,
    }]
}

/// Whether a group's users run in the main part of the test.
fn is_main(group: Element<'_>) -> bool {
    !matches!(group.kind(), "SetupThreadGroup" | "PostThreadGroup")
}

/// Whether the arrivals of a group are to set its rate alone. JMeter allows timers beside its Open Model Thread Group's
/// own schedule.
pub(crate) fn sets_the_rate(opened: &Opened, group: Element<'_>) -> bool {
    match opened {
        Opened::Not => false,
        Opened::ByOptions(_) => true,
        Opened::ByPlan(_) => group.kind() != OPEN_MODEL && !plugin_arrivals::is_one(group),
    }
}

/// What a timer that sets a rate means in a group whose sessions begin by schedule.
pub(crate) fn rate_timer(context: &mut Context<'_>, element: Element<'_>) {
    let text =
        format!("{} sets a rate of its own inside a group whose sessions begin by schedule", element.kind());
    if context.options.open.as_ref().is_some_and(|open| open.ignore_rate_timers) {
        context.warn(element, "rate-timer-left-out", format!("{text}: it is left out"));
        return;
    }
    let finding = Diagnostic::error("rate-timer", text);
    let hint = match context.options.open {
        Some(_) => "disable it, or leave it out with --ignore-rate-timers",
        None => "disable it, or take the arrivals out of the plan",
    };
    context.tell(element.locate(finding).with_hint(hint));
}
