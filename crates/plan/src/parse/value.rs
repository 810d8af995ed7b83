//! Assembles the text of a property from its pieces.

use std::ops::Range;

use busyhour_diagnostic::{Diagnostic, Severity};
use memchr::memmem;

use super::builder::{Builder, Document, Open, OpenKind};
use crate::findings::{quoted, shortened};
use crate::tree::{PropertyId, PropertyKind, is_special_property};
use crate::xml;

impl Builder<'_> {
    /// Handles text or, if `has_references` is false, the content of a CDATA section.
    pub(super) fn characters(&mut self, range: Range<usize>, has_references: bool) {
        let text = self.text;
        let raw = &text[range.clone()];
        let piece = if !has_references {
            xml::normalize_line_ends(raw)
        } else if memchr::memchr(b'&', raw.as_bytes()).is_none() {
            xml::resolve(raw, false, |_| {})
        } else {
            let (owner, findings, declared) = (self.owner(), &mut self.findings, self.entities_declared);
            xml::resolve(raw, false, |problem| findings.text_problem(range.start, problem, declared, owner))
        };
        if has_references && let Some(at) = memmem::find(raw.as_bytes(), b"]]>") {
            let owner = self.owner();
            self.findings.add(range.start + at, 3, owner, Severity::Warning, || {
                Diagnostic::warning("jmx-xml", "`]]>` occurs in text")
                    .with_cause("XML forbids it there; JMeter would not load the plan")
                    .with_hint("write ]]&gt;")
            });
        }
        match self.stack.last_mut() {
            // Text after the first inner tag is not part of the value, as in JMeter.
            Some(open @ Open { what: OpenKind::Property(_), last_property: None, .. }) => {
                open.value.push(text, range, piece);
            }
            Some(_) => {}
            None if self.document == Document::End && !raw.trim().is_empty() => {
                self.report_ignored(&range, "content after the end of the plan");
                self.stopped = true;
            }
            None => {}
        }
    }

    pub(super) fn close_property(
        &mut self,
        id: PropertyId,
        open: Open,
        end: Range<usize>,
        self_closed: bool,
    ) {
        let is_reference = self.aliases.last().is_some_and(|&(alias, _)| alias == id);
        let data = &mut self.properties[id.0 as usize];
        data.span.len = end.end - data.span.offset;
        if is_reference {
            return;
        }
        // If there are inner tags, they contain the name and the value, and the text around them is only white space.
        if !(data.kind.nests_its_name() && data.first_child.is_some()) {
            if !self_closed {
                data.value.end = end.start as u32;
            }
            let mut text = open.value.into_slice();
            if self.is_url_encoded && data.kind == PropertyKind::String {
                text = xml::url_decoded(text, self.text);
            }
            data.text = text;
        }
        // For a number whose value is in an inner tag, the check is made when that tag is closed.
        if !data.kind.nests_its_name() {
            self.check_number(id);
        }
        if let Some(OpenKind::Element(element)) = self.stack.last().map(|open| open.what) {
            let is_special = is_special_property(self.properties[id.0 as usize].name.get(self.text));
            self.elements[element.index()].has_special_property |= is_special;
        }
        let above_id = match self.stack.last().map(|open| open.what) {
            Some(OpenKind::Property(above)) if self.properties[above.0 as usize].kind.nests_its_name() => {
                above
            }
            _ => return,
        };
        let data = self.properties[id.0 as usize].clone();
        let above = &mut self.properties[above_id.0 as usize];
        match xml::tag_at(self.text, data.span.offset) {
            "name" => above.name = data.text,
            "value" => {
                above.text = data.text;
                above.value = data.value;
                above.self_closed = data.self_closed;
                self.check_number(above_id);
            }
            _ => {}
        }
    }

    /// Reports a number that JMeter cannot convert while loading, which makes it reject the whole plan.
    fn check_number(&mut self, id: PropertyId) {
        let data = &self.properties[id.0 as usize];
        let text = data.text.get(self.text);
        if data.kind.accepts(text) {
            return;
        }
        let what = match data.kind {
            PropertyKind::Integer => "whole number of 32 bits",
            PropertyKind::Long => "whole number of 64 bits",
            _ => "number",
        };
        let (span, name) = (data.span, quoted(data.name.get(self.text)));
        let value = format!("`{}`", shortened(text));
        let is_expression = text.contains("${");
        let owner = self.owner();
        self.findings.error(span.offset, span.len, owner, || {
            let finding = Diagnostic::error(
                "jmx-number",
                format!("the property {name} is {value}, which is not a {what}"),
            )
            .with_cause("the tag requires a number; JMeter would not load the plan");
            if is_expression {
                finding.with_hint("write it as a <stringProp>, which may hold ${…}")
            } else {
                finding.with_hint("write a number")
            }
        });
    }
}
