//! The test plan and its thread groups.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_plan::Element;
use busyhour_program::controller::{Controller, ControllerKind};
use busyhour_program::group::{Group, GroupTimes, OnError, Phase};
use busyhour_program::ids::ControllerId;
use busyhour_program::result::Retention;
use busyhour_program::template::Template;
use busyhour_samplers::AnySampler;

use crate::builder::{Builder, Tree};
use crate::compiled::{Compiled, GroupLabel};
use crate::context::{Context, GroupContext};
use crate::elements::config::ConfigClass;
use crate::elements::groups::GroupClass;
use crate::elements::others::{TEST_PLAN, WORK_BENCH};
use crate::elements::processors::PreProcessorClass;
use crate::elements::{Role, role};
use crate::load_profiles::{self, LoadProfile};
use crate::open::{self, GroupWorkload};
use crate::scope::Stack;
use crate::variables::VariableSet;
use crate::{
    backends, known, listeners, perfmon_element, plan_variables, property_files, save_settings, scripts,
};

/// The groups of a plan while it is compiled.
#[derive(Default)]
struct Groups {
    groups: Vec<Group<AnySampler>>,
    labels: Vec<GroupLabel>,
    workloads: Vec<(u32, GroupWorkload)>,
    /// Loops that can store the number of their passes in a variable, each with the index of its group.
    counting: Vec<(usize, ControllerId)>,
    /// The number of groups in each phase.
    numbers: [u32; 3],
}

/// Compiles the whole plan; adds its errors to the context.
pub(crate) fn compile_plan<'p>(mut context: Context<'p>) -> (Option<Compiled>, Vec<Diagnostic>) {
    let Some(root) = context.plan.roots().find(|root| root.kind() == TEST_PLAN) else {
        report_no_plan(&mut context);
        return (None, context.findings.into_diagnostics());
    };
    if let Err(error) = save_settings::save_config(&context.options.properties) {
        context.findings.add(Diagnostic::error("invalid-property", error.message));
    }
    // JMeter also finds groups and variables on the workbench of an old plan.
    let workbenches: Vec<_> =
        context.plan.roots().filter(|other| other.kind() == WORK_BENCH && other.enabled()).collect();
    let variables = variables(&mut context, root, &workbenches);
    let properties_before_files = property_files::read(&mut context);
    let mut groups = Groups::default();
    for place in std::iter::once(root).chain(workbenches) {
        add_groups(&mut context, place, &mut groups);
    }
    let open = open::workloads(&mut context, root, std::mem::take(&mut groups.workloads));
    check_unused(&mut context, root);
    scripts::add_unused_at_start(&mut context);
    if groups.groups.is_empty() {
        let message = "the plan has no enabled thread group: nothing will be sent";
        context.findings.warn(root, "no-thread-group", message);
    }
    retain_previous_results(&context, &mut groups.groups);
    count_passes(&mut context, &mut groups);
    let compiled = Compiled {
        groups: groups.groups,
        open,
        group_labels: groups.labels,
        serialize_groups: context.flag(root, "TestPlan.serialize_threadgroups", false),
        tear_down_on_stop: context.flag(root, "TestPlan.tearDown_on_shutdown", false),
        sample_variables: save_settings::sample_variables(&context.options.properties),
        symbols: context.symbols,
        labels: context.labels,
        outputs: context.outputs.finish(),
        base_dir: context.options.base_dir.clone(),
        variables,
        properties_before_files,
        at_start: context.at_start,
        http: Arc::clone(&context.parts.http),
        plan_name: root.name().to_owned(),
        rate_timers: context.parts.rate_timers,
        targets: context.parts.targets,
    };
    (Some(compiled), context.findings.into_diagnostics())
}

