//! Parses HTML documents to trees with the algorithm of browsers and jsoup.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};

use busyhour_limits::{Limit, count_exceeded};
use busyhour_slices::tick;

/// Maximum nesting depth of elements; the limit of browsers is 512.
pub(crate) const DEPTH_MAX: u32 = 1_000;
/// Maximum number of nodes in a page. This number of nodes takes about 400 MB.
const NODES_MAX: usize = 2_000_000;
/// Limit of steps for building a tree. A step is an open element, a sibling or an attribute that the parser may visit.
const STEPS_MAX: u64 = 100_000_000;
/// Size in bytes of the chunks in which the parser receives a page. The limits are checked after each chunk.
const CHUNK_BYTES: usize = 1_024;

/// Why a page cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PageLimit {
    #[error("the page nests elements deeper than {DEPTH_MAX}")]
    Depth,
    #[error("the page has more than {NODES_MAX} nodes")]
    Nodes,
    #[error("reading the page takes more than {STEPS_MAX} steps")]
    Steps,
}

/// Index of a node in its tree.
pub(crate) type Id = usize;

/// The document node.
pub(crate) const ROOT: Id = 0;

/// The kind and content of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// The document.
    Document,
    /// An element.
    Element {
        /// Name; in lower case for HTML elements.
        name: String,
        /// Names and values.
        attributes: Vec<(String, String)>,
    },
    /// Text.
    Text(String),
    /// A comment.
    Comment(String),
}

/// A node and its neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) parent: Option<Id>,
    pub(crate) children: Vec<Id>,
}

/// A document.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
}

impl Tree {
    /// The name of an element.
    pub(crate) fn name(&self, id: Id) -> Option<&str> {
        match &self.nodes[id].kind {
            NodeKind::Element { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The value of an attribute of an element. The name must be in lower case.
    pub(crate) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        self.attributes(id).iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    /// The attributes of an element.
    pub(crate) fn attributes(&self, id: Id) -> &[(String, String)] {
        match &self.nodes[id].kind {
            NodeKind::Element { attributes, .. } => attributes,
            _ => &[],
        }
    }

    /// The child elements.
    pub(crate) fn child_elements(&self, id: Id) -> impl DoubleEndedIterator<Item = Id> + '_ {
        self.nodes[id].children.iter().copied().filter(|child| self.name(*child).is_some())
    }

    /// The parent, if it is an element.
    pub(crate) fn parent_element(&self, id: Id) -> Option<Id> {
        self.nodes[id].parent.filter(|parent| self.name(*parent).is_some())
    }

    /// The maximum depth of a node in the tree.
    fn depth(&self) -> u32 {
        let mut deepest = 0;
        let mut stack = vec![(ROOT, 0)];
        while let Some((id, depth)) = stack.pop() {
            deepest = deepest.max(depth);
            stack.extend(self.nodes[id].children.iter().map(|child| (*child, depth + 1)));
        }
        deepest
    }

    /// The node and its descendants, in document order.
    pub(crate) fn with_descendants(&self, id: Id) -> Vec<Id> {
        let mut all = Vec::new();
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            all.push(id);
            stack.extend(self.nodes[id].children.iter().rev());
        }
        all
    }
}

/// Parses a document. Every text is a valid HTML document.
///
/// # Errors
/// The page exceeds the limit of nodes, depth or steps.
pub(crate) fn parse(text: &str) -> Result<Tree, PageLimit> {
    let parsed = parse_within(text, NODES_MAX, STEPS_MAX);
    if parsed.is_err() {
        count_exceeded(Limit::HtmlPage);
    }
    parsed
}

/// Like [`parse`], with the given limits of nodes and steps.
pub(super) fn parse_within(text: &str, nodes: usize, steps: u64) -> Result<Tree, PageLimit> {
    // The tokenizer compares each attribute of a tag with all previous ones, so count these steps before parsing.
    if attribute_steps(text) > steps {
        return Err(PageLimit::Steps);
    }
    let mut options = ParseOpts::default();
    options.tree_builder.scripting_enabled = false;
    let sink = Sink::default();
    let work = Rc::clone(&sink.work);
    let mut parser = parse_document(sink, options);
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = CHUNK_BYTES.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (chunk, after) = rest.split_at(end);
        rest = after;
        tick(chunk.len());
        parser.process(StrTendril::from_slice(chunk));
        work.check(nodes, steps)?;
    }
    let tree = parser.finish();
    work.check(nodes, steps)?;
    if tree.depth() > DEPTH_MAX { Err(PageLimit::Depth) } else { Ok(tree) }
}

