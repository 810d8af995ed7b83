//! A document, and how it is read.

use uppsala::{Document, NodeId, NodeKind};

/// A document that was read.
pub struct XmlDocument<'t> {
    /// The document's nodes.
    pub tree: Document<'t>,
    /// What the root element declares: prefix (empty for the default) and namespace.
    pub declared: Vec<(String, String)>,
}

/// How a document is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// With regard to namespaces.
    pub namespaces: bool,
    /// A document type declaration is an error.
    pub no_doctype: bool,
    /// Attributes are sorted by name, as DOM trees have them.
    pub sorted: bool,
}

/// All elements, in the order of the document.
pub(crate) fn elements(tree: &Document<'_>) -> Vec<NodeId> {
    let Some(root) = tree.document_element() else { return Vec::new() };
    let mut elements = vec![root];
    elements.extend(tree.descendants(root).into_iter().filter(|id| is_element(tree, *id)));
    elements
}

/// Whether the node is an element.
pub fn is_element(tree: &Document<'_>, node: NodeId) -> bool {
    matches!(tree.node_kind(node), Some(NodeKind::Element(_)))
}
