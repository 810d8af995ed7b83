//! The stacks of slow windows and of the others, merged into one tree.

use rustc_hash::FxHashMap;

use crate::record::StackRecord;

/// A frame with everything above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameNode {
    /// The frame; empty for the root.
    pub frame: String,
    /// Threads with this stack or one that continues it, over all dumps of slow windows.
    pub slow: u64,
    /// The same number over all dumps of the other windows.
    pub fast: u64,
    /// The nodes of the frames above, in the order of their names.
    pub children: Vec<u32>,
}

/// A tree of stacks. The first node is the root; a tree without nodes has no stacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameTree {
    /// The nodes; children come after their parents.
    pub nodes: Vec<FlameNode>,
}

impl FlameTree {
    /// The tree of stacks with their numbers of threads in slow windows and in the others.
    pub(crate) fn of(record: &StackRecord, stacks: impl Iterator<Item = (u32, u64, u64)>) -> FlameTree {
        let mut tree = FlameTree { nodes: vec![FlameNode::default()] };
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for (stack, slow, fast) in stacks {
            let mut frames: Vec<u32> = record.frames(stack).collect();
            frames.reverse();
            let mut at = 0;
            tree.add(at, slow, fast);
            for frame in frames {
                let next = tree.nodes.len() as u32;
                let node = *known.entry((at, frame)).or_insert(next);
                if node == next {
                    tree.nodes
                        .push(FlameNode { frame: record.text(frame).to_owned(), ..FlameNode::default() });
                    tree.nodes[at as usize].children.push(node);
                }
                tree.add(node, slow, fast);
                at = node;
            }
        }
        let names: Vec<String> = tree.nodes.iter().map(|node| node.frame.clone()).collect();
        for node in &mut tree.nodes {
            node.children.sort_unstable_by_key(|child| &names[*child as usize]);
        }
        tree
    }

    fn add(&mut self, node: u32, slow: u64, fast: u64) {
        let node = &mut self.nodes[node as usize];
        (node.slow, node.fast) = (node.slow + slow, node.fast + fast);
    }

    /// The root; `None` if there are no stacks.
    #[must_use]
    pub fn root(&self) -> Option<&FlameNode> {
        self.nodes.first()
    }

    /// The share of the threads of slow windows, and of the others, that have a node on their stack.
    #[must_use]
    pub fn shares(&self, node: &FlameNode) -> (f64, f64) {
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        self.root().map_or((0.0, 0.0), |root| (share(node.slow, root.slow), share(node.fast, root.fast)))
    }
}
