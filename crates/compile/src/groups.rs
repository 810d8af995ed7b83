//! The test plan and its thread groups.

use busyhour_diagnostic::Diagnostic;
use busyhour_engine::program::{Controller, ControllerKind, Group, OnError, Phase, Schedule};
use busyhour_plan::Element;
use busyhour_samplers::AnySampler;

use crate::config;
use crate::context::Context;
use crate::controllers::{Builder, Tree};
use crate::crowds;
use crate::known;
use crate::open::{self, Opened};
use crate::scope::Stack;
use crate::start::{VARIABLES_FROM_CSV, VariableSet};
use crate::support::{Role, role};
use crate::{Compiled, GroupLabel};

/// Compiles the whole plan; what is wrong with it stands in the context.
pub(crate) fn compile_plan<'p>(context: &mut Context<'p>) -> Option<Compiled> {
    let plan = context.plan;
    let Some(root) = plan.roots().find(|root| root.kind() == "TestPlan") else {
        let finding = Diagnostic::error("no-test-plan", "the file holds no test plan");
        // A template, or what was copied out of a plan: JMeter can paste it, not run it.
        context.tell(match plan.roots().next() {
            Some(first) => first
                .locate(finding)
                .with_cause(format!("what stands where the TestPlan should is a {}", first.kind()))
                .with_hint("it is a part of a plan: in JMeter, merge it into a plan, and save that"),
            None => finding
                .in_file(plan.file().clone())
                .with_hint("a JMX file of JMeter begins with jmeterTestPlan, hashTree, TestPlan"),
        });
        return None;
    };
    if let Err(error) = config::save_config(&context.options.properties) {
        context.tell(Diagnostic::error("invalid-property", error.message));
    }
    let mut variables = Vec::new();
    if let Some(defined) = root.element("TestPlan.user_defined_variables") {
        variables.extend(VariableSet::of_property(context, defined));
    }
    if root.text("TestPlan.user_define_classpath").is_some_and(|path| !path.trim().is_empty()) {
        context.warn(root, "classpath", "the plan adds Java classes to the classpath; none can be used here");
    }
    // What was parked on the workbench of an old plan is no part of it, but JMeter finds groups and variables there, too.
    let benches: Vec<_> =
        plan.roots().filter(|other| other.kind() == "WorkBench" && other.enabled()).collect();
    // User Defined Variables count wherever they stand, in the order of the plan.
    let everything = root.descendants().chain(benches.iter().flat_map(|bench| bench.descendants()));
    for element in everything.filter(|element| element.is_active()) {
        if element.kind() == "Arguments"
            && let Some(list) = element.collection("Arguments.arguments")
        {
            variables.push(VariableSet::of_list(context, list));
        }
        if element.kind() == VARIABLES_FROM_CSV {
            context.plan_variables.clone_from(&variables);
            variables.push(VariableSet::of_file(context, element));
        }
    }
    context.plan_variables.clone_from(&variables);
    let beside_groups = |place: Element<'p>| -> Vec<Element<'p>> {
        let beside = |child: &Element<'p>| !matches!(role(*child), Role::Group | Role::Fragment);
        place.children().filter(|child| child.enabled() && beside(child)).collect()
    };
    let places: Vec<_> =
        std::iter::once(root).chain(benches).map(|place| (place, beside_groups(place))).collect();
    let enabled_groups = places.iter().flat_map(|(place, beside)| {
        let is_group = |child: &Element<'p>| child.enabled() && role(*child) == Role::Group;
        place.children().filter(is_group).map(move |group| (group, beside))
    });
    let mut groups = Vec::new();
    let mut group_labels = Vec::new();
    let mut opened = Vec::new();
    let mut numbers = [0u32; 3];
    for (element, beside) in enabled_groups {
        let phase = match element.kind() {
            "SetupThreadGroup" => Phase::SetUp,
            "PostThreadGroup" => Phase::TearDown,
            _ => Phase::Main,
        };
        numbers[phase as usize] += 1;
        let name = context.name(element);
        group_labels.push(GroupLabel {
            name,
            thread_suffix: crowds::thread_suffix(element),
            number: numbers[phase as usize],
        });
        let index = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        let open = match phase {
            Phase::Main => open::of_group(context, element, index),
            Phase::SetUp | Phase::TearDown => Opened::Not,
        };
        context.in_open_group = open::sets_the_rate(&open, element);
        groups.push(group(context, element, phase, beside, !matches!(open, Opened::Not)));
        context.in_open_group = false;
        opened.push((index, open));
    }
    let open = open::workloads(context, root, opened);
    check_unused(context, root);
    if groups.is_empty() {
        context.warn(root, "no-thread-group", "the plan has no enabled thread group: nothing will be sent");
    }
    Some(Compiled {
        groups,
        open,
        group_labels,
        serialize_groups: context.flag(root, "TestPlan.serialize_threadgroups", false),
        tear_down_on_stop: context.flag(root, "TestPlan.tearDown_on_shutdown", false),
        sample_variables: config::sample_variables(&context.options.properties),
        symbols: std::mem::take(&mut context.symbols),
        labels: context.labels.clone(),
        detail_wishes: context.detail_wishes(),
        functional_mode: context.functional_mode,
        base_dir: context.options.base_dir.clone(),
        listeners: std::mem::take(&mut context.listeners),
        listener_sets: std::mem::take(&mut context.listener_sets),
        backends: std::mem::take(&mut context.backends),
        variables,
        plan_name: root.name().to_owned(),
    })
}

