//! One selection: its budget of steps, and the places of elements among their siblings.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use busyhour_slices::tick;

use super::super::limit::STEPS_FOR_TEXT;
use super::super::tree::{Id, ROOT, Tree};

/// An element's place among the elements below the same parent.
#[derive(Clone, Copy, Default)]
struct Place {
    /// From 0.
    at: usize,
    /// From 0, among those of the same name.
    at_of_type: usize,
    /// Elements below the parent, and those of the same name.
    count: usize,
    count_of_type: usize,
    previous: Option<Id>,
}

/// A selection that is under way.
pub(super) struct Search<'t> {
    pub(super) tree: &'t Tree,
    steps_left: Cell<u64>,
    is_over: Cell<bool>,
    places: OnceCell<Vec<Place>>,
}

impl<'t> Search<'t> {
    pub(super) fn new(tree: &'t Tree, steps: u64) -> Self {
        Self { tree, steps_left: Cell::new(steps), is_over: Cell::new(false), places: OnceCell::new() }
    }

    /// Takes steps from the budget; false when it is used up, and from then on.
    pub(super) fn spend(&self, steps: usize) -> bool {
        match self.steps_left.get().checked_sub(steps as u64) {
            Some(left) if !self.is_over.get() => {
                self.steps_left.set(left);
                tick(steps);
                true
            }
            _ => self.give_up(),
        }
    }

    /// The steps for a text that is compared or searched.
    pub(super) fn spend_text(&self, text: &str) -> bool {
        self.spend(text.len() / 16)
    }

    /// The steps for putting the text of an element together.
    pub(super) fn spend_below(&self, element: Id) -> bool {
        let mut stack = vec![element];
        while let Some(id) = stack.pop() {
            if !self.spend(STEPS_FOR_TEXT as usize) {
                return false;
            }
            stack.extend(&self.tree.nodes[id].children);
        }
        true
    }

    /// Ends the selection without a result.
    pub(super) fn give_up(&self) -> bool {
        self.is_over.set(true);
        false
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// The elements below an element, in the document's order; `None` when that takes too many steps.
    pub(super) fn below(&self, element: Id) -> Option<Vec<Id>> {
        let mut all = Vec::new();
        let mut stack: Vec<Id> = self.tree.nodes[element].children.iter().rev().copied().collect();
        while let Some(id) = stack.pop() {
            if !self.spend(1) {
                return None;
            }
            if self.tree.name(id).is_some() {
                all.push(id);
            }
            stack.extend(self.tree.nodes[id].children.iter().rev());
        }
        Some(all)
    }

    /// Elements before this one, below the same parent.
    pub(super) fn place(&self, element: Id) -> usize {
        self.places()[element].at
    }

    /// Elements of the same name before this one, below the same parent.
    pub(super) fn place_of_type(&self, element: Id) -> usize {
        self.places()[element].at_of_type
    }

    /// Elements below the same parent, this one counted.
    pub(super) fn count(&self, element: Id, of_type: bool) -> usize {
        let place = self.places()[element];
        if of_type { place.count_of_type } else { place.count }
    }

    /// The element before this one, below the same parent.
    pub(super) fn previous(&self, element: Id) -> Option<Id> {
        self.places()[element].previous
    }

    fn places(&self) -> &[Place] {
        self.places.get_or_init(|| {
            let mut places = vec![Place::default(); self.tree.nodes.len()];
            for parent in self.tree.with_descendants(ROOT) {
                let mut names: HashMap<&str, usize> = HashMap::new();
                let (mut at, mut previous) = (0, None);
                for child in self.tree.child_elements(parent) {
                    let of_type = names.entry(self.tree.name(child).unwrap_or_default()).or_default();
                    places[child] = Place { at, at_of_type: *of_type, previous, ..Place::default() };
                    *of_type += 1;
                    at += 1;
                    previous = Some(child);
                }
                for child in self.tree.child_elements(parent) {
                    places[child].count = at;
                    let name = self.tree.name(child).unwrap_or_default();
                    places[child].count_of_type = names.get(name).copied().unwrap_or_default();
                }
            }
            places
        })
    }
}
