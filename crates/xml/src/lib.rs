//! XML documents parsed as by Java's parser in JMeter, XPath 1.0 evaluated as by Xalan, and XML Schema.

mod defaults;
mod document;
mod error;
mod query;
mod schema;
mod well_formedness;
mod write;

use std::borrow::Cow;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_slices::run_on_other_thread;
use uppsala::{Document, NodeKind, Parser, ParserLimit, QName};

use document::elements;
pub use document::{ReadOptions, XmlDocument, is_element};
pub use error::XmlError;
pub use query::{XPathResult, evaluate, expression_error};
pub use schema::Schema;
use well_formedness::xerces_message;
pub use write::{write_item, write_node};

/// Namespace of prefixed names in documents that are parsed without namespaces. `local-name()` works for these
/// names, but no XPath name test matches them.
const NO_NAMESPACE: &str = "\u{1}";

/// Maximum depth of nested elements.
const DEPTH_MAX: u32 = 500;

/// Decodes a document by its byte order mark or the encoding in its XML declaration.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, length)) = encoding_rs::Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0;
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let label = head
        .strip_prefix("<?xml")
        .and_then(|rest| rest.split_once("?>"))
        .and_then(|(declaration, _)| declaration.split_once("encoding"))
        .and_then(|(_, rest)| {
            let value = rest.trim_start().strip_prefix('=')?.trim_start();
            let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            value[1..].split_once(quote).map(|(label, _)| label)
        });
    match label.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes())) {
        Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
        None => String::from_utf8_lossy(bytes),
    }
}

/// Parses a document.
///
/// # Errors
/// The document is not well-formed (the error is the message of Java's parser) or exceeds a limit.
pub fn read(text: &str, options: ReadOptions) -> Result<XmlDocument<'_>, XmlError> {
    let document = run_on_other_thread(text.len(), || parse_document(text, options));
    // Counted here, because `run_on_other_thread` may run the closure on another thread, which has its own counts.
    match &document {
        Err(XmlError::TooDeep(_)) => count_exceeded(Limit::XmlDepth),
        Err(XmlError::TooManyAttributes(_)) => count_exceeded(Limit::XmlAttributes),
        Err(_) | Ok(_) => {}
    }
    document
}

fn parse_document(text: &str, options: ReadOptions) -> Result<XmlDocument<'_>, XmlError> {
    let parser = Parser::with_namespace_aware(options.namespaces)
        .with_forbid_dtd(options.no_doctype)
        .with_max_depth(DEPTH_MAX);
    let mut tree = parser.parse(text).map_err(|error| {
        if let uppsala::XmlError::Limit(error) = error {
            return match error.limit {
                ParserLimit::Depth => XmlError::TooDeep(DEPTH_MAX),
                ParserLimit::Attributes | ParserLimit::NamespaceBytes => {
                    XmlError::TooManyAttributes(error.message)
                }
            };
        }
        let message = xerces_message(text, options).unwrap_or_else(|| without_position(&error.to_string()));
        XmlError::NotWellFormed { message, source: Some(Box::new(error)) }
    })?;
    defaults::add(&mut tree, text).map_err(XmlError::TooManyAttributes)?;
    if !options.namespaces {
        split_prefixed_names(&mut tree);
    }
    if options.sorted {
        sort_attributes(&mut tree);
    }
    // A parser without namespaces ignores namespace declarations.
    let declared =
        match tree.document_element().filter(|_| options.namespaces).and_then(|root| tree.element(root)) {
            Some(root) => {
                let text =
                    |(prefix, uri): &(Cow<'_, str>, Cow<'_, str>)| (prefix.to_string(), uri.to_string());
                root.namespace_declarations.iter().map(text).collect()
            }
            None => Vec::new(),
        };
    tree.prepare_xpath();
    Ok(XmlDocument { tree, declared })
}

/// The message of the XML library without line and column, as in JMeter's messages.
fn without_position(message: &str) -> String {
    match message.split_once(" at ").and_then(|(_, rest)| rest.split_once(": ")) {
        Some((_, description)) => description.to_owned(),
        None => message.to_owned(),
    }
}

fn sort_attributes(tree: &mut Document<'_>) {
    for id in elements(tree) {
        let needs_sorting = |element: &uppsala::Element<'_>| {
            element.attributes.len() > 1 || element.namespace_declarations.len() > 1
        };
        if tree.element(id).is_some_and(needs_sorting)
            && let Some(element) = tree.element_mut(id)
        {
            element.namespace_declarations.sort();
            element
                .attributes
                .sort_by(|left, right| left.name.prefixed_name().cmp(&right.name.prefixed_name()));
        }
    }
}

