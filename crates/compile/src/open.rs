//! Open workloads: thread groups whose sessions start by a schedule, and their schedules.

use busyhour_arrivals::{ArrivalProcess, ParseError};
use busyhour_diagnostic::Diagnostic;
use busyhour_plan::{Element, Property};
use busyhour_program::open::{NoFreeUser, OpenWorkload};
use busyhour_program::template::Template;

use crate::context::Context;
use crate::elements::groups::GroupClass;
use crate::elements::{Role, role};
use crate::options::{OpenOptions, USERS_MAX, no_free_user};
use crate::plugin_arrivals;

/// Property of a thread group: its arrivals. JMeter passes over it.
const ARRIVALS: &str = "busyhour.arrivals";

/// Property of a thread group: what becomes of an arrival that finds no free user.
const NO_FREE_USER: &str = "busyhour.no_free_user";

/// Property of JMeter's Open Model Thread Group: its schedule.
const SCHEDULE: &str = "OpenModelThreadGroup.schedule";

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
pub(crate) fn of_group<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: GroupClass,
    index: u32,
) -> Opened {
    if context.options.open.is_some() {
        return by_options(context, element);
    }
    let workload = match class {
        GroupClass::OpenModel => open_model(context, element, index),
        GroupClass::Arrivals | GroupClass::FreeFormArrivals => {
            plugin_arrivals::workload(context, element, class, index)
        }
        GroupClass::Main
        | GroupClass::SetUp
        | GroupClass::TearDown
        | GroupClass::Ultimate
        | GroupClass::Stepping
        | GroupClass::Concurrency => by_property(context, element, index),
    };
    workload.map_or(Opened::Not, Opened::ByPlan)
}

/// The part of a group in the arrivals of the command line.
fn by_options(context: &mut Context<'_>, element: Element<'_>) -> Opened {
    let weights = context.options.open.as_ref().map_or(&[][..], |options| options.weights.as_slice());
    if weights.is_empty() {
        return Opened::ByOptions(1.0);
    }
    let name = element.name();
    if let Some((_, weight)) = weights.iter().find(|(known, _)| known == name) {
        return Opened::ByOptions(*weight);
    }
    let finding = Diagnostic::error(
        "no-weight",
        format!("the arrivals of --arrivals are shared out by weight, and {name:?} has none"),
    );
    let hint = format!("add --weight '{name}=1', or '{name}=0' to leave the group out");
    context.findings.add(element.locate(finding).with_hint(hint));
    Opened::Not
}

/// The workload of a group by the property of its arrivals.
fn by_property<'p>(context: &mut Context<'p>, element: Element<'p>, index: u32) -> Option<OpenWorkload> {
    let property = element.property(ARRIVALS)?;
    let text = context.now(property.text().unwrap_or(""));
    if text.trim().is_empty() {
        return None;
    }
    let process = match ArrivalProcess::parse(&text) {
        Ok(process) => process,
        Err(error) => {
            report_unreadable(context, property, &text, &error);
            return None;
        }
    };
    if let Some(file) = process.unresolved() {
        let finding = Diagnostic::error(
            "unsupported-setting",
            format!("arrivals replayed from a file ({file}) are not supported in plans yet"),
        );
        let hint = "use the command line: --arrivals 'replay(…)'";
        context.findings.add(property.locate(finding).with_hint(hint));
        return None;
    }
    let no_free_user = match element.text(NO_FREE_USER).map(|text| context.now(text)) {
        None => NoFreeUser::Grow(USERS_MAX),
        Some(text) => no_free_user(&text).unwrap_or_else(|error| {
            let finding = Diagnostic::error("invalid-value", error.message);
            context.findings.add(element.locate(finding));
            NoFreeUser::Queue
        }),
    };
    Some(OpenWorkload {
        process,
        groups: vec![(index, 1.0)],
        no_free_user,
        users: None,
        seed: None,
        ends_with_schedule: false,
    })
}

/// The arrivals of a thread group whose workload is open, as the plan writes them; the rates of plugins' groups are
/// spread over several properties and are only mentioned.
pub(crate) fn arrivals_of(group: Element<'_>) -> Option<&str> {
    let Role::Group(class) = role(group) else { return None };
    if class.is_plugin_arrivals() {
        return Some("by its own rates");
    }
    let name = if class == GroupClass::OpenModel { SCHEDULE } else { ARRIVALS };
    group.text(name).filter(|text| !text.trim().is_empty())
}

