//! # Uppsala
//!
//! XML parsing into an arena-based DOM, XPath 1.0 and XML Schema (XSD) 1.1 validation: the parts of the published library
//! that Busyhour reaches. README.md describes the changes.
//!
//! # Resource limits
//!
//! To fail closed on hostile input, the parser enforces fixed resource caps
//! by default (see [`parser`] for the associated constants and the
//! `Parser::with_*` overrides):
//!
//! - **Element nesting depth** — capped at
//!   [`DEFAULT_MAX_DEPTH`](parser::DEFAULT_MAX_DEPTH) (128). Documents nested
//!   deeper are rejected with an error rather than risking a stack overflow.
//! - **Entity expansion byte budget** — capped at
//!   [`DEFAULT_MAX_ENTITY_EXPANSION`](parser::DEFAULT_MAX_ENTITY_EXPANSION)
//!   (1 MiB). Total bytes produced by entity expansion per parse cannot
//!   exceed this, defeating billion-laughs / quadratic-blowup amplification.
//! - **Entity expansion nesting depth** — capped at
//!   [`DEFAULT_MAX_ENTITY_DEPTH`](parser::DEFAULT_MAX_ENTITY_DEPTH) (256), so
//!   a deep linear entity chain fails closed instead of overflowing the stack
//!   even before the byte budget is reached.
//!
//! The depth and expansion-byte limits are configurable via builder methods
//! on [`Parser`] ([`Parser::with_max_depth`] and
//! [`Parser::with_max_entity_expansion`]) when a workload legitimately needs
//! a different bound.


/// Arena-based DOM representation of XML documents.
pub mod budget; // BUDGET
pub(crate) mod dom;
/// Error types: [`XmlError`], [`XmlResult`], and per-domain error structs.
pub(crate) mod error;
mod fasthash;

/// Namespace prefix resolution with scope stack.
pub(crate) mod namespace;
/// XML 1.0 (Fifth Edition) recursive-descent parser.
pub mod parser;
/// XML pull parser event stream.
pub(crate) mod pull;
/// Accelerated byte scanning for parser hot loops.
mod simd;

/// Imperative [`XmlWriter`] for streaming XML construction.
pub(crate) mod writer;
/// XPath 1.0 evaluation engine.
pub(crate) mod xpath;
/// XML Schema (XSD) validation.
pub(crate) mod xsd;
/// XSD regular expression engine for pattern facets.
pub(crate) mod xsd_regex;

pub use dom::{Attribute, Document, Element, NodeId, NodeKind, ProcessingInstruction, QName};
pub use error::{ErrorKind, ParserLimit, ValidationError, XmlError, XmlResult};
pub use parser::Parser;
pub use xpath::{CompiledXPath, XPathValue};
pub use xsd::XsdValidator;

/// Parse an XML string into a Document.
pub fn parse(input: &str) -> XmlResult<Document<'_>> {
    let parser = Parser::new();
    parser.parse(input)
}

