//! Changes values, and writes the file with everything else unchanged.

use busyhour_diagnostic::Span;

use crate::edits::ADDED_TAG;
use crate::edits::Added;
use crate::slice::Slice;
use crate::test_plan::TestPlan;
use crate::tree::{ElementId, PropertyData, PropertyId, PropertyKind, is_special_property};
use crate::xml;

/// Why a plan cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The property is a collection, element, map or object, or contains tags.
    #[error("the property {name} of line {line} is a structure, not a text")]
    NotText {
        /// The name of the property.
        name: String,
        /// The line in which the property begins.
        line: u32,
    },
    /// The element's tags are damaged, so there is no place for another property.
    #[error("the element of line {line} has no end tag")]
    Damaged {
        /// The line in which the element begins.
        line: u32,
    },
    /// The property is a number, but the new text is not, so its tag would change. The file has references that count the
    /// siblings with the same tag.
    #[error(
        "the property {name} of line {line} must stay a number: references in the file count tags of its kind"
    )]
    Counted {
        /// The name of the property.
        name: String,
        /// The line in which the property begins.
        line: u32,
    },
    /// The file contains bytes that are not text and would be lost.
    #[error("the file is not valid {encoding}, so it cannot be written again with a change")]
    NotReversible {
        /// The encoding that it was read with.
        encoding: &'static str,
    },
}

impl TestPlan {
    /// Sets a property of an element; adds a `stringProp` if the element has no property with this name.
    ///
    /// # Errors
    /// The property is a structure, the element has no end tag, or the file cannot be encoded again.
    ///
    /// # Panics
    /// If the element belongs to another, longer plan.
    pub fn set_text(&mut self, element: ElementId, name: &str, text: &str) -> Result<(), EditError> {
        match self.element(element).property(name).map(|property| property.id()) {
            Some(property) => self.set_value(property, text),
            None => self.add_property(element, name, text),
        }
    }

    /// Sets the text of a property, which may be nested in another one.
    ///
    /// If a number is set to another text, such as `${…}`, it becomes a `stringProp`, because JMeter would not load it
    /// otherwise.
    ///
    /// # Errors
    /// The property is a structure, or the file cannot be encoded again.
    ///
    /// # Panics
    /// If the property belongs to another, longer plan.
    pub fn set_value(&mut self, property: PropertyId, text: &str) -> Result<(), EditError> {
        self.check_reversible()?;
        let data = &self.properties[property.0 as usize];
        let has_text = match data.kind {
            PropertyKind::Double | PropertyKind::Float => true,
            PropertyKind::Collection | PropertyKind::Element | PropertyKind::Map | PropertyKind::Object => {
                false
            }
            _ => data.first_child.is_none(),
        };
        if !has_text {
            let name = data.name.get(&self.text).to_owned();
            return Err(EditError::NotText { name, line: data.span.line });
        }
        let must_change = !data.kind.accepts(text);
        if must_change && !self.aliases.is_empty() {
            let name = data.name.get(&self.text).to_owned();
            return Err(EditError::Counted { name, line: data.span.line });
        }
        if data.span.len > 0 {
            self.edits.changed.insert(data.span.offset as u32, property);
        }
        let data = &mut self.properties[property.0 as usize];
        if must_change {
            data.kind = PropertyKind::String;
        }
        data.text = Slice::Owned(text.into());
        // Properties that refer to this one change with it. If this property was itself a reference, it is now written in
        // full.
        self.aliases.retain(|&(alias, _)| alias != property);
        for place in 0..self.aliases.len() {
            let (alias, target) = self.aliases[place];
            if target == property {
                self.properties[alias.0 as usize].text = Slice::Owned(text.into());
            }
        }
        Ok(())
    }

