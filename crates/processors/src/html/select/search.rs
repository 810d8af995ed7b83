//! The state of a selection: its budget of steps, and the positions of elements among their siblings.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use busyhour_slices::tick;

use super::super::limit::STEPS_FOR_TEXT;
use super::super::tree::{Id, ROOT, Tree};

/// The position of an element among the elements with the same parent.
#[derive(Clone, Copy, Default)]
struct SiblingPosition {
    /// Index among the siblings, from 0.
    index: usize,
    /// Index among the siblings of the same name, from 0.
    index_of_type: usize,
    /// Number of siblings, including this element.
    count: usize,
    /// Number of siblings of the same name, including this element.
    count_of_type: usize,
    previous: Option<Id>,
}

/// The state of a selection.
pub(super) struct Search<'t> {
    pub(super) tree: &'t Tree,
    remaining_steps: Cell<u64>,
    is_aborted: Cell<bool>,
    positions: OnceCell<Vec<SiblingPosition>>,
}

impl<'t> Search<'t> {
    pub(super) fn new(tree: &'t Tree, steps: u64) -> Self {
        Self {
            tree,
            remaining_steps: Cell::new(steps),
            is_aborted: Cell::new(false),
            positions: OnceCell::new(),
        }
    }

    /// Takes steps from the budget. Returns false once the budget is exhausted.
    pub(super) fn spend(&self, steps: usize) -> bool {
        match self.remaining_steps.get().checked_sub(steps as u64) {
            Some(remaining) if !self.is_aborted.get() => {
                self.remaining_steps.set(remaining);
                tick(steps);
                true
            }
            _ => self.abort(),
        }
    }

    /// Spends the steps for comparing or searching a text.
    pub(super) fn spend_text(&self, text: &str) -> bool {
        self.spend(text.len() / 16)
    }

    /// Spends the steps for collecting the text of an element.
    pub(super) fn spend_descendants(&self, element: Id) -> bool {
        let mut stack = vec![element];
        while let Some(id) = stack.pop() {
            if !self.spend(STEPS_FOR_TEXT as usize) {
                return false;
            }
            stack.extend(&self.tree.nodes[id].children);
        }
        true
    }

    /// Aborts the selection. Returns false, the result of the test that exceeded a limit.
    pub(super) fn abort(&self) -> bool {
        self.is_aborted.set(true);
        false
    }

    pub(super) fn is_aborted(&self) -> bool {
        self.is_aborted.get()
    }

    /// The descendant elements in document order; `None` if the budget is exhausted.
    pub(super) fn descendants(&self, element: Id) -> Option<Vec<Id>> {
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

    /// The index of the element among its siblings, from 0.
    pub(super) fn index(&self, element: Id) -> usize {
        self.positions()[element].index
    }

    /// The index of the element among its siblings of the same name, from 0.
    pub(super) fn index_of_type(&self, element: Id) -> usize {
        self.positions()[element].index_of_type
    }

    /// The number of siblings, including this element; with `of_type` only those of the same name.
    pub(super) fn count(&self, element: Id, of_type: bool) -> usize {
        let position = self.positions()[element];
        if of_type { position.count_of_type } else { position.count }
    }

    /// The preceding sibling element.
    pub(super) fn previous(&self, element: Id) -> Option<Id> {
        self.positions()[element].previous
    }

    fn positions(&self) -> &[SiblingPosition] {
        self.positions.get_or_init(|| {
            let mut positions = vec![SiblingPosition::default(); self.tree.nodes.len()];
            for parent in self.tree.with_descendants(ROOT) {
                let mut names: HashMap<&str, usize> = HashMap::new();
                let (mut index, mut previous) = (0, None);
                for child in self.tree.child_elements(parent) {
                    let of_type = names.entry(self.tree.name(child).unwrap_or_default()).or_default();
                    positions[child] = SiblingPosition {
                        index,
                        index_of_type: *of_type,
                        previous,
                        ..SiblingPosition::default()
                    };
                    *of_type += 1;
                    index += 1;
                    previous = Some(child);
                }
                for child in self.tree.child_elements(parent) {
                    positions[child].count = index;
                    let name = self.tree.name(child).unwrap_or_default();
                    positions[child].count_of_type = names.get(name).copied().unwrap_or_default();
                }
            }
            positions
        })
    }
}
