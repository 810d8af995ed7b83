//! Nested square brackets as a tree.

use super::stamps::stamps_before;
use crate::size::{SizeChange, change, number, unchanged};
use crate::stamp::LineStamp;

/// The deepest nesting that is read; HotSpot nests four levels. Deeper brackets belong to the last level.
const DEPTH_MAX: usize = 16;

/// The largest number of nodes of one event; further ones are ignored.
const NODES_MAX: usize = 1_000;

/// One pair of brackets and its content.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Node<'t> {
    /// The text before the first inner bracket.
    head: &'t str,
    /// The text after the last inner bracket, or the head if there is none.
    tail: &'t str,
    /// The stamps before the bracket.
    pub stamp: LineStamp,
    /// The first sizes outside inner brackets.
    pub sizes: Option<SizeChange>,
    /// The inner brackets.
    pub children: Vec<Node<'t>>,
}

impl<'t> Node<'t> {
    /// The name with its groups in round brackets: `GC pause (young)`.
    pub fn full_name(&self) -> &'t str {
        let text = self.head.trim_start();
        // `1 CMS-initial-mark`
        let text = text.trim_start_matches(|first: char| first.is_ascii_digit()).trim_start();
        let mut depth = 0_usize;
        let mut end = text.len();
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b':' | b',' | b'0'..=b'9' if depth == 0 => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        text[..end].trim_end()
    }

    /// The name without its groups: `GC pause`.
    pub fn name(&self) -> &'t str {
        let full = self.full_name();
        full.split('(').next().unwrap_or(full).trim_end()
    }

    /// The groups in round brackets after the name.
    pub fn groups(&self) -> impl Iterator<Item = &'t str> {
        groups(self.full_name())
    }

    /// The duration at the end, s: `, 0.0457646 secs` or `, 3.341 ms`.
    pub fn duration_s(&self) -> Option<f64> {
        let text = self.tail.trim_end();
        let (text, divisor) = match text.strip_suffix("ms") {
            Some(text) => (text, 1000.0),
            None => (text.strip_suffix("secs").or_else(|| text.strip_suffix("sec")).unwrap_or(text), 1.0),
        };
        let word = text.split_whitespace().next_back()?.trim_start_matches(',');
        let (value, rest) = number(word)?;
        (rest.is_empty() && word.contains(['.', ','])).then_some(value / divisor)
    }
}

/// The groups in round brackets of a name. A group may itself contain round brackets.
fn groups(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = rest.find('(')?;
        let mut depth = 0_usize;
        let end = rest[from..].bytes().position(|byte| {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        let group = &rest[from + 1..from + end];
        rest = &rest[from + end + 1..];
        Some(group)
    })
}

/// How much deeper a text is nested at its end than at its start.
pub(crate) fn depth_change(text: &str) -> i64 {
    text.bytes().fold(0, |depth, byte| match byte {
        b'[' => depth + 1,
        b']' => depth - 1,
        _ => depth,
    })
}

/// Reads the first pair of brackets of a text. `None` if the text has no brackets, or if the pair is not closed.
pub(crate) fn parse(text: &str) -> Option<Node<'_>> {
    let mut open: Vec<Node<'_>> = Vec::new();
    let (mut from, mut nodes, mut too_deep) = (0, 0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => {
                if open.len() >= DEPTH_MAX || nodes >= NODES_MAX {
                    too_deep += 1;
                    continue;
                }
                if let Some(node) = open.last_mut() {
                    node.add(&text[from..at]);
                }
                let stamp = stamps_before(&text[from..at], at - from).1;
                open.push(Node { stamp, ..Node::default() });
                nodes += 1;
                from = at + 1;
            }
            b']' if too_deep > 0 => too_deep -= 1,
            b']' => {
                let Some(mut node) = open.pop() else { continue };
                node.add(&text[from..at]);
                from = at + 1;
                match open.last_mut() {
                    Some(parent) => parent.children.push(node),
                    None => return Some(node),
                }
            }
            _ => {}
        }
    }
    None
}

impl<'t> Node<'t> {
    /// Adds text between inner brackets.
    fn add(&mut self, text: &'t str) {
        let is_head = self.children.is_empty();
        if is_head {
            self.head = text;
        }
        self.tail = text;
        if self.sizes.is_none() {
            // A name may contain digits in its groups.
            let from = if is_head { text.len() - text_after(text, self.full_name()).len() } else { 0 };
            self.sizes = first_sizes(&text[from..]);
        }
    }
}

fn text_after<'t>(text: &'t str, name: &str) -> &'t str {
    text.find(name).map_or(text, |at| &text[at + name.len()..])
}

/// The first sizes in a text.
fn first_sizes(text: &str) -> Option<SizeChange> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        if let Some((sizes, _)) = change(&text[at..]).or_else(|| unchanged(&text[at..])) {
            return Some(sizes);
        }
        at += bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
            .count();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_brackets_are_children() {
        let text = "[GC 2.5: [DefNew: 64575K->959K(64576K), 0.0457646 secs] 196016K->133633K(261184K), 0.0459067 secs]";
        let node = parse(text).unwrap();
        assert_eq!((node.name(), node.duration_s()), ("GC", Some(0.045_906_7)));
        assert_eq!(node.sizes.unwrap().before_kib, 196_016);
        let [young] = &node.children[..] else { panic!("{node:?}") };
        assert_eq!((young.name(), young.duration_s()), ("DefNew", Some(0.045_764_6)));
        assert_eq!(young.sizes.unwrap().capacity_kib, Some(64576));
    }

    #[test]
    fn names_have_groups() {
        let node =
            parse("[GC pause (G1 Evacuation Pause) (young) (to-space exhausted), 0,0032067 secs]").unwrap();
        assert_eq!(node.name(), "GC pause");
        assert_eq!(node.groups().collect::<Vec<_>>(), ["G1 Evacuation Pause", "young", "to-space exhausted"]);
        assert_eq!(node.duration_s(), Some(0.003_206_7));
        let node = parse("[1 CMS-initial-mark: 7664K(12288K)]").unwrap();
        assert_eq!((node.name(), node.sizes.unwrap().after_kib), ("CMS-initial-mark", 7664));
        let node = parse("[Full GC (System.gc()) 5K->3K(9K), 0.5 secs]").unwrap();
        assert_eq!(node.groups().collect::<Vec<_>>(), ["System.gc()"]);
    }

    #[test]
    fn unbalanced_and_deep_brackets_are_bounded() {
        assert_eq!(parse("[GC [DefNew"), None);
        assert_eq!(parse("GC"), None);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(&deep).is_some());
        let wide = format!("[GC {}]", "[a]".repeat(100_000));
        assert!(parse(&wide).unwrap().children.len() <= NODES_MAX);
    }
}
