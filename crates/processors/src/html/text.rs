//! The text of an element as jsoup gives it.

use super::tree::{Id, Kind, Tree};

/// Elements that begin and end lines.
fn is_block(name: &str) -> bool {
    const BLOCKS: [&str; 68] = [
        "html",
        "head",
        "body",
        "frameset",
        "script",
        "noscript",
        "style",
        "meta",
        "link",
        "title",
        "frame",
        "noframes",
        "section",
        "nav",
        "aside",
        "hgroup",
        "header",
        "footer",
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "pre",
        "div",
        "blockquote",
        "hr",
        "address",
        "figure",
        "figcaption",
        "form",
        "fieldset",
        "ins",
        "del",
        "dl",
        "dt",
        "dd",
        "li",
        "table",
        "caption",
        "thead",
        "tfoot",
        "tbody",
        "colgroup",
        "col",
        "tr",
        "th",
        "td",
        "video",
        "audio",
        "canvas",
        "details",
        "menu",
        "plaintext",
        "template",
        "article",
        "main",
        "svg",
        "math",
        "center",
        "dir",
        "applet",
        "marquee",
        "listing",
    ];
    BLOCKS.contains(&name)
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\x0c' | '\r' | '\u{a0}')
}

/// Whether white space is kept: up to five levels up, as jsoup looks.
fn keeps_space(tree: &Tree, mut at: Option<Id>) -> bool {
    for _ in 0..6 {
        let Some(id) = at else { return false };
        if matches!(tree.name(id), Some("pre" | "plaintext" | "title" | "textarea")) {
            return true;
        }
        at = tree.parent_element(id);
    }
    false
}

/// All text below an element, white space joined, blocks apart, and trimmed.
pub(crate) fn element_text(tree: &Tree, element: Id) -> String {
    let mut out = String::new();
    visit(tree, element, &mut out);
    out.trim_matches(|c: char| c <= ' ').to_owned()
}

/// The text directly in an element.
pub(super) fn own_text(tree: &Tree, element: Id) -> String {
    let mut out = String::new();
    for &child in &tree.nodes[element].children {
        match &tree.nodes[child].kind {
            Kind::Text(text) => append(tree, child, text, &mut out),
            Kind::Element { name, .. } if name == "br" && !out.ends_with(' ') => out.push(' '),
            _ => {}
        }
    }
    out.trim_matches(|c: char| c <= ' ').to_owned()
}

/// All text below an element as it is.
pub(super) fn whole_text(tree: &Tree, element: Id) -> String {
    let mut out = String::new();
    for id in tree.with_descendants(element) {
        if let Kind::Text(text) = &tree.nodes[id].kind
            && !is_data(tree, id)
        {
            out.push_str(text);
        }
    }
    out
}

/// Scripts and styles hold data, not text.
fn is_data(tree: &Tree, text: Id) -> bool {
    tree.nodes[text].parent.is_some_and(|parent| matches!(tree.name(parent), Some("script" | "style")))
}

fn visit(tree: &Tree, id: Id, out: &mut String) {
    match &tree.nodes[id].kind {
        Kind::Text(text) if !is_data(tree, id) => append(tree, id, text, out),
        Kind::Text(_) | Kind::Comment(_) => {}
        Kind::Document => {
            for &child in &tree.nodes[id].children {
                visit(tree, child, out);
            }
        }
        Kind::Element { name, .. } => {
            if !out.is_empty() && (is_block(name) || name == "br") && !ends_with_space(out) {
                out.push(' ');
            }
            let children = &tree.nodes[id].children;
            for &child in children {
                visit(tree, child, out);
            }
            if is_block(name) && !ends_with_space(out) && text_follows(tree, id) {
                out.push(' ');
            }
        }
    }
}

fn ends_with_space(out: &str) -> bool {
    out.ends_with(' ')
}

/// Whether the next sibling is a text or an element inside a line.
fn text_follows(tree: &Tree, id: Id) -> bool {
    let Some(parent) = tree.nodes[id].parent else { return false };
    let siblings = &tree.nodes[parent].children;
    let next = siblings.iter().position(|sibling| *sibling == id).and_then(|at| siblings.get(at + 1));
    next.is_some_and(|next| match &tree.nodes[*next].kind {
        Kind::Text(_) => true,
        Kind::Element { name, .. } => !is_block(name) && !name.contains('-'),
        _ => false,
    })
}

fn append(tree: &Tree, id: Id, text: &str, out: &mut String) {
    if keeps_space(tree, tree.nodes[id].parent) {
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
