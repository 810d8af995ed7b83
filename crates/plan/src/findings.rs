//! Collects the problems of a file, up to a limit, and writes their messages.

use std::sync::Arc;

use busyhour_diagnostic::{Diagnostic, LineCursor, Severity, Span};

use crate::scan::Damage;
use crate::test_plan::TestPlan;
use crate::tree::ElementId;
use crate::xml::TextProblem;

/// Maximum number of findings that [`parse`](crate::parse) returns for one file. If there are more, one additional finding
/// contains the number of those that are not listed.
pub const DIAGNOSTICS_MAX: usize = 100;

/// Maximum length of a part of a file that a message repeats, in characters.
const QUOTE_CHARS_MAX: usize = 60;

/// The findings of one file so far, and the cursor that converts offsets to lines and columns.
pub(crate) struct Findings<'t> {
    cursor: LineCursor<'t>,
    list: Vec<(Diagnostic, Option<ElementId>)>,
    unlisted: usize,
    unlisted_errors: usize,
}

impl<'t> Findings<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { cursor: LineCursor::new(text), list: Vec::new(), unlisted: 0, unlisted_errors: 0 }
    }

    /// The span of `len` bytes at `offset`; cheap when offsets ascend.
    pub(crate) fn span(&mut self, offset: usize, len: usize) -> Span {
        self.cursor.span(offset, len)
    }

    /// Adds a finding about the `len` bytes at `offset`, which are inside `owner`.
    pub(crate) fn add(
        &mut self,
        offset: usize,
        len: usize,
        owner: Option<ElementId>,
        severity: Severity,
        finding: impl FnOnce() -> Diagnostic,
    ) {
        if self.list.len() >= DIAGNOSTICS_MAX {
            self.unlisted += 1;
            self.unlisted_errors += usize::from(severity == Severity::Error);
            return;
        }
        let span = self.span(offset, len);
        let mut finding = finding();
        finding.severity = severity;
        self.list.push((finding.at(span), owner));
    }

    /// Adds an error after which reading stops. It is listed even if the limit is exceeded.
    pub(crate) fn fatal(&mut self, offset: usize, owner: Option<ElementId>, finding: Diagnostic) {
        let span = self.span(offset, 1);
        self.list.push((finding.at(span), owner));
    }

    /// Adds a finding about the file as a whole.
    pub(crate) fn add_unplaced(&mut self, finding: Diagnostic) {
        self.list.push((finding, None));
    }

    /// Adds an error; see [`add`](Self::add).
    pub(crate) fn error(
        &mut self,
        offset: usize,
        len: usize,
        owner: Option<ElementId>,
        finding: impl FnOnce() -> Diagnostic,
    ) {
        self.add(offset, len, owner, Severity::Error, finding);
    }

    /// Reports a damaged piece of XML.
    pub(crate) fn damage(&mut self, offset: usize, damage: Damage, near: &str, owner: Option<ElementId>) {
        let severity = if damage == Damage::DoubleDash { Severity::Warning } else { Severity::Error };
        self.add(offset, 1, owner, severity, || match damage {
            Damage::StrayLessThan if near.starts_with("<<<<<<<") => {
                Diagnostic::error("jmx-xml", "a merge conflict was left in the file")
                    .with_hint("resolve it: keep one side and delete the lines of <, = and >")
            }
            Damage::StrayLessThan => {
                Diagnostic::error("jmx-xml", format!("`<` does not begin a tag: {}", quoted(near)))
                    .with_hint("write &lt; where the character itself is meant")
            }
            Damage::UnclosedTag => {
                Diagnostic::error("jmx-xml", format!("the tag {} has no end", quoted(near)))
                    .with_hint("a `>` or a closing quote is missing")
            }
            Damage::Unterminated(closing) => {
                Diagnostic::error("jmx-xml", format!("{} never ends: `{closing}` is missing", quoted(near)))
                    .with_hint("the rest of the file was read as a part of it")
            }
            Damage::DoubleDash => Diagnostic::error("jmx-xml", "`--` occurs inside a comment")
                .with_cause("XML allows it only at the end of a comment; JMeter would not load the plan")
                .with_hint("remove one of the dashes"),
        });
    }

    /// Reports a problem in a text that begins at `base`.
    pub(crate) fn text_problem(
        &mut self,
        base: usize,
        problem: TextProblem,
        entities_declared: bool,
        owner: Option<ElementId>,
    ) {
        let (at, len) = match &problem {
            TextProblem::BareAmpersand(at) => (*at, 1),
            TextProblem::UnknownEntity(at, name) | TextProblem::NoCharacter(at, name) => {
                (*at, name.len() + 2)
            }
        };
        self.error(base + at, len, owner, || match problem {
            TextProblem::BareAmpersand(_) => Diagnostic::error("jmx-xml", "`&` does not begin a reference")
                .with_hint("write &amp; where the character itself is meant"),
            TextProblem::UnknownEntity(_, name) => {
                let name = shortened(&name);
                let finding = Diagnostic::error("jmx-entity", format!("the entity &{name}; is not known"));
                if entities_declared {
                    finding
                        .with_cause("entities that a file declares itself are not expanded, neither here nor in JMeter")
                        .with_hint("replace it with the text itself")
                } else {
                    finding.with_hint("XML defines &amp; &lt; &gt; &quot; &apos; and numbers such as &#160;")
                }
            }
            TextProblem::NoCharacter(_, name) => {
                Diagnostic::error("jmx-xml", format!("&{}; is not a character", shortened(&name)))
            }
        });
    }

    /// Returns the findings, each with the file and the path of its element.
    pub(crate) fn finish(self, plan: &TestPlan) -> Vec<Diagnostic> {
        let locate = |(finding, owner): (Diagnostic, Option<ElementId>)| {
            let finding = finding.in_file(Arc::clone(plan.file()));
            match owner {
                Some(owner) => finding.with_path(plan.path(owner)),
                None => finding,
            }
        };
        let mut findings: Vec<Diagnostic> = self.list.into_iter().map(locate).collect();
        if self.unlisted > 0 {
            let severity = if self.unlisted_errors > 0 { Severity::Error } else { Severity::Note };
            let message = match self.unlisted {
                1 => "one more finding in this file is not listed".to_owned(),
                count => format!("{count} more findings in this file are not listed"),
            };
            findings.push(Diagnostic::new(severity, "jmx-more", message).in_file(Arc::clone(plan.file())));
        }
        findings
    }
}

/// A part of the file for use in a message, on one line and with limited length.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text.trim()))
}

/// The beginning of a text; control characters, including line ends, are replaced by U+FFFD.
pub(crate) fn shortened(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(QUOTE_CHARS_MAX)
        .map(|character| if character.is_control() { '\u{FFFD}' } else { character })
        .collect();
    if text.chars().nth(QUOTE_CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}
