//! The class `XmlUtil`, which serializes documents.

use super::super::super::fault::{Outcome, unsupported};
use super::super::super::machine::Machine;
use super::super::super::value::V;
use super::super::instance::Instance;
use super::super::print;
use super::document::{Document, XmlChild, XmlParser, escape, read};

/// Implements `XmlUtil.serialize` and `XmlUtil.escapeXml`.
pub fn call(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("escapeXml", [text]) => {
            let text = print::groovy(machine, text)?;
            Ok(V::text(escape(&text)))
        }
        ("serialize", [V::Object(object)]) => match object.library().and_then(Instance::xml) {
            Some(text) => Ok(V::text(text)),
            None => Err(unsupported(format!("`XmlUtil.serialize` of a {}", object.class().name()))),
        },
        ("serialize", [text]) if text.as_text().is_some() => {
            let parser = XmlParser {
                class: "XmlSlurper",
                has_namespaces: true.into(),
                allows_doctype: false.into(),
                keeps_whitespace: false.into(),
                trims_text: false.into(),
            };
            let document = read(machine, text.as_text().unwrap_or_default(), &parser)?;
            Ok(V::text(serialize(&document, 0)))
        }
        _ => Err(unsupported(format!("`XmlUtil.{method}` with these arguments"))),
    }
}

/// Serializes an element as JMeter's Xalan does: indented, except after a text.
pub fn serialize(document: &Document, element: usize) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    write(document, element, 0, &mut out);
    out.push('\n');
    out
}

fn write(document: &Document, at: usize, level: usize, out: &mut String) {
    let elements = document.elements.borrow();
    let element = &elements[at];
    let name = element.name.written();
    out.push('<');
    out.push_str(&name);
    for (prefix, namespace) in &element.declared {
        let prefix = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        out.push_str(&format!(" {prefix}=\"{}\"", escape_attribute(namespace)));
    }
    for (name, value) in &element.attributes {
        out.push_str(&format!(" {}=\"{}\"", name.written(), escape_attribute(value)));
    }
    if element.children.is_empty() {
        out.push_str("/>");
        return;
    }
    out.push('>');
    let mut follows_text = false;
    for child in &element.children {
        match child {
            XmlChild::Text(text) => {
                write_content(text, out);
                follows_text = true;
            }
            XmlChild::Element(child) => {
                if !std::mem::take(&mut follows_text) {
                    out.push('\n');
                    out.extend(std::iter::repeat_n("   ", level + 1));
                }
                write(document, *child, level + 1, out);
            }
        }
    }
    if !follows_text {
        out.push('\n');
        out.extend(std::iter::repeat_n("   ", level));
    }
    out.push_str(&format!("</{name}>"));
}

fn write_content(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
}

fn escape_attribute(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("&#34;"),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("&#10;"),
            c => out.push(c),
        }
    }
    out
}