/// Reports a file without a test plan: a template or a part of a plan, which JMeter can paste but not run.
fn report_no_plan(context: &mut Context<'_>) {
    let finding = Diagnostic::error("no-test-plan", "the file does not contain a test plan");
    context.findings.add(match context.plan.roots().next() {
        Some(first) => first
            .locate(finding)
            .with_cause(format!("the root element is a {} instead of a TestPlan", first.kind()))
            .with_hint("it is a part of a plan: merge it into a plan in JMeter, and save that"),
        None => finding
            .in_file(context.plan.file().clone())
            .with_hint("a JMX file of JMeter begins with jmeterTestPlan, hashTree, TestPlan"),
    });
}

/// Collects the user defined variables in plan order. They apply to the whole plan, wherever they are defined.
fn variables<'p>(
    context: &mut Context<'p>,
    root: Element<'p>,
    workbenches: &[Element<'p>],
) -> Vec<VariableSet> {
    let mut variables = Vec::new();
    if let Some(defined) = root.element("TestPlan.user_defined_variables") {
        variables.extend(plan_variables::from_property(context, defined));
    }
    if root.text("TestPlan.user_define_classpath").is_some_and(|path| !path.trim().is_empty()) {
        let message = "the plan adds Java classes to the classpath; none can be used here";
        context.findings.warn(root, "classpath", message);
    }
    let everything =
        root.descendants().chain(workbenches.iter().flat_map(|workbench| workbench.descendants()));
    for element in everything.filter(|element| element.is_active()) {
        match role(element) {
            Role::Config(ConfigClass::UserVariables) => {
                if let Some(list) = element.collection("Arguments.arguments") {
                    variables.push(plan_variables::from_list(context, list));
                }
            }
            Role::Config(ConfigClass::VariablesFromCsv) => {
                context.plan_variables.clone_from(&variables);
                variables.push(plan_variables::from_file(context, element));
            }
            _ => {}
        }
    }
    context.plan_variables.clone_from(&variables);
    variables
}

/// Compiles the groups directly below a test plan or workbench.
fn add_groups<'p>(context: &mut Context<'p>, place: Element<'p>, groups: &mut Groups) {
    let enabled = || place.children().filter(|child| child.enabled());
    let plan_level: Vec<_> =
        enabled().filter(|child| !matches!(role(*child), Role::Group(_) | Role::Fragment)).collect();
    for element in enabled() {
        if let Role::Group(class) = role(element) {
            add_group(context, element, class, &plan_level, groups);
        }
    }
}

fn add_group<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: GroupClass,
    plan_level: &[Element<'p>],
    groups: &mut Groups,
) {
    let phase = match class {
        GroupClass::SetUp => Phase::SetUp,
        GroupClass::TearDown => Phase::TearDown,
        GroupClass::Main
        | GroupClass::OpenModel
        | GroupClass::Ultimate
        | GroupClass::Stepping
        | GroupClass::Concurrency
        | GroupClass::Arrivals
        | GroupClass::FreeFormArrivals => Phase::Main,
    };
    let number = &mut groups.numbers[phase as usize];
    *number += 1;
    let name = context.name(element);
    let thread_suffix = load_profiles::thread_suffix(class);
    groups.labels.push(GroupLabel { name, thread_suffix, number: *number });
    let index = groups.groups.len();
    let index_u32 = u32::try_from(index).unwrap_or(u32::MAX);
    let open = match phase {
        Phase::Main => open::group_workload(context, element, class, index_u32),
        Phase::SetUp | Phase::TearDown => GroupWorkload::Closed,
    };
    context.group = GroupContext {
        is_open: open::sets_the_rate(&open, class),
        sample_timeouts: sample_timeouts(context, element, plan_level),
    };
    let planned = PlannedGroup { element, class, phase, is_open: !matches!(open, GroupWorkload::Closed) };
    let (group, counting) = group(context, &planned, plan_level);
    groups.groups.push(group);
    groups.counting.extend(counting.into_iter().map(|id| (index, id)));
    context.group = GroupContext::default();
    groups.workloads.push((index_u32, open));
}