/// Splits the prefixed names of a tree that was parsed without namespaces. Also moves `xmlns` attributes to the
/// declarations, because XPath never treats declarations as attributes.
fn split_prefixed_names(tree: &mut Document<'_>) {
    for id in elements(tree) {
        let needs_change = tree.element(id).is_some_and(|element| {
            element.name.local_name.contains(':')
                || element.attributes.iter().any(|attribute| {
                    attribute.name.local_name.contains(':') || attribute.name.local_name.starts_with("xmlns")
                })
        });
        if !needs_change {
            continue;
        }
        let Some(element) = tree.element_mut(id) else { continue };
        split_name(&mut element.name);
        let mut declarations = Vec::new();
        element.attributes.retain(|attribute| {
            let name = attribute.name.prefixed_name();
            let prefix = if name == "xmlns" { Some("") } else { name.strip_prefix("xmlns:") };
            if let Some(prefix) = prefix {
                declarations.push((Cow::Owned(prefix.to_owned()), attribute.value.clone()));
            }
            prefix.is_none()
        });
        element.namespace_declarations.extend(declarations);
        for attribute in &mut element.attributes {
            split_name(&mut attribute.name);
        }
    }
}

fn split_name(name: &mut QName<'_>) {
    if let Some((prefix, local)) = name.local_name.split_once(':') {
        *name = QName {
            namespace_uri: Some(Cow::Borrowed(NO_NAMESPACE)),
            prefix: Some(Cow::Owned(prefix.to_owned())),
            local_name: Cow::Owned(local.to_owned()),
        };
    }
}

/// The text that JMeter uses for a node: for an element the value of its first child (`None` if that child is an
/// element), for other nodes their own value.
pub fn first_value<'d>(tree: &'d Document<'_>, node: NodeId) -> Option<&'d str> {
    let own_value = |id: NodeId| match tree.node_kind(id)? {
        NodeKind::Text(text) | NodeKind::CData(text) | NodeKind::Comment(text) => Some(text.as_ref()),
        NodeKind::ProcessingInstruction(instruction) => Some(instruction.data.as_deref().unwrap_or("")),
        NodeKind::Attribute(_, value) => Some(value.as_ref()),
        NodeKind::Element(_) | NodeKind::Document => None,
    };
    match tree.node_kind(node)? {
        NodeKind::Element(_) => tree.first_child(node).and_then(own_value),
        _ => own_value(node),
    }
}

/// All text within a node.
pub fn string_value(tree: &Document<'_>, node: NodeId) -> String {
    match tree.node_kind(node) {
        Some(NodeKind::Element(_) | NodeKind::Document) => tree.text_content_deep(node),
        _ => first_value(tree, node).unwrap_or_default().to_owned(),
    }
}

/// The tree of a document.
pub type Tree<'t> = Document<'t>;

/// A node of a [`Tree`].
pub use uppsala::NodeId;

/// The parts of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameParts {
    /// Prefix; may be empty.
    pub prefix: String,
    /// Name without its prefix.
    pub local: String,
    /// Namespace URI; may be empty.
    pub namespace: String,
}

/// The contents of an element's start tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementParts {
    /// Name of the element.
    pub name: NameParts,
    /// Attributes with their values, without namespace declarations.
    pub attributes: Vec<(NameParts, String)>,
    /// Prefixes (empty for the default) and namespaces that the element declares.
    pub declared: Vec<(String, String)>,
}

fn name_parts(name: &QName<'_>) -> NameParts {
    let text = |part: &Option<Cow<'_, str>>| part.as_deref().unwrap_or_default().to_owned();
    NameParts {
        prefix: text(&name.prefix),
        local: name.local_name.to_string(),
        namespace: text(&name.namespace_uri),
    }
}

/// The contents of the start tag of an element; `None` for other nodes.
pub fn parts(tree: &Tree<'_>, node: NodeId) -> Option<ElementParts> {
    let element = tree.element(node)?;
    let attributes = element.attributes.iter();
    let declared = element.namespace_declarations.iter();
    Some(ElementParts {
        name: name_parts(&element.name),
        attributes: attributes
            .map(|attribute| (name_parts(&attribute.name), attribute.value.to_string()))
            .collect(),
        declared: declared.map(|(prefix, uri)| (prefix.to_string(), uri.to_string())).collect(),
    })
}

/// The characters of a text or CDATA section; `None` for other nodes.
pub fn characters<'d>(tree: &'d Tree<'_>, node: NodeId) -> Option<&'d str> {
    match tree.node_kind(node)? {
        NodeKind::Text(text) | NodeKind::CData(text) => Some(text.as_ref()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
