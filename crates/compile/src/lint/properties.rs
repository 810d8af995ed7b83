//! Iterates over the properties of elements, including nested ones.

use busyhour_plan::{Element, Property};

/// Calls `visit` with every property of an element, including nested ones.
pub(super) fn each_property<'p>(element: Element<'p>, visit: &mut dyn FnMut(Property<'p>)) {
    fn walk<'p>(property: Property<'p>, visit: &mut dyn FnMut(Property<'p>)) {
        visit(property);
        property.items().for_each(|item| walk(item, visit));
    }
    element.properties().for_each(|property| walk(property, visit));
}
