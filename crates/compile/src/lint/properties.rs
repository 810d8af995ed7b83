//! Properties of elements, those inside others among them.

use busyhour_plan::{Element, Property};

/// Calls `see` with every property of an element, those inside others among them.
pub(super) fn each_property<'p>(element: Element<'p>, see: &mut dyn FnMut(Property<'p>)) {
    fn walk<'p>(property: Property<'p>, see: &mut dyn FnMut(Property<'p>)) {
        see(property);
        property.items().for_each(|item| walk(item, see));
    }
    element.properties().for_each(|property| walk(property, see));
}