/// Complains about enabled elements nobody asked for, such as those of other protocols.
fn check_unused<'p>(context: &mut Context<'p>, root: Element<'p>) {
    for element in root.descendants().filter(|element| element.is_active()) {
        // A fragment that a module of a group refers to has a copy there.
        let in_fragment = element.ancestors().any(|above| role(above) == Role::Fragment)
            && !element.ancestors().any(|above| role(above) == Role::Group);
        match role(element) {
            // Files are opened at the start, whoever hears samples.
            Role::Listener => {
                crate::listeners::file(context, element);
            }
            Role::Unsupported if !in_fragment => context.unsupported_element(element),
            Role::SilentListener => {
                if element.kind() == "BackendListener"
                    && let Some(backend) = crate::backends::listener(context, element)
                {
                    context.backends.push(backend);
                    continue;
                }
                let message = format!(
                    "the listener {} is accepted; what it would show or send is left out",
                    element.kind()
                );
                context.warn(element, "silent-listener", message);
            }
            Role::Inert(why) => {
                context.warn(element, "inert-element", format!("the element {} {why}", element.kind()))
            }
            _ => {}
        }
    }
}

fn group<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    phase: Phase,
    plan_level: &[Element<'p>],
    is_open: bool,
) -> Group<AnySampler> {
    let stack = Stack::of_group(element, plan_level);
    // A session is one pass, whatever the group's own users would make.
    let main = element.element("ThreadGroup.main_controller").filter(|_| !is_open);
    let crowd = crowds::of_group(context, element, is_open);
    let passes = crowd.as_ref().and_then(|crowd| crowd.passes.clone());
    let main = main.filter(|_| passes.is_none());
    let count = match (passes, main) {
        (Some(passes), _) => passes,
        (None, Some(main)) => context.item(main, "LoopController.loops"),
        (None, None) => busyhour_engine::template::Template::literal("1"),
    };
    // As in JMeter, a main controller that does not say goes on for ever.
    let forever =
        main.is_some_and(|main| main.item_boolean("LoopController.continue_forever").unwrap_or(true));
    context.sample_timeouts = sample_timeouts(context, element, plan_level);
    let mut builder = Builder::new(context);
    let kind = ControllerKind::Loop { count, forever };
    let root = builder.reserve();
    let tree = builder.children(&stack, &[root], Tree::default());
    let name = builder.context.name(element);
    let index_slot = name
        .as_literal()
        .filter(|_| builder.context.shows_indices)
        .map(|name| builder.context.symbols.slot(&format!("__jm__{name}__idx")));
    let listeners = builder.iteration_listeners(&stack, &tree);
    builder.put(root, Controller { name, index_slot, kind, children: tree.children.into(), listeners });
    let (controllers, samplers) = builder.finish();
    let scheduled = crowd.is_none() && context.flag(element, "ThreadGroup.scheduler", false);
    let schedule = scheduled.then(|| Schedule {
        duration: context.text_or(element, "ThreadGroup.duration", "0"),
        delay: context.text_or(element, "ThreadGroup.delay", "0"),
    });
    let (users, same_user, crowd) = match crowd {
        Some(crowd) => (crowd.users, crowd.same_user, Some(Box::new(crowd.crowd))),
        None => (
            context.text_or(element, "ThreadGroup.num_threads", "1"),
            context.flag(element, "ThreadGroup.same_user_on_next_iteration", true),
            None,
        ),
    };
    known::check_group(context, element, &users);
    Group {
        phase,
        users,
        ramp_up: context.text_or(element, "ThreadGroup.ramp_time", "0"),
        schedule,
        crowd,
        delayed_start: context.flag(element, "ThreadGroup.delayedStart", false),
        on_error: on_error(context, element),
        same_user,
        controllers: controllers.into(),
        samplers: samplers.into(),
    }
}

/// JMeter's Sample Timeouts watch over all samplers of their thread group, wherever they stand in it.
fn sample_timeouts<'p>(
    context: &mut Context<'p>,
    group: Element<'p>,
    plan_level: &[Element<'p>],
) -> std::sync::Arc<[busyhour_engine::template::Template]> {
    let inside = group.descendants().filter(|element| element.is_active());
    inside
        .chain(plan_level.iter().copied())
        .filter(|element| element.kind() == "SampleTimeout")
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
            .with_hint("JMeter goes on after errors then, and so does this run");
            context.tell(property.locate(finding));
            OnError::Continue
        }
    }
}
