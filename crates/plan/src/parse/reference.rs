//! References within the file.
//!
//! If a property occurs twice, JMeter's writer writes it only once. In place of the second occurrence, it writes a
//! `reference` with the path to the first one: `../../collectionProp[2]/stringProp`. Each `..` is one level up. Each name
//! selects the first tag with this name below (or the n-th, with `[n]`). A path may refer to a property of another element:
//! `../../../HTTPSamplerProxy/elementProp[2]/collectionProp`.

use busyhour_diagnostic::Diagnostic;

use super::builder::{Builder, OpenKind, is_tree_tag};
use crate::findings::shortened;
use crate::slice::Slice;
use crate::tree::{ElementId, PropertyId};
use crate::xml;

/// Maximum number of properties that all references of a file may visit along their paths and copy at their targets. Real
/// files need few; without a limit, a malicious file could take time quadratic in its size.
const STEPS_MAX: u32 = 20_000_000;

impl Builder<'_> {
    /// Copies the referenced property to the property `id`, which is on top of the stack.
    pub(super) fn follow_reference(&mut self, id: PropertyId, reference: &Slice) {
        let path = reference.get(self.text);
        if let Some(target) =
            self.resolve_path(path).filter(|&target| target != id && self.can_be_copied(target))
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
            Diagnostic::error(
                "jmx-reference",
                format!("the reference `{}` cannot be resolved", shortened(path)),
            )
            .with_hint("replace it with the property itself")
        });
    }

    /// Whether a property is small and contains no references itself. References to references could expand to a tree of any
    /// size.
    fn can_be_copied(&mut self, target: PropertyId) -> bool {
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

    /// Returns the property at the end of a path that starts at the top of the stack.
    fn resolve_path(&mut self, path: &str) -> Option<PropertyId> {
        let mut up = 0;
        let mut rest = path;
        while let Some(shorter) = rest.strip_prefix("../") {
            rest = shorter;
            up += 1;
        }
        let place = self.stack.len().checked_sub(1 + up)?;
        let mut here = match self.stack.get(place)?.what {
            OpenKind::Tree(tree) => Position::Tree(tree.parent),
            OpenKind::Element(id) => Position::Element(id),
            OpenKind::Property(id) => Position::Property(id),
            OpenKind::Plan { .. } | OpenKind::Skipped => return None,
        };
        for step in rest.split('/') {
            here = self.follow_step(here, step)?;
        }
        let Position::Property(found) = here else { return None };
        // A property that is still open cannot be the target: it would contain itself.
        let is_open =
            self.stack.iter().any(|open| matches!(open.what, OpenKind::Property(other) if other == found));
        (!is_open).then_some(found)
    }

    /// Follows one step down: `name`, or `name[n]` for the n-th tag with this name.
    fn follow_step(&mut self, here: Position, step: &str) -> Option<Position> {
        let (tag, number) = match step.split_once('[') {
            Some((tag, number)) => (tag, number.strip_suffix(']')?.parse::<usize>().ok()?),
            None => (step, 1),
        };
        let before = number.checked_sub(1)?;
        match here {
            Position::Tree(parent) => self.step_in_tree(parent, tag, before),
            Position::Element(id) => {
                self.property_of_tag(self.elements[id.index()].first_property, tag, before)
            }
            Position::Property(id) => {
                self.property_of_tag(self.properties[id.0 as usize].first_child, tag, before)
            }
        }
    }

    /// Finds an element of a tree, or the tree that follows an element.
    fn step_in_tree(&mut self, parent: Option<ElementId>, tag: &str, before: usize) -> Option<Position> {
        let members = match parent {
            Some(parent) => self.elements[parent.index()].children.as_slice(),
            None => self.roots.as_slice(),
        };
        if is_tree_tag(tag) {
            // Each element is followed by a tree.
            return members.get(before).map(|&id| Position::Tree(Some(id)));
        }
        let left = STEPS_MAX.saturating_sub(self.reference_steps) as usize;
        let has_tag = |id: &&ElementId| self.elements[id.index()].tag.get(self.text) == tag;
        let found = members.iter().take(left).filter(has_tag).nth(before).copied();
        self.reference_steps = self.reference_steps.saturating_add(members.len().min(left) as u32);
        found.map(Position::Element)
    }

    /// Finds the property with this tag that is preceded by `before` others with this tag, among `first` and its
    /// siblings.
    fn property_of_tag(&mut self, first: Option<PropertyId>, tag: &str, before: usize) -> Option<Position> {
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
                    None => return Some(Position::Property(id)),
                    Some(less) => left = less,
                }
            }
            next = data.next;
        }
    }
}

/// The current position on a path.
#[derive(Clone, Copy)]
enum Position {
    /// Among the children of an element, or the roots of the plan.
    Tree(Option<ElementId>),
    Element(ElementId),
    Property(PropertyId),
}
