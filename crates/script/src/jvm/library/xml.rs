//! XML documents: `XmlSlurper`, `XmlParser` and `XmlUtil`.
//!
//! Both parsers make the same tree; `path` shows it as the results of `XmlSlurper`, `node` as the nodes of `XmlParser`.

mod node;
mod path;
mod write;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use busyhour_xml::Reading;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, Offer, no_static, not_made};
use super::{files, text_of, unknown};
use crate::Value;

/// The classes of this file.
pub const OFFERS: &[Offer] = &[
    Offer {
        class: "XmlSlurper",
        statics: "",
        made: Some((0, 3)),
        methods: "parseText parse setFeature setKeepIgnorableWhitespace",
        call: no_static,
        make: |_, arguments| Parser::make("XmlSlurper", arguments),
    },
    Offer {
        class: "XmlParser",
        statics: "",
        made: Some((0, 3)),
        methods: "parseText parse setFeature setKeepIgnorableWhitespace setTrimWhitespace setNamespaceAware",
        call: no_static,
        make: |_, arguments| Parser::make("XmlParser", arguments),
    },
    Offer {
        class: "NodeChildren",
        statics: "",
        made: None,
        methods: path::METHODS,
        call: no_static,
        make: not_made,
    },
    Offer { class: "Node", statics: "", made: None, methods: node::METHODS, call: no_static, make: not_made },
    Offer {
        class: "QName",
        statics: "",
        made: None,
        methods: "getLocalPart getNamespaceURI getPrefix getQualifiedName",
        call: no_static,
        make: not_made,
    },
    Offer {
        class: "XmlUtil",
        statics: "serialize escapeXml",
        made: None,
        methods: "",
        call: write::call,
        make: not_made,
    },
];

/// The name of an element or attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    prefix: String,
    local: String,
    namespace: String,
}

impl Name {
    /// The name as the document writes it.
    fn written(&self) -> String {
        if self.prefix.is_empty() { self.local.clone() } else { format!("{}:{}", self.prefix, self.local) }
    }

    /// `{namespace}local`, or the local name alone without a namespace.
    fn qualified(&self) -> String {
        if self.namespace.is_empty() {
            self.local.clone()
        } else {
            format!("{{{}}}{}", self.namespace, self.local)
        }
    }
}

#[derive(Debug, Clone)]
enum Child {
    Element(usize),
    Text(String),
}

#[derive(Debug)]
struct Element {
    name: Name,
    attributes: Vec<(Name, String)>,
    /// Prefixes and namespaces that the element declares.
    declared: Vec<(String, String)>,
    children: Vec<Child>,
    parent: Option<usize>,
}

/// A document; its root element is the first one.
#[derive(Debug)]
struct Document {
    elements: RefCell<Vec<Element>>,
    has_namespaces: bool,
    /// Prefixes that `declareNamespace` has made known.
    prefixes: RefCell<Vec<(String, String)>>,
}

impl Document {
    /// The elements inside one, in their order.
    fn child_elements(&self, of: usize) -> Vec<usize> {
        let elements = self.elements.borrow();
        let children = elements[of].children.iter();
        children
            .filter_map(|child| match child {
                Child::Element(at) => Some(*at),
                Child::Text(_) => None,
            })
            .collect()
    }

    fn write_text(&self, of: usize, out: &mut String) {
        for child in &self.elements.borrow()[of].children {
            match child {
                Child::Element(at) => self.write_text(*at, out),
                Child::Text(text) => out.push_str(text),
            }
        }
    }

    /// All text of an element and of those inside it.
    fn text(&self, of: usize) -> String {
        let mut out = String::new();
        self.write_text(of, &mut out);
        out
    }

    /// The pieces of text directly inside an element.
    fn own_texts(&self, of: usize) -> Vec<V> {
        let elements = self.elements.borrow();
        let texts = elements[of].children.iter().filter_map(|child| match child {
            Child::Text(text) => Some(V::text(text)),
            Child::Element(_) => None,
        });
        texts.collect()
    }

