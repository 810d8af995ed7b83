//! The state of the parser.

use std::borrow::Cow;
use std::ops::Range;

use busyhour_diagnostic::Span;

use crate::findings::Findings;
use crate::slice::Slice;
use crate::tree::ElementData;
use crate::tree::ElementId;
use crate::tree::PropertyData;
use crate::tree::PropertyId;

/// A tag that is open.
pub(super) struct Open {
    pub(super) what: OpenKind,
    /// The tag's name; `None` for a tree whose tag is missing in the file.
    pub(super) tag: Option<Range<usize>>,
    /// The start tag.
    pub(super) start: Span,
    /// The last property read directly below the tag.
    pub(super) last_property: Option<PropertyId>,
    /// Whether the tag is a header of an old file; `None` until a property below it requires this information.
    pub(super) is_old_header: Option<bool>,
    pub(super) value: Value,
}

#[derive(Clone, Copy)]
pub(super) enum OpenKind {
    /// `jmeterTestPlan`
    Plan {
        has_tree: bool,
    },
    /// `hashTree`
    Tree(Tree),
    Element(ElementId),
    Property(PropertyId),
    /// A tag that is ignored with its content.
    Skipped,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Tree {
    /// The element whose children the tree contains.
    pub(super) parent: Option<ElementId>,
    /// The element read last, until its own tree begins.
    pub(super) waiting: Option<ElementId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Document {
    Begin,
    InPlan,
    Fragment,
    End,
}

pub(super) struct Builder<'t> {
    pub(super) text: &'t str,
    pub(super) findings: Findings<'t>,
    pub(super) elements: Vec<ElementData>,
    pub(super) properties: Vec<PropertyData>,
    pub(super) roots: Vec<ElementId>,
    pub(super) version: Option<Box<str>>,
    pub(super) jmeter_version: Option<Box<str>>,
    pub(super) document: Document,
    pub(super) stack: Vec<Open>,
    /// The number of open tags below the maximum depth, which are not on the stack.
    pub(super) skipped_depth: usize,
    pub(super) was_too_deep: bool,
    /// Whether damage of the current tag has been reported; its consequences are not reported again.
    pub(super) is_tag_damaged: bool,
    pub(super) entities_declared: bool,
    /// Whether names and texts are URL-encoded, as JMeter 2.1 wrote them.
    pub(super) is_url_encoded: bool,
    /// Properties that are written as references, and the properties that they refer to.
    pub(super) aliases: Vec<(PropertyId, PropertyId)>,
    pub(super) reference_steps: u32,
    pub(super) stopped: bool,
}

/// The text read so far: a range of the source while the text is identical to that range.
#[derive(Debug, Default)]
pub(super) enum Value {
    #[default]
    Empty,
    Source(Range<usize>),
    Text(String),
}

impl Value {
    pub(super) fn push(&mut self, source: &str, range: Range<usize>, piece: Cow<'_, str>) {
        if piece.is_empty() {
            return;
        }
        match (&mut *self, piece) {
            (Self::Empty, Cow::Borrowed(_)) => *self = Self::Source(range),
            (Self::Empty, Cow::Owned(text)) => *self = Self::Text(text),
            (Self::Source(before), piece) => *self = Self::Text(source[before.clone()].to_owned() + &piece),
            (Self::Text(text), piece) => text.push_str(&piece),
        }
    }

    pub(super) fn into_slice(self) -> Slice {
        match self {
            Self::Empty => Slice::EMPTY,
            Self::Source(range) => Slice::from_range(range),
            Self::Text(text) => Slice::Owned(text.into()),
        }
    }
}

pub(super) fn is_tree_tag(tag: &str) -> bool {
    matches!(
        tag,
        "hashTree"
            | "org.apache.jorphan.collections.ListedHashTree"
            | "org.apache.jorphan.collections.HashTree"
    )
}
