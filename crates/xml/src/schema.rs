//! Validates documents against an XML Schema, with the messages of Xerces.
//!
//! The XML library decides whether a document is valid. If the Xerces message for an error depends only on the error itself,
//! that message is produced. For other errors, such as those whose message lists the expected elements, the library's message
//! follows the line and column that Xerces reports.

use std::collections::HashMap;
use std::path::Path;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_slices::run_on_other_thread;
use uppsala::parser::DEFAULT_MAX_DEPTH;
use uppsala::{Document, ErrorKind, NodeId, ParserLimit, ValidationError, XsdValidator, budget};

use crate::document::{ReadOptions, is_element};
use crate::error::XmlError;
use crate::well_formedness::xerces_message;

/// Maximum number of steps for compiling a schema, and for validating a document. An element counts as ten steps; a comparison
/// with a part of the schema counts as one, and so do 64 bytes of text.
const STEPS_MAX: u64 = 20_000_000;

/// Number of errors of a document among which the one with the smallest offset is selected.
const ERRORS_MAX: usize = 100_000;

/// Runs `work` with a budget of steps.
///
/// # Errors
/// The budget is exhausted.
fn within_budget<T>(work: impl FnOnce() -> T) -> Result<T, XmlError> {
    budget::set(STEPS_MAX);
    let result = work();
    let is_used_up = budget::is_used_up();
    budget::set(u64::MAX);
    if is_used_up {
        count_exceeded(Limit::SchemaSteps);
        return Err(XmlError::SchemaSteps(STEPS_MAX));
    }
    Ok(result)
}

/// A compiled schema.
pub struct Schema {
    validator: XsdValidator,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

impl Schema {
    /// Compiles the text of a schema file. Included and imported schemas are searched for in `base`, the folder of the file.
    ///
    /// # Errors
    /// The text, or a schema that it includes, is not a valid schema.
    pub fn read(text: &str, base: &Path) -> Result<Self, XmlError> {
        let document = uppsala::parse(text).map_err(|error| XmlError::Schema(Box::new(error)))?;
        let root = document.document_element().and_then(|root| document.element(root));
        let is_schema = root.is_some_and(|root| {
            root.name.local_name == "schema"
                && root.name.namespace_uri.as_deref() == Some("http://www.w3.org/2001/XMLSchema")
        });
        if !is_schema {
            return Err(XmlError::NotASchema);
        }
        let validator = within_budget(|| XsdValidator::from_schema_with_base_path(&document, Some(base)))?
            .map_err(|error| XmlError::Schema(Box::new(error)))?;
        Ok(Self { validator })
    }

    /// Validates a document.
    ///
    /// # Errors
    /// The message of JMeter's XML Schema Assertion for the first error.
    pub fn check(&self, text: &str) -> Result<(), XmlError> {
        // `run_on_other_thread` may run the closure on another thread, and each thread has its own counts of exceeded limits.
        let (outcome, counts) =
            run_on_other_thread(text.len(), || (self.validate(text), busyhour_limits::take_counts()));
        busyhour_limits::add(&counts);
        outcome
    }

