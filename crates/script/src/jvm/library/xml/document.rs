//! The tree of an XML document, and its parser.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use busyhour_xml::ReadOptions;

use super::super::super::fault::{Fault, Outcome, thrown};
use super::super::super::machine::Machine;
use super::super::super::objects::Object;
use super::super::super::value::V;
use super::super::instance::Instance;

/// The name of an element or attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub prefix: String,
    pub local: String,
    pub namespace: String,
}

impl Name {
    /// The name as it is written in the document, with its prefix.
    pub fn written(&self) -> String {
        if self.prefix.is_empty() { self.local.clone() } else { format!("{}:{}", self.prefix, self.local) }
    }

    /// The name in the form `{namespace}local`; a name without a namespace is the local name alone.
    pub fn qualified(&self) -> String {
        if self.namespace.is_empty() {
            self.local.clone()
        } else {
            format!("{{{}}}{}", self.namespace, self.local)
        }
    }
}

#[derive(Debug, Clone)]
pub enum XmlChild {
    Element(usize),
    Text(String),
}

#[derive(Debug)]
pub struct XmlElement {
    pub name: Name,
    pub attributes: Vec<(Name, String)>,
    /// Prefixes and namespaces that the element declares.
    pub declared: Vec<(String, String)>,
    pub children: Vec<XmlChild>,
    pub parent: Option<usize>,
}

/// A document. Its first element is the root element.
#[derive(Debug)]
pub struct Document {
    pub elements: RefCell<Vec<XmlElement>>,
    pub has_namespaces: bool,
    /// Prefixes and namespaces that were declared with `declareNamespace`.
    pub prefixes: RefCell<Vec<(String, String)>>,
}

impl Document {
    /// The child elements of an element, in document order.
    pub fn child_elements(&self, element: usize) -> Vec<usize> {
        let elements = self.elements.borrow();
        let children = elements[element].children.iter();
        children
            .filter_map(|child| match child {
                XmlChild::Element(at) => Some(*at),
                XmlChild::Text(_) => None,
            })
            .collect()
    }

    pub fn write_text(&self, element: usize, out: &mut String) {
        for child in &self.elements.borrow()[element].children {
            match child {
                XmlChild::Element(at) => self.write_text(*at, out),
                XmlChild::Text(text) => out.push_str(text),
            }
        }
    }

    /// The text of an element and its descendants.
    pub fn text(&self, element: usize) -> String {
        let mut out = String::new();
        self.write_text(element, &mut out);
        out
    }

    /// The texts among the children of an element.
    pub fn own_texts(&self, element: usize) -> Vec<V> {
        let elements = self.elements.borrow();
        let texts = elements[element].children.iter().filter_map(|child| match child {
            XmlChild::Text(text) => Some(V::text(text)),
            XmlChild::Element(_) => None,
        });
        texts.collect()
    }

    /// An element and its descendants, parents before their children.
    pub fn depth_first(&self, from: usize) -> Vec<usize> {
        let mut all = vec![from];
        for child in self.child_elements(from) {
            all.extend(self.depth_first(child));
        }
        all
    }

    /// An element and its descendants, level by level.
    pub fn breadth_first(&self, from: usize) -> Vec<usize> {
        let mut all = vec![from];
        let mut at = 0;
        while at < all.len() {
            all.extend(self.child_elements(all[at]));
            at += 1;
        }
        all
    }

    /// Replaces the content of an element by a text.
    pub fn set_text(&self, element: usize, text: &str) {
        self.elements.borrow_mut()[element].children = vec![XmlChild::Text(text.to_owned())];
    }

    /// Sets an attribute without a namespace.
    pub fn set_attribute(&self, element: usize, name: &str, value: &str) {
        let mut elements = self.elements.borrow_mut();
        let attributes = &mut elements[element].attributes;
        match attributes.iter_mut().find(|(known, _)| known.written() == name) {
            Some((_, known)) => value.clone_into(known),
            None => {
                let name = Name { prefix: String::new(), local: name.to_owned(), namespace: String::new() };
                attributes.push((name, value.to_owned()));
            }
        }
    }
}

