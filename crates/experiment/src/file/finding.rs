//! Findings about parts of the file, and their positions.

use std::ops::Range;

use busyhour_diagnostic::{Diagnostic, Severity, Span};
use toml::de::{DeTable, DeValue};

/// A step of the path to a part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'p> {
    Key(&'p str),
    Element(usize),
}

/// A finding about a part of the file.
#[derive(Debug, Clone)]
pub(super) struct Finding<'p> {
    severity: Severity,
    path: Vec<Step<'p>>,
    message: String,
    cause: Option<String>,
    hint: Option<String>,
}

impl<'p> Finding<'p> {
    pub(super) fn error(path: impl Into<Vec<Step<'p>>>, message: impl Into<String>) -> Finding<'p> {
        let (path, message) = (path.into(), message.into());
        Finding { severity: Severity::Error, path, message, cause: None, hint: None }
    }

    pub(super) fn warning(path: impl Into<Vec<Step<'p>>>, message: impl Into<String>) -> Finding<'p> {
        Finding { severity: Severity::Warning, ..Finding::error(path, message) }
    }

    pub(super) fn cause(self, cause: impl Into<String>) -> Finding<'p> {
        Finding { cause: Some(cause.into()), ..self }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Finding<'p> {
        Finding { hint: Some(hint.into()), ..self }
    }

    pub(super) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The diagnostic for the file with this text and its parsed table.
    pub(super) fn diagnostic(&self, text: &str, table: &DeTable<'_>, name: &str) -> Diagnostic {
        let at = place(table, &self.path).unwrap_or_default();
        let mut diagnostic = Diagnostic::new(self.severity, "experiment", self.message.clone())
            .in_file(name)
            .at(Span::locate(text, at.start, at.len()));
        if let Some(cause) = &self.cause {
            diagnostic = diagnostic.with_cause(cause.clone());
        }
        if let Some(hint) = &self.hint {
            diagnostic = diagnostic.with_hint(hint.clone());
        }
        diagnostic
    }
}

/// The position of a part of the file, or of the smallest existing part that would contain it.
fn place(table: &DeTable<'_>, path: &[Step<'_>]) -> Option<Range<usize>> {
    let mut steps = path.iter();
    let Some(Step::Key(first)) = steps.next() else { return None };
    let mut value = table.get(*first)?;
    for step in steps {
        let next = match (step, value.get_ref()) {
            (Step::Key(key), DeValue::Table(table)) => table.get(*key),
            (Step::Element(at), DeValue::Array(array)) => array.get(*at),
            _ => None,
        };
        let Some(next) = next else { break };
        value = next;
    }
    Some(value.span())
}
