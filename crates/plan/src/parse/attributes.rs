//! The attributes of start tags.

use std::borrow::Cow;
use std::ops::Range;

use busyhour_diagnostic::{Diagnostic, Severity};
use quick_xml::events::attributes::{AttrError, Attributes};

use super::builder::{Builder, Open, OpenKind};
use crate::findings::quoted;
use crate::slice::Slice;
use crate::tree::{ElementId, PropertyKind};
use crate::xml;

/// The element type of a header in old files, whose `Header.name` property has an outdated name.
const OLD_HEADER: &str = "org.apache.jmeter.protocol.http.control.Header";

/// The attributes of the start tag of an element.
#[derive(Default)]
pub(super) struct ElementAttributes {
    pub(super) name: Option<Slice>,
    pub(super) test_class: Option<Slice>,
    pub(super) gui_class: Option<Slice>,
    pub(super) enabled: Option<Slice>,
    pub(super) class: Option<Slice>,
}

impl Builder<'_> {
    /// Calls `found` with each attribute of a start tag, and reports invalid ones.
    fn attributes(&mut self, tag: &Range<usize>, mut found: impl FnMut(&[u8], Slice)) {
        let text = self.text;
        let content = xml::start_tag_at(text, tag.start);
        let mut attributes = Attributes::new(content, xml::tag_at(text, tag.start).len());
        // The parser's check for duplicates would take quadratic time.
        attributes.with_checks(false);
        let owner = self.owner();
        for attribute in &mut attributes {
            match attribute {
                Ok(attribute) => {
                    let Some(range) = xml::range_in(text, &attribute.value) else { continue };
                    let (findings, declared) = (&mut self.findings, self.entities_declared);
                    let value = xml::resolve(&text[range.clone()], true, |problem| {
                        findings.text_problem(range.start, problem, declared, owner);
                    });
                    found(
                        attribute.key.as_ref(),
                        match value {
                            Cow::Borrowed(_) => Slice::from_range(range),
                            Cow::Owned(value) => Slice::Owned(value.into()),
                        },
                    );
                }
                // The rest of a damaged tag is ignored.
                Err(_) if self.is_tag_damaged => break,
                Err(error) => {
                    self.is_tag_damaged = true;
                    let (AttrError::ExpectedEq(at)
                    | AttrError::ExpectedValue(at)
                    | AttrError::UnquotedValue(at)
                    | AttrError::ExpectedQuote(at, _)
                    | AttrError::Duplicated(at, _)) = error;
                    let offset = (tag.start + 1 + at).min(tag.end);
                    self.findings.error(offset, 1, owner, || {
                        let (what, hint) = match error {
                            AttrError::ExpectedEq(_) => ("an attribute has no `=`", r#"write name="value""#),
                            AttrError::ExpectedValue(_) => {
                                ("an attribute has no value", r#"write name="value""#)
                            }
                            AttrError::UnquotedValue(_) => {
                                ("the value of an attribute is not in quotes", r#"write name="value""#)
                            }
                            AttrError::ExpectedQuote(..) => (
                                "the value of an attribute has no closing quote",
                                "put the quote after the value",
                            ),
                            AttrError::Duplicated(..) => {
                                ("an attribute is given twice", "delete one of the two")
                            }
                        };
                        Diagnostic::error("jmx-xml", format!("{what}: {}", quoted(&text[tag.clone()])))
                            .with_hint(hint)
                    });
                }
            }
        }
    }

    pub(super) fn element_attributes(&mut self, tag: &Range<usize>, id: ElementId) -> ElementAttributes {
        let mut read = ElementAttributes::default();
        let mut is_doubled = false;
        self.attributes(tag, |key, value| {
            let slot = match key {
                b"testname" => &mut read.name,
                b"testclass" => &mut read.test_class,
                b"guiclass" => &mut read.gui_class,
                b"enabled" => &mut read.enabled,
                b"class" => &mut read.class,
                _ => return,
            };
            is_doubled |= slot.is_some();
            slot.get_or_insert(value);
        });
        if is_doubled {
            self.findings.error(tag.start, tag.len(), Some(id), || {
                Diagnostic::error("jmx-xml", "an attribute is given twice")
                    .with_cause("JMeter would not load the plan")
                    .with_hint("delete one of the two")
            });
        }
        if read.class.as_ref().is_some_and(|class| class.get(self.text).is_empty()) {
            // The tag is then the class, as for elements without the attribute.
            read.class = None;
            self.findings.error(tag.start, tag.len(), Some(id), || {
                Diagnostic::error("jmx-xml", "the attribute `class` is empty")
                    .with_cause("JMeter would not load the plan")
                    .with_hint("delete the attribute")
            });
        }
        if self.is_url_encoded {
            read.name = read.name.map(|name| xml::url_decoded(name, self.text));
        }
        if read.gui_class.is_none() && !self.is_tag_damaged {
            self.findings.add(tag.start, tag.len(), Some(id), Severity::Warning, || {
                Diagnostic::warning("jmx-guiclass", "the element has no `guiclass`")
                    .with_cause("JMeter would not load the plan without it")
            });
        }
        read
    }

    /// The `name` attribute of a property, and its `reference`.
    pub(super) fn property_attributes(&mut self, tag: &Range<usize>) -> (Option<Slice>, Option<Slice>) {
        let (mut name, mut reference) = (None, None);
        self.attributes(tag, |key, value| match key {
            b"name" => drop(name.get_or_insert(value)),
            b"reference" => drop(reference.get_or_insert(value)),
            _ => {}
        });
        (name.map(|name| self.current_name(name)), reference)
    }

    fn current_name(&mut self, mut name: Slice) -> Slice {
        if self.is_url_encoded {
            name = xml::url_decoded(name, self.text);
        }
        if name.get(self.text) == "TestElement.name" && self.is_in_old_header() {
            return Slice::Owned("Header.name".into());
        }
        name
    }

    /// Whether the innermost open tag is a header of an old file. Its attributes are read once, not for each
    /// property.
    fn is_in_old_header(&mut self) -> bool {
        let Some(Open { what: OpenKind::Property(above), is_old_header, .. }) = self.stack.last_mut() else {
            return false;
        };
        let above = &self.properties[above.0 as usize];
        *is_old_header.get_or_insert_with(|| {
            above.kind == PropertyKind::Element
                && xml::attribute_at(self.text, above.span.offset, "elementType").as_deref()
                    == Some(OLD_HEADER)
        })
    }

    /// The `version` and `jmeter` attributes of the plan.
    pub(super) fn plan_attributes(&mut self, tag: &Range<usize>) {
        let text = self.text;
        let (mut version, mut jmeter) = (None, None);
        self.attributes(tag, |key, value| match key {
            b"version" => version = Some(value.get(text).into()),
            b"jmeter" => jmeter = Some(value.get(text).into()),
            _ => {}
        });
        self.is_url_encoded = version.as_deref() == Some("1.0");
        self.version = version;
        self.jmeter_version = jmeter;
    }
}
