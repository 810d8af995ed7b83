//! References within the file.
//!
//! JMeter's writer puts a property that occurs twice only once into the file, and the second time a
//! `reference` with the way from there to the first: `../../collectionProp[2]/stringProp`. Each `..` is
//! one tag up, each name the first (or `[n]`, the n-th) tag of this name below. A way may lead to a property of another
//! element: `../../../HTTPSamplerProxy/elementProp[2]/collectionProp`.

use busyhour_diagnostic::Diagnostic;

use super::builder::{Builder, What, is_tree_tag};
use crate::findings::shortened;
use crate::slice::Slice;
use crate::tree::{ElementId, PropertyId};
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
        let mut here = match self.stack.get(place)?.what {
            What::Tree(tree) => Place::Tree(tree.parent),
            What::Element(id) => Place::Element(id),
            What::Property(id) => Place::Property(id),
            What::Plan { .. } | What::Skipped => return None,
        };
        for step in rest.split('/') {
            here = self.step(here, step)?;
        }
        let Place::Property(found) = here else { return None };
        // Something still open cannot be meant: it would be inside of itself.
        let is_open =
            self.stack.iter().any(|open| matches!(open.what, What::Property(other) if other == found));
        (!is_open).then_some(found)
    }

    /// One step of a way down: `name`, or `name[n]` for the n-th of this name.
    fn step(&mut self, here: Place, step: &str) -> Option<Place> {
        let (tag, number) = match step.split_once('[') {
            Some((tag, number)) => (tag, number.strip_suffix(']')?.parse::<usize>().ok()?),
            None => (step, 1),
        };
        let before = number.checked_sub(1)?;
        match here {
            Place::Tree(parent) => self.step_in_tree(parent, tag, before),
            Place::Element(id) => self.property_of_tag(self.elements[id.index()].first_property, tag, before),
            Place::Property(id) => {
                self.property_of_tag(self.properties[id.0 as usize].first_child, tag, before)
            }
        }
    }

    /// An element of a tree, or the tree behind one.
    fn step_in_tree(&mut self, parent: Option<ElementId>, tag: &str, before: usize) -> Option<Place> {
        let members = match parent {
            Some(parent) => self.elements[parent.index()].children.as_slice(),
            None => self.roots.as_slice(),
        };
        if is_tree_tag(tag) {
            // Each element has a tree behind it.
            return members.get(before).map(|&id| Place::Tree(Some(id)));
        }
        let left = STEPS_MAX.saturating_sub(self.reference_steps) as usize;
        let has_tag = |id: &&ElementId| self.elements[id.index()].tag.get(self.text) == tag;
        let found = members.iter().take(left).filter(has_tag).nth(before).copied();
        self.reference_steps = self.reference_steps.saturating_add(members.len().min(left) as u32);
        found.map(Place::Element)
    }

    /// The property with this tag that has `before` others in front, among `first` and its siblings.
    fn property_of_tag(&mut self, first: Option<PropertyId>, tag: &str, before: usize) -> Option<Place> {
        let mut next = first;
        let mut left = before;
        loop {
            let id = next?;
            self.reference_steps += 1;
            if self.reference_steps > STEPS_MAX {
                return None;
            }
            let data = &self.properties[id.0 as usize];
            if xml::tag_at(self.text, data.span.offset) == tag {
                match left.checked_sub(1) {
                    None => return Some(Place::Property(id)),
                    Some(less) => left = less,
                }
            }
            next = data.next;
        }
    }
}

/// Where a way is.
#[derive(Clone, Copy)]
enum Place {
    /// Among the children of an element, or the roots of the plan.
    Tree(Option<ElementId>),
    Element(ElementId),
    Property(PropertyId),
}
