//! Access to a property: its name, its value, its content.

use std::borrow::Cow;
use std::num::{ParseFloatError, ParseIntError};

use busyhour_diagnostic::Span;

use crate::edits::ADDED_TAG;
use crate::names;
use crate::test_plan::TestPlan;
use crate::tree::ElementId;
use crate::tree::{PropertyData, PropertyId, PropertyKind};
use crate::xml;

/// One property of an element, or one inside another property.
///
/// A handle that is cheap to copy; it borrows the plan.
#[derive(Clone, Copy, Debug)]
pub struct Property<'p> {
    pub(crate) plan: &'p TestPlan,
    pub(crate) owner: ElementId,
    pub(crate) id: PropertyId,
}

/// Properties one after the other, in the order of the file.
#[derive(Clone, Debug)]
pub struct Properties<'p> {
    pub(crate) plan: &'p TestPlan,
    pub(crate) owner: ElementId,
    pub(crate) next: Option<PropertyId>,
}

impl<'p> Iterator for Properties<'p> {
    type Item = Property<'p>;

    fn next(&mut self) -> Option<Property<'p>> {
        let id = self.next?;
        let property = Property { plan: self.plan, owner: self.owner, id };
        self.next = property.data().next;
        Some(property)
    }
}

impl<'p> Property<'p> {
    pub(crate) fn data(self) -> &'p PropertyData {
        &self.plan.properties[self.id.0 as usize]
    }

    /// The number of this property in its plan, which is needed to [edit](TestPlan::set_value) it.
    #[must_use]
    pub fn id(self) -> PropertyId {
        self.id
    }

    /// The kind of property, as the file writes it.
    #[must_use]
    pub fn kind(self) -> PropertyKind {
        self.data().kind
    }

    /// The XML tag as written.
    #[must_use]
    pub fn tag(self) -> &'p str {
        let data = self.data();
        // Added properties are not in the source.
        if data.span.len == 0 { ADDED_TAG } else { xml::tag_at(&self.plan.text, data.span.offset) }
    }

    /// The name as written in the file.
    #[must_use]
    pub fn written_name(self) -> &'p str {
        self.data().name.get(&self.plan.text)
    }

    /// The position of the property, from its start tag to its end tag.
    #[must_use]
    pub fn span(self) -> Span {
        self.data().span
    }

    /// The value as text, with references resolved; `None` for a structure (collection, element, map, object).
    #[must_use]
    pub fn text(self) -> Option<&'p str> {
        let data = self.data();
        match data.kind {
            PropertyKind::Collection | PropertyKind::Element | PropertyKind::Map | PropertyKind::Object => {
                None
            }
            PropertyKind::Other if data.first_child.is_some() => None,
            _ => Some(data.text.get(&self.plan.text)),
        }
    }

    /// The value as a Boolean: `true` in upper or lower case is true, any other text is false.
    #[must_use]
    pub fn boolean(self) -> Option<bool> {
        self.text().map(|text| text.eq_ignore_ascii_case("true"))
    }

    /// The value as an integer.
    ///
    /// # Errors
    /// The inner result is an error if the text is not an integer.
    #[must_use]
    pub fn integer(self) -> Option<Result<i64, ParseIntError>> {
        self.text().map(str::parse)
    }

    /// The value as a number.
    ///
    /// # Errors
    /// The inner result is an error if the text is not a number.
    #[must_use]
    pub fn number(self) -> Option<Result<f64, ParseFloatError>> {
        self.text().map(|text| text.trim().parse())
    }

    /// The content: the items of a collection or map, the properties of an element, the fields of an object. Empty for
    /// a plain value.
    #[must_use]
    pub fn items(self) -> Properties<'p> {
        let data = self.data();
        let next = match data.kind {
            PropertyKind::Object => {
                self.raw_items().find(|item| item.tag() == "value").and_then(|value| value.data().first_child)
            }
            PropertyKind::Double | PropertyKind::Float => None,
            _ => data.first_child,
        };
        Properties { plan: self.plan, owner: self.owner, next }
    }

    fn raw_items(self) -> Properties<'p> {
        Properties { plan: self.plan, owner: self.owner, next: self.data().first_child }
    }

    /// The item with this name; if there are several, the last one, as in JMeter.
    #[must_use]
    pub fn property(self, name: &str) -> Option<Self> {
        self.items().filter(|item| item.name() == name).last()
    }

    /// The text of the item with this name: a property of an inner element, or a field of an object.
    #[must_use]
    pub fn item_text(self, name: &str) -> Option<&'p str> {
        self.property(name)?.text()
    }

    /// The Boolean value of the item with this name; see [`boolean`](Self::boolean).
    #[must_use]
    pub fn item_boolean(self, name: &str) -> Option<bool> {
        self.property(name)?.boolean()
    }

    /// An attribute of the property's start tag, such as `elementType`, with references resolved.
    #[must_use]
    pub fn attribute(self, name: &str) -> Option<Cow<'p, str>> {
        let data = self.data();
        if data.span.len == 0 {
            return (name == "name").then(|| Cow::Borrowed(self.written_name()));
        }
        xml::attribute_at(&self.plan.text, data.span.offset, name)
    }

    /// JMeter's short name for the class of an inner element (`elementType`) or of an object
    /// (`class` of its value).
    #[must_use]
    pub fn class(self) -> Option<Cow<'p, str>> {
        let written = match self.kind() {
            PropertyKind::Object => {
                self.raw_items().find(|item| item.tag() == "value")?.attribute("class")?
            }
            _ => self.attribute("elementType")?,
        };
        Some(match written {
            Cow::Borrowed(class) => Cow::Borrowed(names::short_class(class)),
            Cow::Owned(class) => Cow::Owned(names::short_class(&class).to_owned()),
        })
    }
}
