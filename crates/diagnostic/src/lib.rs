//! Source spans, severities, messages with causes and hints, and how they are rendered.
//!
//! Every message to the user about a plan, a result file or a run is a
//! [`Diagnostic`]: what is wrong, where, why, and what to do about it. This crate creates and
//! formats them; the command line prints them.
//!
//! ```
//! use busyhour_diagnostic::{Diagnostic, Span};
//!
//! let finding = Diagnostic::error("unsupported-element", "the element FTPSampler is not supported")
//!     .in_file("plan.jmx")
//!     .at(Span { line: 12, column: 5, offset: 431, len: 10 })
//!     .with_path(["Test Plan", "Thread Group", "Login"])
//!     .with_hint("disable the element, or run with --allow-unsupported");
//! assert_eq!(finding.location().as_deref(), Some("plan.jmx:12:5"));
//! ```

pub mod io_hints;
mod message_error;
mod names;
mod printable;
mod span;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

pub use names::{edit_distance, nearest_name};
pub use printable::{printable, printable_lines, without_commands};
pub use span::{LineCursor, Span};

/// The severity of a finding.
///
/// The order is `Error < Warning < Note`, so that sorting puts errors first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The input cannot be used; the command stops.
    Error,
    /// The input can be used, but probably does not mean what its author intended.
    Warning,
    /// Information; no action is necessary.
    Note,
}

impl Severity {
    /// The word used in rendered text: `error`, `warning` or `note`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What an unsupported part of the input needs in order to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Needs {
    /// A Java virtual machine, for Java classes, drivers and scripts that only Java's interpreters can run.
    Java,
    /// A protocol that this program does not support.
    Protocol,
    /// A plugin that this program does not know.
    Plugin,
}

/// A finding: the problem, its location, the chain of causes, and a hint.
///
/// `Display` renders the finding on several lines, without colour and without a line break at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// A stable, machine-readable name of the kind of finding, in kebab case.
    pub code: &'static str,
    /// The problem, as one sentence without a full stop.
    pub message: String,
    /// The file with the problem, as named by the user.
    pub file: Option<Arc<str>>,
    /// The position in that file.
    pub span: Option<Span>,
    /// Names of the plan elements from the root to the element with the problem; empty if the problem is not in an element.
    pub path: Vec<String>,
    /// The causes, the outermost first.
    pub causes: Vec<String>,
    /// Advice for the user.
    pub hint: Option<String>,
    /// What an unsupported part of the input needs in order to run, for machines; the hint contains the same as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
}

impl Diagnostic {
    /// Creates a finding with a severity, a code and a message.
    #[must_use]
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity,
            code,
            message: message.into(),
            file: None,
            span: None,
            path: Vec::new(),
            causes: Vec::new(),
            hint: None,
            needs: None,
        }
    }

    /// Creates an error; see [`Severity::Error`].
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// Creates a warning; see [`Severity::Warning`].
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Creates a note; see [`Severity::Note`].
    #[must_use]
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<Arc<str>>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Sets the position in the file.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Sets the names of the plan elements from the root to the element with the problem.
    #[must_use]
    pub fn with_path<I>(mut self, path: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.path = path.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a cause after the existing ones.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Adds an error and the chain of its sources as causes.
    #[must_use]
    pub fn with_error(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets what the unsupported part of the input needs in order to run.
    #[must_use]
    pub fn with_needs(mut self, needs: impl Into<Option<Needs>>) -> Self {
        self.needs = needs.into();
        self
    }

    /// Whether this is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The location as `file:line:column`, or the known part of it; `None` if the location is unknown.
    #[must_use]
    pub fn location(&self) -> Option<String> {
        match (&self.file, self.span) {
            (Some(file), Some(span)) => Some(format!("{file}:{span}")),
            (Some(file), None) => Some(file.to_string()),
            (None, Some(span)) => Some(format!("line {}, column {}", span.line, span.column)),
            (None, None) => None,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: ", self.severity, self.code)?;
        write_indented(f, &self.message)?;
        if let Some(location) = self.location() {
            write!(f, "\n  --> ")?;
            write_indented(f, &location)?;
        }
        if !self.path.is_empty() {
            write!(f, "\n  in: ")?;
            let names: Vec<_> = self.path.iter().map(|name| shortened(name)).collect();
            write_indented(f, &names.join(" > "))?;
        }
        for cause in &self.causes {
            write!(f, "\n  cause: ")?;
            write_indented(f, cause)?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: ")?;
            write_indented(f, hint)?;
        }
        Ok(())
    }
}

/// Truncates a name to 100 characters. Names come from untrusted files and may be megabytes long.
fn shortened(name: &str) -> Cow<'_, str> {
    const NAME_CHARS_MAX: usize = 100;
    match name.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

/// Writes a text and indents all lines but the first.
///
/// Parts of the text come from untrusted files. Control characters, which could manipulate the reader's terminal, are therefore
/// shown as U+FFFD.
fn write_indented(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            f.write_str("\n    ")?;
        }
        let line: String = line
            .chars()
            .map(|c| if c == '\t' { c } else { printable::shown(c, char::REPLACEMENT_CHARACTER) })
            .collect();
        f.write_str(&without_commands(&line))?;
    }
    Ok(())
}