    fn validate(&self, text: &str) -> Result<(), XmlError> {
        let document = match uppsala::parse(text) {
            Ok(document) => document,
            Err(uppsala::XmlError::Limit(error)) if error.limit == ParserLimit::Depth => {
                count_exceeded(Limit::XmlDepth);
                return Err(XmlError::NotValidated(Box::new(XmlError::TooDeep(DEFAULT_MAX_DEPTH))));
            }
            Err(error) => {
                let message =
                    xerces_message(text, ReadOptions { namespaces: true, ..ReadOptions::default() });
                let message = message.unwrap_or_else(|| error.to_string());
                let error = XmlError::NotWellFormed { message, source: Some(Box::new(error)) };
                return Err(XmlError::NotValidated(Box::new(error)));
            }
        };
        let errors = within_budget(|| self.validator.validate(&document))
            .map_err(|exceeded| XmlError::NotValidated(Box::new(exceeded)))?;
        if errors.is_empty() {
            return Ok(());
        }
        let locator = ElementLocator::new(&document, text);
        let reported =
            errors.iter().take(ERRORS_MAX).map(|error| SchemaError::from_validation(&locator, error));
        match reported.min_by_key(|error| error.offset) {
            None => Ok(()),
            Some(SchemaError { offset, message }) => {
                let (line, column) = line_and_column(text, offset);
                Err(XmlError::Invalid { line, column, message })
            }
        }
    }
}

/// An error at the position where Xerces reports it.
struct SchemaError {
    /// Offset of the first byte that Xerces has not read when it reports the error.
    offset: usize,
    message: String,
}

impl SchemaError {
    fn from_validation(locator: &ElementLocator<'_, '_>, error: &ValidationError) -> Self {
        let ElementLocator { document, text, .. } = locator;
        let node = locator.find_element(error);
        let range = node.and_then(|node| document.node_range(node)).unwrap_or(0..text.len());
        let tag_end = range.start + tag_length(&text[range.clone()]);
        let element = node.and_then(|node| document.element(node));
        let name = element.map(|element| element.name.prefixed_name().into_owned()).unwrap_or_default();
        // Xerces reports errors of attributes and unexpected elements after the start tag, and others after the end of the
        // element.
        let end = if error.is_in_attribute { tag_end } else { range.end };
        let (offset, message) = match &error.kind {
            ErrorKind::UndeclaredElement => {
                (tag_end, format!("cvc-elt.1.a: Cannot find the declaration of element '{name}'."))
            }
            ErrorKind::MissingAttribute { attribute } => (
                tag_end,
                format!("cvc-complex-type.4: Attribute '{attribute}' must appear on element '{name}'."),
            ),
            ErrorKind::UnexpectedAttribute { attribute } => (
                tag_end,
                format!(
                    "cvc-complex-type.3.2.2: Attribute '{attribute}' is not allowed to appear in element '{name}'."
                ),
            ),
            ErrorKind::InvalidValue { value, datatype } => {
                let datatype = lexical_type(datatype);
                let message =
                    format!("cvc-datatype-valid.1.2.1: '{value}' is not a valid value for '{datatype}'.");
                (end, message)
            }
            ErrorKind::ChildrenInSimpleType => (
                end,
                format!(
                    "cvc-type.3.1.2: Element '{name}' is a simple type, so it must have no element information item \
                     [children]."
                ),
            ),
            ErrorKind::TextInElementOnly => (
                end,
                format!(
                    "cvc-complex-type.2.3: Element '{name}' cannot have character [children], because the type's content \
                     type is element-only."
                ),
            ),
            ErrorKind::ContentInEmpty => (
                end,
                format!(
                    "cvc-complex-type.2.1: Element '{name}' must have no character or element information item \
                     [children], because the type's content type is empty."
                ),
            ),
            ErrorKind::UnexpectedElement => (tag_end, error.message.clone()),
            ErrorKind::Other => (end, error.message.clone()),
        };
        Self { offset, message }
    }
}

/// The type that Xerces names when it cannot parse a value: it parses all integer types as `integer` before it checks their
/// range.
fn lexical_type(datatype: &str) -> &str {
    const INTEGERS: [&str; 12] = [
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
    if INTEGERS.contains(&datatype) { "integer" } else { datatype }
}

/// Finds the element at the line and column of an error.
struct ElementLocator<'d, 't> {
    document: &'d Document<'t>,
    text: &'d str,
    /// Byte offset of the start of each line.
    line_starts: Vec<usize>,
    /// The first node that starts at each byte offset.
    nodes: HashMap<usize, NodeId>,
}

impl<'d, 't> ElementLocator<'d, 't> {
    fn new(document: &'d Document<'t>, text: &'d str) -> Self {
        let following = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(following).collect();
        let mut nodes = HashMap::new();
        if let Some(root) = document.document_element() {
            for node in std::iter::once(root).chain(document.descendants(root)) {
                if let Some(range) = document.node_range(node) {
                    nodes.entry(range.start).or_insert(node);
                }
            }
        }
        Self { document, text, line_starts, nodes }
    }

    /// The element to which an error belongs. For an error in a text node, this is the node's parent.
    fn find_element(&self, error: &ValidationError) -> Option<NodeId> {
        let line_start = self.line_starts.get(error.line?.checked_sub(1)?)?;
        let found = *self.nodes.get(&(line_start + error.column?.checked_sub(1)?))?;
        if is_element(self.document, found) { Some(found) } else { self.document.parent(found) }
    }
}

/// Length of the start tag at the beginning of a text.
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

/// Line and column of a byte offset, both counted from 1. A column is a UTF-16 code unit, as in Java.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].encode_utf16().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line contains a document, a tab, and the message of Xerces 2.12.2.
    const RECORDED: &str = include_str!("recorded/schema.tsv");
    const SHOP: &str = include_str!("recorded/shop.xsd");

    /// The kinds of errors for which Busyhour produces the message of Xerces.
    const KNOWN_KINDS: [&str; 7] = [
        "cvc-elt.1.a",
        "cvc-complex-type.4",
        "cvc-complex-type.3.2.2",
        "cvc-datatype-valid.1.2.1",
        "cvc-type.3.1.2",
        "cvc-complex-type.2.3",
        "cvc-complex-type.2.1",
    ];

    #[test]
    fn verdicts_and_known_messages_match_xerces() {
        let schema = Schema::read(SHOP, Path::new(".")).unwrap();
        let mut wrong = Vec::new();
        for line in RECORDED.lines() {
            let (document, theirs) = line.split_once('\t').unwrap();
            let ours = schema.check(document).map_or_else(|error| error.to_string(), |()| "ok".to_owned());
            let (kind, their_kind) = (ours.split(' ').next(), theirs.split(' ').next());
            let is_known = KNOWN_KINDS.iter().any(|known| theirs.contains(&format!("{known}:")));
            if kind != their_kind || (is_known && ours != theirs) {
                wrong.push(format!("{document}\n   theirs {theirs}\n   ours   {ours}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn documents_that_are_not_schemas_are_rejected() {
        let error = |text: &str| Schema::read(text, Path::new(".")).unwrap_err();
        assert_eq!(error("<shop/>"), XmlError::NotASchema);
        assert!(matches!(error("<schema"), XmlError::Schema(_)));
    }

    /// A schema with the element `a`, whose content model may refer to `a`.
    fn schema_of_a(model: &str) -> Result<Schema, XmlError> {
        let text = format!(
            r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
            <xs:element name="a"><xs:complexType>{model}</xs:complexType></xs:element></xs:schema>"#
        );
        Schema::read(&text, Path::new("."))
    }

    fn nested(depth: usize) -> String {
        "<a>".repeat(depth) + &"</a>".repeat(depth)
    }

    /// Asserts that the message names a limit and that the limit was counted once.
    #[track_caller]
    fn assert_exceeded(limit: Limit, error: &XmlError) {
        let message = error.to_string();
        assert!(message.contains("steps") || message.contains("deeper than"), "{message}");
        assert_eq!(busyhour_limits::take_counts(), [(limit, 1)]);
    }

    #[test]
    fn backtracking_at_each_level_is_stopped() {
        // The optional sequence matches the child and fails at `b`. The validator then matches the same child again with the
        // next particle, at each level.
        let model = r#"<xs:sequence><xs:sequence minOccurs="0"><xs:element ref="a"/><xs:element name="b"/></xs:sequence>
            <xs:element ref="a" minOccurs="0"/></xs:sequence>"#;
        let schema = schema_of_a(model).unwrap();
        assert_eq!(schema.check(&nested(8)), Ok(()));
        assert_exceeded(Limit::SchemaSteps, &schema.check(&nested(100)).unwrap_err());
        // The next document has its own budget.
        assert_eq!(schema.check(&nested(8)), Ok(()));
        assert!(busyhour_limits::take_counts().is_empty());
    }

    #[test]
    fn deep_documents_and_deep_models_are_rejected() {
        let schema =
            schema_of_a(r#"<xs:sequence><xs:element ref="a" minOccurs="0"/></xs:sequence>"#).unwrap();
        assert_eq!(schema.check(&nested(100)), Ok(()));
        assert_exceeded(Limit::XmlDepth, &schema.check(&nested(100_000)).unwrap_err());
        let model = "<xs:sequence>".repeat(60)
            + r#"<xs:element ref="a" minOccurs="0"/>"#
            + &"</xs:sequence>".repeat(60);
        let schema = schema_of_a(&model).unwrap();
        assert_eq!(schema.check(&nested(5)), Ok(()));
        assert_exceeded(Limit::SchemaSteps, &schema.check(&nested(100)).unwrap_err());
    }

    #[test]
    fn groups_that_double_or_nest_are_rejected() {
        let groups = |count: usize, references: usize| {
            let mut text = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
                <xs:group name="g0"><xs:sequence><xs:element name="x"/></xs:sequence></xs:group>"#
                .to_owned();
            for number in 1..count {
                let inner = format!(r#"<xs:group ref="g{}"/>"#, number - 1).repeat(references);
                text.push_str(&format!(
                    r#"<xs:group name="g{number}"><xs:sequence>{inner}</xs:sequence></xs:group>"#
                ));
            }
            text + "</xs:schema>"
        };
        assert!(Schema::read(&groups(10, 2), Path::new(".")).is_ok());
        assert_exceeded(Limit::SchemaSteps, &Schema::read(&groups(64, 2), Path::new(".")).unwrap_err());
        assert_exceeded(Limit::SchemaSteps, &Schema::read(&groups(5000, 1), Path::new(".")).unwrap_err());
    }

    #[test]
    fn large_occurrence_bounds_take_no_steps_and_entities_are_limited() {
        let model = r#"<xs:sequence minOccurs="0" maxOccurs="18446744073709551615">
            <xs:element name="b" maxOccurs="4000000000"/></xs:sequence>"#;
        assert_eq!(schema_of_a(model).unwrap().check("<a><b/><b/></a>"), Ok(()));
        let mut entities = r#"<!ENTITY e0 "xxxxxxxxxx">"#.to_owned();
        for number in 1..30 {
            entities.push_str(&format!("<!ENTITY e{number} \"&e{0};&e{0};\">", number - 1));
        }
        let result = schema_of_a(model).unwrap().check(&format!("<!DOCTYPE a [{entities}]><a>&e29;</a>"));
        assert!(matches!(result, Err(XmlError::NotValidated(_))));
    }

    #[test]
    fn many_errors_take_bounded_time() {
        let schema = schema_of_a(r#"<xs:sequence><xs:element name="b"/></xs:sequence>"#).unwrap();
        let document = |errors: usize| format!("<a><b/>{}</a>", "<c/>\n".repeat(errors));
        let first = schema.check(&document(1000)).unwrap_err();
        assert!(matches!(first, XmlError::Invalid { line: 1, column: 12, .. }), "{first}");
        // The validator computes the position of each error from the start of the document, so many errors take many steps.
        assert_exceeded(Limit::SchemaSteps, &schema.check(&document(100_000)).unwrap_err());
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("a\nbé>", 5), (2, 3));
        assert_eq!(tag_length("<a b='>' c=\">\">x"), 15);
    }
}
