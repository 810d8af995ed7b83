//! JMeter's scoping rule: which elements apply to a sampler.
//!
//! JMeter follows the path from a sampler up to its thread group, level by level. The first level contains the children
//! of the sampler, the next level the children of its controller, and so on. The last levels contain the children of
//! the thread group, and the elements directly below the test plan.

use std::rc::Rc;

use busyhour_plan::Element;

use crate::elements::{Role, role};

/// The path from a thread group down to an element, and the elements along this path that can be in the scope of a sampler.
#[derive(Clone, Debug)]
pub(crate) struct Stack<'p> {
    /// The elements of the path, thread group first.
    pub(crate) path: Vec<Element<'p>>,
    /// Enabled elements directly below the test plan that are not thread groups.
    pub(crate) plan_level: Rc<[Element<'p>]>,
    /// For each element of the path, its children that can be in the scope of a sampler. They are computed once,
    /// because a plan may have thousands of samplers in one controller.
    scoped: Vec<Rc<[Element<'p>]>>,
}

/// Enabled elements below `element` that can be in the scope of a sampler.
fn scoped<'p>(element: Element<'p>) -> Rc<[Element<'p>]> {
    let acts =
        |role| matches!(role, Role::Sampler(_) | Role::Controller(_) | Role::Group(_) | Role::Fragment);
    element.children().filter(|child| child.enabled() && !acts(role(*child))).collect()
}

impl<'p> Stack<'p> {
    /// The stack of a thread group.
    pub(crate) fn for_group(group: Element<'p>, plan_level: &[Element<'p>]) -> Self {
        Self { path: vec![group], plan_level: plan_level.into(), scoped: vec![scoped(group)] }
    }

    /// The stack with one more element below.
    pub(crate) fn with(&self, element: Element<'p>) -> Self {
        let mut below = self.clone();
        below.path.push(element);
        below.scoped.push(scoped(element));
        below
    }

    /// The stack of the element at this index of the path.
    pub(crate) fn up_to(&self, at: usize) -> Self {
        let mut above = self.clone();
        above.path.truncate(at + 1);
        above.scoped.truncate(at + 1);
        above
    }

    /// The levels, innermost first, each with its elements in plan order.
    fn levels(&self) -> impl Iterator<Item = Vec<Element<'p>>> + '_ {
        self.scoped.iter().enumerate().rev().map(|(depth, scoped)| {
            let mut level = scoped.to_vec();
            if depth == 0 {
                level.extend(self.plan_level.iter().copied());
            }
            level
        })
    }

    /// All elements in scope, innermost level first: the order of configs, listeners and timers.
    pub(crate) fn nearest_first(&self) -> Vec<Element<'p>> {
        self.levels().flatten().collect()
    }

    /// All elements in scope, outermost level first: the order of pre-processors, post-processors and assertions.
    pub(crate) fn outermost_first(&self) -> Vec<Element<'p>> {
        let mut levels: Vec<_> = self.levels().collect();
        levels.reverse();
        levels.into_iter().flatten().collect()
    }
}
