//! A parsed document, and the options of the parser.

use uppsala::{Document, NodeId, NodeKind};

/// A parsed document.
pub struct XmlDocument<'t> {
    /// The document's nodes.
    pub tree: Document<'t>,
    /// Namespaces that the root element declares: prefix (empty for the default namespace) and URI.
    pub declared: Vec<(String, String)>,
}

/// Options of the parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether the parser supports namespaces.
    pub namespaces: bool,
    /// Whether a document type declaration is an error.
    pub no_doctype: bool,
    /// Whether attributes are sorted by name, as in Java's DOM trees.
    pub sorted: bool,
}

/// All elements in document order.
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
