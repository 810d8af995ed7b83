//! XML documents: `XmlSlurper`, `XmlParser` and `XmlUtil`.
//!
//! Both parsers build the same tree; `path` presents it as the results of `XmlSlurper`, `node` as the nodes of `XmlParser`.

mod document;
mod node;
mod path;
mod write;

use std::cell::Cell;

use self::document::{XmlParser, new_object, read};
use super::super::classes::Class;
use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{files, text_of, unknown};
use crate::Value;

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "XmlSlurper",
        statics: "",
        constructor_arguments: Some((0, 3)),
        methods: "parseText parse setFeature setKeepIgnorableWhitespace",
        call_static: no_static_method,
        construct: |_, arguments| XmlParser::construct("XmlSlurper", arguments),
    },
    LibraryClass {
        class: "XmlParser",
        statics: "",
        constructor_arguments: Some((0, 3)),
        methods: "parseText parse setFeature setKeepIgnorableWhitespace setTrimWhitespace setNamespaceAware",
        call_static: no_static_method,
        construct: |_, arguments| XmlParser::construct("XmlParser", arguments),
    },
    LibraryClass {
        class: "NodeChildren",
        statics: "",
        constructor_arguments: None,
        methods: path::METHODS,
        call_static: no_static_method,
        construct: no_constructor,
    },
    LibraryClass {
        class: "Node",
        statics: "",
        constructor_arguments: None,
        methods: node::METHODS,
        call_static: no_static_method,
        construct: no_constructor,
    },
    LibraryClass {
        class: "QName",
        statics: "",
        constructor_arguments: None,
        methods: "getLocalPart getNamespaceURI getPrefix getQualifiedName",
        call_static: no_static_method,
        construct: no_constructor,
    },
    LibraryClass {
        class: "XmlUtil",
        statics: "serialize escapeXml",
        constructor_arguments: None,
        methods: "",
        call_static: write::call,
        construct: no_constructor,
    },
];

impl XmlParser {
    /// Implements the constructor `new XmlSlurper(validating, namespaceAware, allowDocTypeDeclaration)`.
    fn construct(class: &'static str, arguments: &[V]) -> Outcome {
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
            return Err(unsupported(format!("a validating `{class}`")));
        }
        Ok(new_object(XmlParser {
            class,
            has_namespaces: flags[1].into(),
            allows_doctype: flags[2].into(),
            keeps_whitespace: false.into(),
            trims_text: false.into(),
        }))
    }

    fn parse(&self, machine: &mut Machine<'_>, text: &str) -> Outcome {
        let document = read(machine, text, self)?;
        Ok(if self.class == "XmlParser" { node::node(&document, 0) } else { path::root(&document) })
    }
}

impl Instance for XmlParser {
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
                self.parse(machine, &text)
            }
            ("parse", [V::Object(source)]) => match &**source {
                Object::File(path) => {
                    let bytes = files::bytes(path)?;
                    self.parse(machine, &busyhour_xml::decode(&bytes))
                }
                Object::Reader(..) => {
                    let text = machine.invoke(&arguments[0], "getText", Vec::new())?;
                    let text = text_of(machine, &text)?;
                    self.parse(machine, &text)
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
            ("setKeepIgnorableWhitespace", [V::Plain(Value::Boolean(on))]) => {
                flag(&self.keeps_whitespace, *on)
            }
            ("setTrimWhitespace", [V::Plain(Value::Boolean(on))]) if self.class == "XmlParser" => {
                flag(&self.trims_text, *on)
            }
            ("setNamespaceAware", [V::Plain(Value::Boolean(on))]) if self.class == "XmlParser" => {
                flag(&self.has_namespaces, *on)
            }
            _ => Err(unknown(object, method)),
        }
    }
}
