//! Lists of names and values in elements.

use busyhour_plan::{Element, Property};
use busyhour_program::controller::Assignment;
use busyhour_program::template::Template;

use crate::context::Context;

/// The items of the `Arguments` in a property of an element.
fn items<'p>(element: Element<'p>, property: &str) -> impl Iterator<Item = Property<'p>> {
    let list = element.element(property).and_then(|inner| inner.property("Arguments.arguments"));
    list.into_iter().flat_map(Property::items)
}

/// Names and values of the `Arguments` in a property of an element.
pub(crate) fn arguments<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    property: &str,
) -> Vec<(Template, Template)> {
    items(element, property)
        .map(|item| (context.item(item, "Argument.name"), context.item(item, "Argument.value")))
        .collect()
}

/// The variables that an element sets, from the `Arguments` in one of its properties. If a name occurs several times,
/// the last value counts, at the position of the first.
pub(crate) fn assignments<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    property: &str,
) -> Box<[Assignment]> {
    let mut all: Vec<Assignment> = Vec::new();
    for (name, value) in arguments(context, element, property) {
        match all.iter_mut().find(|known| known.name.source() == name.source()) {
            Some(known) => known.value = value,
            None => all.push(Assignment { name, value }),
        }
    }
    all.into()
}
