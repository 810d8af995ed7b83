//! DOM (Document Object Model) based on the XML Information Set specification.
//!
//! This module provides an arena-based tree representation of XML documents.
//! Each node is identified by a [`NodeId`] and stored in a central arena within
//! the [`Document`]. This avoids reference-counting overhead and makes tree
//! mutation straightforward.

use crate::fasthash::{FastHashMap, FastHashSet};
use std::borrow::Cow;
use std::fmt;

/// A unique identifier for a node within a [`Document`].
///
/// Node IDs are lightweight handles (just a `usize` index into the document's
/// arena). They are [`Copy`], [`Hash`], and can be compared for equality.
/// Use [`NodeId::index()`] to get the raw index and [`NodeId::new()`] to
/// construct from a raw index (e.g. for FFI or serialization).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub(crate) usize);

impl NodeId {
    /// Return the raw arena index of this node.
    pub(crate) fn index(&self) -> usize {
        self.0
    }
}

/// A qualified name consisting of an optional namespace URI, optional prefix,
/// and a local name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QName<'a> {
    /// The namespace URI, if any.
    pub namespace_uri: Option<Cow<'a, str>>,
    /// The namespace prefix, if any (e.g. `"soap"` in `soap:Envelope`).
    pub prefix: Option<Cow<'a, str>>,
    /// The local part of the name.
    pub local_name: Cow<'a, str>,
}

impl<'a> QName<'a> {
    /// Create a QName with only a local name (no namespace).
    pub fn local(name: impl Into<Cow<'a, str>>) -> Self {
        QName {
            namespace_uri: None,
            prefix: None,
            local_name: name.into(),
        }
    }

    /// Returns the prefixed form (e.g. `"soap:Envelope"`) or just the local name.
    pub fn prefixed_name(&self) -> Cow<'_, str> {
        match &self.prefix {
            Some(p) => Cow::Owned(format!("{}:{}", p, self.local_name)),
            None => Cow::Borrowed(&self.local_name),
        }
    }

    /// Convert this QName into a `'static` lifetime by taking ownership of all data.
    pub(crate) fn into_static(self) -> QName<'static> {
        QName {
            namespace_uri: self.namespace_uri.map(|s| Cow::Owned(s.into_owned())),
            prefix: self.prefix.map(|s| Cow::Owned(s.into_owned())),
            local_name: Cow::Owned(self.local_name.into_owned()),
        }
    }
}

impl<'a> fmt::Display for QName<'a> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.namespace_uri, &self.prefix) {
            (Some(ns), Some(p)) => write!(f, "{{{}}}{}:{}", ns, p, self.local_name),
            (Some(ns), None) => write!(f, "{{{}}}{}", ns, self.local_name),
            _ => write!(f, "{}", self.local_name),
        }
    }
}

/// An iterator over the children of a node.
///
/// This is a zero-allocation alternative to [`Document::children()`] which
/// returns a `Vec<NodeId>`. It walks the linked sibling chain directly.
pub(crate) struct ChildrenIter<'d, 'a> {
    doc: &'d Document<'a>,
    next: Option<NodeId>,
    next_back: Option<NodeId>,
}

impl<'d, 'a> Iterator for ChildrenIter<'d, 'a> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let id = self.next?;
        if Some(id) == self.next_back {
            self.next = None;
            self.next_back = None;
        } else {
            self.next = self.doc.nodes.get(id.0).and_then(|n| n.next_sibling);
        }
        Some(id)
    }
}

impl<'d, 'a> DoubleEndedIterator for ChildrenIter<'d, 'a> {
    fn next_back(&mut self) -> Option<NodeId> {
        let id = self.next_back?;
        if Some(id) == self.next {
            self.next = None;
            self.next_back = None;
        } else {
            self.next_back = self.doc.nodes.get(id.0).and_then(|n| n.prev_sibling);
        }
        Some(id)
    }
}

/// An XML attribute (part of the Infoset attribute information item).
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute<'a> {
    /// The qualified name of the attribute.
    pub name: QName<'a>,
    /// The normalized attribute value.
    pub value: Cow<'a, str>,
}

impl<'a> Attribute<'a> {
    /// Convert this Attribute into a `'static` lifetime.
    pub(crate) fn into_static(self) -> Attribute<'static> {
        Attribute {
            name: self.name.into_static(),
            value: Cow::Owned(self.value.into_owned()),
        }
    }
}

/// The XML declaration (`<?xml version="1.0" encoding="UTF-8"?>`).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct XmlDeclaration<'a> {
    /// The XML version (e.g. `"1.0"`).
    pub(crate) version: Cow<'a, str>,
    /// The declared encoding (e.g. `"UTF-8"`), if specified.
    pub(crate) encoding: Option<Cow<'a, str>>,
    /// The standalone declaration, if specified (`true` for `"yes"`, `false` for `"no"`).
    pub(crate) standalone: Option<bool>,
}

impl<'a> XmlDeclaration<'a> {
    /// Convert this XmlDeclaration into a `'static` lifetime.
    pub(crate) fn into_static(self) -> XmlDeclaration<'static> {
        XmlDeclaration {
            version: Cow::Owned(self.version.into_owned()),
            encoding: self.encoding.map(|s| Cow::Owned(s.into_owned())),
            standalone: self.standalone,
        }
    }
}

