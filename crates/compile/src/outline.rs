//! The outline of a plan: its elements, whether they are supported, and their positions in the file.

use busyhour_plan::{Element, TestPlan};

use crate::elements::{Role, role};
use crate::open::arrivals_of;

/// One element of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineNode {
    /// Depth, 0 for the test plan.
    pub depth: usize,
    /// JMeter's class.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Line in the file.
    pub line: u32,
    /// Whether the element and all its ancestors are enabled.
    pub active: bool,
    /// Whether it is supported (or has no effect anyway).
    pub supported: bool,
    /// The arrivals of a thread group with an open workload, as written in the plan.
    pub arrivals: Option<String>,
}

/// The outline of a plan, in plan order.
pub fn outline(plan: &TestPlan) -> Vec<OutlineNode> {
    let mut nodes = Vec::new();
    for root in plan.roots() {
        collect(root, 0, true, &mut nodes);
    }
    nodes
}

fn collect(element: Element<'_>, depth: usize, active: bool, nodes: &mut Vec<OutlineNode>) {
    let active = active && element.enabled();
    let kind = if element.kind().is_empty() { element.tag() } else { element.kind() };
    nodes.push(OutlineNode {
        depth,
        kind: kind.to_owned(),
        name: element.name().to_owned(),
        line: element.span().line,
        active,
        supported: !matches!(role(element), Role::Unsupported(_)),
        arrivals: arrivals_of(element).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
    });
    for child in element.children() {
        collect(child, depth + 1, active, nodes);
    }
}
