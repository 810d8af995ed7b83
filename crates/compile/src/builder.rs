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
    /// Loops of the plan, which count their passes in a variable.
    counting: Vec<ControllerId>,
}

/// The controllers and samplers of a thread group.
pub(crate) struct Built {
    pub(crate) controllers: Box<[Controller]>,
    pub(crate) samplers: Box<[SamplerPackage<AnySampler>]>,
    /// Loops of the plan, which count their passes in a variable.
    pub(crate) counting: Vec<ControllerId>,
}

/// What is below one controller.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) children: Vec<Child>,
    /// Elements that are notified of its passes, in the order JMeter registers them.
    registered: Vec<IterationListener>,
}

impl<'c, 'p> Builder<'c, 'p> {
    pub(crate) fn new(context: &'c mut Context<'p>) -> Self {
        Self { context, controllers: Vec::new(), samplers: Vec::new(), counting: Vec::new() }
    }

    /// Notes that a controller counts its passes in a variable.
    pub(crate) fn counts_passes(&mut self, id: ControllerId) {
        self.counting.push(id);
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
    pub(crate) fn finish(self) -> Built {
        Built {
            controllers: self.controllers.into_iter().flatten().collect(),
            samplers: self.samplers.into(),
            counting: self.counting,
        }
    }

    /// Compiles what is below the last element of `stack`; `ancestors` are the controllers around, nearest first.
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
                // Counters and the like below a sampler step with the controller around it.
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
                if let Some(step) = steps::of_role(self.context, element, role) {
                    tree.registered.push(IterationListener::Step(step));
                }
            }
            // These are in the scope of samplers, or work apart from them.
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

    /// A loop of one pass for each sampler and controller directly below a parallel controller.
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
            self.put(id, Controller { name, index_slot: None, kind, children, listeners });
            branches.push(id);
        }
        branches.into()
    }

    /// What is notified of a controller's passes, in that order: the last registered first. Elements of the test plan
    /// itself are registered last.
    pub(crate) fn iteration_listeners(&mut self, stack: &Stack<'p>, tree: &Tree) -> Box<[IterationListener]> {
        let mut all = tree.registered.clone();
        if stack.path.len() == 1 {
            for element in stack.plan_level.iter().copied() {
                if let Some(step) = steps::of_role(self.context, element, role(element)) {
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
        if starts_afresh(&kind) {
            tree.registered.push(IterationListener::Controller(id));
        }
        self.put(id, Controller { name, index_slot: None, kind, children: below.children.into(), listeners });
        tree.children.push(Child::Controller(id));
    }
}

/// Whether a controller starts afresh, or decides, with each pass of the one around it.
fn starts_afresh(kind: &ControllerKind) -> bool {
    matches!(
        kind,
        ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach { .. }
            | ControllerKind::OnceOnly
            | ControllerKind::Throughput { .. }
    )
}

/// Whether a controller counts its passes in a variable.
fn is_loop(kind: &ControllerKind) -> bool {
    matches!(
        kind,
        ControllerKind::Loop { .. } | ControllerKind::While { .. } | ControllerKind::ForEach { .. }
    )
}
