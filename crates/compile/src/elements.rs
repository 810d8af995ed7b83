//! The elements of JMeter, each described once: its class, names, role, limits, numbers and properties.
//!
//! The table of supported elements, the rejections, the checks of numbers and of property names, and the selection of
//! the compiler function all derive from these descriptors. The compiler matches the classes of a role without a
//! default arm, so that a new class does not compile until it is handled.

pub(crate) mod assertions;
pub(crate) mod config;
pub(crate) mod controllers;
pub(crate) mod descriptor;
pub(crate) mod groups;
pub(crate) mod listeners;
pub(crate) mod others;
pub(crate) mod processors;
pub(crate) mod refused;
pub(crate) mod samplers;
pub(crate) mod script_source;
pub(crate) mod timers;

use std::collections::HashMap;
use std::sync::LazyLock;

use busyhour_plan::Element;

use assertions::AssertionClass;
use config::{ConfigClass, StepClass};
use controllers::ControllerClass;
use descriptor::Descriptor;
use groups::GroupClass;
use listeners::{ResultFileClass, SampleListenerClass};
use others::{NamedLike, OtherClass};
use processors::{PostProcessorClass, PreProcessorClass};
use refused::Refused;
use samplers::SamplerClass;
use script_source::ScriptSource;
use timers::TimerClass;

/// The role of an element in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A thread group.
    Group(GroupClass),
    /// A fragment, which runs only where a controller refers to it.
    Fragment,
    /// A controller.
    Controller(ControllerClass),
    /// A sampler.
    Sampler(SamplerClass),
    /// A timer.
    Timer(TimerClass),
    /// A config element that the samplers in its scope use.
    Config(ConfigClass),
    /// A config element that advances with each pass of its controller.
    Step(StepClass),
    /// A pre-processor.
    PreProcessor(PreProcessorClass),
    /// A post-processor.
    PostProcessor(PostProcessorClass),
    /// An assertion.
    Assertion(AssertionClass),
    /// A listener that may write a result file.
    ResultFile(ResultFileClass),
    /// A listener that processes samples instead of writing a result file.
    SampleListener(SampleListenerClass),
    /// A listener that sends metrics elsewhere.
    BackendListener,
    /// A listener that fetches values from agents.
    PerfMonCollector,
    /// A listener that is ignored.
    DisplayListener,
    /// An element without effect in a run. The text is the reason, as the end of a sentence.
    Inert(&'static str),
    /// An element that is not supported.
    Unsupported(Refused),
}

/// Implements the conversion from the class in a descriptor to a role.
macro_rules! roles_of_classes {
    ($($class:ty => $role:ident),* $(,)?) => {
        $(impl From<$class> for Role {
            fn from(class: $class) -> Self {
                Self::$role(class)
            }
        })*
    };
}

roles_of_classes! {
    GroupClass => Group,
    ControllerClass => Controller,
    SamplerClass => Sampler,
    TimerClass => Timer,
    ConfigClass => Config,
    StepClass => Step,
    PreProcessorClass => PreProcessor,
    PostProcessorClass => PostProcessor,
    AssertionClass => Assertion,
    ResultFileClass => ResultFile,
    SampleListenerClass => SampleListener,
    Refused => Unsupported,
}

impl From<OtherClass> for Role {
    fn from(class: OtherClass) -> Self {
        match class {
            OtherClass::Fragment => Self::Fragment,
            OtherClass::BackendListener => Self::BackendListener,
            OtherClass::PerfMonCollector => Self::PerfMonCollector,
            OtherClass::Inert(why) => Self::Inert(why),
        }
    }
}