/// A processing instruction (`<?target data?>`).
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessingInstruction<'a> {
    /// The PI target name (e.g. `"xml-stylesheet"`).
    pub target: Cow<'a, str>,
    /// The PI data string, if any.
    pub data: Option<Cow<'a, str>>,
}

impl<'a> ProcessingInstruction<'a> {
    /// Convert this ProcessingInstruction into a `'static` lifetime.
    pub(crate) fn into_static(self) -> ProcessingInstruction<'static> {
        ProcessingInstruction {
            target: Cow::Owned(self.target.into_owned()),
            data: self.data.map(|s| Cow::Owned(s.into_owned())),
        }
    }
}

/// The different kinds of nodes in the DOM tree.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind<'a> {
    /// The document root (Infoset document information item).
    Document,
    /// An element node (Infoset element information item).
    Element(Element<'a>),
    /// A text node (Infoset character information item).
    Text(Cow<'a, str>),
    /// A CDATA section.
    CData(Cow<'a, str>),
    /// A comment node (Infoset comment information item).
    Comment(Cow<'a, str>),
    /// A processing instruction (Infoset PI information item).
    ProcessingInstruction(ProcessingInstruction<'a>),
    /// A virtual attribute node (used by XPath evaluation).
    /// Not part of the normal child tree.
    Attribute(QName<'a>, Cow<'a, str>),
}

impl<'a> NodeKind<'a> {
    /// Convert this NodeKind into a `'static` lifetime.
    pub(crate) fn into_static(self) -> NodeKind<'static> {
        match self {
            NodeKind::Document => NodeKind::Document,
            NodeKind::Element(e) => NodeKind::Element(e.into_static()),
            NodeKind::Text(t) => NodeKind::Text(Cow::Owned(t.into_owned())),
            NodeKind::CData(t) => NodeKind::CData(Cow::Owned(t.into_owned())),
            NodeKind::Comment(t) => NodeKind::Comment(Cow::Owned(t.into_owned())),
            NodeKind::ProcessingInstruction(pi) => {
                NodeKind::ProcessingInstruction(pi.into_static())
            }
            NodeKind::Attribute(name, value) => {
                NodeKind::Attribute(name.into_static(), Cow::Owned(value.into_owned()))
            }
        }
    }
}

/// An element with its qualified name and attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct Element<'a> {
    /// The qualified name of the element.
    pub name: QName<'a>,
    /// The element's attributes.
    pub attributes: Vec<Attribute<'a>>,
    /// In-scope namespace declarations on this element.
    /// Each pair is (prefix, namespace_uri). Empty prefix for default namespace.
    pub namespace_declarations: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Element<'a> {
    /// Get an attribute value by local name (ignoring namespace).
    pub(crate) fn get_attribute(&self, local_name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|a| *a.name.local_name == *local_name)
            .map(|a| &*a.value)
    }

    /// Get an attribute value by namespace URI and local name.
    pub(crate) fn get_attribute_ns(&self, namespace_uri: &str, local_name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|a| {
                *a.name.local_name == *local_name
                    && a.name.namespace_uri.as_deref() == Some(namespace_uri)
            })
            .map(|a| &*a.value)
    }

    /// Convert this Element into a `'static` lifetime.
    pub(crate) fn into_static(self) -> Element<'static> {
        Element {
            name: self.name.into_static(),
            attributes: self
                .attributes
                .into_iter()
                .map(|a| a.into_static())
                .collect(),
            namespace_declarations: self
                .namespace_declarations
                .into_iter()
                .map(|(k, v)| (Cow::Owned(k.into_owned()), Cow::Owned(v.into_owned())))
                .collect::<Vec<_>>(),
        }
    }
}

/// Internal representation of a node in the arena.
#[derive(Debug, Clone)]
pub(crate) struct NodeData<'a> {
    pub(crate) kind: NodeKind<'a>,
    pub(crate) parent: Option<NodeId>,
    pub(crate) first_child: Option<NodeId>,
    pub(crate) last_child: Option<NodeId>,
    pub(crate) next_sibling: Option<NodeId>,
    pub(crate) prev_sibling: Option<NodeId>,
    /// Byte position in the original input for lazy line/column computation.
    pub(crate) byte_pos: usize,
    /// Byte position of the end of this node in the original input.
    pub(crate) byte_end_pos: usize,
}

impl<'a> NodeData<'a> {
    /// Convert this NodeData into a `'static` lifetime.
    pub(crate) fn into_static(self) -> NodeData<'static> {
        NodeData {
            kind: self.kind.into_static(),
            parent: self.parent,
            first_child: self.first_child,
            last_child: self.last_child,
            next_sibling: self.next_sibling,
            prev_sibling: self.prev_sibling,
            byte_pos: self.byte_pos,
            byte_end_pos: self.byte_end_pos,
        }
    }
}