    /// An element and those inside it, each before its children.
    fn depth_first(&self, from: usize) -> Vec<usize> {
        let mut all = vec![from];
        for child in self.child_elements(from) {
            all.extend(self.depth_first(child));
        }
        all
    }

    /// The same level by level.
    fn breadth_first(&self, from: usize) -> Vec<usize> {
        let mut all = vec![from];
        let mut at = 0;
        while at < all.len() {
            all.extend(self.child_elements(all[at]));
            at += 1;
        }
        all
    }

    /// Replaces what is inside an element by a text.
    fn set_text(&self, of: usize, text: &str) {
        self.elements.borrow_mut()[of].children = vec![Child::Text(text.to_owned())];
    }

    /// Sets an attribute without a namespace.
    fn set_attribute(&self, of: usize, name: &str, value: &str) {
        let mut elements = self.elements.borrow_mut();
        let attributes = &mut elements[of].attributes;
        match attributes.iter_mut().find(|(known, _)| known.written() == name) {
            Some((_, known)) => value.clone_into(known),
            None => {
                let name = Name { prefix: String::new(), local: name.to_owned(), namespace: String::new() };
                attributes.push((name, value.to_owned()));
            }
        }
    }
}

/// Reads a document as the parsers do: texts of white space alone are left out.
fn read(machine: &mut Machine<'_>, text: &str, parser: &Parser) -> Result<Rc<Document>, Fault> {
    machine.spend(text.len() / 16)?;
    let reading = Reading {
        namespaces: parser.has_namespaces.get(),
        no_doctype: !parser.allows_doctype.get(),
        sorted: false,
    };
    let parsed = busyhour_xml::read(text, reading).map_err(|message| thrown("SAXParseException", message))?;
    let mut elements = Vec::new();
    if let Some(root) = parsed.tree.document_element() {
        let mut reader = Reader { parsed: &parsed.tree, parser, elements: &mut elements };
        reader.element(root, None);
    }
    Ok(Rc::new(Document {
        elements: RefCell::new(elements),
        has_namespaces: parser.has_namespaces.get(),
        prefixes: RefCell::default(),
    }))
}

struct Reader<'d, 'e> {
    parsed: &'d busyhour_xml::Tree<'d>,
    parser: &'d Parser,
    elements: &'e mut Vec<Element>,
}

impl Reader<'_, '_> {
    fn element(&mut self, node: busyhour_xml::NodeId, parent: Option<usize>) -> usize {
        let parser = self.parser;
        let has_namespaces = parser.has_namespaces.get();
        let place = self.elements.len();
        let Some(found) = busyhour_xml::parts(self.parsed, node) else { return place };
        let name = |name: busyhour_xml::NameParts| match has_namespaces {
            true => Name { prefix: name.prefix, local: name.local, namespace: name.namespace },
            false => {
                let written = if name.prefix.is_empty() {
                    name.local
                } else {
                    format!("{}:{}", name.prefix, name.local)
                };
                Name { prefix: String::new(), local: written, namespace: String::new() }
            }
        };
        let mut attributes: Vec<(Name, String)> =
            found.attributes.into_iter().map(|(key, value)| (name(key), value)).collect();
        let mut declared = found.declared;
        if !has_namespaces {
            // Declarations are attributes like others.
            let of = |(prefix, namespace): (String, String)| {
                let local = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
                (Name { prefix: String::new(), local, namespace: String::new() }, namespace)
            };
            attributes.splice(0..0, std::mem::take(&mut declared).into_iter().map(of));
        }
        self.elements.push(Element {
            name: name(found.name),
            attributes,
            declared,
            children: Vec::new(),
            parent,
        });
        let mut children = Vec::new();
        let mut text = String::new();
        let take = |children: &mut Vec<Child>, text: &mut String| {
            let taken = std::mem::take(text);
            if taken.is_empty() || (!parser.keeps_blank.get() && taken.trim().is_empty()) {
                return;
            }
            let taken = if parser.trims.get() { taken.trim().to_owned() } else { taken };
            children.push(Child::Text(taken));
        };
        for child in self.parsed.children(node) {
            if busyhour_xml::is_element(self.parsed, child) {
                take(&mut children, &mut text);
                children.push(Child::Element(self.element(child, Some(place))));
            } else if let Some(more) = busyhour_xml::characters(self.parsed, child) {
                text.push_str(more);
            }
        }
        take(&mut children, &mut text);
        self.elements[place].children = children;
        place
    }
}

