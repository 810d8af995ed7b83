//! Controllers and what hangs below them.

use std::sync::Arc;

use busyhour_engine::program::{
    Assignment, Child, Controller, ControllerId, ControllerKind, CriticalSection, IterationListener,
    SamplerId, SamplerKind, SamplerPackage, Throughput, TransactionSettings, WeightedChoice,
};
use busyhour_engine::template::Template;
use busyhour_engine::variables::Slot;
use busyhour_plan::Element;
use busyhour_samplers::AnySampler;

use crate::context::Context;
use crate::scope::Stack;
use crate::support::{Role, role};
use crate::{condition, samplers, steps};

/// Builds the controllers and samplers of one thread group.
pub(crate) struct Builder<'c, 'p> {
    pub(crate) context: &'c mut Context<'p>,
    controllers: Vec<Option<Controller>>,
    samplers: Vec<SamplerPackage<AnySampler>>,
}

/// What hangs below one controller.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) children: Vec<Child>,
    /// Elements that hear of its passes, in the order JMeter registers them.
    registered: Vec<IterationListener>,
}

impl<'c, 'p> Builder<'c, 'p> {
    pub(crate) fn new(context: &'c mut Context<'p>) -> Self {
        Self { context, controllers: Vec::new(), samplers: Vec::new() }
    }

    /// A number for a controller that will be put later.
    pub(crate) fn reserve(&mut self) -> ControllerId {
        self.controllers.push(None);
        ControllerId(u32::try_from(self.controllers.len() - 1).unwrap_or(u32::MAX))
    }

    /// Puts the controller of a number.
    pub(crate) fn put(&mut self, id: ControllerId, controller: Controller) {
        self.controllers[id.0 as usize] = Some(controller);
    }

    /// Everything that was built.
    pub(crate) fn finish(self) -> (Vec<Controller>, Vec<SamplerPackage<AnySampler>>) {
        (self.controllers.into_iter().flatten().collect(), self.samplers)
    }

    /// Compiles what stands below the last element of `stack`; `ancestors` are the controllers around, nearest first.
    pub(crate) fn children(&mut self, stack: &Stack<'p>, ancestors: &[ControllerId], mut tree: Tree) -> Tree {
        let Some(parent) = stack.path.last().copied() else { return tree };
        for element in parent.children().filter(|child| child.enabled()) {
            tree = self.child(element, stack, ancestors, tree);
        }
        tree
    }

    /// Compiles one element below the last of `stack`.
    fn child(
        &mut self,
        element: Element<'p>,
        stack: &Stack<'p>,
        ancestors: &[ControllerId],
        mut tree: Tree,
    ) -> Tree {
        match role(element) {
            Role::Sampler if element.kind() == samplers::PARALLEL => {
                let below = stack.with(element);
                if let Some(mut package) = samplers::package(self.context, &below, ancestors) {
                    if let SamplerKind::Parallel(parallel) = &mut package.kind {
                        parallel.branches = self.branches(&below, ancestors);
                    }
                    tree.children.push(Child::Sampler(self.sampler(package)));
                }
            }
            Role::Sampler => {
                let below = stack.with(element);
                // Counters and the like below a sampler still step with the controller around it.
                tree = self.children(&below, ancestors, tree);
                if let Some(package) = samplers::package(self.context, &below, ancestors) {
                    tree.children.push(Child::Sampler(self.sampler(package)));
                }
            }
            Role::Controller | Role::Fragment => {
                if let Some(id) = self.controller(&stack.with(element), ancestors) {
                    let kind = self.controllers[id.0 as usize].as_ref().map(|controller| &controller.kind);
                    if kind.is_some_and(hears_of_passes) {
                        tree.registered.push(IterationListener::Controller(id));
                    }
                    tree.children.push(Child::Controller(id));
                }
            }
            Role::Step => {
                if let Some(step) = steps::step(self.context, element) {
                    tree.registered.push(IterationListener::Step(step));
                }
            }
            Role::PreProcessor if element.kind() == "UserParameters" => {
                if let Some(step) = steps::step(self.context, element) {
                    tree.registered.push(IterationListener::Step(step));
                }
            }
            _ => {}
        }
        tree
    }

    fn sampler(&mut self, package: SamplerPackage<AnySampler>) -> SamplerId {
        self.samplers.push(package);
        SamplerId(u32::try_from(self.samplers.len() - 1).unwrap_or(u32::MAX))
    }

