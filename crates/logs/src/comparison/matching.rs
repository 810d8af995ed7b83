//! Finds the templates of a run among those of the baseline.

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::templates::{MinerSettings, TemplateMiner};

/// Groups of the two logs that count the same template or trace.
pub(super) struct Pair<'a> {
    pub(super) baseline: Vec<&'a GroupCounts>,
    pub(super) run: Vec<&'a GroupCounts>,
}

/// Joins templates that are equal apart from `<*>`, or similar enough that the miner would have grouped them.
///
/// One log may contain `user <*> failed`, and the other `user ann failed` and `user bob failed`. These three are then one pair.
pub(super) fn match_templates<'a>(baseline: &'a [GroupCounts], run: &'a [GroupCounts]) -> Vec<Pair<'a>> {
    let mut index = TemplateMiner::new(MinerSettings {
        templates_max: usize::MAX,
        leaf_templates_max: usize::MAX,
        ..MinerSettings::default()
    });
    for group in baseline {
        index.insert_template(&group.text);
    }
    let mut components = Components::new(baseline.len() + run.len());
    for (at, group) in run.iter().enumerate() {
        for found in index.find_templates(&group.text) {
            components.join(found.index(), baseline.len() + at);
        }
    }
    let mut pairs: FxHashMap<usize, Pair<'a>> = FxHashMap::default();
    let mut order = Vec::new();
    for at in 0..baseline.len() + run.len() {
        let root = components.root(at);
        let pair = pairs.entry(root).or_insert_with(|| {
            order.push(root);
            Pair { baseline: Vec::new(), run: Vec::new() }
        });
        match at.checked_sub(baseline.len()) {
            None => pair.baseline.push(&baseline[at]),
            Some(at) => pair.run.push(&run[at]),
        }
    }
    order.into_iter().filter_map(|root| pairs.remove(&root)).collect()
}

/// Joins groups with equal texts.
pub(super) fn match_equal<'a>(baseline: &'a [GroupCounts], run: &'a [GroupCounts]) -> Vec<Pair<'a>> {
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    let sides = baseline.iter().map(|group| (group, true)).chain(run.iter().map(|group| (group, false)));
    for (group, is_baseline) in sides {
        let place = *places.entry(&group.text).or_insert_with(|| {
            pairs.push(Pair { baseline: Vec::new(), run: Vec::new() });
            pairs.len() - 1
        });
        if is_baseline { pairs[place].baseline.push(group) } else { pairs[place].run.push(group) }
    }
    pairs
}

/// Disjoint sets (union by linking to the smaller number, with path halving).
struct Components(Vec<usize>);

impl Components {
    fn new(elements: usize) -> Components {
        Components((0..elements).collect())
    }

    fn root(&mut self, mut element: usize) -> usize {
        while self.0[element] != element {
            self.0[element] = self.0[self.0[element]];
            element = self.0[element];
        }
        element
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