/// An XML document represented as an arena-based tree.
///
/// Nodes are stored in a flat `Vec` and referenced by [`NodeId`]. This provides
/// O(1) node access and simple tree mutation without reference counting.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    /// The node arena.
    pub(crate) nodes: Vec<NodeData<'a>>,
    /// The root node id (always NodeId(0), the Document node).
    root: NodeId,
    /// Optional XML declaration.
    pub(crate) xml_declaration: Option<XmlDeclaration<'a>>,
    /// Raw DOCTYPE declaration text, preserved verbatim for round-trip fidelity.
    /// e.g. `<!DOCTYPE root SYSTEM "root.dtd">` or `<!DOCTYPE html>`.
    pub(crate) doctype: Option<Cow<'a, str>>,
    /// Attribute nodes for each element, keyed by element NodeId.
    /// These are virtual nodes used by XPath attribute axis traversal.
    pub(crate) attribute_nodes: FastHashMap<NodeId, Vec<NodeId>>,
    /// Precomputed document-order position per node, indexed by `NodeId`.
    /// Populated by [`Self::prepare_xpath`]; empty otherwise. Lets node-set
    /// deduplication sort by an O(1) key instead of walking each node to the root
    /// (which is quadratic over wide trees). Unreachable nodes get `u32::MAX`.
    pub(crate) doc_order: Vec<u32>,
    /// Set when a tree/attribute mutation has invalidated the XPath caches
    /// (`attribute_nodes` + `doc_order`), so the next [`Self::prepare_xpath`]
    /// rebuilds them. `true` initially (caches unbuilt); cleared once built and
    /// re-set by every mutator. Keeps `prepare_xpath` a build-once cost on the
    /// common parse -> prepare -> query path while still allowing a mutated
    /// document to be re-prepared.
    pub(crate) xpath_dirty: bool,
    /// Recycle pool of arena slots that previously held virtual attribute
    /// nodes. The arena is append-only, so without reuse every re-preparation
    /// after a mutation would append a full fresh set of attribute nodes and
    /// orphan the old ones; a mutate -> query -> mutate -> query workload
    /// (e.g. pyFF's `set_entity_attributes`) then grows the arena
    /// quadratically and exhausts memory. Re-preparation keeps an element's
    /// existing slots when its attribute count is unchanged (so attribute
    /// `NodeId`s stay stable across unrelated mutations); only the slots of
    /// elements whose attribute list changed shape are drained in here and
    /// overwritten in place by [`Self::build_attribute_nodes`] before new
    /// ones are allocated, keeping the arena size flat.
    pub(crate) attr_node_pool: Vec<NodeId>,
    /// Original input for lazy line/column computation from byte positions.
    pub(crate) input: &'a str,
    /// Whether the tree still mirrors `input`, so a node's source range (and
    /// `input.len()` for the document) is a sound capacity hint for
    /// serializing it. Set by the parser once the tree is complete; cleared
    /// by every mutator (through [`Self::invalidate_xpath_caches`]), because
    /// after `remove_child`, `replace_tree_from` or any other edit the parsed
    /// ranges no longer bound the output: a multi-megabyte input pruned to a
    /// few nodes must not keep reserving the full input length. `false` for
    /// built documents, whose nodes have no ranges anyway.
    pub(crate) source_hint_valid: bool,
}

impl<'a> Document<'a> {
    /// Create a new empty document.
    pub fn new() -> Self {
        let root_node = NodeData {
            kind: NodeKind::Document,
            parent: None,
            first_child: None,
            last_child: None,
            next_sibling: None,
            prev_sibling: None,
            byte_pos: 0,
            byte_end_pos: 0,
        };
        Document {
            nodes: vec![root_node],
            root: NodeId(0),
            xml_declaration: None,
            doctype: None,
            attribute_nodes: FastHashMap::default(),
            doc_order: Vec::new(),
            xpath_dirty: true,
            attr_node_pool: Vec::new(),
            input: "",
            source_hint_valid: false,
        }
    }

