//! The arena that stores a plan, with a compact memory layout.
//!
//! Names and values are ranges of the source if the source contains them literally, so a plan takes about as much additional
//! memory as its file is large.

use std::ops::Range;

use busyhour_diagnostic::Span;

use crate::slice::Slice;

/// The number of an element of one plan, in document order from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementId(pub(crate) u32);

impl ElementId {
    /// The number.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The data of an element from its start tag and surroundings.
#[derive(Clone, Debug)]
pub(crate) struct ElementData {
    /// The whole element, from `<` of its start tag to `>` of its end tag.
    pub(crate) span: Span,
    /// The offset at which the content begins, directly after the start tag.
    pub(crate) content_start: u32,
    /// The offset at which the content ends: at `</` of the end tag. Equal to `content_start` for `<x/>`.
    pub(crate) content_end: u32,
    pub(crate) self_closed: bool,
    pub(crate) tag: Slice,
    pub(crate) class: Option<Slice>,
    pub(crate) name: Option<Slice>,
    pub(crate) test_class: Option<Slice>,
    pub(crate) gui_class: Option<Slice>,
    pub(crate) enabled: Option<Slice>,
    /// Whether a property can override the attributes, as in very old files.
    pub(crate) has_special_property: bool,
    pub(crate) first_property: Option<PropertyId>,
    pub(crate) children: Vec<ElementId>,
    pub(crate) parent: Option<ElementId>,
    /// One more than the number of the last descendant.
    pub(crate) subtree_end: u32,
}

/// The number of a property of one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropertyId(pub(crate) u32);

/// The kind of a property, as the file writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyKind {
    /// `stringProp`
    String,
    /// `intProp`
    Integer,
    /// `longProp`
    Long,
    /// `boolProp`
    Boolean,
    /// `doubleProp`
    Double,
    /// `floatProp` and `FloatProperty`
    Float,
    /// `collectionProp`: a list of properties.
    Collection,
    /// `elementProp`: an element within an element.
    Element,
    /// `mapProp`: properties by name.
    Map,
    /// `objProp`: a Java object, such as the save configuration of a listener.
    Object,
    /// Other kinds, and the content of objects.
    Other,
}

/// Properties that JMeter now writes as attributes of the element's start tag.
pub(crate) const NAME_PROPERTY: &str = "TestElement.name";
pub(crate) const ENABLED_PROPERTY: &str = "TestElement.enabled";

/// Whether a property of this name overrides an attribute of its element.
pub(crate) fn is_special_property(name: &str) -> bool {
    name == NAME_PROPERTY || name == ENABLED_PROPERTY
}

impl PropertyKind {
    pub(crate) fn of_tag(tag: &str) -> Self {
        match tag.strip_prefix("org.apache.jmeter.testelement.property.").unwrap_or(tag) {
            "stringProp" | "StringProperty" => Self::String,
            "intProp" | "IntegerProperty" => Self::Integer,
            "longProp" | "LongProperty" => Self::Long,
            "boolProp" | "BooleanProperty" => Self::Boolean,
            "doubleProp" | "DoubleProperty" => Self::Double,
            "floatProp" | "FloatProperty" => Self::Float,
            "collectionProp" | "CollectionProperty" => Self::Collection,
            "elementProp" | "TestElementProperty" => Self::Element,
            "mapProp" | "MapProperty" => Self::Map,
            "objProp" | "ObjectProperty" => Self::Object,
            _ => Self::Other,
        }
    }

    /// Whether JMeter can load a property of this kind with this text. Only numbers have rules.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Integer => text.parse::<i32>().is_ok(),
            Self::Long => text.parse::<i64>().is_ok(),
            Self::Double | Self::Float => {
                // Java ignores surrounding white space, and allows a type suffix and hexadecimal numbers.
                let text = text.trim();
                let digits = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
                text.parse::<f64>().is_ok() || digits.parse::<f64>().is_ok() || text.contains("0x")
            }
            _ => true,
        }
    }

    /// Whether the file writes the name as a nested `<name>` instead of an attribute.
    pub(crate) fn nests_its_name(self) -> bool {
        matches!(self, Self::Double | Self::Float | Self::Object)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PropertyData {
    /// The whole property, from `<` of its start tag to `>` of its end tag.
    pub(crate) span: Span,
    pub(crate) name: Slice,
    pub(crate) text: Slice,
    /// The range that an edit of the value replaces: the content, or the `/>` of a self-closing tag.
    pub(crate) value: Range<u32>,
    pub(crate) self_closed: bool,
    pub(crate) kind: PropertyKind,
    pub(crate) first_child: Option<PropertyId>,
    pub(crate) next: Option<PropertyId>,
}
