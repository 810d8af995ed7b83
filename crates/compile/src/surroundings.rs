//! Compiles the elements in the scope of a sampler or a transaction.

use std::sync::Arc;

use busyhour_plan::Element;
use busyhour_program::element::{Assertion, Processor, Timer};

use crate::context::Context;
use crate::elements::{Role, role};
use crate::scope::Stack;
use crate::{assertions, listeners, processors, timers};

/// The timers among these elements.
pub(crate) fn timers<'p>(context: &mut Context<'p>, elements: &[Element<'p>]) -> Box<[Arc<dyn Timer>]> {
    compiled(elements, |element, role| match role {
        Role::Timer(class) => timers::timer(context, element, class),
        _ => None,
    })
}

/// The pre-processors among these elements.
pub(crate) fn pre_processors<'p>(
    context: &mut Context<'p>,
    elements: &[Element<'p>],
) -> Box<[Arc<dyn Processor>]> {
    compiled(elements, |element, role| match role {
        Role::PreProcessor(class) => processors::pre_processor(context, element, class),
        _ => None,
    })
}

/// The post-processors among these elements.
pub(crate) fn post_processors<'p>(
    context: &mut Context<'p>,
    elements: &[Element<'p>],
) -> Box<[Arc<dyn Processor>]> {
    compiled(elements, |element, role| match role {
        Role::PostProcessor(class) => processors::post_processor(context, element, class),
        _ => None,
    })
}

/// The assertions among these elements.
pub(crate) fn assertions<'p>(
    context: &mut Context<'p>,
    elements: &[Element<'p>],
) -> Box<[Arc<dyn Assertion>]> {
    compiled(elements, |element, role| match role {
        Role::Assertion(class) => assertions::assertion(context, element, class),
        _ => None,
    })
}

/// The listeners in scope that process samples.
pub(crate) fn sample_listeners<'p>(
    context: &mut Context<'p>,
    stack: &Stack<'p>,
) -> Box<[Arc<dyn Processor>]> {
    compiled(&stack.nearest_first(), |element, role| match role {
        Role::SampleListener(class) => listeners::sample_listener(context, element, class),
        _ => None,
    })
}

/// The result files of the listeners in scope.
pub(crate) fn result_files<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Vec<usize> {
    compiled(&stack.nearest_first(), |element, role| match role {
        Role::ResultFile(class) => listeners::result_file(context, element, class),
        _ => None,
    })
    .into()
}

/// Compiles these elements with `compile`; skips those for which it returns `None`.
fn compiled<'p, T>(
    elements: &[Element<'p>],
    mut compile: impl FnMut(Element<'p>, Role) -> Option<T>,
) -> Box<[T]> {
    elements.iter().filter_map(|element| compile(*element, role(*element))).collect()
}
