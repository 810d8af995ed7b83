//! XML Schema: validation of documents, with the messages of Xerces.
//!
//! The verdict is the library's. Of Xerces's words those are here that need no more than the mistake itself; where they
//! would also name what else was possible, the library's message is used, behind the same line and column.

use std::collections::HashMap;
use std::path::Path;

use busyhour_limits::{Limit, exceeded};
use busyhour_slices::away;
use uppsala::parser::DEFAULT_MAX_DEPTH;
use uppsala::{Document, NodeId, ValidationError, XsdValidator, budget};

use crate::complaint::complaint;
use crate::document::{Reading, is_element};
use crate::error::XmlError;

/// Steps of reading one schema, and of validating one document. An element takes ten, a comparison with a part of the
/// schema or 64 bytes of text one.
const STEPS_MAX: u64 = 20_000_000;

/// Mistakes of a document among which the first is looked for.
const MISTAKES_MAX: usize = 100_000;

/// Runs `work` with a budget of steps.
///
/// # Errors
/// The budget is used up.
fn within_budget<T>(work: impl FnOnce() -> T) -> Result<T, XmlError> {
    budget::set(STEPS_MAX);
    let done = work();
    let is_used_up = budget::is_used_up();
    budget::set(u64::MAX);
    if is_used_up {
        exceeded(Limit::SchemaSteps);
        return Err(
            format!("the XML Schema takes more than {STEPS_MAX} steps or is nested too deeply").into()
        );
    }
    Ok(done)
}

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
    /// Reads a schema from a file of the folder `base`, which is searched for included and imported schemas.
    ///
    /// # Errors
    /// When it, or one that it includes, is no schema.
    pub fn read(text: &str, base: &Path) -> Result<Self, XmlError> {
        let document = uppsala::parse(text).map_err(|error| error.to_string())?;
        let root = document.document_element().and_then(|root| document.element(root));
        let is_schema = root.is_some_and(|root| {
            root.name.local_name == "schema"
                && root.name.namespace_uri.as_deref() == Some("http://www.w3.org/2001/XMLSchema")
        });
        if !is_schema {
            return Err("its root is no <schema> of XML Schema".into());
        }
        let validator = within_budget(|| XsdValidator::from_schema_with_base_path(&document, Some(base)))?
            .map_err(|error| error.to_string())?;
        Ok(Self { validator })
    }

    /// Looks at a document.
    ///
    /// # Errors
    /// The message of JMeter's XML Schema Assertion for the first mistake.
    pub fn check(&self, text: &str) -> Result<(), XmlError> {
        // Another thread has its own counts.
        let (outcome, counts) = away(text.len(), || (self.check_at_once(text), busyhour_limits::take()));
        busyhour_limits::add(&counts);
        outcome
    }

    fn check_at_once(&self, text: &str) -> Result<(), XmlError> {
        let document = match uppsala::parse(text) {
            Ok(document) => document,
            // The library marks its limit only by the message.
            Err(error) if error.to_string().contains("maximum depth") => {
                exceeded(Limit::XmlDepth);
                return Err(
                    format!("fatal: the document nests elements deeper than {DEFAULT_MAX_DEPTH}").into()
                );
            }
            Err(error) => {
                let words = complaint(text, Reading { namespaces: true, ..Reading::default() });
                return Err(format!("fatal: {}", words.unwrap_or_else(|| error.to_string())).into());
            }
        };
        let errors = within_budget(|| self.validator.validate(&document))
            .map_err(|exceeded| format!("fatal: {exceeded}"))?;
        if errors.is_empty() {
            return Ok(());
        }
        let places = Places::new(&document, text);
        let reported = errors.iter().take(MISTAKES_MAX).map(|error| Told::of(&places, error));
        match reported.min_by_key(|reported| reported.at) {
            None => Ok(()),
            Some(Told { at, words }) => {
                let (line, column) = place(text, at);
                Err(format!("error: line={line} col={column} {words}").into())
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
    fn of(places: &Places<'_, '_>, error: &ValidationError) -> Self {
        let Places { document, text, .. } = places;
        let node = places.element_of(error);
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

/// Finds the element at the line and column of a mistake.
struct Places<'d, 't> {
    document: &'d Document<'t>,
    text: &'d str,
    /// Where each line begins.
    lines: Vec<usize>,
    /// The first node that begins at a byte.
    nodes: HashMap<usize, NodeId>,
}

impl<'d, 't> Places<'d, 't> {
    fn new(document: &'d Document<'t>, text: &'d str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        let mut nodes = HashMap::new();
        if let Some(root) = document.document_element() {
            for node in std::iter::once(root).chain(document.descendants(root)) {
                if let Some(range) = document.node_range(node) {
                    nodes.entry(range.start).or_insert(node);
                }
            }
        }
        Self { document, text, lines, nodes }
    }

    fn element_of(&self, error: &ValidationError) -> Option<NodeId> {
        let line = self.lines.get(error.line?.checked_sub(1)?)?;
        let found = *self.nodes.get(&(line + error.column?.checked_sub(1)?))?;
        // Of text its element is meant.
        if is_element(self.document, found) { Some(found) } else { self.document.parent(found) }
    }
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

    /// A document in each line, with the message of Xerces 2.12.2.
    const RECORDED: &str = include_str!("recorded/schema.tsv");
    const SHOP: &str = include_str!("recorded/shop.xsd");

    /// The kinds of mistakes with the message of Xerces.
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
    fn verdicts_and_known_messages_are_those_of_xerces() {
        let schema = Schema::read(SHOP, Path::new(".")).unwrap();
        let mut wrong = Vec::new();
        for line in RECORDED.lines() {
            let (document, theirs) = line.split_once('\t').unwrap();
            let ours = schema.check(document).map_or_else(|error| error.to_string(), |()| "ok".to_owned());
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

    /// A schema around a content model of the element `a`, which may contain itself.
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

    /// What each of these is refused with counts once.
    #[track_caller]
    fn exceeds(limit: Limit, refused: &str) {
        assert!(refused.contains("steps") || refused.contains("deeper than"), "{refused}");
        assert_eq!(busyhour_limits::take(), [(limit, 1)]);
    }

    #[test]
    fn backtracking_at_each_level_is_stopped() {
        // The optional sequence takes the child, lacks its second part, and leaves the child to what follows.
        let model = r#"<xs:sequence><xs:sequence minOccurs="0"><xs:element ref="a"/><xs:element name="b"/></xs:sequence>
            <xs:element ref="a" minOccurs="0"/></xs:sequence>"#;
        let schema = schema_of_a(model).unwrap();
        assert_eq!(schema.check(&nested(8)), Ok(()));
        exceeds(Limit::SchemaSteps, &schema.check(&nested(100)).unwrap_err());
        // The next document has its own budget.
        assert_eq!(schema.check(&nested(8)), Ok(()));
        assert!(busyhour_limits::take().is_empty());
    }

    #[test]
    fn deep_documents_and_deep_models_are_refused() {
        let schema =
            schema_of_a(r#"<xs:sequence><xs:element ref="a" minOccurs="0"/></xs:sequence>"#).unwrap();
        assert_eq!(schema.check(&nested(100)), Ok(()));
        exceeds(Limit::XmlDepth, &schema.check(&nested(100_000)).unwrap_err());
        let model = "<xs:sequence>".repeat(60)
            + r#"<xs:element ref="a" minOccurs="0"/>"#
            + &"</xs:sequence>".repeat(60);
        let schema = schema_of_a(&model).unwrap();
        assert_eq!(schema.check(&nested(5)), Ok(()));
        exceeds(Limit::SchemaSteps, &schema.check(&nested(100)).unwrap_err());
    }

    #[test]
    fn groups_that_double_or_nest_are_refused() {
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
        exceeds(Limit::SchemaSteps, &Schema::read(&groups(64, 2), Path::new(".")).unwrap_err());
        exceeds(Limit::SchemaSteps, &Schema::read(&groups(5000, 1), Path::new(".")).unwrap_err());
    }

    #[test]
    fn numbers_of_occurrences_cost_nothing_and_entities_are_limited() {
        let model = r#"<xs:sequence minOccurs="0" maxOccurs="18446744073709551615">
            <xs:element name="b" maxOccurs="4000000000"/></xs:sequence>"#;
        assert_eq!(schema_of_a(model).unwrap().check("<a><b/><b/></a>"), Ok(()));
        let mut entities = r#"<!ENTITY e0 "xxxxxxxxxx">"#.to_owned();
        for number in 1..30 {
            entities.push_str(&format!("<!ENTITY e{number} \"&e{0};&e{0};\">", number - 1));
        }
        let refused = schema_of_a(model).unwrap().check(&format!("<!DOCTYPE a [{entities}]><a>&e29;</a>"));
        assert!(refused.is_err_and(|why| why.starts_with("fatal: ")));
    }

    #[test]
    fn many_mistakes_take_bounded_time() {
        let schema = schema_of_a(r#"<xs:sequence><xs:element name="b"/></xs:sequence>"#).unwrap();
        let document = |mistakes: usize| format!("<a><b/>{}</a>", "<c/>\n".repeat(mistakes));
        let first = schema.check(&document(1000)).unwrap_err();
        assert!(first.starts_with("error: line=1 col=12 "), "{first}");
        // Each is searched for from the start of the document.
        exceeds(Limit::SchemaSteps, &schema.check(&document(100_000)).unwrap_err());
    }

    #[test]
    fn places_count_characters() {
        assert_eq!(place("a\nbé>", 5), (2, 3));
        assert_eq!(tag_length("<a b='>' c=\">\">x"), 15);
    }
}
