//! The changes of a plan since it was read.

use std::collections::BTreeMap;

use crate::tree::{ElementId, PropertyId};

/// The tag of properties that an edit adds.
pub(crate) const ADDED_TAG: &str = "stringProp";

/// The changed and added properties of a plan, by offset in the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits {
    pub(crate) changed: BTreeMap<u32, PropertyId>,
    pub(crate) added: BTreeMap<u32, Added>,
    /// Whether the source can be encoded again; `None` until this is checked.
    pub(crate) is_reversible: Option<bool>,
}

/// Properties added to one element.
#[derive(Clone, Debug)]
pub(crate) struct Added {
    pub(crate) element: ElementId,
    pub(crate) properties: Vec<PropertyId>,
}
