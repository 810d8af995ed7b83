//! Collapsed stacks: a line per stack, which speedscope and other tools read.

use std::fmt::Write as _;

use crate::flame::FlameTree;

/// The stacks of slow windows, or of the others: for each stack its frames from the root, separated by semicolons, and the number of
/// threads over all dumps.
#[must_use]
pub fn collapsed_stacks(tree: &FlameTree, is_slow: bool) -> String {
    let mut text = String::new();
    if tree.nodes.is_empty() {
        return text;
    }
    let count = |at: u32| {
        let node = &tree.nodes[at as usize];
        if is_slow { node.slow } else { node.fast }
    };
    // A node, and the length of the path before it.
    let mut open: Vec<(u32, usize)> = vec![(0, 0)];
    let mut path = String::new();
    while let Some((at, before)) = open.pop() {
        let node = &tree.nodes[at as usize];
        path.truncate(before);
        if !node.frame.is_empty() {
            if !path.is_empty() {
                path.push(';');
            }
            path.extend(node.frame.chars().map(|letter| if letter == ';' { ',' } else { letter }));
        }
        let own = count(at) - node.children.iter().map(|child| count(*child)).sum::<u64>();
        if own > 0 {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{path} {own}");
        }
        open.extend(node.children.iter().rev().map(|child| (*child, path.len())));
    }
    text
}