/// Parses a document as Groovy's parsers do: text of white space only is discarded, unless the parser keeps it.
pub fn read(machine: &mut Machine<'_>, text: &str, parser: &XmlParser) -> Result<Rc<Document>, Fault> {
    machine.spend(text.len() / 16)?;
    let reading = ReadOptions {
        namespaces: parser.has_namespaces.get(),
        no_doctype: !parser.allows_doctype.get(),
        sorted: false,
    };
    let parsed =
        busyhour_xml::read(text, reading).map_err(|error| thrown("SAXParseException", error.to_string()))?;
    let mut elements = Vec::new();
    if let Some(root) = parsed.tree.document_element() {
        let mut builder = TreeBuilder { parsed: &parsed.tree, parser, elements: &mut elements };
        builder.element(root, None);
    }
    Ok(Rc::new(Document {
        elements: RefCell::new(elements),
        has_namespaces: parser.has_namespaces.get(),
        prefixes: RefCell::default(),
    }))
}

/// Builds the elements of a document from the parsed XML.
pub struct TreeBuilder<'d, 'e> {
    pub parsed: &'d busyhour_xml::Tree<'d>,
    pub parser: &'d XmlParser,
    pub elements: &'e mut Vec<XmlElement>,
}

impl TreeBuilder<'_, '_> {
    fn element(&mut self, node: busyhour_xml::NodeId, parent: Option<usize>) -> usize {
        let parser = self.parser;
        let has_namespaces = parser.has_namespaces.get();
        let index = self.elements.len();
        let Some(found) = busyhour_xml::parts(self.parsed, node) else { return index };
        let name = |name: busyhour_xml::NameParts| match has_namespaces {
            true => Name { prefix: name.prefix, local: name.local, namespace: name.namespace },
            false => {
                let qualified = if name.prefix.is_empty() {
                    name.local
                } else {
                    format!("{}:{}", name.prefix, name.local)
                };
                Name { prefix: String::new(), local: qualified, namespace: String::new() }
            }
        };
        let mut attributes: Vec<(Name, String)> =
            found.attributes.into_iter().map(|(key, value)| (name(key), value)).collect();
        let mut declared = found.declared;
        if !has_namespaces {
            // If the parser ignores namespaces, their declarations are ordinary attributes.
            let declaration = |(prefix, namespace): (String, String)| {
                let local = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
                (Name { prefix: String::new(), local, namespace: String::new() }, namespace)
            };
            attributes.splice(0..0, std::mem::take(&mut declared).into_iter().map(declaration));
        }
        self.elements.push(XmlElement {
            name: name(found.name),
            attributes,
            declared,
            children: Vec::new(),
            parent,
        });
        let mut children = Vec::new();
        let mut text = String::new();
        let flush_text = |children: &mut Vec<XmlChild>, text: &mut String| {
            let taken = std::mem::take(text);
            if taken.is_empty() || (!parser.keeps_whitespace.get() && taken.trim().is_empty()) {
                return;
            }
            let taken = if parser.trims_text.get() { taken.trim().to_owned() } else { taken };
            children.push(XmlChild::Text(taken));
        };
        for child in self.parsed.children(node) {
            if busyhour_xml::is_element(self.parsed, child) {
                flush_text(&mut children, &mut text);
                children.push(XmlChild::Element(self.element(child, Some(index))));
            } else if let Some(more) = busyhour_xml::characters(self.parsed, child) {
                text.push_str(more);
            }
        }
        flush_text(&mut children, &mut text);
        self.elements[index].children = children;
        index
    }
}

/// An `XmlSlurper` or `XmlParser`, with its settings.
#[derive(Debug)]
pub struct XmlParser {
    pub class: &'static str,
    pub has_namespaces: Cell<bool>,
    pub allows_doctype: Cell<bool>,
    pub keeps_whitespace: Cell<bool>,
    pub trims_text: Cell<bool>,
}

pub fn new_object(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

/// Converts the text of an element to a number, with a method of Groovy's `String`; null for an empty text.
pub fn number(machine: &mut Machine<'_>, text: &str, method: &str) -> Outcome {
    if text.is_empty() {
        return Ok(V::NULL);
    }
    machine.invoke(&V::text(text), method, Vec::new())
}

/// Escapes text as Groovy's `XmlUtil.escapeXml` does.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c => out.push(c),
        }
    }
    out
}
