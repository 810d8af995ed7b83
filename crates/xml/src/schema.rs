//! XML Schema: whether a document is as a schema says, and what Xerces says of one that is not.
//!
//! The verdict is the library's. Of Xerces's words those are here that need no more than the mistake itself; where they
//! would also name what else was possible, the library's stand in their place, behind the same line and column.

use std::path::Path;

use busyhour_slices::away;
use uppsala::{Document, NodeId, ValidationError, XsdValidator};

use crate::{Reading, complaint, is_element};

/// A schema that was read.
pub struct Schema {
    validator: XsdValidator,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

impl Schema {
    /// Reads a schema that stands in a file of the folder `base`: others that it includes or imports are looked for there.
    ///
    /// # Errors
    /// When it, or one that it includes, is no schema.
    pub fn read(text: &str, base: &Path) -> Result<Self, String> {
        let document = uppsala::parse(text).map_err(|error| error.to_string())?;
        let root = document.document_element().and_then(|root| document.element(root));
        let is_schema = root.is_some_and(|root| {
            root.name.local_name == "schema"
                && root.name.namespace_uri.as_deref() == Some("http://www.w3.org/2001/XMLSchema")
        });
        if !is_schema {
            return Err("its root is no <schema> of XML Schema".to_owned());
        }
        let validator = XsdValidator::from_schema_with_base_path(&document, Some(base))
            .map_err(|error| error.to_string())?;
        Ok(Self { validator })
    }

    /// Looks at a document.
    ///
    /// # Errors
    /// What JMeter's XML Schema Assertion says of the first mistake.
    pub fn check(&self, text: &str) -> Result<(), String> {
        away(text.len(), || self.check_at_once(text))
    }

    fn check_at_once(&self, text: &str) -> Result<(), String> {
        let document = match uppsala::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let words = complaint(text, Reading { namespaces: true, ..Reading::default() });
                return Err(format!("fatal: {}", words.unwrap_or_else(|| error.to_string())));
            }
        };
        let errors = self.validator.validate(&document);
        let told = errors.iter().map(|error| Told::of(&document, text, error));
        match told.min_by_key(|told| told.at) {
            None => Ok(()),
            Some(Told { at, words }) => {
                let (line, column) = place(text, at);
                Err(format!("error: line={line} col={column} {words}"))
            }
        }
    }
}

/// A mistake where Xerces notices it.
struct Told {
    /// Byte behind what it has read by then.
    at: usize,
    words: String,
}

impl Told {
    fn of(document: &Document<'_>, text: &str, error: &ValidationError) -> Self {
        let node = element_at(document, error);
        let range = node.and_then(|node| document.node_range(node)).unwrap_or(0..text.len());
        let tag_end = range.start + tag_length(&text[range.clone()]);
        let element = node.and_then(|node| document.element(node));
        let name = element.map(|element| element.name.prefixed_name().into_owned()).unwrap_or_default();
        let message = error.message.as_str();
        let quoted = message.split('\'').nth(1).unwrap_or_default();
        let at_start = |words: String| Self { at: tag_end, words };
        if message.starts_with("No element declaration found") {
            return at_start(format!("cvc-elt.1.a: Cannot find the declaration of element '{name}'."));
        }
        if message.starts_with("Required attribute") {
            return at_start(format!(
                "cvc-complex-type.4: Attribute '{quoted}' must appear on element '{name}'."
            ));
        }
        if message.starts_with("Attribute ") && message.contains("is not allowed (") {
            return at_start(format!(
                "cvc-complex-type.3.2.2: Attribute '{quoted}' is not allowed to appear in element '{name}'."
            ));
        }
        // What is wrong with a value is noticed with the attribute that has it, or at the element's end.
        let in_attribute = element.is_some_and(|element| {
            !element.attributes.is_empty()
                && element.attributes.iter().any(|attribute| *attribute.value == *quoted)
        });
        let is_unexpected = message.starts_with("Unexpected element")
            || message.contains("does not match any choice alternative")
            || message.starts_with("Duplicate element");
        let at = if is_unexpected || in_attribute { tag_end } else { range.end };
        if let Some((_, kind)) = message.split_once("' is not a valid ") {
            let kind = primitive(kind);
            let words = format!("cvc-datatype-valid.1.2.1: '{quoted}' is not a valid value for '{kind}'.");
            return Self { at, words };
        }
        if message.contains("simple type but contains child elements")
            || message.contains("simple type '") && message.contains("contains child elements")
        {
            let words = format!(
                "cvc-type.3.1.2: Element '{name}' is a simple type, so it must have no element information item [children]."
            );
            return Self { at, words };
        }
        if message.starts_with("Non-whitespace text content") {
            let words = format!(
                "cvc-complex-type.2.3: Element '{name}' cannot have character [children], because the type's content type \
                 is element-only."
            );
            return Self { at, words };
        }
        if message.starts_with("Element should have empty content") {
            let words = format!(
                "cvc-complex-type.2.1: Element '{name}' must have no character or element information item [children], \
                 because the type's content type is empty."
            );
            return Self { at, words };
        }
        Self { at, words: message.to_owned() }
    }
}

