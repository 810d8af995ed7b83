//! Counters, random variables and CSV rows: what steps with each pass of a controller.

use std::sync::Arc;

use busyhour_engine::element::IterationStep;
use busyhour_plan::Element;

use crate::context::Context;

/// The step an element is.
pub(crate) fn step<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn IterationStep>> {
    if let Some(known) = context.steps.get(&element.id()) {
        return known.clone();
    }
    let made: Option<Arc<dyn IterationStep>> = None;
    context.steps.insert(element.id(), made.clone());
    made
}