/// Upper bound of the comparisons of attribute names. Text in scripts that looks like a tag counts too.
fn attribute_steps(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut steps = 0;
    let mut from = 0;
    while let Some(open) = memchr::memchr(b'<', &bytes[from..]) {
        let mut at = from + open + 1;
        if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            from = at;
            continue;
        }
        let (mut names, mut in_name) = (0_u64, true);
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'>' | b'<' => break,
                b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' => in_name = false,
                b'"' | b'\'' if bytes[at - 1] == b'=' => {
                    // A quote that is followed by `<` before it is closed may be part of a script, so it is not skipped.
                    let length = memchr::memchr2(byte, b'<', &bytes[at + 1..]).unwrap_or(0);
                    if bytes.get(at + 1 + length) == Some(&byte) {
                        at += length + 1;
                    }
                    in_name = false;
                }
                _ if !in_name => {
                    in_name = true;
                    steps += names;
                    names += 1;
                }
                _ => {}
            }
            at += 1;
        }
        from = at.min(bytes.len());
    }
    steps
}

/// The amount of work that parsing a page has taken so far.
#[derive(Default)]
struct Work {
    nodes: Cell<usize>,
    depth_max: Cell<u32>,
    steps: Cell<u64>,
}

impl Work {
    fn spend(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps as u64);
    }

    fn check(&self, nodes: usize, steps: u64) -> Result<(), PageLimit> {
        if self.depth_max.get() > DEPTH_MAX {
            Err(PageLimit::Depth)
        } else if self.nodes.get() > nodes {
            Err(PageLimit::Nodes)
        } else if self.steps.get() > steps {
            Err(PageLimit::Steps)
        } else {
            Ok(())
        }
    }
}

/// The parser's reference to a node. It contains the name, which the parser reads while the tree changes.
struct Handle {
    id: Id,
    name: QualName,
}

struct Sink {
    nodes: RefCell<Vec<Node>>,
    /// Depth of each node when it was inserted into the tree.
    depths: RefCell<Vec<u32>>,
    document: Rc<Handle>,
    work: Rc<Work>,
}

fn empty_name() -> QualName {
    QualName::new(None, html5ever::ns!(), html5ever::local_name!(""))
}

impl Default for Sink {
    fn default() -> Self {
        let document = Node { kind: NodeKind::Document, parent: None, children: Vec::new() };
        Self {
            nodes: RefCell::new(vec![document]),
            depths: RefCell::new(vec![0]),
            document: Rc::new(Handle { id: ROOT, name: empty_name() }),
            work: Rc::default(),
        }
    }
}

impl Sink {
    fn add(&self, kind: NodeKind, name: QualName) -> Rc<Handle> {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { kind, parent: None, children: Vec::new() });
        Rc::new(Handle { id: nodes.len() - 1, name })
    }

    /// Counts the work of inserting a node into `parent` before `following` siblings. The parser may visit all open elements.
    fn record_insertion(&self, id: Id, parent: Id, nodes: usize, following: usize) {
        let mut depths = self.depths.borrow_mut();
        depths.resize(nodes, 0);
        let depth = depths[parent] + 1;
        depths[id] = depth;
        self.work.nodes.set(nodes);
        self.work.depth_max.set(self.work.depth_max.get().max(depth));
        self.work.spend(depth as usize + following);
    }

    fn detach(&self, id: Id) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(parent) = nodes[id].parent.take() {
            self.work.spend(nodes[parent].children.len());
            nodes[parent].children.retain(|child| *child != id);
        }
    }

    /// Inserts a child at an index. Text is appended to a preceding text node.
    fn insert(&self, parent: Id, at: usize, child: NodeOrText<Rc<Handle>>) {
        let id = match child {
            NodeOrText::AppendNode(node) => {
                self.detach(node.id);
                node.id
            }
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let before = at.checked_sub(1).map(|at| nodes[parent].children[at]);
                if let Some(before) = before
                    && let NodeKind::Text(own) = &mut nodes[before].kind
                {
                    own.push_str(&text);
                    return;
                }
                nodes.push(Node {
                    kind: NodeKind::Text(text.to_string()),
                    parent: None,
                    children: Vec::new(),
                });
                nodes.len() - 1
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        nodes[id].parent = Some(parent);
        let at = at.min(nodes[parent].children.len());
        let following = nodes[parent].children.len() - at;
        self.record_insertion(id, parent, nodes.len(), following);
        nodes[parent].children.insert(at, id);
    }
}