impl Role {
    /// The name of the role in the table of supported elements.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Group(_) => "thread group",
            Self::Fragment => "fragment",
            Self::Controller(_) => "controller",
            Self::Sampler(_) => "sampler",
            Self::Timer(_) => "timer",
            Self::Config(_) | Self::Step(_) => "config element",
            Self::PreProcessor(_) => "pre-processor",
            Self::PostProcessor(_) => "post-processor",
            Self::Assertion(_) => "assertion",
            Self::ResultFile(_)
            | Self::SampleListener(_)
            | Self::BackendListener
            | Self::PerfMonCollector
            | Self::DisplayListener => "listener",
            Self::Inert(_) => "without effect",
            Self::Unsupported(_) => "not supported",
        }
    }

    /// Whether the element advances with each pass of the enclosing controller.
    pub(crate) fn is_step(self) -> bool {
        matches!(self, Self::Step(_) | Self::PreProcessor(PreProcessorClass::UserParameters))
    }

    /// The properties that contain its script, if it has one.
    pub(crate) fn script_source(self) -> Option<&'static ScriptSource> {
        match self {
            Self::Sampler(SamplerClass::Script(source))
            | Self::Timer(TimerClass::Script(source))
            | Self::PreProcessor(PreProcessorClass::Script(source))
            | Self::PostProcessor(PostProcessorClass::Script(source))
            | Self::Assertion(AssertionClass::Script(source))
            | Self::SampleListener(SampleListenerClass::Script(source)) => Some(source),
            _ => None,
        }
    }
}

/// All descriptors, in the order of JMeter's menus.
static ALL: LazyLock<Vec<Descriptor<Role>>> = LazyLock::new(|| {
    fn add<C: Copy>(all: &mut Vec<Descriptor<Role>>, descriptors: &[Descriptor<C>])
    where
        Role: From<C>,
    {
        all.extend(descriptors.iter().map(Descriptor::with_role));
    }
    let mut all = Vec::new();
    add(&mut all, groups::ELEMENTS);
    add(&mut all, controllers::ELEMENTS);
    add(&mut all, samplers::ELEMENTS);
    add(&mut all, timers::ELEMENTS);
    add(&mut all, config::ELEMENTS);
    add(&mut all, config::STEPS);
    add(&mut all, processors::PRE_PROCESSORS);
    add(&mut all, processors::POST_PROCESSORS);
    add(&mut all, assertions::ELEMENTS);
    add(&mut all, listeners::SAMPLE_LISTENERS);
    add(&mut all, listeners::RESULT_FILES);
    add(&mut all, others::ELEMENTS);
    add(&mut all, refused::ELEMENTS);
    all
});

/// The descriptors by class. Descriptors with the same class differ in the class of their editor.
static BY_CLASS: LazyLock<HashMap<&'static str, Vec<&'static Descriptor<Role>>>> = LazyLock::new(|| {
    let mut by_class: HashMap<_, Vec<_>> = HashMap::new();
    for descriptor in ALL.iter() {
        by_class.entry(descriptor.class).or_default().push(descriptor);
    }
    by_class
});

/// The property names of the form `Family.name`, in alphabetical order.
static PROPERTY_NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let of_element = |descriptor: &Descriptor<Role>| descriptor.numbers.iter().chain(descriptor.properties);
    let mut names: Vec<_> = ALL.iter().flat_map(of_element).copied().collect();
    names.retain(|name| name.contains('.'));
    names.sort_unstable();
    names.dedup();
    names
});

/// The property names of all elements that have the form `Family.name`, in alphabetical order: the string constants of
/// JMeter 5.6.3's classes, and names that earlier releases wrote.
pub(crate) fn property_names() -> &'static [&'static str] {
    &PROPERTY_NAMES
}

/// All descriptors, in the order of JMeter's menus.
pub(crate) fn all() -> &'static [Descriptor<Role>] {
    &ALL
}

/// The descriptor of an element, if its class has one.
pub(crate) fn descriptor(element: Element<'_>) -> Option<&'static Descriptor<Role>> {
    match BY_CLASS.get(element.kind())?.as_slice() {
        [descriptor] => Some(descriptor),
        several => {
            let gui = element.gui_kind();
            let of_gui = several.iter().find(|descriptor| descriptor.gui == gui);
            of_gui.or_else(|| several.iter().find(|descriptor| descriptor.gui.is_empty())).copied()
        }
    }
}

/// The role of an element.
pub(crate) fn role(element: Element<'_>) -> Role {
    match descriptor(element) {
        Some(descriptor) => descriptor.role,
        None => match others::named_like(element.kind()) {
            Some(NamedLike::ResultFile(class)) => Role::ResultFile(class),
            Some(NamedLike::DisplayListener) => Role::DisplayListener,
            None => {
                let class = if element.kind().is_empty() { element.tag() } else { element.kind() };
                Role::Unsupported(refused::of_unknown_class(class))
            }
        },
    }
}

#[cfg(test)]
mod tests;