/// Xerces reads whole numbers of all kinds as `integer` before it looks at their range.
fn primitive(kind: &str) -> &str {
    const WHOLE: [&str; 12] = [
        "int",
        "long",
        "short",
        "byte",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
    ];
    if WHOLE.contains(&kind) { "integer" } else { kind }
}

/// The element of which a mistake tells line and column.
fn element_at(document: &Document<'_>, error: &ValidationError) -> Option<NodeId> {
    let root = document.document_element()?;
    let is_there = |node: &NodeId| {
        Some(document.node_line(*node)) == error.line && Some(document.node_column(*node)) == error.column
    };
    let found = std::iter::once(root).chain(document.descendants(root)).find(is_there)?;
    // Of text its element is meant.
    if is_element(document, found) { Some(found) } else { document.parent(found) }
}

/// Length of the start tag with which a text begins.
fn tag_length(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None if byte == b'>' => return at + 1,
            None => {}
        }
    }
    text.len()
}

/// Line and column of a byte, both from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].encode_utf16().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document in each line, and what Xerces 2.12.2 says of it.
    const RECORDED: &str = include_str!("recorded/schema.tsv");
    const SHOP: &str = include_str!("recorded/shop.xsd");

    /// The kinds of mistakes that are told in Xerces's words.
    const WORDS: [&str; 7] = [
        "cvc-elt.1.a",
        "cvc-complex-type.4",
        "cvc-complex-type.3.2.2",
        "cvc-datatype-valid.1.2.1",
        "cvc-type.3.1.2",
        "cvc-complex-type.2.3",
        "cvc-complex-type.2.1",
    ];

    #[test]
    fn verdicts_are_those_of_xerces_and_so_are_the_words_that_are_known() {
        let schema = Schema::read(SHOP, Path::new(".")).unwrap();
        let mut wrong = Vec::new();
        for line in RECORDED.lines() {
            let (document, theirs) = line.split_once('\t').unwrap();
            let ours = schema.check(document).err().unwrap_or_else(|| "ok".to_owned());
            let (kind, their_kind) = (ours.split(' ').next(), theirs.split(' ').next());
            let known = WORDS.iter().any(|word| theirs.contains(&format!("{word}:")));
            if kind != their_kind || (known && ours != theirs) {
                wrong.push(format!("{document}\n   theirs {theirs}\n   ours   {ours}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        let refused = |text: &str| Schema::read(text, Path::new(".")).unwrap_err();
        assert_eq!(refused("<shop/>"), "its root is no <schema> of XML Schema");
        assert!(!refused("<schema").is_empty());
    }

    #[test]
    fn places_count_characters() {
        assert_eq!(place("a\nbé>", 5), (2, 3));
        assert_eq!(tag_length("<a b='>' c=\">\">x"), 15);
    }
}