/// `XmlSlurper` and `XmlParser`.
#[derive(Debug)]
struct Parser {
    class: &'static str,
    has_namespaces: Cell<bool>,
    allows_doctype: Cell<bool>,
    keeps_blank: Cell<bool>,
    trims: Cell<bool>,
}

impl Parser {
    /// `new XmlSlurper(validating, namespaceAware, allowDocTypeDeclaration)`
    fn make(class: &'static str, arguments: &[V]) -> Outcome {
        let wrong = || unsupported(format!("`new {class}` with these arguments"));
        let mut flags = [false, true, false];
        if arguments.len() == 1 {
            return Err(wrong());
        }
        for (flag, argument) in flags.iter_mut().zip(arguments) {
            let V::Plain(Value::Boolean(given)) = argument else { return Err(wrong()) };
            *flag = *given;
        }
        if flags[0] {
            return Err(unsupported(format!("`new {class}` that validates")));
        }
        Ok(library(Parser {
            class,
            has_namespaces: flags[1].into(),
            allows_doctype: flags[2].into(),
            keeps_blank: false.into(),
            trims: false.into(),
        }))
    }

    fn parsed(&self, machine: &mut Machine<'_>, text: &str) -> Outcome {
        let document = read(machine, text, self)?;
        Ok(if self.class == "XmlParser" { node::of(&document, 0) } else { path::root(&document) })
    }
}

fn library(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

impl Instance for Parser {
    fn class(&self) -> Class {
        Class::known(self.class)
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let flag = |flag: &Cell<bool>, on: bool| {
            flag.set(on);
            Ok(V::NULL)
        };
        match (method, arguments) {
            ("parseText", [V::Plain(Value::Null)]) => {
                Err(thrown("NullPointerException", "Cannot invoke \"String.length()\" because \"s\" is null"))
            }
            ("parseText", [text]) => {
                let text = text_of(machine, text)?;
                self.parsed(machine, &text)
            }
            ("parse", [V::Object(source)]) => match &**source {
                Object::File(path) => {
                    let bytes = files::bytes(path)?;
                    self.parsed(machine, &busyhour_xml::decode(&bytes))
                }
                Object::Reader(..) => {
                    let text = super::call(machine, &arguments[0], "getText", Vec::new())?;
                    let text = text_of(machine, &text)?;
                    self.parsed(machine, &text)
                }
                _ => Err(unknown(object, method)),
            },
            ("setFeature", [name, V::Plain(Value::Boolean(on))]) => {
                match name.as_text() {
                    Some("http://apache.org/xml/features/disallow-doctype-decl") => {
                        self.allows_doctype.set(!on);
                    }
                    // External entities and DTDs are never loaded.
                    Some(name)
                        if !on && (name.contains("external") || name.contains("load-external-dtd")) => {}
                    Some("http://xml.org/sax/features/namespaces") => self.has_namespaces.set(*on),
                    _ => return Err(unsupported("this feature of an XML parser")),
                }
                Ok(V::NULL)
            }
            ("setKeepIgnorableWhitespace", [V::Plain(Value::Boolean(on))]) => flag(&self.keeps_blank, *on),
            ("setTrimWhitespace", [V::Plain(Value::Boolean(on))]) if self.class == "XmlParser" => {
                flag(&self.trims, *on)
            }
            ("setNamespaceAware", [V::Plain(Value::Boolean(on))]) if self.class == "XmlParser" => {
                flag(&self.has_namespaces, *on)
            }
            _ => Err(unknown(object, method)),
        }
    }
}

/// A number that Groovy reads from the text of an element.
fn number(machine: &mut Machine<'_>, text: &str, method: &str) -> Outcome {
    if text.is_empty() {
        return Ok(V::NULL);
    }
    super::call(machine, &V::text(text), method, Vec::new())
}

/// `escapeXml` of Groovy.
fn escaped(text: &str) -> String {
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
