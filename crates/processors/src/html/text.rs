//! The text of an element, as in jsoup.

use busyhour_limits::{Limit, count_exceeded};
use busyhour_slices::tick;

use super::limit::{STEPS_FOR_TEXT, STEPS_MAX, SelectLimit};
use super::tree::{Id, NodeKind, Tree};

/// Whether an element is a block, whose text is separated from the surrounding text.
#[rustfmt::skip]
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "html" | "head" | "body" | "frameset" | "script" | "noscript" | "style" | "meta" | "link" | "title" |
        "frame" | "noframes" | "section" | "nav" | "aside" | "hgroup" | "header" | "footer" | "p" | "h1" |
        "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "pre" | "div" | "blockquote" | "hr" | "address" |
        "figure" | "figcaption" | "form" | "fieldset" | "ins" | "del" | "dl" | "dt" | "dd" | "li" | "table" |
        "caption" | "thead" | "tfoot" | "tbody" | "colgroup" | "col" | "tr" | "th" | "td" | "video" |
        "audio" | "canvas" | "details" | "menu" | "plaintext" | "template" | "article" | "main" | "svg" |
        "math" | "center" | "dir" | "applet" | "marquee" | "listing"
    )
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\x0c' | '\r' | '\u{a0}')
}

/// Whether white space is preserved because of the element or one of five levels of ancestors, as in jsoup.
fn preserves_space(tree: &Tree, mut at: Option<Id>) -> bool {
    for _ in 0..6 {
        let Some(id) = at else { return false };
        if matches!(tree.name(id), Some("pre" | "plaintext" | "title" | "textarea")) {
            return true;
        }
        at = tree.parent_element(id);
    }
    false
}

/// The remaining steps for the texts of selected elements. It is needed because selected elements may contain one another.
pub(crate) struct TextBudget(pub(super) u64);

impl Default for TextBudget {
    fn default() -> Self {
        Self(STEPS_MAX)
    }
}

impl TextBudget {
    /// All text within an element.
    ///
    /// # Errors
    /// The budget is exhausted.
    pub(crate) fn element_text(&mut self, tree: &Tree, element: Id) -> Result<String, SelectLimit> {
        let mut stack = vec![element];
        while let Some(id) = stack.pop() {
            let text = match &tree.nodes[id].kind {
                NodeKind::Text(text) => text.len() as u64 / 16,
                _ => 0,
            };
            let Some(remaining) = self.0.checked_sub(text + STEPS_FOR_TEXT) else {
                count_exceeded(Limit::SelectorSteps);
                return Err(SelectLimit);
            };
            self.0 = remaining;
            tick((text + STEPS_FOR_TEXT) as usize);
            stack.extend(&tree.nodes[id].children);
        }
        Ok(element_text(tree, element))
    }
}

/// All text within an element, trimmed, with white space collapsed and blocks separated by a space.
pub(super) fn element_text(tree: &Tree, element: Id) -> String {
    let mut out = String::new();
    visit(tree, element, false, &mut out);
    busyhour_java::trim(&out).to_owned()
}

/// The text of an element without that of its child elements.
pub(super) fn own_text(tree: &Tree, element: Id) -> String {
    let mut out = String::new();
    for &child in &tree.nodes[element].children {
        match &tree.nodes[child].kind {
            NodeKind::Text(text) => append(tree, child, text, &mut out),
            NodeKind::Element { name, .. } if name == "br" && !out.ends_with(' ') => out.push(' '),
            _ => {}
        }
    }
    busyhour_java::trim(&out).to_owned()
}

/// All text within an element with unchanged white space.
pub(super) fn whole_text(tree: &Tree, element: Id) -> String {
    let mut out = String::new();
    for id in tree.with_descendants(element) {
        if let NodeKind::Text(text) = &tree.nodes[id].kind
            && !is_data(tree, id)
        {
            out.push_str(text);
        }
    }
    out
}

/// Whether a text node contains a script or style, which is not part of the text.
fn is_data(tree: &Tree, text: Id) -> bool {
    tree.nodes[text].parent.is_some_and(|parent| matches!(tree.name(parent), Some("script" | "style")))
}

/// Appends the text of a node. `text_follows` is true if its next sibling is a text or an inline element.
fn visit(tree: &Tree, id: Id, text_follows: bool, out: &mut String) {
    match &tree.nodes[id].kind {
        NodeKind::Text(text) if !is_data(tree, id) => append(tree, id, text, out),
        NodeKind::Text(_) | NodeKind::Comment(_) => {}
        NodeKind::Document => {
            visit_children(tree, id, out);
        }
        NodeKind::Element { name, .. } => {
            if !out.is_empty() && (is_block(name) || name == "br") && !ends_with_space(out) {
                out.push(' ');
            }
            visit_children(tree, id, out);
            if is_block(name) && !ends_with_space(out) && text_follows {
                out.push(' ');
            }
        }
    }
}

fn ends_with_space(out: &str) -> bool {
    out.ends_with(' ')
}

fn visit_children(tree: &Tree, id: Id, out: &mut String) {
    let children = &tree.nodes[id].children;
    for (at, &child) in children.iter().enumerate() {
        let text_follows = children.get(at + 1).is_some_and(|next| match &tree.nodes[*next].kind {
            NodeKind::Text(_) => true,
            NodeKind::Element { name, .. } => !is_block(name) && !name.contains('-'),
            _ => false,
        });
        visit(tree, child, text_follows, out);
    }
}

fn append(tree: &Tree, id: Id, text: &str, out: &mut String) {
    if preserves_space(tree, tree.nodes[id].parent) {
        out.push_str(text);
        return;
    }
    let mut after_space = ends_with_space(out);
    for character in text.chars() {
        if is_space(character) {
            if !after_space {
                out.push(' ');
            }
            after_space = true;
        } else if !matches!(character, '\u{200b}' | '\u{ad}') {
            out.push(character);
            after_space = false;
        }
    }
}
