//! Serializes nodes in the formats of Xalan and of JMeter's XPath 2 library.

use uppsala::{Document, Element, NodeId, NodeKind};

use super::XmlDocument;

/// Serializes a node as the XPath 2 library does. Elements are indented except next to text, an attribute is written as
/// `name="value"`, and text is escaped.
pub fn write_item(document: &XmlDocument<'_>, node: NodeId) -> String {
    let mut writer = IndentedWriter { tree: &document.tree, out: String::new(), last: LastWritten::Nothing };
    writer.write(node, 0);
    writer.out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LastWritten {
    Nothing,
    StartTag,
    EndTag,
    Text,
}

struct IndentedWriter<'d> {
    tree: &'d Document<'d>,
    out: String,
    last: LastWritten,
}

impl IndentedWriter<'_> {
    fn new_line(&mut self, level: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("   ", level));
    }

    fn write(&mut self, node: NodeId, level: usize) {
        let tree = self.tree;
        let is_space =
            |id: NodeId| matches!(tree.node_kind(id), Some(NodeKind::Text(text)) if text.trim().is_empty());
        match tree.node_kind(node) {
            Some(NodeKind::Document) => {
                for child in tree.children(node) {
                    self.write(child, level);
                }
            }
            Some(NodeKind::Element(element)) => {
                if matches!(self.last, LastWritten::StartTag | LastWritten::EndTag) {
                    self.new_line(level);
                }
                write_start_tag(element, &mut self.out);
                if tree.first_child(node).is_none() {
                    self.out.push_str("/>");
                    self.last = LastWritten::EndTag;
                    return;
                }
                self.out.push('>');
                self.last = LastWritten::StartTag;
                let children = tree.children(node);
                // The indentation replaces white space between elements.
                let is_only_child = children.len() == 1;
                for child in children {
                    if is_only_child || !is_space(child) {
                        self.write(child, level + 1);
                    }
                }
                if self.last == LastWritten::EndTag {
                    self.new_line(level);
                }
                self.out.extend(["</", &element.name.prefixed_name(), ">"]);
                self.last = LastWritten::EndTag;
            }
            _ => {
                write_node(tree, node, &mut self.out);
                self.last = LastWritten::Text;
            }
        }
    }
}

/// Appends a node and its descendants, in the format of Xalan's serializer.
pub fn write_node(tree: &Document<'_>, node: NodeId, out: &mut String) {
    match tree.node_kind(node) {
        Some(NodeKind::Document) => write_children(tree, node, out),
        Some(NodeKind::Element(element)) => {
            write_start_tag(element, out);
            if tree.first_child(node).is_none() {
                out.push_str("/>");
                return;
            }
            out.push('>');
            write_children(tree, node, out);
            out.extend(["</", &element.name.prefixed_name(), ">"]);
        }
        Some(NodeKind::Text(text) | NodeKind::CData(text)) => escape(text, false, out),
        Some(NodeKind::Comment(text)) => out.extend(["<!--", text, "-->"]),
        Some(NodeKind::ProcessingInstruction(instruction)) => {
            out.extend(["<?", &instruction.target]);
            if let Some(data) = &instruction.data {
                out.extend([" ", data]);
            }
            out.push_str("?>");
        }
        Some(NodeKind::Attribute(name, value)) => {
            let mut attribute = String::new();
            write_attribute(&name.prefixed_name(), value, &mut attribute);
            out.push_str(attribute.trim_start());
        }
        None => {}
    }
}

fn write_start_tag(element: &Element<'_>, out: &mut String) {
    out.extend(["<", &element.name.prefixed_name()]);
    for (prefix, uri) in &element.namespace_declarations {
        let attribute = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        write_attribute(&attribute, uri, out);
    }
    for attribute in &element.attributes {
        write_attribute(&attribute.name.prefixed_name(), &attribute.value, out);
    }
}

fn write_children(tree: &Document<'_>, node: NodeId, out: &mut String) {
    for child in tree.children(node) {
        write_node(tree, child, out);
    }
}

fn write_attribute(name: &str, value: &str, out: &mut String) {
    out.extend([" ", name, "=\""]);
    escape(value, true, out);
    out.push('"');
}

fn escape(text: &str, attribute: bool, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if attribute => out.push_str("&quot;"),
            '\n' if attribute => out.push_str("&#10;"),
            '\t' if attribute => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            other => out.push(other),
        }
    }
}