/// JMeter's Open Model Thread Group: its schedule keeps a fixed count, and ends what still runs.
fn open_model<'p>(context: &mut Context<'p>, element: Element<'p>, index: u32) -> Option<OpenWorkload> {
    let Some(property) = element.property(SCHEDULE) else {
        context.findings.warn(
            element,
            "no-schedule",
            "the thread group has no schedule: nothing will be sent",
        );
        return None;
    };
    let text = context.now(property.text().unwrap_or(""));
    let seed = context.number(element, "OpenModelThreadGroup.random_seed", 0);
    let process = match busyhour_arrivals::jmeter::parse_seeded(&text, seed) {
        Ok(process) => process,
        Err(error) => {
            report_unreadable(context, property, &text, &error);
            return None;
        }
    };
    context.findings.warn(
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
        // With JMeter's own seed the starts are fixed already; 0 means a new schedule each time.
        seed: None,
        ends_with_schedule: true,
    })
}

fn report_unreadable(context: &mut Context<'_>, property: Property<'_>, text: &str, error: &ParseError) {
    let message =
        format!("the arrivals {text:?} cannot be read at character {}: {}", error.at + 1, error.message);
    let mut finding = property.locate(Diagnostic::error("invalid-arrivals", message));
    if let Some(hint) = &error.hint {
        finding = finding.with_hint(hint.clone());
    }
    context.findings.add(finding);
}

/// The open workloads of a plan, from those of its groups.
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
    check_weights(context, root, options, &weights);
    vec![OpenWorkload {
        process: options.process.clone(),
        groups: weights,
        no_free_user: options.no_free_user.unwrap_or(NoFreeUser::Grow(USERS_MAX)),
        users: options.users.map(|users| Template::literal(&users.to_string())),
        seed: None,
        ends_with_schedule: false,
    }]
}

/// Checks how the arrivals of the command line are shared out among the main groups of a plan.
fn check_weights(
    context: &mut Context<'_>,
    root: Element<'_>,
    options: &OpenOptions,
    weights: &[(u32, f64)],
) {
    let main_groups: Vec<Element<'_>> = root.children().filter(|child| is_main_group(*child)).collect();
    if weights.len() > 1 && options.weights.is_empty() {
        let finding = Diagnostic::error(
            "no-weight",
            format!(
                "the plan has {} thread groups: how the arrivals are distributed among them is not specified",
                weights.len()
            ),
        );
        let flags: Vec<String> =
            main_groups.iter().map(|group| format!("--weight '{}=1'", group.name())).collect();
        let hint = format!("specify it with {}, or disable all but one", flags.join(" "));
        context.findings.add(root.locate(finding).with_hint(hint));
    }
    for (name, _) in &options.weights {
        // A weight that no group has would change the shares of the others unnoticed.
        if !main_groups.iter().any(|group| group.name() == name) {
            let finding = Diagnostic::error(
                "unknown-group",
                format!("--weight names {name:?}, which no main thread group is called"),
            );
            let hint = "a group's name is that in the plan, before functions";
            context.findings.add(root.locate(finding).with_hint(hint));
        }
    }
    if weights.iter().all(|(_, weight)| *weight == 0.0) {
        let finding = Diagnostic::error("no-weight", "no main thread group takes the arrivals of --arrivals");
        context.findings.add(root.locate(finding));
    }
}

fn is_main_group(element: Element<'_>) -> bool {
    element.enabled() && matches!(role(element), Role::Group(class) if class.is_main())
}

/// Whether the arrivals of a group alone are to set its rate. JMeter allows timers beside its Open Model Thread Group's
/// own schedule.
pub(crate) fn sets_the_rate(opened: &Opened, class: GroupClass) -> bool {
    match opened {
        Opened::Not => false,
        Opened::ByOptions(_) => true,
        Opened::ByPlan(_) => class != GroupClass::OpenModel && !class.is_plugin_arrivals(),
    }
}

/// Reports a timer that sets a rate in a group whose sessions start by a schedule.
pub(crate) fn report_rate_timer(context: &mut Context<'_>, element: Element<'_>) {
    let text =
        format!("{} sets another rate inside a group whose sessions begin by schedule", element.kind());
    if context.options.open.as_ref().is_some_and(|open| open.ignore_rate_timers) {
        context.findings.warn(element, "rate-timer-left-out", format!("{text}: it is left out"));
        return;
    }
    let finding = Diagnostic::error("rate-timer", text);
    let hint = match context.options.open {
        Some(_) => "disable it, or leave it out with --ignore-rate-timers",
        None => "disable it, or take the arrivals out of the plan",
    };
    context.findings.add(element.locate(finding).with_hint(hint));
}
