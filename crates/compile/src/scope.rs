//! Which elements are in the scope of another: JMeter's scoping rule.
//!
//! JMeter looks at the path from a sampler up to its thread group, level by level: first the children of the sampler,
//! then those of its controller, and so on, last those of the thread group, after which come the elements of the test
//! plan itself.

use std::rc::Rc;

use busyhour_plan::Element;

use crate::elements::{Role, role};

/// The path from a thread group down to an element, and its siblings.
#[derive(Clone, Debug)]
pub(crate) struct Stack<'p> {
    /// Thread group first.
    pub(crate) path: Vec<Element<'p>>,
    /// Enabled elements directly under the test plan that are no thread groups.
    pub(crate) plan_level: Rc<[Element<'p>]>,
    /// What the elements of the path hold for others, as long as the path. Looked up once: a plan may have thousands
    /// of samplers side by side.
    held: Vec<Rc<[Element<'p>]>>,
}

/// Enabled elements below `element` that can be in the scope of a sampler.
fn held<'p>(element: Element<'p>) -> Rc<[Element<'p>]> {
    let acts =
        |role| matches!(role, Role::Sampler(_) | Role::Controller(_) | Role::Group(_) | Role::Fragment);
    element.children().filter(|child| child.enabled() && !acts(role(*child))).collect()
}

impl<'p> Stack<'p> {
    /// The stack of a thread group.
    pub(crate) fn of_group(group: Element<'p>, plan_level: &[Element<'p>]) -> Self {
        Self { path: vec![group], plan_level: plan_level.into(), held: vec![held(group)] }
    }

    /// With one more element below.
    pub(crate) fn with(&self, element: Element<'p>) -> Self {
        let mut below = self.clone();
        below.path.push(element);
        below.held.push(held(element));
        below
    }

    /// The stack of the element at this place of the path.
    pub(crate) fn up_to(&self, at: usize) -> Self {
        let mut above = self.clone();
        above.path.truncate(at + 1);
        above.held.truncate(at + 1);
        above
    }

    /// The levels, nearest first, each with its elements in the plan's order.
    fn levels(&self) -> impl Iterator<Item = Vec<Element<'p>>> + '_ {
        self.held.iter().enumerate().rev().map(|(depth, held)| {
            let mut level = held.to_vec();
            if depth == 0 {
                level.extend(self.plan_level.iter().copied());
            }
            level
        })
    }

    /// Everything in scope, nearest level first: the order of configs, listeners and timers.
    pub(crate) fn nearest_first(&self) -> Vec<Element<'p>> {
        self.levels().flatten().collect()
    }

    /// Everything in scope, outermost level first: the order of pre-processors, post-processors and assertions.
    pub(crate) fn outermost_first(&self) -> Vec<Element<'p>> {
        let mut levels: Vec<_> = self.levels().collect();
        levels.reverse();
        levels.into_iter().flatten().collect()
    }
}
