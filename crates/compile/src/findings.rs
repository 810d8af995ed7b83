//! Collects the problems of a plan while it is compiled.

use std::collections::HashSet;

use busyhour_diagnostic::{Diagnostic, Needs, Severity};
use busyhour_plan::Element;
use busyhour_processors::{Refusal, RefusalKind};

use crate::elements::refused::Refused;

/// The findings about a plan.
pub(crate) struct Findings {
    allow_unsupported: bool,
    /// The positions and messages of the findings so far.
    seen: HashSet<(usize, String)>,
    diagnostics: Vec<Diagnostic>,
}

impl Findings {
    /// Starts with these diagnostics. If `allow_unsupported`, unsupported elements are ignored with a warning.
    pub(crate) fn new(allow_unsupported: bool, diagnostics: Vec<Diagnostic>) -> Self {
        Self { allow_unsupported, seen: HashSet::new(), diagnostics }
    }

    /// Returns all findings, errors first, in plan order.
    pub(crate) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.diagnostics
            .sort_by_key(|diagnostic| (diagnostic.severity, diagnostic.span.map(|span| span.offset)));
        self.diagnostics
    }

    /// Adds a finding.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        let key = (diagnostic.span.map_or(0, |span| span.offset), diagnostic.message.clone());
        // An element in several scopes is compiled several times; its findings are reported once.
        if self.seen.insert(key) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Adds a finding about a property, or about the whole element if it has no such property.
    pub(crate) fn add_at(&mut self, element: Element<'_>, property: &str, diagnostic: Diagnostic) {
        self.add(located(element, property, diagnostic));
    }

    /// Reports something that works only in JMeter. It is an error, or a warning if the user allows unsupported elements.
    pub(crate) fn add_unsupported(&mut self, mut diagnostic: Diagnostic) {
        if self.allow_unsupported {
            diagnostic.severity = Severity::Warning;
            diagnostic.hint = Some("left out of the run because of --allow-unsupported".into());
        }
        self.add(diagnostic);
    }

    /// Reports an element that is not supported.
    pub(crate) fn unsupported_element(&mut self, element: Element<'_>, refused: Refused) {
        let kind = if element.kind().is_empty() { element.tag() } else { element.kind() };
        let finding =
            Diagnostic::error("unsupported-element", format!("the element {kind} is not supported"));
        let hint = match refused.why {
            "" => "disable the element, or run with --allow-unsupported".to_owned(),
            why => format!("{why}; --allow-unsupported runs the plan without it"),
        };
        self.add_unsupported(element.locate(finding).with_hint(hint).with_needs(refused.needs));
    }

    /// Reports an unsupported setting of a supported element.
    pub(crate) fn unsupported_setting(&mut self, element: Element<'_>, property: &str, what: &str) {
        self.refuse_setting(element, property, Diagnostic::error("unsupported-setting", what));
    }

    /// Reports a setting of a supported element that needs a JVM.
    pub(crate) fn setting_needs_java(&mut self, element: Element<'_>, property: &str, what: &str) {
        let finding = Diagnostic::error("unsupported-setting", what).with_needs(Needs::Java);
        self.refuse_setting(element, property, finding);
    }

    fn refuse_setting(&mut self, element: Element<'_>, property: &str, finding: Diagnostic) {
        self.add_unsupported(
            located(element, property, finding)
                .with_hint("change the setting, or run with --allow-unsupported to ignore it"),
        );
    }

    /// Adds a warning, which does not prevent the plan from running.
    pub(crate) fn warn(&mut self, element: Element<'_>, code: &'static str, message: impl Into<String>) {
        self.add(element.locate(Diagnostic::warning(code, message.into())));
    }

    /// Reports that the constructor of an element rejected its settings.
    pub(crate) fn refuse(&mut self, element: Element<'_>, refusal: &Refusal) {
        let message = format!("the element {} {}", element.kind(), refusal.message);
        // The code of a mistake in the plan differs from that of an unsupported setting.
        let code = match refusal.kind {
            RefusalKind::Unsupported | RefusalKind::NeedsJava => "refused-element",
            RefusalKind::MissingFile => "missing-file",
            RefusalKind::Invalid => "invalid-element",
        };
        let mut finding = element.locate(Diagnostic::error(code, message));
        if refusal.kind == RefusalKind::NeedsJava {
            finding = finding.with_needs(Needs::Java);
        }
        if let Some(hint) = refusal.hint {
            finding = finding.with_hint(hint);
        }
        match refusal.kind {
            RefusalKind::Unsupported | RefusalKind::NeedsJava => self.add_unsupported(finding),
            RefusalKind::MissingFile | RefusalKind::Invalid => self.add(finding),
        }
    }
}

/// Adds the position of a property to a finding, or that of the element if it has no such property.
pub(crate) fn located(element: Element<'_>, property: &str, finding: Diagnostic) -> Diagnostic {
    match element.property(property) {
        Some(property) => property.locate(finding),
        None => element.locate(finding),
    }
}