/// Compiles or reports enabled elements that no sampler used, such as those of other protocols.
fn check_unused<'p>(context: &mut Context<'p>, root: Element<'p>) {
    for element in root.descendants().filter(|element| element.is_active()) {
        match role(element) {
            // Files are opened at the start, even if no sampler is in the listener's scope.
            Role::ResultFile(class) => {
                listeners::result_file(context, element, class);
            }
            Role::Unsupported(refused) => {
                // If a Module Controller in a group refers to a fragment, the group contains a copy of it.
                let is_in = |is: fn(Role) -> bool| element.ancestors().any(|above| is(role(above)));
                let in_fragment = is_in(|role| role == Role::Fragment);
                if !in_fragment || is_in(|role| matches!(role, Role::Group(_))) {
                    context.findings.unsupported_element(element, refused);
                }
            }
            Role::BackendListener => match backends::listener(context, element) {
                Some(backend) => context.outputs.backends.push(backend),
                None => warn_about_display(context, element),
            },
            Role::PerfMonCollector => {
                let collector = perfmon_element::collector(context, element);
                context.outputs.perfmon.push(collector);
            }
            Role::DisplayListener => warn_about_display(context, element),
            Role::Inert(why) => {
                let message = format!("the element {} {why}", element.kind());
                context.findings.warn(element, "inert-element", message);
            }
            Role::Group(_)
            | Role::Fragment
            | Role::Controller(_)
            | Role::Sampler(_)
            | Role::Timer(_)
            | Role::Config(_)
            | Role::Step(_)
            | Role::PreProcessor(_)
            | Role::PostProcessor(_)
            | Role::Assertion(_)
            | Role::SampleListener(_) => {}
        }
    }
}

fn warn_about_display(context: &mut Context<'_>, element: Element<'_>) {
    let message = format!("the listener {} is accepted, but shows and sends nothing", element.kind());
    context.findings.warn(element, "silent-listener", message);
}

/// Makes all samplers retain the parts of the previous result that scripts of the plan can read.
fn retain_previous_results(context: &Context<'_>, groups: &mut [Group<AnySampler>]) {
    let keep = context.reads.previous_result.union(context.symbols.reads.result);
    if keep == Retention::default() {
        return;
    }
    for sampler in groups.iter_mut().flat_map(|group| &mut group.samplers) {
        sampler.keep = sampler.keep.union(keep);
    }
}

/// The prefix of the variables with iteration counts of loops.
const PASSES_PREFIX: &str = "__jm__";

/// Makes loops store the number of their passes in a variable if something may read it. The plan or a property can contain the
/// name of the variable: in a reference, in `sample_variables`, or in a text that `__eval` evaluates.
fn count_passes(context: &mut Context<'_>, groups: &mut Groups) {
    let is_named = || {
        let properties = context.options.properties.all();
        context.plan.source().contains(PASSES_PREFIX)
            || properties.iter().any(|(_, value)| value.contains(PASSES_PREFIX))
    };
    if !(context.reads.any_variable || context.symbols.reads.any_variable || is_named()) {
        return;
    }
    for (group, id) in &groups.counting {
        let controller: &mut Controller = &mut groups.groups[*group].controllers[id.0 as usize];
        if let Some(name) = controller.name.as_literal() {
            controller.index_slot = Some(context.symbols.slot(&format!("{PASSES_PREFIX}{name}__idx")));
        }
    }
}

/// A thread group to be compiled.
struct PlannedGroup<'p> {
    element: Element<'p>,
    class: GroupClass,
    phase: Phase,
    /// Whether a schedule starts its sessions.
    is_open: bool,
}