/// Whether any of the findings is an error.
pub fn has_errors<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> bool {
    diagnostics.into_iter().any(Diagnostic::is_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Diagnostic {
        Diagnostic::error("unsupported-element", "the element FTPSampler is not supported")
            .in_file("plan.jmx")
            .at(Span { line: 12, column: 5, offset: 431, len: 10 })
            .with_path(["Test Plan", "Thread Group", "Login"])
            .with_cause("no adapter supports FTP")
            .with_cause("it was never seen in real plans")
            .with_hint("disable the element, or run with --allow-unsupported")
    }

    #[test]
    fn renders_all_parts() {
        insta::assert_snapshot!(full(), @r"
        error[unsupported-element]: the element FTPSampler is not supported
          --> plan.jmx:12:5
          in: Test Plan > Thread Group > Login
          cause: no adapter supports FTP
          cause: it was never seen in real plans
          hint: disable the element, or run with --allow-unsupported
        ");
    }

    #[test]
    fn omits_missing_parts() {
        insta::assert_snapshot!(Diagnostic::warning("w", "odd"), @"warning[w]: odd");
        insta::assert_snapshot!(Diagnostic::note("n", "here").with_path(["Test Plan"]), @r"
        note[n]: here
          in: Test Plan
        ");
        insta::assert_snapshot!(Diagnostic::note("n", "here").in_file("a.jmx"), @r"
        note[n]: here
          --> a.jmx
        ");
        insta::assert_snapshot!(Diagnostic::error("e", "here").at(Span { line: 3, column: 1, offset: 9, len: 1 }), @r"
        error[e]: here
          --> line 3, column 1
        ");
    }

    #[test]
    fn further_lines_are_indented() {
        let finding = Diagnostic::error("e", "first\nsecond").with_path(["a\nb"]).with_cause("one\ntwo");
        insta::assert_snapshot!(finding, @r"
        error[e]: first
            second
          in: a
            b
          cause: one
            two
        ");
    }

    #[test]
    fn control_characters_of_files_do_not_reach_the_terminal() {
        let finding = Diagnostic::error("e", "the element \u{1B}[2J\u{7}").with_path(["a\u{9B}b"]);
        insta::assert_snapshot!(finding, @r"
        error[e]: the element �[2J�
          in: a�b
        ");
    }

    #[test]
    fn the_chain_of_sources_becomes_causes() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("cannot read plan.jmx")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = Outer(std::io::Error::other("disk on fire"));
        let finding = Diagnostic::error("e", "m").with_error(&error);
        assert_eq!(finding.causes, ["cannot read plan.jmx", "disk on fire"]);
    }

    #[test]
    fn serialises_with_all_fields() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&full()).unwrap(), @r#"
        {
          "severity": "error",
          "code": "unsupported-element",
          "message": "the element FTPSampler is not supported",
          "file": "plan.jmx",
          "span": {
            "line": 12,
            "column": 5,
            "offset": 431,
            "len": 10
          },
          "path": [
            "Test Plan",
            "Thread Group",
            "Login"
          ],
          "causes": [
            "no adapter supports FTP",
            "it was never seen in real plans"
          ],
          "hint": "disable the element, or run with --allow-unsupported"
        }
        "#);
    }

    #[test]
    fn needs_are_serialised_but_not_displayed() {
        let finding = Diagnostic::error("e", "m").with_needs(Needs::Java);
        assert!(serde_json::to_string(&finding).unwrap().contains(r#""needs":"java""#));
        assert_eq!(finding.to_string(), Diagnostic::error("e", "m").to_string());
    }

    #[test]
    fn errors_sort_first() {
        let mut severities = [Severity::Note, Severity::Error, Severity::Warning];
        severities.sort();
        assert_eq!(severities, [Severity::Error, Severity::Warning, Severity::Note]);
        assert!(has_errors(&[Diagnostic::note("n", "n"), full()]));
        assert!(!has_errors(&[Diagnostic::warning("n", "n")]));
    }
}
