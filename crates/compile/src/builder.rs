//! The tree of controllers and samplers of a thread group.

use busyhour_plan::Element;
use busyhour_program::controller::{Controller, ControllerKind, IterationListener};
use busyhour_program::ids::{Child, ControllerId, SamplerId};
use busyhour_program::sampler::{SamplerKind, SamplerPackage};
use busyhour_program::template::Template;
use busyhour_samplers::AnySampler;

use crate::context::Context;
use crate::elements::controllers::ControllerClass;
use crate::elements::samplers::SamplerClass;
use crate::elements::{Role, role};
use crate::scope::Stack;
use crate::{controllers, samplers, steps};

/// Builds the controllers and samplers of one thread group.
pub(crate) struct Builder<'c, 'p> {
    pub(crate) context: &'c mut Context<'p>,
    controllers: Vec<Option<Controller>>,
    samplers: Vec<SamplerPackage<AnySampler>>,
    /// Loops that can store the number of their passes in a variable.
    counting: Vec<ControllerId>,
}

/// The controllers and samplers of a thread group.
pub(crate) struct Built {
    pub(crate) controllers: Box<[Controller]>,
    pub(crate) samplers: Box<[SamplerPackage<AnySampler>]>,
    /// Loops that can store the number of their passes in a variable.
    pub(crate) counting: Vec<ControllerId>,
}

/// The compiled children of one controller.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) children: Vec<Child>,
    /// Elements that are notified of the controller's passes, in the order in which JMeter registers them.
    registered: Vec<IterationListener>,
}

impl<'c, 'p> Builder<'c, 'p> {
    pub(crate) fn new(context: &'c mut Context<'p>) -> Self {
        Self { context, controllers: Vec::new(), samplers: Vec::new(), counting: Vec::new() }
    }

    /// Records that a controller can store the number of its passes in a variable.
    pub(crate) fn counts_passes(&mut self, id: ControllerId) {
        self.counting.push(id);
    }

    /// Reserves a number for a controller that will be set later.
    pub(crate) fn reserve(&mut self) -> ControllerId {
        self.controllers.push(None);
        ControllerId(u32::try_from(self.controllers.len() - 1).unwrap_or(u32::MAX))
    }

    /// Sets the controller with a reserved number.
    pub(crate) fn set_controller(&mut self, id: ControllerId, controller: Controller) {
        self.controllers[id.0 as usize] = Some(controller);
    }

    /// Returns everything that was built.
    pub(crate) fn finish(self) -> Built {
        Built {
            controllers: self.controllers.into_iter().flatten().collect(),
            samplers: self.samplers.into(),
            counting: self.counting,
        }
    }

    /// Compiles the children of the last element of `stack`; `ancestors` are the enclosing controllers, innermost
    /// first.
    pub(crate) fn children(&mut self, stack: &Stack<'p>, ancestors: &[ControllerId], mut tree: Tree) -> Tree {
        let Some(parent) = stack.path.last().copied() else { return tree };
        for element in parent.children().filter(|child| child.enabled()) {
            tree = self.child(element, stack, ancestors, tree);
        }
        tree
    }