    /// Convert this Document into a `'static` lifetime by taking ownership of all data.
    pub fn into_static(self) -> Document<'static> {
        Document {
            nodes: self.nodes.into_iter().map(|n| n.into_static()).collect(),
            root: self.root,
            xml_declaration: self.xml_declaration.map(|d| d.into_static()),
            doctype: self.doctype.map(|s| Cow::Owned(s.into_owned())),
            attribute_nodes: self.attribute_nodes,
            doc_order: self.doc_order,
            xpath_dirty: self.xpath_dirty,
            attr_node_pool: self.attr_node_pool,
            input: "",
            // Node ranges stay meaningful for an unmodified tree even though
            // the input text is gone (the document-level hint becomes 0).
            source_hint_valid: self.source_hint_valid,
        }
    }

    /// Returns the root (Document) node id.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// Returns the document element (the single top-level element), if any.
    pub fn document_element(&self) -> Option<NodeId> {
        self.children_iter(self.root)
            .find(|&id| matches!(self.node_kind(id), Some(NodeKind::Element(_))))
    }

    /// Allocate a new node in the arena and return its id.
    pub(crate) fn alloc_node(&mut self, kind: NodeKind<'a>, byte_pos: usize) -> NodeId {
        let id = NodeId(self.nodes.len());
        self.nodes.push(NodeData {
            kind,
            parent: None,
            first_child: None,
            last_child: None,
            next_sibling: None,
            prev_sibling: None,
            byte_pos,
            byte_end_pos: 0,
        });
        id
    }

    /// Set the byte end position of a node.
    pub(crate) fn set_byte_end_pos(&mut self, id: NodeId, pos: usize) {
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.byte_end_pos = pos;
        }
    }

    /// Allocate virtual attribute nodes for an element.
    /// Call this after adding an element with attributes to enable XPath attribute axis.
    pub(crate) fn build_attribute_nodes(&mut self, element_id: NodeId) {
        let attrs: Vec<(QName<'a>, Cow<'a, str>)> = match self.node_kind(element_id) {
            Some(NodeKind::Element(e)) => e
                .attributes
                .iter()
                .map(|a| (a.name.clone(), a.value.clone()))
                .collect(),
            _ => return,
        };
        // Stable reuse: if this element already has a slot set of the right
        // size from a previous prepare_xpath generation, refresh those same
        // slots in place. Attribute NodeIds for elements whose attribute list
        // did not change shape therefore survive re-preparation, so a handle
        // cached across an unrelated mutation keeps pointing at the same
        // attribute instead of aliasing whatever attribute happens to land in
        // a recycled slot.
        if let Some(ids) = self.attribute_nodes.remove(&element_id) {
            if ids.len() == attrs.len() {
                for (id, (name, value)) in ids.iter().zip(attrs) {
                    self.nodes[id.0] = NodeData {
                        kind: NodeKind::Attribute(name, value),
                        parent: Some(element_id),
                        first_child: None,
                        last_child: None,
                        next_sibling: None,
                        prev_sibling: None,
                        byte_pos: 0,
                        byte_end_pos: 0,
                    };
                }
                self.attribute_nodes.insert(element_id, ids);
                return;
            }
            // The attribute count changed: this element's old slots go to the
            // pool and a fresh set is assigned below.
            self.attr_node_pool.extend(ids);
        }
        let mut attr_ids = Vec::with_capacity(attrs.len());
        for (name, value) in attrs {
            // Reuse a recycled slot from a previous prepare_xpath generation
            // when one is available (see `attr_node_pool`); the arena is
            // append-only, so this is what keeps repeated re-preparations from
            // growing it without bound. Fall back to appending a fresh slot.
            let attr_id = match self.attr_node_pool.pop() {
                Some(id) => {
                    self.nodes[id.0] = NodeData {
                        kind: NodeKind::Attribute(name, value),
                        parent: Some(element_id),
                        first_child: None,
                        last_child: None,
                        next_sibling: None,
                        prev_sibling: None,
                        byte_pos: 0,
                        byte_end_pos: 0,
                    };
                    id
                }
                None => {
                    let id = self.alloc_node(NodeKind::Attribute(name, value), 0);
                    // Set parent to the element (attribute nodes have an owner element)
                    if let Some(node) = self.nodes.get_mut(id.0) {
                        node.parent = Some(element_id);
                    }
                    id
                }
            };
            attr_ids.push(attr_id);
        }
        if !attr_ids.is_empty() {
            self.attribute_nodes.insert(element_id, attr_ids);
        }
    }

    /// Get the virtual attribute node IDs for an element.
    ///
    /// Returns an empty slice if [`prepare_xpath()`](Self::prepare_xpath) has
    /// not been called or the element has no attributes.
    ///
    /// # Handle stability
    ///
    /// The returned `NodeId`s stay valid across a mutation followed by
    /// re-[`prepare_xpath()`](Self::prepare_xpath) as long as the element's
    /// own attribute count is unchanged. If attributes were added to or
    /// removed from the element (or the element no longer has any), its old
    /// attribute `NodeId`s are invalidated and their arena slots may be
    /// repurposed for other attributes -- do not read through them.
    pub(crate) fn get_attribute_nodes(&self, element_id: NodeId) -> &[NodeId] {
        self.attribute_nodes
            .get(&element_id)
            .map(|v| v.as_slice())
            .unwrap_or(&[])
    }

    /// Build virtual attribute nodes for all elements in the document.
    /// Must be called before XPath evaluation if the document was parsed
    /// without attribute node construction (the default for performance).
    ///
    /// Re-preparing after a mutation recycles the arena slots of superseded
    /// virtual attribute nodes rather than leaking them. Attribute `NodeId`s
    /// obtained earlier (from XPath results or
    /// [`get_attribute_nodes()`](Self::get_attribute_nodes)) remain valid for
    /// elements whose attribute count is unchanged; for elements whose
    /// attribute list changed shape they are invalidated and may be
    /// repurposed for different attributes.
    pub fn prepare_xpath(&mut self) {
        // Build-once on the common parse -> prepare -> query path: skip the work
        // when no mutation has invalidated the caches since the last prepare.
        // A mutation sets `xpath_dirty`, so a document edited after an earlier
        // prepare still refreshes here (guarding on "is the cache empty?" instead
        // would make re-preparation a silent no-op and leave a stale
        // document-order index, corrupting node-set ordering/dedup). Rebuilding
        // is O(n) and runs only on the first prepare or after an edit, never per
        // node.
        if !self.xpath_dirty {
            return;
        }
        // Recycle superseded virtual attribute nodes instead of orphaning
        // them: the arena is append-only, so leaking a full set per
        // re-preparation makes a mutate/query loop grow the arena without
        // bound (observed as multi-GB blowups in pyFF). Elements whose
        // attribute count is unchanged keep their exact slot set (refreshed in
        // place by `build_attribute_nodes`), so their attribute NodeIds remain
        // stable across re-preparation. Only the slots of elements that no
        // longer carry attributes -- and, inside `build_attribute_nodes`, of
        // elements whose attribute count changed -- go through the pool and
        // may be repurposed; NodeIds pointing at those were invalidated by the
        // mutation itself.
        let element_ids: Vec<NodeId> = self
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(i, n)| match &n.kind {
                NodeKind::Element(e) if !e.attributes.is_empty() => Some(NodeId(i)),
                _ => None,
            })
            .collect();
        if self.attribute_nodes.is_empty() {
            // First preparation knows the number of virtual attributes up
            // front. Reserve once instead of repeatedly moving the growing
            // node arena as each element's attributes are appended. Existing
            // recycled slots do not need new arena space. Reservations remain
            // best-effort, like the parser's arena capacity hint.
            let attributes = element_ids.iter().fold(0usize, |count, &id| {
                count.saturating_add(self.element(id).map_or(0, |e| e.attributes.len()))
            });
            let _ = self
                .nodes
                .try_reserve(attributes.saturating_sub(self.attr_node_pool.len()));
            let _ = self.attribute_nodes.try_reserve(element_ids.len());
        }
        if !self.attribute_nodes.is_empty() {
            let live: FastHashSet<NodeId> = element_ids.iter().copied().collect();
            let stale: Vec<NodeId> = self
                .attribute_nodes
                .keys()
                .filter(|k| !live.contains(k))
                .copied()
                .collect();
            for key in stale {
                if let Some(ids) = self.attribute_nodes.remove(&key) {
                    self.attr_node_pool.extend(ids);
                }
            }
        }
        for elem_id in element_ids {
            self.build_attribute_nodes(elem_id);
        }
        self.compute_doc_order();
        self.xpath_dirty = false;
    }

    /// Mark the XPath caches (virtual attribute nodes + document-order index)
    /// stale so the next [`Self::prepare_xpath`] rebuilds them. Called by every
    /// tree/attribute mutation; setting a bool is cheap enough to never matter on
    /// a hot path, and it cannot be forgotten the way an external invalidation
    /// call could.
    fn invalidate_xpath_caches(&mut self) {
        self.xpath_dirty = true;
        // The same mutations make parsed source ranges unreliable as
        // serialization capacity hints; see `source_hint_valid`.
        self.source_hint_valid = false;
    }

    /// Record that the arena is a faithful image of `input`, so source ranges
    /// may size serialization buffers. Called by the parser's DOM sink once
    /// the whole document has been built (the build itself goes through
    /// mutators that clear the flag).
    pub(crate) fn mark_source_hint_valid(&mut self) {
        self.source_hint_valid = true;
    }

    /// Assign each node its document-order position into `self.doc_order`, by a
    /// preorder tree walk: an element, then its attribute nodes (in attribute
    /// order), then its children (in document order) — matching XPath 1.0
    /// document order. Must run after attribute nodes are built. Unreachable
    /// nodes keep `u32::MAX`. O(n); used by node-set dedup to avoid per-call
    /// ancestor re-indexing (see `dedup_document_order` in `xpath.rs`).
    fn compute_doc_order(&mut self) {
        if self.nodes.is_empty() {
            return;
        }
        let mut order = vec![u32::MAX; self.nodes.len()];
        let mut counter: u32 = 0;
        let mut stack: Vec<NodeId> = vec![self.root];
        while let Some(n) = stack.pop() {
            order[n.0] = counter;
            counter = counter.wrapping_add(1);
            if let Some(attrs) = self.attribute_nodes.get(&n) {
                for &a in attrs {
                    if let Some(slot) = order.get_mut(a.0) {
                        *slot = counter;
                        counter = counter.wrapping_add(1);
                    }
                }
            }
            // Push children in reverse document order so they pop in order.
            let start = stack.len();
            let mut child = self.nodes[n.0].first_child;
            while let Some(cid) = child {
                stack.push(cid);
                child = self.nodes[cid.0].next_sibling;
            }
            stack[start..].reverse();
        }
        self.doc_order = order;
    }

    /// Whether the document-order index has been computed (`prepare_xpath`).
    pub(crate) fn doc_order_ready(&self) -> bool {
        !self.doc_order.is_empty()
    }

    /// The document-order position of `id` (`u32::MAX` if unreachable or out of
    /// range). Only meaningful when [`Self::doc_order_ready`].
    pub(crate) fn doc_order_at(&self, id: NodeId) -> u32 {
        self.doc_order.get(id.0).copied().unwrap_or(u32::MAX)
    }

    /// Create a new element node (not yet attached to the tree).
    pub fn create_element(&mut self, name: QName<'a>) -> NodeId {
        self.alloc_node(
            NodeKind::Element(Element {
                name,
                attributes: Vec::new(),
                namespace_declarations: Vec::new(),
            }),
            0,
        )
    }

    /// Create a new text node (not yet attached to the tree).
    pub fn create_text(&mut self, text: impl Into<Cow<'a, str>>) -> NodeId {
        self.alloc_node(NodeKind::Text(text.into()), 0)
    }

    /// Create a new comment node (not yet attached to the tree).
    pub fn create_comment(&mut self, text: impl Into<Cow<'a, str>>) -> NodeId {
        self.alloc_node(NodeKind::Comment(text.into()), 0)
    }

    // ─── Tree access ───

    /// Get the kind of a node.
    pub fn node_kind(&self, id: NodeId) -> Option<&NodeKind<'a>> {
        self.nodes.get(id.0).map(|n| &n.kind)
    }

    /// Get a mutable reference to a node's kind.
    pub(crate) fn node_kind_mut(&mut self, id: NodeId) -> Option<&mut NodeKind<'a>> {
        // Conservatively invalidate: the caller may rename, re-kind, or edit the
        // attributes of the node through this `&mut` (also covers `element_mut`,
        // which delegates here).
        self.invalidate_xpath_caches();
        self.nodes.get_mut(id.0).map(|n| &mut n.kind)
    }

    /// Get the element data for an element node.
    pub fn element(&self, id: NodeId) -> Option<&Element<'a>> {
        match self.node_kind(id) {
            Some(NodeKind::Element(e)) => Some(e),
            _ => None,
        }
    }

    /// Get mutable element data for an element node.
    pub fn element_mut(&mut self, id: NodeId) -> Option<&mut Element<'a>> {
        match self.node_kind_mut(id) {
            Some(NodeKind::Element(e)) => Some(e),
            _ => None,
        }
    }

    /// Get the text content of a text or CDATA node.
    pub(crate) fn text_content(&self, id: NodeId) -> Option<&str> {
        match self.node_kind(id) {
            Some(NodeKind::Text(t)) => Some(t),
            Some(NodeKind::CData(t)) => Some(t),
            _ => None,
        }
    }

    /// Get the parent of a node.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(id.0).and_then(|n| n.parent)
    }

    /// Get the children of a node.
    pub fn children(&self, id: NodeId) -> Vec<NodeId> {
        let mut result = Vec::new();
        let mut current = self.nodes.get(id.0).and_then(|n| n.first_child);
        let mut steps = 0usize;
        while let Some(child_id) = current {
            if child_id.0 >= self.nodes.len() || steps >= self.nodes.len() {
                break;
            }
            result.push(child_id);
            current = self.nodes.get(child_id.0).and_then(|n| n.next_sibling);
            steps += 1;
        }
        result
    }

    /// Count the children of a node in O(children) time without allocating.
    pub(crate) fn children_count(&self, id: NodeId) -> usize {
        self.children_iter(id).count()
    }

    /// Return a zero-allocation iterator over the children of a node.
    ///
    /// This is more efficient than [`children()`](Self::children) when you
    /// don't need the results as a `Vec`.
    ///
    /// # Example
    ///
    /// ```
    /// let doc = uppsala::parse("<r><a/><b/><c/></r>").unwrap();
    /// let root = doc.document_element().unwrap();
    /// let names: Vec<&str> = doc.children_iter(root)
    ///     .filter_map(|id| doc.element(id))
    ///     .map(|e| e.name.local_name.as_ref())
    ///     .collect();
    /// assert_eq!(names, vec!["a", "b", "c"]);
    /// ```
    pub(crate) fn children_iter(&self, id: NodeId) -> ChildrenIter<'_, 'a> {
        ChildrenIter {
            doc: self,
            next_back: self.nodes.get(id.0).and_then(|n| n.last_child),
            next: self.nodes.get(id.0).and_then(|n| n.first_child),
        }
    }

    /// Get the source line of a node (computed lazily from byte position).
    pub(crate) fn node_line(&self, id: NodeId) -> usize {
        let byte_pos = match self.nodes.get(id.0) {
            Some(n) => n.byte_pos,
            None => return 0,
        };
        // BUDGET
        if !crate::budget::spend(byte_pos / 64) {
            return 0;
        }
        if self.input.is_empty() || byte_pos == 0 {
            return 1;
        }
        self.input.as_bytes()[..byte_pos]
            .iter()
            .filter(|&&b| b == b'\n')
            .count()
            + 1
    }

    /// Get the source column of a node (computed lazily from byte position).
    pub(crate) fn node_column(&self, id: NodeId) -> usize {
        let byte_pos = match self.nodes.get(id.0) {
            Some(n) => n.byte_pos,
            None => return 0,
        };
        // BUDGET
        if !crate::budget::spend(byte_pos / 64) {
            return 0;
        }
        if self.input.is_empty() || byte_pos == 0 {
            return 1;
        }
        let bytes = &self.input.as_bytes()[..byte_pos];
        match bytes.iter().rposition(|&b| b == b'\n') {
            Some(nl_pos) => byte_pos - nl_pos,
            None => byte_pos + 1,
        }
    }

    /// Returns the byte range of a node in the original source text.
    ///
    /// The range spans from the opening `<` of the element (or start of text/comment/PI)
    /// to the closing `>` of the end tag (or `/>` for self-closing elements).
    ///
    /// Returns `None` if the node was programmatically created (not parsed from source)
    /// or if the node ID is invalid.
    ///
    /// # Example
    /// ```
    /// let xml = r#"<root><child>text</child></root>"#;
    /// let doc = uppsala::parse(xml).unwrap();
    /// let root = doc.document_element().unwrap();
    /// let child_id = doc.children(root)[0];
    /// let range = doc.node_range(child_id).unwrap();
    /// assert_eq!(&xml[range], "<child>text</child>");
    /// ```
    pub fn node_range(&self, id: NodeId) -> Option<std::ops::Range<usize>> {
        let node = self.nodes.get(id.0)?;
        if node.byte_end_pos == 0 && id.0 != 0 {
            return None; // Programmatically created node
        }
        Some(node.byte_pos..node.byte_end_pos)
    }

    /// Collect all text content of this node and its descendants (depth-first).
    pub fn text_content_deep(&self, id: NodeId) -> String {
        let mut buf = String::new();
        self.collect_text(id, &mut buf);
        crate::budget::spend(buf.len() / 64); // BUDGET
        buf
    }

    fn collect_text(&self, id: NodeId, buf: &mut String) {
        match self.node_kind(id) {
            Some(NodeKind::Text(t)) => buf.push_str(t),
            Some(NodeKind::CData(t)) => buf.push_str(t),
            _ => {
                for child in self.children_iter(id) {
                    self.collect_text(child, buf);
                }
            }
        }
    }

    // ─── Tree mutation ───

    /// Append a child node to a parent. Detaches the child from any previous parent.
    ///
    /// The document root and virtual XPath attribute nodes are not part of the
    /// sibling-linked tree and cannot be appended; such calls are a no-op (as
    /// are self/ancestor cycles and invalid ids).
    pub fn append_child(&mut self, parent: NodeId, child: NodeId) {
        if !self.can_reparent(parent, child) {
            return;
        }
        // Detach from old parent first
        self.detach(child);
        self.append_child_unchecked(parent, child);
    }

    /// Append a freshly-allocated child node to a parent without detaching.
    /// The child must have no parent, no siblings. Used during parsing for speed.
    #[inline]
    pub(crate) fn append_child_unchecked(&mut self, parent: NodeId, child: NodeId) {
        self.invalidate_xpath_caches();
        debug_assert!(self.valid_node_id(parent));
        debug_assert!(self.valid_node_id(child));
        debug_assert!(!self.is_ancestor_of(child, parent));
        // Set new parent
        self.nodes[child.0].parent = Some(parent);
        // Link into parent's child list
        let last = self.nodes[parent.0].last_child;
        if let Some(last_id) = last {
            // Append after last child
            self.nodes[last_id.0].next_sibling = Some(child);
            self.nodes[child.0].prev_sibling = Some(last_id);
            self.nodes[parent.0].last_child = Some(child);
        } else {
            // First child
            self.nodes[parent.0].first_child = Some(child);
            self.nodes[parent.0].last_child = Some(child);
        }
    }

    /// Detach a node from its parent, removing it from the tree.
    ///
    /// The node remains in the arena and can be re-attached elsewhere with
    /// [`append_child`](Self::append_child), [`insert_before`](Self::insert_before),
    /// or [`insert_after`](Self::insert_after).
    ///
    /// Virtual XPath attribute nodes are not part of the sibling-linked tree;
    /// detaching one is a no-op (remove the attribute from its owner element
    /// instead).
    pub(crate) fn detach(&mut self, id: NodeId) {
        // A virtual attribute node has `parent = Some(owner)` but sits in no
        // child list; the unlink logic below would interpret its empty sibling
        // links as "only child" and wipe the owner's real child list. There is
        // nothing to detach for such nodes (see `is_linkable_node`).
        if !self.is_linkable_node(id) {
            return;
        }
        let (parent_id, prev, next) = match self.nodes.get(id.0) {
            Some(n) => (n.parent, n.prev_sibling, n.next_sibling),
            None => return,
        };
        if let Some(parent_id) = parent_id {
            // Only an attached node changes the tree shape; a parentless node is
            // a no-op and leaves the caches valid.
            self.invalidate_xpath_caches();
            // Update prev sibling or parent's first_child
            if let Some(prev_id) = prev {
                if let Some(p) = self.nodes.get_mut(prev_id.0) {
                    p.next_sibling = next;
                }
            } else if let Some(p) = self.nodes.get_mut(parent_id.0) {
                p.first_child = next;
            }
            // Update next sibling or parent's last_child
            if let Some(next_id) = next {
                if let Some(n) = self.nodes.get_mut(next_id.0) {
                    n.prev_sibling = prev;
                }
            } else if let Some(p) = self.nodes.get_mut(parent_id.0) {
                p.last_child = prev;
            }
            // Clear the detached node's links
            if let Some(node) = self.nodes.get_mut(id.0) {
                node.parent = None;
                node.prev_sibling = None;
                node.next_sibling = None;
            }
        }
    }

    fn valid_node_id(&self, id: NodeId) -> bool {
        id.0 < self.nodes.len()
    }

    /// True when `id` denotes a node that participates in the sibling-linked
    /// tree. The document root and virtual XPath attribute nodes do not: an
    /// attribute node carries `parent = Some(owner_element)` but is never in
    /// the owner's child list, so child-list surgery that trusts its (empty)
    /// sibling links would wipe the owner's real `first_child`/`last_child`.
    /// Every mutator that unlinks or splices around a node checks this first.
    fn is_linkable_node(&self, id: NodeId) -> bool {
        !matches!(
            self.node_kind(id),
            None | Some(NodeKind::Document) | Some(NodeKind::Attribute(_, _))
        )
    }

    fn can_reparent(&self, parent: NodeId, child: NodeId) -> bool {
        self.valid_node_id(parent)
            && self.valid_node_id(child)
            && parent != child
            && self.is_linkable_node(child)
            && !self.is_ancestor_of(child, parent)
    }

    fn is_ancestor_of(&self, maybe_ancestor: NodeId, node: NodeId) -> bool {
        let mut current = Some(node);
        let mut steps = 0usize;
        while let Some(id) = current {
            if id == maybe_ancestor {
                return true;
            }
            if steps >= self.nodes.len() {
                return true;
            }
            current = self.nodes.get(id.0).and_then(|n| n.parent);
            steps += 1;
        }
        false
    }

    // ─── Navigation helpers ───

    /// Get the first child of a node.
    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(id.0).and_then(|n| n.first_child)
    }

    /// Get the next sibling of a node.
    pub(crate) fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(id.0).and_then(|n| n.next_sibling)
    }

    /// Get the previous sibling of a node.
    pub(crate) fn previous_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.get(id.0).and_then(|n| n.prev_sibling)
    }

    /// Return all ancestor node ids from the node up to (but not including) the root.
    pub(crate) fn ancestors(&self, id: NodeId) -> Vec<NodeId> {
        let mut result = Vec::new();
        let mut current = self.parent(id);
        while let Some(pid) = current {
            result.push(pid);
            current = self.parent(pid);
        }
        result
    }

    /// Depth-first pre-order traversal of descendants (not including the node itself).
    pub fn descendants(&self, id: NodeId) -> Vec<NodeId> {
        let mut result = Vec::new();
        // Iterative pre-order walk using the zero-allocation child iterator:
        // the previous recursive `collect_descendants` allocated a `Vec` per
        // node (children()), which dominated wide-tree traversal cost.
        let mut stack = Vec::new();
        for child in self.children_iter(id).rev() {
            stack.push(child);
        }
        while let Some(current) = stack.pop() {
            result.push(current);
            for child in self.children_iter(current).rev() {
                stack.push(child);
            }
        }
        result
    }

    // ─── Serialization ───
}

