//! References within the file.
//!
//! JMeter's writer puts a property that occurs twice only once into the file, and the second time a
//! `reference` with the way from there to the first: `../../collectionProp[2]/stringProp`. Each `..` is
//! one tag up, each name the first (or `[n]`, the n-th) tag of this name below.

use busyhour_diagnostic::Diagnostic;

use super::builder::{Builder, What};
use crate::findings::shortened;
use crate::slice::Slice;
use crate::tree::PropertyId;
use crate::xml;

/// How many properties all references of a file may pass on their ways and repeat at their ends.
/// Honest files have a few; without a bound a made-up one could cost the square of its size.
const STEPS_MAX: u32 = 20_000_000;

impl Builder<'_> {
    /// Makes the property `id`, which is on top of the stack, the same as the one it refers to.
    pub(super) fn follow_reference(&mut self, id: PropertyId, reference: &Slice) {
        let way = reference.get(self.text);
        if let Some(target) =
            self.referred(way).filter(|&target| target != id && self.may_be_repeated(target))
        {
            let from = self.properties[target.0 as usize].clone();
            let data = &mut self.properties[id.0 as usize];
            (data.name, data.kind) = (from.name, from.kind);
            (data.text, data.first_child) = (from.text, from.first_child);
            self.aliases.push((id, target));
            return;
        }
        let span = self.properties[id.0 as usize].span;
        let owner = self.owner();
        self.findings.error(span.offset, span.len, owner, || {
            Diagnostic::error("jmx-reference", format!("the reference `{}` leads nowhere", shortened(way)))
                .with_hint("write the property itself in its place")
        });
    }

    /// Whether a property is small and holds no references itself: references to references to … would
    /// expand to a tree of any size.
    fn may_be_repeated(&mut self, target: PropertyId) -> bool {
        let mut open: Vec<_> = self.properties[target.0 as usize].first_child.into_iter().collect();
        while let Some(id) = open.pop() {
            self.reference_steps += 1;
            let is_alias = self.aliases.binary_search_by_key(&id, |&(alias, _)| alias).is_ok();
            if is_alias || self.reference_steps > STEPS_MAX {
                return false;
            }
            let data = &self.properties[id.0 as usize];
            open.extend(data.first_child.into_iter().chain(data.next));
        }
        true
    }

    /// The property at the end of the way from the top of the stack.
    fn referred(&mut self, way: &str) -> Option<PropertyId> {
        let mut up = 0;
        let mut rest = way;
        while let Some(shorter) = rest.strip_prefix("../") {
            rest = shorter;
            up += 1;
        }
        let place = self.stack.len().checked_sub(1 + up)?;
        let mut next = match self.stack.get(place)?.what {
            What::Element(id) => self.elements[id.index()].first_property,
            What::Property(id) => self.properties[id.0 as usize].first_child,
            _ => None,
        };
        let mut found = None;
        for step in rest.split('/') {
            let (tag, number) = match step.split_once('[') {
                Some((tag, number)) => (tag, number.strip_suffix(']')?.parse::<u32>().ok()?),
                None => (step, 1),
            };
            let mut left = number;
            loop {
                let id = next?;
                self.reference_steps += 1;
                if self.reference_steps > STEPS_MAX {
                    return None;
                }
                let data = &self.properties[id.0 as usize];
                left = left.checked_sub(u32::from(xml::tag_at(self.text, data.span.offset) == tag))?;
                if left == 0 {
                    (found, next) = (Some(id), data.first_child);
                    break;
                }
                next = data.next;
            }
        }
        // Something still open cannot be meant: it would be inside of itself.
        let is_open = |id: PropertyId| {
            self.stack.iter().any(|open| matches!(open.what, What::Property(other) if other == id))
        };
        found.filter(|&id| !is_open(id))
    }
}