fn attribute_pairs(attributes: Vec<Attribute>) -> Vec<(String, String)> {
    let name = |name: &QualName| match &name.prefix {
        Some(prefix) => format!("{prefix}:{}", name.local),
        None => name.local.to_string(),
    };
    attributes.into_iter().map(|attribute| (name(&attribute.name), attribute.value.to_string())).collect()
}

impl TreeSink for Sink {
    type Handle = Rc<Handle>;
    type Output = Tree;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Tree {
        Tree { nodes: self.nodes.into_inner() }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Handle> {
        Rc::clone(&self.document)
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Handle>) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Rc<Handle> {
        self.add(
            NodeKind::Element { name: name.local.to_string(), attributes: attribute_pairs(attributes) },
            name,
        )
    }

    fn create_comment(&self, text: StrTendril) -> Rc<Handle> {
        self.add(NodeKind::Comment(text.to_string()), empty_name())
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Rc<Handle> {
        self.add(NodeKind::Comment(format!("?{target} {data}")), empty_name())
    }

    fn append(&self, parent: &Rc<Handle>, child: NodeOrText<Rc<Handle>>) {
        if let NodeOrText::AppendNode(node) = &child {
            self.detach(node.id);
        }
        let end = self.nodes.borrow()[parent.id].children.len();
        self.insert(parent.id, end, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Rc<Handle>,
        previous: &Rc<Handle>,
        child: NodeOrText<Rc<Handle>>,
    ) {
        if self.nodes.borrow()[element.id].parent.is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Rc<Handle>) -> Rc<Handle> {
        Rc::clone(target)
    }

    fn same_node(&self, left: &Rc<Handle>, right: &Rc<Handle>) -> bool {
        left.id == right.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Rc<Handle>, child: NodeOrText<Rc<Handle>>) {
        if let NodeOrText::AppendNode(node) = &child {
            self.detach(node.id);
        }
        let position = {
            let nodes = self.nodes.borrow();
            nodes[sibling.id].parent.map(|parent| {
                let at = nodes[parent].children.iter().rposition(|child| *child == sibling.id);
                self.work.spend(nodes[parent].children.len() - at.unwrap_or(0));
                (parent, at.unwrap_or(nodes[parent].children.len()))
            })
        };
        if let Some((parent, at)) = position {
            self.insert(parent, at, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Rc<Handle>, attributes: Vec<Attribute>) {
        if let NodeKind::Element { attributes: own, .. } = &mut self.nodes.borrow_mut()[target.id].kind {
            for (name, value) in attribute_pairs(attributes) {
                self.work.spend(own.len());
                if own.iter().all(|(known, _)| *known != name) {
                    own.push((name, value));
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Rc<Handle>) {
        self.detach(target.id);
    }

    fn reparent_children(&self, node: &Rc<Handle>, parent: &Rc<Handle>) {
        let mut nodes = self.nodes.borrow_mut();
        let children = std::mem::take(&mut nodes[node.id].children);
        self.work.spend(children.len());
        for child in &children {
            nodes[*child].parent = Some(parent.id);
        }
        nodes[parent.id].children.extend(children);
    }
}
