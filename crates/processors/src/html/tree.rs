//! HTML documents as a tree, built by the algorithm that browsers (and jsoup) follow.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};

/// Place of a node in its tree.
pub(crate) type Id = usize;

/// The document itself.
pub(crate) const ROOT: Id = 0;

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The document.
    Document,
    /// An element.
    Element {
        /// Name, in lower case for HTML's own.
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
    pub(crate) kind: Kind,
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
            Kind::Element { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The attribute of an element; its name in lower case.
    pub(crate) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        self.attributes(id).iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    /// The attributes of an element.
    pub(crate) fn attributes(&self, id: Id) -> &[(String, String)] {
        match &self.nodes[id].kind {
            Kind::Element { attributes, .. } => attributes,
            _ => &[],
        }
    }

    /// The elements directly below.
    pub(crate) fn child_elements(&self, id: Id) -> impl DoubleEndedIterator<Item = Id> + '_ {
        self.nodes[id].children.iter().copied().filter(|child| self.name(*child).is_some())
    }

    /// The parent, if it is an element.
    pub(crate) fn parent_element(&self, id: Id) -> Option<Id> {
        self.nodes[id].parent.filter(|parent| self.name(*parent).is_some())
    }

    /// The node and all below it, in the document's order.
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

/// Reads a document; anything is one.
pub(crate) fn parse(text: &str) -> Tree {
    let mut options = ParseOpts::default();
    options.tree_builder.scripting_enabled = false;
    parse_document(Sink::default(), options).one(text)
}

/// A node as the parser holds it; its name stays readable while the tree changes.
struct Handle {
    id: Id,
    name: QualName,
}

struct Sink {
    nodes: RefCell<Vec<Node>>,
    document: Rc<Handle>,
}

fn no_name() -> QualName {
    QualName::new(None, html5ever::ns!(), html5ever::local_name!(""))
}

impl Default for Sink {
    fn default() -> Self {
        let document = Node { kind: Kind::Document, parent: None, children: Vec::new() };
        Self { nodes: RefCell::new(vec![document]), document: Rc::new(Handle { id: ROOT, name: no_name() }) }
    }
}

impl Sink {
    fn add(&self, kind: Kind, name: QualName) -> Rc<Handle> {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { kind, parent: None, children: Vec::new() });
        Rc::new(Handle { id: nodes.len() - 1, name })
    }

    fn detach(&self, id: Id) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(parent) = nodes[id].parent.take() {
            nodes[parent].children.retain(|child| *child != id);
        }
    }

    /// Puts a child at a place among the parent's, or text to the text before that place.
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
                    && let Kind::Text(own) = &mut nodes[before].kind
                {
                    own.push_str(&text);
                    return;
                }
                nodes.push(Node { kind: Kind::Text(text.to_string()), parent: None, children: Vec::new() });
                nodes.len() - 1
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        nodes[id].parent = Some(parent);
        let at = at.min(nodes[parent].children.len());
        nodes[parent].children.insert(at, id);
    }
}

fn pairs(attributes: Vec<Attribute>) -> Vec<(String, String)> {
    let name = |name: &QualName| match &name.prefix {
        Some(prefix) => format!("{prefix}:{}", name.local),
        None => name.local.to_string(),
    };
    attributes.into_iter().map(|own| (name(&own.name), own.value.to_string())).collect()
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
        self.add(Kind::Element { name: name.local.to_string(), attributes: pairs(attributes) }, name)
    }

    fn create_comment(&self, text: StrTendril) -> Rc<Handle> {
        self.add(Kind::Comment(text.to_string()), no_name())
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Rc<Handle> {
        self.add(Kind::Comment(format!("?{target} {data}")), no_name())
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

    fn same_node(&self, one: &Rc<Handle>, other: &Rc<Handle>) -> bool {
        one.id == other.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Rc<Handle>, child: NodeOrText<Rc<Handle>>) {
        if let NodeOrText::AppendNode(node) = &child {
            self.detach(node.id);
        }
        let place = {
            let nodes = self.nodes.borrow();
            nodes[sibling.id].parent.map(|parent| {
                let at = nodes[parent].children.iter().position(|child| *child == sibling.id);
                (parent, at.unwrap_or(nodes[parent].children.len()))
            })
        };
        if let Some((parent, at)) = place {
            self.insert(parent, at, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Rc<Handle>, attributes: Vec<Attribute>) {
        if let Kind::Element { attributes: own, .. } = &mut self.nodes.borrow_mut()[target.id].kind {
            for (name, value) in pairs(attributes) {
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
        for child in &children {
            nodes[*child].parent = Some(parent.id);
        }
        nodes[parent.id].children.extend(children);
    }
}
