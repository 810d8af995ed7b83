//! Open workloads: thread groups whose sessions are started by a schedule, and their schedules.

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

/// The property of a thread group with its arrivals. JMeter ignores this property.
const ARRIVALS: &str = "busyhour.arrivals";

/// The property of a thread group that determines the handling of an arrival if no user is idle.
const NO_FREE_USER: &str = "busyhour.no_free_user";

/// The property of JMeter's Open Model Thread Group with its schedule.
const SCHEDULE: &str = "OpenModelThreadGroup.schedule";

/// The role of a group in open workloads.
pub(crate) enum GroupWorkload {
    /// The group is not part of an open workload and starts its own users.
    Closed,
    /// Part of the command line's workload, with this weight.
    ByOptions(f64),
    /// A workload that the plan defines.
    ByPlan(OpenWorkload),
}

/// Determines the role of a group in open workloads; `index` is the group's index in the program.
pub(crate) fn group_workload<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: GroupClass,
    index: u32,
) -> GroupWorkload {
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
    workload.map_or(GroupWorkload::Closed, GroupWorkload::ByPlan)
}

/// The role of a group in the arrivals of the command line.
fn by_options(context: &mut Context<'_>, element: Element<'_>) -> GroupWorkload {
    let weights = context.options.open.as_ref().map_or(&[][..], |options| options.weights.as_slice());
    if weights.is_empty() {
        return GroupWorkload::ByOptions(1.0);
    }
    let name = element.name();
    if let Some((_, weight)) = weights.iter().find(|(known, _)| known == name) {
        return GroupWorkload::ByOptions(*weight);
    }
    let finding = Diagnostic::error(
        "no-weight",
        format!("the arrivals of --arrivals are distributed by weight, but {name:?} has no weight"),
    );
    let hint = format!("add --weight '{name}=1', or '{name}=0' to leave the group out");
    context.findings.add(element.locate(finding).with_hint(hint));
    GroupWorkload::Closed
}

/// The workload that the arrivals property of a group defines.
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

/// The arrivals of a thread group with an open workload, as written in the plan. The rates of plugins' groups are in several
/// properties and are not returned.
pub(crate) fn arrivals_of(group: Element<'_>) -> Option<&str> {
    let Role::Group(class) = role(group) else { return None };
    if class.is_plugin_arrivals() {
        return Some("by its own rates");
    }
    let name = if class == GroupClass::OpenModel { SCHEDULE } else { ARRIVALS };
    group.text(name).filter(|text| !text.trim().is_empty())
}

/// The workload of JMeter's Open Model Thread Group. Its schedule has a fixed number of arrivals, and the end of the
/// schedule stops the remaining users.
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
        // `parse_seeded` has already applied the seed of the group. With seed 0, the schedule differs in each run.
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

/// The open workloads of a plan, collected from those of its groups.
pub(crate) fn workloads(
    context: &mut Context<'_>,
    root: Element<'_>,
    opened: Vec<(u32, GroupWorkload)>,
) -> Vec<OpenWorkload> {
    let mut weights = Vec::new();
    let mut workloads = Vec::new();
    for (index, opened) in opened {
        match opened {
            GroupWorkload::Closed => {}
            GroupWorkload::ByOptions(weight) => weights.push((index, weight)),
            GroupWorkload::ByPlan(workload) => workloads.push(workload),
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

/// Checks how the arrivals of the command line are distributed among the main groups of a plan.
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
        // A weight without a group would silently change the shares of the other groups.
        if !main_groups.iter().any(|group| group.name() == name) {
            let finding = Diagnostic::error(
                "unknown-group",
                format!("--weight names {name:?}, but no main thread group has this name"),
            );
            let hint = "use the name as written in the plan, before functions are evaluated";
            context.findings.add(root.locate(finding).with_hint(hint));
        }
    }
    if weights.iter().all(|(_, weight)| *weight == 0.0) {
        let finding =
            Diagnostic::error("no-weight", "no main thread group receives the arrivals of --arrivals");
        context.findings.add(root.locate(finding));
    }
}

fn is_main_group(element: Element<'_>) -> bool {
    element.enabled() && matches!(role(element), Role::Group(class) if class.is_main())
}

/// Whether only the arrivals of a group may set its rate. JMeter allows timers in addition to the schedule of its own Open
/// Model Thread Group.
pub(crate) fn sets_the_rate(opened: &GroupWorkload, class: GroupClass) -> bool {
    match opened {
        GroupWorkload::Closed => false,
        GroupWorkload::ByOptions(_) => true,
        GroupWorkload::ByPlan(_) => class != GroupClass::OpenModel && !class.is_plugin_arrivals(),
    }
}

/// Reports a timer that sets a rate in a group whose sessions are started by a schedule.
pub(crate) fn report_rate_timer(context: &mut Context<'_>, element: Element<'_>) {
    let text = format!(
        "{} sets a different rate in a group whose sessions are started by a schedule",
        element.kind()
    );
    if context.options.open.as_ref().is_some_and(|open| open.ignore_rate_timers) {
        context.findings.warn(element, "rate-timer-left-out", format!("{text}: it is ignored"));
        return;
    }
    let finding = Diagnostic::error("rate-timer", text);
    let hint = match context.options.open {
        Some(_) => "disable it, or leave it out with --ignore-rate-timers",
        None => "disable it, or remove the arrivals from the plan",
    };
    context.findings.add(element.locate(finding).with_hint(hint));
}
