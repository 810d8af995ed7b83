//! Access to an element: its names, its position in the tree, its properties.

use std::num::ParseIntError;
use std::sync::Arc;

use busyhour_diagnostic::{Diagnostic, Span};

use crate::names;
use crate::property::{Properties, Property};
use crate::test_plan::TestPlan;
use crate::tree::{ENABLED_PROPERTY, ElementData, ElementId, NAME_PROPERTY, PropertyKind};

/// One element of a plan: a sampler, a controller, a configuration element, a listener.
///
/// A handle that is cheap to copy; it borrows the plan.
#[derive(Clone, Copy, Debug)]
pub struct Element<'p> {
    pub(crate) plan: &'p TestPlan,
    pub(crate) id: ElementId,
}

/// The longest name that a path contains. Paths occur in messages, which must not repeat an extremely long name.
const NAME_CHARS_MAX: usize = 200;

impl PartialEq for Element<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && std::ptr::eq(self.plan, other.plan)
    }
}

impl Eq for Element<'_> {}

impl<'p> Element<'p> {
    fn data(self) -> &'p ElementData {
        &self.plan.elements[self.id.index()]
    }

    /// The number of this element in its plan.
    #[must_use]
    pub fn id(self) -> ElementId {
        self.id
    }

    /// The plan that contains the element.
    #[must_use]
    pub fn plan(self) -> &'p TestPlan {
        self.plan
    }

    /// The XML tag as written.
    #[must_use]
    pub fn tag(self) -> &'p str {
        self.data().tag.get(&self.plan.text)
    }

    /// The `testclass` attribute as written.
    #[must_use]
    pub fn test_class(self) -> Option<&'p str> {
        self.data().test_class.as_ref().map(|slice| slice.get(&self.plan.text))
    }

    /// The `guiclass` attribute as written.
    #[must_use]
    pub fn gui_class(self) -> Option<&'p str> {
        self.data().gui_class.as_ref().map(|slice| slice.get(&self.plan.text))
    }

    /// JMeter's short name for the element's class, even if the file contains an alias, the full class name or an outdated
    /// name. If JMeter has no short name for the class, the tag itself.
    ///
    /// As in JMeter, the tag (or a `class` attribute) determines the class, not `testclass`.
    #[must_use]
    pub fn kind(self) -> &'p str {
        let data = self.data();
        let written = data.class.as_ref().unwrap_or(&data.tag).get(&self.plan.text);
        names::element_kind(written, self.gui_class().unwrap_or(""))
    }

    /// JMeter's current short name of the GUI class; empty if the file has no GUI class. The name distinguishes config
    /// elements with default values, which all have the class `ConfigTestElement`.
    #[must_use]
    pub fn gui_kind(self) -> &'p str {
        names::gui_kind(self.gui_class().unwrap_or(""))
    }

    /// The name that the author gave the element; may be empty.
    #[must_use]
    pub fn name(self) -> &'p str {
        // JMeter sets the attributes first and the properties after them.
        self.overriding_property(NAME_PROPERTY)
            .or_else(|| self.data().name.as_ref().map(|slice| slice.get(&self.plan.text)))
            .unwrap_or("")
    }

    /// Whether the element is enabled: a missing attribute counts as true, any text other than `true` as false.
    ///
    /// An enabled element has no effect if one of its ancestors is disabled: see [`is_active`](Self::is_active).
    #[must_use]
    pub fn enabled(self) -> bool {
        self.enabled_text().is_none_or(|text| text.eq_ignore_ascii_case("true"))
    }

    /// A property that overrides an attribute. The properties are searched only if such a property exists, because names are
    /// read very often.
    fn overriding_property(self, name: &str) -> Option<&'p str> {
        if self.data().has_special_property { self.text(name) } else { None }
    }

    fn enabled_text(self) -> Option<&'p str> {
        self.overriding_property(ENABLED_PROPERTY)
            .or_else(|| self.data().enabled.as_ref().map(|slice| slice.get(&self.plan.text)))
    }

    /// Whether the element and all its ancestors are enabled.
    #[must_use]
    pub fn is_active(self) -> bool {
        self.enabled() && self.ancestors().all(Self::enabled)
    }

    /// The author's comment, or empty.
    #[must_use]
    pub fn comments(self) -> &'p str {
        self.text("TestPlan.comments").unwrap_or("")
    }

    /// The position of the element, from its start tag to its end tag, without its children.
    #[must_use]
    pub fn span(self) -> Span {
        self.data().span
    }

    /// The parent of this element.
    #[must_use]
    pub fn parent(self) -> Option<Self> {
        self.data().parent.map(|id| Self { plan: self.plan, id })
    }

    /// The elements above this one, the nearest first.
    pub fn ancestors(self) -> impl Iterator<Item = Self> + Clone {
        std::iter::successors(self.parent(), |element| element.parent())
    }

    /// The elements directly below this one, in the order of the file.
    pub fn children(self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        let plan = self.plan;
        self.data().children.iter().map(move |&id| Element { plan, id })
    }

    /// All descendants of this element in document order, without the element itself.
    pub fn descendants(self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        let plan = self.plan;
        (self.id.0 + 1..self.data().subtree_end).map(move |number| Element { plan, id: ElementId(number) })
    }

    /// The names from the root down to this element, inclusive. An element without a name is shown as its kind in brackets;
    /// a name of more than 200 characters is truncated.
    #[must_use]
    pub fn path(self) -> Vec<String> {
        let mut path: Vec<String> = std::iter::once(self)
            .chain(self.ancestors())
            .map(|element| match element.name() {
                "" => format!("[{}]", element.kind()),
                name => match name.char_indices().nth(NAME_CHARS_MAX) {
                    Some((end, _)) => format!("{}…", &name[..end]),
                    None => name.to_owned(),
                },
            })
            .collect();
        path.reverse();
        path
    }

    /// Adds the file, the span and the path of this element to a diagnostic.
    #[must_use]
    pub fn locate(self, diagnostic: Diagnostic) -> Diagnostic {
        self.locate_at(diagnostic, self.span()).with_path(self.path())
    }

    /// Adds the file and the position in it to a diagnostic.
    pub(crate) fn locate_at(self, diagnostic: Diagnostic, mut span: Span) -> Diagnostic {
        let (file, base) = self.plan.part_at(span.offset);
        span.offset -= base;
        diagnostic.in_file(Arc::clone(file)).at(span)
    }

    /// The properties in the order of the file.
    #[must_use]
    pub fn properties(self) -> Properties<'p> {
        Properties { plan: self.plan, owner: self.id, next: self.data().first_property }
    }

    /// The property with this name; if there are several, the last one, as in JMeter.
    ///
    /// A property with an outdated name is found by its current name.
    #[must_use]
    pub fn property(self, name: &str) -> Option<Property<'p>> {
        self.properties().filter(|property| property.name() == name).last()
    }

    /// The value of a property of any kind as text; `None` if the property is missing or is a structure (collection,
    /// element, map, object).
    #[must_use]
    pub fn text(self, name: &str) -> Option<&'p str> {
        self.property(name)?.text()
    }

    /// The value of a property as text, or `default` if [`text`](Self::text) returns `None`.
    ///
    /// An empty text does not select the default: as in JMeter, only a missing property does.
    #[must_use]
    pub fn text_or(self, name: &str, default: &'p str) -> &'p str {
        self.text(name).unwrap_or(default)
    }

    /// The value of a property as a Boolean: `true` in upper or lower case is true, any other text is false.
    ///
    /// For a value that contains `${…}`, read the [`text`](Self::text) and evaluate it first.
    #[must_use]
    pub fn boolean(self, name: &str) -> Option<bool> {
        self.property(name)?.boolean()
    }

    /// The value of a property as an integer.
    ///
    /// # Errors
    /// The inner result is an error if the text is not a number, for example because it contains `${…}`.
    #[must_use]
    pub fn integer(self, name: &str) -> Option<Result<i64, ParseIntError>> {
        self.property(name)?.integer()
    }

    /// The property with this name if it is a collection.
    #[must_use]
    pub fn collection(self, name: &str) -> Option<Property<'p>> {
        self.property(name).filter(|property| property.kind() == PropertyKind::Collection)
    }

    /// The property with this name if it is an element within this element.
    #[must_use]
    pub fn element(self, name: &str) -> Option<Property<'p>> {
        self.property(name).filter(|property| property.kind() == PropertyKind::Element)
    }

    /// The property with this name if it is an object, such as `saveConfig`.
    #[must_use]
    pub fn object(self, name: &str) -> Option<Property<'p>> {
        self.property(name).filter(|property| property.kind() == PropertyKind::Object)
    }
}

