//! What stands around an element: JMeter's scoping rule.
//!
//! JMeter looks at the path from a sampler up to its thread group, level by level: first the children of the sampler,
//! then those of its controller, and so on, last those of the thread group, after which come the elements of the test
//! plan itself.

use busyhour_plan::Element;

/// The path from a thread group down to an element, and what stands beside it.
#[derive(Clone, Debug)]
pub(crate) struct Stack<'p> {
    /// Thread group first.
    pub(crate) path: Vec<Element<'p>>,
    /// Enabled elements directly under the test plan that are no thread groups.
    pub(crate) plan_level: Vec<Element<'p>>,
}

impl<'p> Stack<'p> {
    /// The stack of a thread group.
    pub(crate) fn of_group(group: Element<'p>, plan_level: &[Element<'p>]) -> Self {
        Self { path: vec![group], plan_level: plan_level.to_vec() }
    }

    /// With one more element below.
    pub(crate) fn with(&self, element: Element<'p>) -> Self {
        let mut path = self.path.clone();
        path.push(element);
        Self { path, plan_level: self.plan_level.clone() }
    }

    /// The levels, nearest first, each with its elements in the plan's order.
    pub(crate) fn levels(&self) -> impl Iterator<Item = Vec<Element<'p>>> + '_ {
        self.path.iter().enumerate().rev().map(|(depth, element)| {
            let mut level: Vec<_> = element.children().filter(|child| child.enabled()).collect();
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