/// Compiles a group. Also returns its loops that can store the number of their passes in a variable.
fn group<'p>(
    context: &mut Context<'p>,
    planned: &PlannedGroup<'p>,
    plan_level: &[Element<'p>],
) -> (Group<AnySampler>, Vec<ControllerId>) {
    let element = planned.element;
    let profile = load_profiles::load_profile(context, element, planned.class, planned.is_open);
    let kind = main_loop(context, planned, profile.as_ref());
    let stack = Stack::for_group(element, plan_level);
    let mut builder = Builder::new(context);
    let root = builder.reserve();
    builder.counts_passes(root);
    let tree = builder.children(&stack, &[root], Tree::default());
    let name = builder.context.name(element);
    let listeners = builder.iteration_listeners(&stack, &tree);
    builder.set_controller(
        root,
        Controller { name, index_slot: None, kind, children: tree.children.into(), listeners },
    );
    let built = builder.finish();
    let scheduled = profile.is_none() && context.flag(element, "ThreadGroup.scheduler", false);
    let schedule = scheduled.then(|| GroupTimes {
        duration: context.text_or(element, "ThreadGroup.duration", "0"),
        delay: context.text_or(element, "ThreadGroup.delay", "0"),
    });
    let (users, same_user, population) = match profile {
        Some(LoadProfile { users, same_user, profile, .. }) => (users, same_user, Some(Box::new(profile))),
        None => (
            context.text_or(element, "ThreadGroup.num_threads", "1"),
            context.flag(element, "ThreadGroup.same_user_on_next_iteration", true),
            None,
        ),
    };
    known::check_group(context, element, planned.class, &users);
    let group = Group {
        phase: planned.phase,
        users,
        ramp_up: context.text_or(element, "ThreadGroup.ramp_time", "0"),
        schedule,
        population,
        delayed_start: context.flag(element, "ThreadGroup.delayedStart", false),
        on_error: on_error(context, element),
        same_user,
        controllers: built.controllers,
        samplers: built.samplers,
    };
    (group, built.counting)
}

/// The main loop of a user.
fn main_loop<'p>(
    context: &mut Context<'p>,
    planned: &PlannedGroup<'p>,
    profile: Option<&LoadProfile>,
) -> ControllerKind {
    if let Some(passes) = profile.and_then(|profile| profile.passes.clone()) {
        return ControllerKind::Loop { count: passes, forever: false };
    }
    // A session is one iteration, independently of the group's loop count.
    let main = planned.element.element("ThreadGroup.main_controller").filter(|_| !planned.is_open);
    match main {
        Some(main) => ControllerKind::Loop {
            count: context.item(main, "LoopController.loops"),
            // As in JMeter, a main controller without this setting loops forever.
            forever: main.item_boolean("LoopController.continue_forever").unwrap_or(true),
        },
        None => ControllerKind::Loop { count: Template::literal("1"), forever: false },
    }
}

/// The timeouts of a group. In JMeter, a Sample Timeout applies to all samplers of its thread group, wherever it is.
fn sample_timeouts<'p>(
    context: &mut Context<'p>,
    group: Element<'p>,
    plan_level: &[Element<'p>],
) -> std::sync::Arc<[Template]> {
    let inside = group.descendants().filter(|element| element.is_active());
    inside
        .chain(plan_level.iter().copied())
        .filter(|element| role(*element) == Role::PreProcessor(PreProcessorClass::SampleTimeout))
        .map(|element| context.text(element, "InterruptTimer.timeout"))
        .collect()
}

fn on_error(context: &mut Context<'_>, element: Element<'_>) -> OnError {
    let Some(property) = element.property("ThreadGroup.on_sample_error") else { return OnError::Continue };
    match property.text().unwrap_or("").trim().to_ascii_lowercase().as_str() {
        "" | "continue" => OnError::Continue,
        "startnextloop" => OnError::StartNextLoop,
        "stopthread" => OnError::StopUser,
        "stoptest" => OnError::StopTest,
        "stoptestnow" => OnError::StopTestNow,
        other => {
            let finding = Diagnostic::warning(
                "unknown-on-error",
                format!("the action {other:?} on a sample error is unknown"),
            )
            .with_hint("JMeter treats an unknown action as `continue`, and so does this run");
            context.findings.add(property.locate(finding));
            OnError::Continue
        }
    }
}

#[cfg(test)]
mod tests;