impl<'p> Property<'p> {
    /// The element that contains the property, even if the property is nested in another one.
    #[must_use]
    pub fn owner(self) -> Element<'p> {
        Element { plan: self.plan, id: self.owner }
    }

    /// The name of the property in JMeter 5.6, even if the file contains an outdated name. Inside an object, the tag.
    #[must_use]
    pub fn name(self) -> &'p str {
        names::property_name(|| self.owner().kind(), self.written_name())
    }

    /// Adds the file, the span of this property and the path of its element to a diagnostic.
    #[must_use]
    pub fn locate(self, diagnostic: Diagnostic) -> Diagnostic {
        self.owner().locate_at(self.owner().locate(diagnostic), self.span())
    }
}

impl TestPlan {
    /// The element with this number.
    ///
    /// # Panics
    /// If the element belongs to another, longer plan.
    #[must_use]
    pub fn element(&self, id: ElementId) -> Element<'_> {
        assert!(id.index() < self.elements.len(), "element {} belongs to another plan", id.0);
        Element { plan: self, id }
    }

    /// The top-level elements: usually the test plan, in old files also the workbench.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = Element<'_>> + ExactSizeIterator + Clone {
        self.roots.iter().map(|&id| Element { plan: self, id })
    }

    /// All elements in document order, including disabled ones.
    pub fn elements(&self) -> impl DoubleEndedIterator<Item = Element<'_>> + ExactSizeIterator + Clone {
        (0..self.elements.len() as u32).map(|number| Element { plan: self, id: ElementId(number) })
    }

    /// The names of the elements from the root down to this one, inclusive.
    ///
    /// # Panics
    /// If the element belongs to another, longer plan.
    #[must_use]
    pub fn path(&self, id: ElementId) -> Vec<String> {
        self.element(id).path()
    }
}