    /// A loop of one pass for each sampler and controller directly below a parallel controller.
    fn branches(&mut self, stack: &Stack<'p>, ancestors: &[ControllerId]) -> Box<[ControllerId]> {
        let Some(parent) = stack.path.last().copied() else { return Box::default() };
        let acts = |child: &Element<'_>| {
            child.enabled() && matches!(role(*child), Role::Sampler | Role::Controller | Role::Fragment)
        };
        let mut branches = Vec::new();
        for child in parent.children().filter(acts) {
            let id = self.reserve();
            let mut inner = vec![id];
            inner.extend_from_slice(ancestors);
            let tree = self.child(child, stack, &inner, Tree::default());
            let name = self.context.name(child);
            let kind = ControllerKind::Loop { count: Template::literal("1"), forever: false };
            let listeners = self.iteration_listeners(stack, &tree);
            let children = tree.children.into();
            self.put(id, Controller { name, index_slot: None, kind, children, listeners });
            branches.push(id);
        }
        branches.into()
    }

    /// Who hears of a controller's passes, in the order they are told: the last registered first. Elements of the test
    /// plan itself are registered last.
    pub(crate) fn iteration_listeners(&mut self, stack: &Stack<'p>, tree: &Tree) -> Box<[IterationListener]> {
        let mut all = tree.registered.clone();
        if stack.path.len() == 1 {
            for element in stack.plan_level.iter().copied() {
                if (role(element) == Role::Step || element.kind() == "UserParameters")
                    && let Some(step) = steps::step(self.context, element)
                {
                    all.push(IterationListener::Step(step));
                }
            }
        }
        all.reverse();
        all.into()
    }

    fn controller(&mut self, stack: &Stack<'p>, ancestors: &[ControllerId]) -> Option<ControllerId> {
        let element = *stack.path.last()?;
        let id = self.reserve();
        let mut inner = vec![id];
        inner.extend_from_slice(ancestors);
        let kind = self.kind(element, stack);
        let tree = self.children(stack, &inner, Tree::default());
        let name = self.context.name(element);
        let index_slot = self.index_slot(&kind, element);
        let listeners = self.iteration_listeners(stack, &tree);
        self.put(id, Controller { name, index_slot, kind, children: tree.children.into(), listeners });
        Some(id)
    }

    fn index_slot(&mut self, kind: &ControllerKind, element: Element<'p>) -> Option<Slot> {
        let counts = matches!(
            kind,
            ControllerKind::Loop { .. } | ControllerKind::While { .. } | ControllerKind::ForEach { .. }
        );
        (counts && self.context.shows_indices && !element.name().contains("${"))
            .then(|| self.context.symbols.slot(&format!("__jm__{}__idx", element.name())))
    }

    fn kind(&mut self, element: Element<'p>, stack: &Stack<'p>) -> ControllerKind {
        let context = &mut *self.context;
        match element.kind() {
            "LoopController" => ControllerKind::Loop {
                count: context.text_or(element, "LoopController.loops", "1"),
                forever: context.flag(element, "LoopController.continue_forever", true),
            },
            "IfController" => ControllerKind::If {
                condition: condition::if_condition(context, element),
                evaluate_all: context.flag(element, "IfController.evaluateAll", false),
            },
            "WhileController" => {
                ControllerKind::While { condition: context.text(element, "WhileController.condition") }
            }
            "ForeachController" => ControllerKind::ForEach {
                input: context.text(element, "ForeachController.inputVal"),
                output: context.text(element, "ForeachController.returnVal"),
                start: context.text(element, "ForeachController.startIndex"),
                end: context.text(element, "ForeachController.endIndex"),
                separator: context.flag(element, "ForeachController.useSeparator", true),
            },
            "OnceOnlyController" => ControllerKind::OnceOnly,
            "InterleaveControl" => ControllerKind::Interleave {
                use_sub_controllers: context.number(element, "InterleaveControl.style", 0) == 1,
                across_users: context.flag(element, "InterleaveControl.accrossThreads", false),
            },
            "RandomController" => ControllerKind::Random {
                use_sub_controllers: context.number(element, "InterleaveControl.style", 0) == 1,
            },
            "RandomOrderController" => ControllerKind::RandomOrder,
            "SwitchController" => {
                ControllerKind::Switch { selection: context.text(element, "SwitchController.value") }
            }
            "RunTime" => ControllerKind::Runtime {
                seconds: context.text(element, "RunTime.seconds"),
                begun: context.symbols.state(),
            },
            "CriticalSectionController" => ControllerKind::Critical(CriticalSection {
                lock: context.text(element, "CriticalSectionController.lockName"),
                held: context.symbols.state(),
            }),
            PARAMETERIZED => {
                ControllerKind::Parameterized(assignments(context, element, "ParameterizedController"))
            }
            WEIGHTED => ControllerKind::Weighted(WeightedChoice {
                weights: weights(context, element),
                random: context.flag(element, "IsRandomChoice", false),
                state: context.symbols.state(),
            }),
            "ThroughputController" => {
                let percent = context.number(element, "ThroughputController.style", 0) == 1;
                ControllerKind::Throughput {
                    amount: if percent {
                        Throughput::Percent(context.text_or(
                            element,
                            "ThroughputController.percentThroughput",
                            "100",
                        ))
                    } else {
                        Throughput::Total(context.text_or(element, "ThroughputController.maxThroughput", "1"))
                    },
                    per_user: counts_per_user(context, element),
                    shared: Arc::default(),
                }
            }
            "TransactionController" => {
                let parent = context.flag(element, "TransactionController.parent", false);
                let listeners = samplers::listener_files(context, stack);
                ControllerKind::Transaction(Box::new(TransactionSettings {
                    parent,
                    include_timers: context.flag(element, "TransactionController.includeTimers", true),
                    assertions: if parent {
                        samplers::assertions(context, &stack.nearest_first())
                    } else {
                        Box::default()
                    },
                    listeners: context.listener_set(listeners),
                    hearers: if parent { samplers::hearers(context, stack) } else { Box::default() },
                }))
            }
            _ => ControllerKind::Simple,
        }
    }
}

