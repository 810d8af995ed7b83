//! The results of `XmlParser`: nodes and lists of nodes.

use std::rc::Rc;

use super::super::super::classes::Class;
use super::super::super::fault::{Fault, Outcome};
use super::super::super::machine::Machine;
use super::super::super::value::V;
use super::super::instance::Instance;
use super::super::{print, unknown};
use super::document::{Document, Name, XmlChild, XmlElement, new_object, number};
use super::write::serialize;

/// Methods of nodes and of lists of nodes.
pub const METHODS: &str = "text name attributes attribute children value parent localText depthFirst breadthFirst \
    get iterator toInteger toLong toDouble toFloat toBigDecimal toBigInteger setValue appendNode append remove size \
    each getAt";

/// A node.
#[derive(Debug)]
struct Node {
    document: Rc<Document>,
    element: usize,
}

/// The node of an element.
pub fn node(document: &Rc<Document>, element: usize) -> V {
    new_object(Node { document: document.clone(), element })
}

/// A list of nodes and texts. A property of the list combines the properties of its nodes.
#[derive(Debug)]
struct NodeList(Vec<V>);

fn node_list(items: Vec<V>) -> V {
    new_object(NodeList(items))
}

/// The name of a node with a namespace.
#[derive(Debug)]
struct QName(Name);

fn name_of(name: &Name) -> V {
    if name.namespace.is_empty() { V::text(name.written()) } else { new_object(QName(name.clone())) }
}

/// Whether the property `wanted` of a node selects elements with this name.
fn matches(name: &Name, wanted: &str) -> bool {
    if wanted == "*" || name.namespace.is_empty() {
        return wanted == "*" || name.written() == wanted;
    }
    match wanted.rsplit_once(':') {
        Some((space, local)) => local == name.local && (space == name.prefix || space == name.namespace),
        None => false,
    }
}

/// The text of nodes and texts, as `NodeList.text` returns it.
fn joined_text(items: &[V]) -> String {
    let mut out = String::new();
    for item in items {
        match item {
            V::Object(object) => {
                out.push_str(&object.library().and_then(Instance::own_text).unwrap_or_default())
            }
            other => out.push_str(other.as_text().unwrap_or_default()),
        }
    }
    out
}

impl Node {
    fn child(&self, child: &XmlChild) -> V {
        match child {
            XmlChild::Element(at) => node(&self.document, *at),
            XmlChild::Text(text) => V::text(text),
        }
    }

    fn all_children(&self) -> Vec<V> {
        let children = self.document.elements.borrow()[self.element].children.clone();
        children.iter().map(|child| self.child(child)).collect()
    }

    fn children_named(&self, name: &str) -> Vec<V> {
        let children = self.document.child_elements(self.element).into_iter();
        let elements = self.document.elements.borrow();
        let fits = children.filter(|at| matches(&elements[*at].name, name));
        fits.map(|at| node(&self.document, at)).collect()
    }

    fn attribute(&self, name: &str) -> V {
        let elements = self.document.elements.borrow();
        let mut attributes = elements[self.element].attributes.iter();
        let found = attributes.find(|(known, _)| known.namespace.is_empty() && known.written() == name);
        V::text_or_null(found.map(|(_, value)| value.clone()))
    }

    fn member(&self, name: &str) -> V {
        match name {
            ".." => self.parent(),
            "**" => node_list(self.depth_first()),
            _ => match name.strip_prefix('@') {
                Some(attribute) => self.attribute(attribute),
                None => node_list(self.children_named(name)),
            },
        }
    }

    fn parent(&self) -> V {
        let parent = self.document.elements.borrow()[self.element].parent;
        parent.map_or(V::NULL, |parent| node(&self.document, parent))
    }

    /// The node and its descendants, parents before their children. Text that is the only child of its node is omitted, except
    /// in the root.
    fn depth_first(&self) -> Vec<V> {
        let mut all = vec![node(&self.document, self.element)];
        let descendants = self.descendants();
        if !matches!(descendants.as_slice(), [V::Plain(_)]) || self.element == 0 {
            all.extend(descendants);
        }
        all
    }

    fn descendants(&self) -> Vec<V> {
        let children = self.document.elements.borrow()[self.element].children.clone();
        let mut all = Vec::new();
        for child in &children {
            all.push(self.child(child));
            if let XmlChild::Element(at) = child {
                let below = Node { document: self.document.clone(), element: *at }.descendants();
                if !matches!(below.as_slice(), [V::Plain(_)]) {
                    all.extend(below);
                }
            }
        }
        all
    }

