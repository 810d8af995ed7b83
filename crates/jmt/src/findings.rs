//! What is found while reading, with its places.

use std::str::FromStr;

use busyhour_diagnostic::{Diagnostic, Span};

use crate::element::Element;

/// Where the notation is described.
const HINT: &str = "docs/capacity-models.md lists the supported parts of JMT's files";

/// Errors and notes of one file.
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

    fn place(&self, found: Diagnostic, element: &Element) -> Diagnostic {
        found.in_file(self.file).at(Span::locate(self.text, element.offset, element.len))
    }

    /// The element cannot be used; the message follows its tag.
    pub(crate) fn error(&mut self, element: &Element, message: impl AsRef<str>) {
        let error = Diagnostic::error("jmt-model", format!("{element} {}", message.as_ref())).with_hint(HINT);
        self.errors.push(self.place(error, element));
    }

    /// The element is used differently than in JMT, or not at all; the message follows its tag.
    pub(crate) fn note(&mut self, element: &Element, message: impl AsRef<str>) {
        let note = Diagnostic::note("jmt-model", format!("{element} {}", message.as_ref()));
        self.notes.push(self.place(note, element));
    }

    /// The text is not well-formed.
    pub(crate) fn not_xml(&mut self, offset: usize, problem: &str) {
        let span = Span::locate(self.text, offset, 1);
        let error = Diagnostic::error("jmt-xml", format!("this is not well-formed XML: {problem}"));
        self.errors.push(error.in_file(self.file).at(span));
    }

    /// An attribute that must be there; an error if it is not.
    pub(crate) fn attribute<'e>(&mut self, element: &'e Element, name: &str) -> Option<&'e str> {
        let found = element.attribute(name);
        if found.is_none() {
            self.error(element, format!("lacks the attribute {name:?}"));
        }
        found
    }

    /// An attribute that must be a number.
    pub(crate) fn number_in<T: FromStr>(&mut self, element: &Element, name: &str) -> Option<T> {
        let text = self.attribute(element, name)?;
        self.number(element, text)
    }

    /// A text that must be a number.
    pub(crate) fn number<T: FromStr>(&mut self, element: &Element, text: &str) -> Option<T> {
        let found = text.trim().parse().ok();
        if found.is_none() {
            self.error(element, format!("has {text:?} where a number belongs"));
        }
        found
    }
}