/// jmeter-plugins' Parameterized Controller.
pub(crate) const PARAMETERIZED: &str = "kg.apc.jmeter.control.ParameterizedController";

/// BlazeMeter's Weighted Switch Controller.
pub(crate) const WEIGHTED: &str = "com.blazemeter.jmeter.control.WeightedSwitchController";

/// The variables that an element sets, from its inner list of arguments: of several of one name the last counts, in the
/// place of the first.
pub(crate) fn assignments<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    property: &str,
) -> Box<[Assignment]> {
    let list = element.element(property).and_then(|inner| inner.property("Arguments.arguments"));
    let mut all: Vec<Assignment> = Vec::new();
    for item in list.into_iter().flat_map(|list| list.items()) {
        let name = context.item(item, "Argument.name");
        let value = context.item(item, "Argument.value");
        match all.iter_mut().find(|known| known.name.source() == name.source()) {
            Some(known) => known.value = value,
            None => all.push(Assignment { name, value }),
        }
    }
    all.into()
}

/// The weights of the enabled children: rows of name, weight and, in newer plans, whether the child is enabled.
fn weights<'p>(context: &mut Context<'p>, element: Element<'p>) -> Box<[Template]> {
    let mut all = Vec::new();
    for row in element.collection("Weights").into_iter().flat_map(|rows| rows.items()) {
        let cells: Vec<_> = row.items().collect();
        let enabled = cells.get(2).and_then(|cell| cell.text()).unwrap_or("true");
        if enabled == "true" && (2..=3).contains(&cells.len()) {
            all.push(context.parse(cells[1].text().unwrap_or(""), cells[1]));
        }
    }
    all.into()
}

/// Whether a throughput controller counts each user's passes for itself. A session of an open workload is one pass by a
/// fresh visitor, who would be refused for ever: there the passes of all sessions are counted.
fn counts_per_user<'p>(context: &mut Context<'p>, element: Element<'p>) -> bool {
    let per_user = context.flag(element, "ThroughputController.perThread", false);
    if per_user && context.in_open_group {
        context.warn(
            element,
            "counts-over-sessions",
            "a session is one pass and has nothing to count by itself: it counts over all sessions",
        );
    }
    per_user && !context.in_open_group
}

/// Controllers that start afresh, or decide, with each pass of the one around them.
fn hears_of_passes(kind: &ControllerKind) -> bool {
    matches!(
        kind,
        ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::Throughput { .. }
    )
}