    /// The node and its descendants, level by level. Text that is the only child of a descendant is omitted.
    fn breadth_first(&self) -> Vec<V> {
        let mut all = vec![node(&self.document, self.element)];
        let mut level = self.document.elements.borrow()[self.element].children.clone();
        while !level.is_empty() {
            let mut next = Vec::new();
            for child in &level {
                all.push(self.child(child));
                if let XmlChild::Element(at) = child {
                    let below = &self.document.elements.borrow()[*at].children;
                    if !matches!(below.as_slice(), [XmlChild::Text(_)]) {
                        next.extend(below.iter().cloned());
                    }
                }
            }
            level = next;
        }
        all
    }

    /// Writes the node as its `toString` does: `a[attributes={k=v}; value=[…]]`.
    fn written(&self, out: &mut String) {
        let elements = self.document.elements.borrow();
        let own = &elements[self.element];
        out.push_str(&own.name.qualified());
        out.push_str("[attributes={");
        for (at, (name, value)) in own.attributes.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            out.push_str(&format!("{}={value}", name.qualified()));
        }
        out.push_str("}; value=[");
        for (at, child) in own.children.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            match child {
                XmlChild::Text(text) => out.push_str(text),
                XmlChild::Element(at) => Node { document: self.document.clone(), element: *at }.written(out),
            }
        }
        out.push_str("]]");
    }

    /// Implements `appendNode(name, attributes, value)`.
    fn append(
        &self,
        machine: &mut Machine<'_>,
        name: &V,
        attributes: Option<&V>,
        value: Option<&V>,
    ) -> Outcome {
        let local = print::groovy(machine, name)?;
        let name = Name { prefix: String::new(), local, namespace: String::new() };
        let mut given = Vec::new();
        if let Some(V::Map(map)) = attributes {
            for (key, value) in map.ordered() {
                let local = print::groovy(machine, &key)?;
                let key = Name { prefix: String::new(), local, namespace: String::new() };
                given.push((key, print::groovy(machine, &value)?));
            }
        }
        let children = match value {
            Some(value) if !value.is_null() => vec![XmlChild::Text(print::groovy(machine, value)?)],
            _ => Vec::new(),
        };
        let mut elements = self.document.elements.borrow_mut();
        let place = elements.len();
        elements.push(XmlElement {
            name,
            attributes: given,
            declared: Vec::new(),
            children,
            parent: Some(self.element),
        });
        elements[self.element].children.push(XmlChild::Element(place));
        Ok(node(&self.document, place))
    }
}

impl Instance for Node {
    fn class(&self) -> Class {
        Class::known("Node")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("text", []) => Ok(V::text(self.document.text(self.element))),
            ("name", []) => Ok(name_of(&self.document.elements.borrow()[self.element].name)),
            ("attributes", []) => {
                let elements = self.document.elements.borrow();
                let all = elements[self.element].attributes.iter();
                Ok(V::map(all.map(|(name, value)| (name_of(name), V::text(value))).collect()))
            }
            ("attribute", [name]) => {
                let name = print::groovy(machine, name)?;
                Ok(self.attribute(&name))
            }
            ("children" | "value", []) => Ok(node_list(self.all_children())),
            ("iterator", []) => machine.dispatch(&V::list(self.all_children()), "iterator", &[]),
            ("parent", []) => Ok(self.parent()),
            ("localText", []) => Ok(V::list(self.document.own_texts(self.element))),
            ("depthFirst", []) => Ok(node_list(self.depth_first())),
            ("breadthFirst", []) => Ok(node_list(self.breadth_first())),
            ("get" | "getAt", [name]) if name.as_text().is_some() => {
                Ok(self.member(name.as_text().unwrap_or_default()))
            }
            ("toInteger" | "toLong" | "toDouble" | "toFloat" | "toBigDecimal" | "toBigInteger", []) => {
                number(machine, &self.document.text(self.element), method)
            }
            ("setValue", [value]) => {
                let text = print::groovy(machine, value)?;
                self.document.set_text(self.element, &text);
                Ok(V::NULL)
            }
            ("appendNode", [name]) => self.append(machine, name, None, None),
            ("appendNode", [name, attributes @ V::Map(_)]) => {
                self.append(machine, name, Some(attributes), None)
            }
            ("appendNode", [name, value]) => self.append(machine, name, None, Some(value)),
            ("appendNode", [name, attributes, value]) => {
                self.append(machine, name, Some(attributes), Some(value))
            }
            ("remove", [V::Object(child)]) => {
                let child = child.library().and_then(|instance| instance.place_in(&self.document_key()));
                let mut elements = self.document.elements.borrow_mut();
                let children = &mut elements[self.element].children;
                let before = children.len();
                children.retain(
                    |known| !matches!((known, child), (XmlChild::Element(at), Some(child)) if *at == child),
                );
                Ok(V::truth(children.len() < before))
            }
            ("each" | "find" | "findAll" | "collect" | "any" | "every" | "eachWithIndex", _) => {
                let items = V::list(self.all_children());
                let value = machine.dispatch(&items, method, arguments)?;
                Ok(if method.starts_with("each") { object.clone() } else { value })
            }
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        let mut out = String::new();
        self.written(&mut out);
        Ok(out)
    }