    /// Compiles one child of the last element of `stack`.
    fn child(
        &mut self,
        element: Element<'p>,
        stack: &Stack<'p>,
        ancestors: &[ControllerId],
        mut tree: Tree,
    ) -> Tree {
        match role(element) {
            Role::Sampler(SamplerClass::Parallel) => {
                let below = stack.with(element);
                let package = samplers::package(self.context, &below, SamplerClass::Parallel, ancestors);
                if let Some(mut package) = package {
                    if let SamplerKind::Parallel(parallel) = &mut package.kind {
                        parallel.branches = self.branches(&below, ancestors);
                    }
                    tree.children.push(Child::Sampler(self.sampler(package)));
                }
            }
            Role::Sampler(class) => {
                let below = stack.with(element);
                // Elements below a sampler that advance with each pass, such as counters, belong to the controller around
                // the sampler.
                tree = self.children(&below, ancestors, tree);
                if let Some(package) = samplers::package(self.context, &below, class, ancestors) {
                    tree.children.push(Child::Sampler(self.sampler(package)));
                }
            }
            Role::Controller(class) => self.add_controller(&stack.with(element), class, ancestors, &mut tree),
            Role::Fragment => {
                self.add_controller(&stack.with(element), ControllerClass::Simple, ancestors, &mut tree);
            }
            role if role.is_step() => {
                if let Some(step) = steps::compile_step(self.context, element, role) {
                    tree.registered.push(IterationListener::Step(step));
                }
            }
            // These elements are compiled elsewhere, for example with the samplers in whose scope they are.
            Role::Group(_)
            | Role::Timer(_)
            | Role::Config(_)
            | Role::Step(_)
            | Role::PreProcessor(_)
            | Role::PostProcessor(_)
            | Role::Assertion(_)
            | Role::ResultFile(_)
            | Role::SampleListener(_)
            | Role::BackendListener
            | Role::PerfMonCollector
            | Role::DisplayListener
            | Role::Inert(_)
            | Role::Unsupported(_) => {}
        }
        tree
    }

    fn sampler(&mut self, package: SamplerPackage<AnySampler>) -> SamplerId {
        self.samplers.push(package);
        SamplerId(u32::try_from(self.samplers.len() - 1).unwrap_or(u32::MAX))
    }

    /// Compiles a loop of one pass for each sampler and controller directly below a parallel controller.
    fn branches(&mut self, stack: &Stack<'p>, ancestors: &[ControllerId]) -> Box<[ControllerId]> {
        let Some(parent) = stack.path.last().copied() else { return Box::default() };
        let acts = |child: &Element<'_>| {
            child.enabled() && matches!(role(*child), Role::Sampler(_) | Role::Controller(_) | Role::Fragment)
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
            self.set_controller(id, Controller { name, index_slot: None, kind, children, listeners });
            branches.push(id);
        }
        branches.into()
    }

    /// The listeners that are notified of a controller's passes. They are in the reverse order of registration; elements of
    /// the test plan itself are registered last.
    pub(crate) fn iteration_listeners(&mut self, stack: &Stack<'p>, tree: &Tree) -> Box<[IterationListener]> {
        let mut all = tree.registered.clone();
        if stack.path.len() == 1 {
            for element in stack.plan_level.iter().copied() {
                if let Some(step) = steps::compile_step(self.context, element, role(element)) {
                    all.push(IterationListener::Step(step));
                }
            }
        }
        all.reverse();
        all.into()
    }

    /// Adds the controller at the end of `stack` to a tree.
    fn add_controller(
        &mut self,
        stack: &Stack<'p>,
        class: ControllerClass,
        ancestors: &[ControllerId],
        tree: &mut Tree,
    ) {
        let Some(element) = stack.path.last().copied() else { return };
        let id = self.reserve();
        let mut inner = vec![id];
        inner.extend_from_slice(ancestors);
        let kind = controllers::kind(self.context, element, class, stack);
        let below = self.children(stack, &inner, Tree::default());
        let name = self.context.name(element);
        let listeners = self.iteration_listeners(stack, &below);
        if is_loop(&kind) {
            self.counts_passes(id);
        }
        if is_reset_each_pass(&kind) {
            tree.registered.push(IterationListener::Controller(id));
        }
        self.set_controller(
            id,
            Controller { name, index_slot: None, kind, children: below.children.into(), listeners },
        );
        tree.children.push(Child::Controller(id));
    }
}

/// Whether a controller is reset, or chooses a child again, in each pass of the enclosing controller.
fn is_reset_each_pass(kind: &ControllerKind) -> bool {
    matches!(
        kind,
        ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::Throughput { .. }
    )
}

/// Whether a controller can store the number of its passes in a variable.
fn is_loop(kind: &ControllerKind) -> bool {
    matches!(
        kind,
        ControllerKind::Loop { .. } | ControllerKind::While { .. } | ControllerKind::ForEach { .. }
    )
}
