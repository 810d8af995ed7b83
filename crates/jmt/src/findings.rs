//! Errors and notes that were found while reading a file, with their positions.

use std::str::FromStr;

use busyhour_diagnostic::{Diagnostic, Span};

use crate::element::Element;

/// The hint of every error.
const HINT: &str = "docs/capacity-models.md lists the supported parts of JMT's files";

/// Errors and notes that were found in one file.
pub(crate) struct Findings<'t> {
    text: &'t str,
    file: &'t str,
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) notes: Vec<Diagnostic>,
}

impl<'t> Findings<'t> {
    pub(crate) fn new(text: &'t str, file: &'t str) -> Self {
        Self { text, file, errors: Vec::new(), notes: Vec::new() }
    }

    fn locate(&self, diagnostic: Diagnostic, element: &Element) -> Diagnostic {
        diagnostic.in_file(self.file).at(Span::locate(self.text, element.offset, element.len))
    }

    /// Reports an element that cannot be read. The message is a predicate that follows the tag.
    pub(crate) fn error(&mut self, element: &Element, message: impl AsRef<str>) {
        let error = Diagnostic::error("jmt-model", format!("{element} {}", message.as_ref())).with_hint(HINT);
        self.errors.push(self.locate(error, element));
    }

    /// Reports an element that is ignored or treated differently than in JMT. The message is a predicate that follows the tag.
    pub(crate) fn note(&mut self, element: &Element, message: impl AsRef<str>) {
        let note = Diagnostic::note("jmt-model", format!("{element} {}", message.as_ref()));
        self.notes.push(self.locate(note, element));
    }

    /// Reports that the text is not well-formed XML.
    pub(crate) fn not_xml(&mut self, offset: usize, problem: &str) {
        let span = Span::locate(self.text, offset, 1);
        let error = Diagnostic::error("jmt-xml", format!("this is not well-formed XML: {problem}"));
        self.errors.push(error.in_file(self.file).at(span));
    }

    /// Returns a required attribute; reports an error if it is missing.
    pub(crate) fn attribute<'e>(&mut self, element: &'e Element, name: &str) -> Option<&'e str> {
        let found = element.attribute(name);
        if found.is_none() {
            self.error(element, format!("has no attribute {name:?}"));
        }
        found
    }

    /// Parses a required attribute as a number; reports an error if it is missing or not a number.
    pub(crate) fn number_attribute<T: FromStr>(&mut self, element: &Element, name: &str) -> Option<T> {
        let text = self.attribute(element, name)?;
        self.number(element, text)
    }

    /// Parses a text as a number; reports an error if it is not one.
    pub(crate) fn number<T: FromStr>(&mut self, element: &Element, text: &str) -> Option<T> {
        let found = text.trim().parse().ok();
        if found.is_none() {
            self.error(element, format!("has {text:?}, which is not a valid number"));
        }
        found
    }
}