    fn own_text(&self) -> Option<String> {
        Some(self.document.text(self.element))
    }

    fn items(&self) -> Option<Vec<V>> {
        Some(self.all_children())
    }

    fn is_equal(&self, other: &V) -> bool {
        let V::Object(other) = other else { return false };
        other.library().and_then(|instance| instance.place_in(&self.document_key())) == Some(self.element)
    }

    fn xml(&self) -> Option<String> {
        Some(serialize(&self.document, self.element))
    }

    fn place_in(&self, document: &usize) -> Option<usize> {
        (self.document_key() == *document).then_some(self.element)
    }

    fn property(&self, _: &mut Machine<'_>, name: &str) -> Option<Outcome> {
        Some(Ok(self.member(name)))
    }

    fn set_property(&self, machine: &mut Machine<'_>, name: &str, value: &V) -> Option<Outcome> {
        let text = match print::groovy(machine, value) {
            Ok(text) => text,
            Err(fault) => return Some(Err(fault)),
        };
        match name.strip_prefix('@') {
            Some(attribute) => self.document.set_attribute(self.element, attribute, &text),
            None if name == "value" => self.document.set_text(self.element, &text),
            None => return None,
        }
        Some(Ok(value.clone()))
    }

    fn index(&self, _: &mut Machine<'_>, index: &V) -> Option<Outcome> {
        index.as_text().map(|name| Ok(self.member(name)))
    }
}

impl Node {
    /// A number that identifies the node's document.
    fn document_key(&self) -> usize {
        Rc::as_ptr(&self.document) as usize
    }
}

impl NodeList {
    fn member(&self, machine: &mut Machine<'_>, name: &str) -> Outcome {
        let mut all = Vec::new();
        for item in &self.0 {
            let V::Object(object) = item else { continue };
            let Some(found) = object.library().and_then(|instance| instance.property(machine, name)) else {
                continue;
            };
            match found? {
                V::Object(list) if list.class().name() == "NodeList" => {
                    all.extend(list.library().and_then(Instance::items).unwrap_or_default());
                }
                value => all.push(value),
            }
        }
        Ok(if name.starts_with('@') { V::list(all) } else { node_list(all) })
    }
}

impl Instance for NodeList {
    fn class(&self) -> Class {
        Class::known("NodeList")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("text", []) => Ok(V::text(joined_text(&self.0))),
            ("getAt", [name]) if name.as_text().is_some() => {
                self.member(machine, name.as_text().unwrap_or_default())
            }
            ("name" | "attribute" | "attributes" | "children" | "value" | "parent" | "depthFirst", _) => {
                Err(super::super::super::missing::exception(machine, object, method, arguments))
            }
            _ => {
                let value = machine.dispatch(&V::list(self.0.clone()), method, arguments)?;
                Ok(if method.starts_with("each") { object.clone() } else { value })
            }
        }
    }

    fn text(&self, machine: &mut Machine<'_>) -> Result<String, Fault> {
        print::java(machine, &V::list(self.0.clone()))
    }

    fn own_text(&self) -> Option<String> {
        Some(joined_text(&self.0))
    }

    fn items(&self) -> Option<Vec<V>> {
        Some(self.0.clone())
    }

    fn is_true(&self) -> bool {
        !self.0.is_empty()
    }

    fn property(&self, machine: &mut Machine<'_>, name: &str) -> Option<Outcome> {
        Some(self.member(machine, name))
    }

    fn index(&self, machine: &mut Machine<'_>, index: &V) -> Option<Outcome> {
        if let Some(name) = index.as_text() {
            return Some(self.member(machine, name));
        }
        Some(machine.item(&V::list(self.0.clone()), index))
    }
}

impl Instance for QName {
    fn class(&self) -> Class {
        Class::known("QName")
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("getLocalPart", []) => Ok(V::text(&self.0.local)),
            ("getNamespaceURI", []) => Ok(V::text(&self.0.namespace)),
            ("getPrefix", []) => Ok(V::text(&self.0.prefix)),
            ("getQualifiedName", []) => Ok(V::text(self.0.written())),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.0.qualified())
    }

    fn own_text(&self) -> Option<String> {
        Some(self.0.qualified())
    }

    fn is_equal(&self, other: &V) -> bool {
        match other {
            V::Object(object) => {
                object.class().name() == "QName"
                    && object.library().and_then(Instance::own_text).as_deref() == Some(&self.0.qualified())
            }
            other => other.as_text().is_some_and(|text| {
                text.rsplit_once(':').is_some_and(|(space, local)| {
                    local == self.0.local && (space == self.0.prefix || space == self.0.namespace)
                })
            }),
        }
    }
}