    fn add_property(&mut self, element: ElementId, name: &str, text: &str) -> Result<(), EditError> {
        self.check_reversible()?;
        let data = &self.elements[element.index()];
        let Span { line, column, .. } = data.span;
        let end_tag = if data.self_closed { "/>" } else { "</" };
        let place = if data.self_closed { data.content_start - 2 } else { data.content_end };
        // In a damaged start tag, the end that the element's span indicates may be missing.
        if !self.text[place as usize..].starts_with(end_tag) {
            return Err(EditError::Damaged { line });
        }
        let property = PropertyId(self.properties.len() as u32);
        let last = self.element(element).properties().last().map(|last| last.id());
        self.properties.push(PropertyData {
            span: Span { line, column, offset: place as usize, len: 0 },
            name: Slice::Owned(name.into()),
            text: Slice::Owned(text.into()),
            value: place..place,
            self_closed: false,
            kind: PropertyKind::String,
            first_child: None,
            next: None,
        });
        self.elements[element.index()].has_special_property |= is_special_property(name);
        match last {
            Some(last) => self.properties[last.0 as usize].next = Some(property),
            None => self.elements[element.index()].first_property = Some(property),
        }
        let added =
            self.edits.added.entry(place).or_insert_with(|| Added { element, properties: Vec::new() });
        added.properties.push(property);
        Ok(())
    }

    fn check_reversible(&mut self) -> Result<(), EditError> {
        let is_reversible = match (self.edits.is_reversible, &self.original) {
            (Some(known), _) => known,
            (None, Some(original)) => original.is_reversible(&self.text),
            (None, None) => true,
        };
        self.edits.is_reversible = Some(is_reversible);
        if is_reversible { Ok(()) } else { Err(EditError::NotReversible { encoding: self.encoding() }) }
    }

    /// Whether the plan was changed since it was read.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        !self.edits.changed.is_empty() || !self.edits.added.is_empty()
    }

    /// Returns the bytes of the file: those that were read, with the changed values in their places.
    ///
    /// This works for damaged files and any encoding; everything that was not edited is unchanged byte for byte.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        if !self.is_edited() {
            return match &self.original {
                Some(original) => original.bytes.to_vec(),
                None => self.text.as_bytes().to_vec(),
            };
        }
        let text = self.apply_edits();
        match &self.original {
            Some(original) => original.encode(&text),
            None => text.into_bytes(),
        }
    }

    /// Returns the source with the edits applied.
    fn apply_edits(&self) -> String {
        let mut patches: Vec<(usize, usize, String)> = Vec::new();
        for &property in self.edits.changed.values() {
            let data = &self.properties[property.0 as usize];
            let value = self.encoded(data.text.get(&self.text), data.kind == PropertyKind::String, false);
            let was = PropertyKind::of_tag(xml::tag_at(&self.text, data.span.offset));
            let was_reference = xml::attribute_at(&self.text, data.span.offset, "reference").is_some();
            if was != data.kind || was_reference {
                let name = self.encoded(data.name.get(&self.text), true, true);
                let property = format!("<{ADDED_TAG} name=\"{name}\">{value}</{ADDED_TAG}>");
                patches.push((data.span.offset, data.span.end(), property));
                continue;
            }
            let value = if data.self_closed {
                let start = self.text[..data.value.start as usize].rfind('<').unwrap_or(0);
                format!(">{value}</{}>", xml::tag_at(&self.text, start))
            } else {
                value
            };
            patches.push((data.value.start as usize, data.value.end as usize, value));
        }
        for (&place, added) in &self.edits.added {
            let (place, data) = (place as usize, &self.elements[added.element.index()]);
            let mut inserted = String::new();
            for property in &added.properties {
                let property = &self.properties[property.0 as usize];
                let name = self.encoded(property.name.get(&self.text), true, true);
                let value = self.encoded(property.text.get(&self.text), true, false);
                inserted.push_str(&format!("<{ADDED_TAG} name=\"{name}\">{value}</{ADDED_TAG}>"));
            }
            let end = if data.self_closed {
                inserted = format!(">{inserted}</{}>", data.tag.get(&self.text));
                place + 2
            } else {
                place
            };
            patches.push((place, end, inserted));
        }
        // A property may end at the position where another one is inserted. Sorted by start and end, the patches never
        // overlap.
        patches.sort_by_key(|&(start, end, _)| (start, end));
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut at = 0;
        for (start, end, patch) in patches {
            text.push_str(&self.text[at..start]);
            text.push_str(&patch);
            at = end;
        }
        text.push_str(&self.text[at..]);
        text
    }

    /// Encodes a text as this file does: URL-encoded in version 1.0, otherwise with XML references.
    fn encoded(&self, text: &str, may_be_url_encoded: bool, is_attribute: bool) -> String {
        if may_be_url_encoded && self.version() == Some("1.0") {
            return xml::url_encoded(text);
        }
        xml::escape(text, is_attribute)
    }
}