impl<'a> Default for Document<'a> {
    fn default() -> Self {
        Self::new()
    }
}

// ─── Serialization options ───

// ─── Escaping and helpers ───

#[cfg(test)]
mod dom_tests {
    use super::*;
    use crate::parser::Parser;

    /// `prepare_xpath()` refreshes the document-order index after a mutation, so
    /// a node appended following an earlier `prepare_xpath()` gets a valid
    /// position once re-prepared (the cache is not a one-shot no-op).
    #[test]
    fn prepare_xpath_reindexes_after_mutation() {
        let mut doc = Parser::new().parse("<r><a/></r>").unwrap();
        doc.prepare_xpath();

        // Append a new element; before re-preparation it has no order entry
        // (the index Vec predates the node).
        let r = doc.first_child(doc.root).unwrap();
        let b = doc.create_element(QName::local("b"));
        doc.append_child(r, b);
        assert_eq!(doc.doc_order_at(b), u32::MAX, "new node not yet indexed");

        // Re-preparing must refresh the index so the new node is ordered.
        doc.prepare_xpath();
        assert_ne!(
            doc.doc_order_at(b),
            u32::MAX,
            "re-prepare did not reindex the appended node"
        );
    }

    /// Repeated mutate -> `prepare_xpath()` rounds must not grow the arena
    /// beyond the genuinely new nodes: the virtual attribute nodes of the
    /// previous generation are recycled through `attr_node_pool`, not
    /// orphaned. Without recycling, a mutate/query loop (pyFF's
    /// `set_entity_attributes` pattern) appends a full fresh attribute-node
    /// set per round and the arena grows quadratically until OOM.
    #[test]
    fn prepare_xpath_recycles_attribute_nodes() {
        let mut doc = Parser::new()
            .parse(r#"<r a="1" b="2"><c d="3"/></r>"#)
            .unwrap();
        doc.prepare_xpath();
        let baseline = doc.nodes.len();
        let r = doc.first_child(doc.root).unwrap();
        for i in 0..100 {
            // Each round: one real new element (arena +1), then re-prepare.
            // The three attribute nodes (a, b, d) must reuse their slots.
            let e = doc.create_element(QName::local("x"));
            doc.append_child(r, e);
            doc.prepare_xpath();
            assert_eq!(
                doc.nodes.len(),
                baseline + i + 1,
                "arena grew beyond the real nodes added (attribute nodes leaked)"
            );
        }
    }

    /// Without a mutation, a second `prepare_xpath()` is a no-op: it does not
    /// rebuild the caches (no extra virtual attribute nodes are allocated),
    /// preserving the build-once cost of the document-order index.
    #[test]
    fn prepare_xpath_is_idempotent_without_mutation() {
        let mut doc = Parser::new().parse(r#"<r x="1"><a y="2"/></r>"#).unwrap();
        doc.prepare_xpath();
        let nodes_after_first = doc.nodes.len();

        // No mutation in between -> the second call must short-circuit.
        doc.prepare_xpath();
        assert_eq!(
            doc.nodes.len(),
            nodes_after_first,
            "redundant prepare_xpath rebuilt the caches (allocated more attribute nodes)"
        );
    }
}
