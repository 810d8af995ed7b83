//! The arena that holds a plan, and its memory layout.
//!
//! Names and values are ranges of the source wherever the source says them literally, so a plan
//! costs about as much again as its file.

use std::ops::Range;
use std::sync::Arc;

use busyhour_diagnostic::Span;

use crate::edit::Edits;
use crate::element::Element;
use crate::encoding::Original;

/// A test plan as written, with everything that was in the file.
///
/// Made by [`parse`](crate::parse). Elements are numbered in document order, so the subtree of an
/// element is a contiguous range of numbers.
#[derive(Clone, Debug)]
pub struct TestPlan {
    pub(crate) file: Arc<str>,
    /// The decoded text; spans are offsets into it.
    pub(crate) text: Arc<str>,
    /// The bytes as read, unless they are those of `text`.
    pub(crate) original: Option<Original>,
    pub(crate) version: Option<Box<str>>,
    pub(crate) jmeter_version: Option<Box<str>>,
    pub(crate) elements: Vec<ElementData>,
    pub(crate) properties: Vec<PropertyData>,
    pub(crate) roots: Vec<ElementId>,
    /// Properties that the file writes as references, and what they refer to, in ascending order.
    pub(crate) aliases: Vec<(PropertyId, PropertyId)>,
    pub(crate) edits: Edits,
    /// Files taken in behind the first: where their text begins, and their names.
    pub(crate) parts: Vec<(usize, Arc<str>)>,
}

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

/// A text: a range of the source, or one that the source writes with references or escapes.
#[derive(Clone, Debug)]
pub(crate) enum Slice {
    Source { start: u32, len: u32 },
    Owned(Box<str>),
}

impl Slice {
    pub(crate) const EMPTY: Self = Self::Source { start: 0, len: 0 };

    pub(crate) fn of(range: Range<usize>) -> Self {
        Self::Source { start: range.start as u32, len: (range.end - range.start) as u32 }
    }

    pub(crate) fn get<'a>(&'a self, source: &'a str) -> &'a str {
        match self {
            Self::Source { start, len } => &source[*start as usize..*start as usize + *len as usize],
            Self::Owned(text) => text,
        }
    }
}

/// What an element's start tag and surroundings say.
#[derive(Clone, Debug)]
pub(crate) struct ElementData {
    /// The whole element, from `<` of its start tag to `>` of its end tag.
    pub(crate) span: Span,
    /// Where the content begins, just behind the start tag.
    pub(crate) content_start: u32,
    /// Where the content ends: at `</` of the end tag. Equal to `content_start` for `<x/>`.
    pub(crate) content_end: u32,
    pub(crate) self_closed: bool,
    pub(crate) tag: Slice,
    pub(crate) class: Option<Slice>,
    pub(crate) name: Option<Slice>,
    pub(crate) test_class: Option<Slice>,
    pub(crate) gui_class: Option<Slice>,
    pub(crate) enabled: Option<Slice>,
    /// Whether a property may say otherwise than the attributes, as in very old files.
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

/// How the file writes a property.
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
    /// Anything else, and what stands inside an object.
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
                // Java trims, allows a suffix for the type, and hexadecimal numbers, which nobody writes.
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
    /// The range that an edit of the value replaces: the content, or the `/>` of a `<x/>`.
    pub(crate) value: Range<u32>,
    pub(crate) self_closed: bool,
    pub(crate) kind: PropertyKind,
    pub(crate) first_child: Option<PropertyId>,
    pub(crate) next: Option<PropertyId>,
}

impl TestPlan {
    /// The file name given to [`parse`](crate::parse).
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The file that holds this place of the text, and where its own text begins.
    pub(crate) fn part_at(&self, offset: usize) -> (&Arc<str>, usize) {
        let part = self.parts.iter().rev().find(|(base, _)| *base <= offset);
        part.map_or((&self.file, 0), |(base, file)| (file, *base))
    }

    /// The decoded text of the file as it was read; spans refer to it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.text
    }

    /// The name of the character encoding the file was read with, such as `UTF-8`.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        self.original.as_ref().map_or("UTF-8", |original| original.encoding.name())
    }

    /// The `version` of the `jmeterTestPlan` element, such as `1.2`.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The `jmeter` attribute of the `jmeterTestPlan` element: the JMeter that wrote the file.
    #[must_use]
    pub fn jmeter_version(&self) -> Option<&str> {
        self.jmeter_version.as_deref()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there is no element at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The element with this number.
    ///
    /// # Panics
    /// When the number is one of another, longer plan.
    #[must_use]
    pub fn element(&self, id: ElementId) -> Element<'_> {
        assert!(id.index() < self.elements.len(), "element {} is of another plan", id.0);
        Element { plan: self, id }
    }

    /// The elements at the top: as a rule the test plan, in old files also the workbench.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = Element<'_>> + ExactSizeIterator + Clone {
        self.roots.iter().map(|&id| Element { plan: self, id })
    }

    /// All elements in document order, disabled ones too.
    pub fn elements(&self) -> impl DoubleEndedIterator<Item = Element<'_>> + ExactSizeIterator + Clone {
        (0..self.elements.len() as u32).map(|number| Element { plan: self, id: ElementId(number) })
    }

    /// The names of the elements from the root down to this one, itself included.
    ///
    /// # Panics
    /// When the number is one of another, longer plan.
    #[must_use]
    pub fn path(&self, id: ElementId) -> Vec<String> {
        self.element(id).path()
    }
}
