//! Converts HTML to an XML document, for XPath in tolerant mode. In JMeter, JTidy repairs the page. Here it is parsed as in
//! browsers and then adapted to JTidy's tree: implied `tbody` elements are removed, and white space is collapsed.

use std::borrow::Cow;

use busyhour_xml::{ReadOptions, XmlDocument, read};
use uppsala::{Attribute, Document, NodeId, QName};

use super::tree::{Id, NodeKind, PageLimit, ROOT, Tree, parse};

/// Parses a page as an XML document, tolerating HTML.
///
/// # Errors
/// The page exceeds a limit.
pub(crate) fn parse_tolerantly(text: &str) -> Result<XmlDocument<'static>, PageLimit> {
    // A well-formed document with an XML declaration is parsed as XML.
    if text.starts_with("<?xml ")
        && let Ok(document) = read(text, ReadOptions::default())
    {
        return Ok(XmlDocument { tree: document.tree.into_static(), declared: Vec::new() });
    }
    let tree = parse(text)?;
    let lower = text.to_ascii_lowercase();
    let converter = Converter { has_tbody: lower.contains("<tbody"), tree: &tree };
    let mut document = Document::new();
    let root = document.root();
    converter.copy_children(ROOT, root, false, &mut document);
    document.prepare_xpath();
    Ok(XmlDocument { tree: document, declared: Vec::new() })
}

struct Converter<'t> {
    tree: &'t Tree,
    /// Whether the text of the page contains `tbody` tags.
    has_tbody: bool,
}

/// Whether white space in an element is preserved.
fn preserves_space(name: &str) -> bool {
    matches!(name, "pre" | "textarea" | "script" | "style" | "listing" | "xmp")
}

/// Whether an element is part of a line of text.
fn is_inline(name: &str) -> bool {
    const INLINE: [&str; 33] = [
        "a", "abbr", "acronym", "b", "bdo", "big", "br", "button", "cite", "code", "del", "dfn", "em",
        "font", "i", "img", "input", "ins", "kbd", "label", "q", "s", "samp", "select", "small", "span",
        "strike", "strong", "sub", "sup", "tt", "u", "var",
    ];
    INLINE.contains(&name)
}

impl Converter<'_> {
    fn copy_children(&self, from: Id, to: NodeId, verbatim: bool, document: &mut Document<'static>) {
        let children = &self.tree.nodes[from].children;
        for (at, &child) in children.iter().enumerate() {
            match &self.tree.nodes[child].kind {
                NodeKind::Document => {}
                NodeKind::Comment(text) => {
                    let comment = document.create_comment(text.clone());
                    document.append_child(to, comment);
                }
                NodeKind::Text(text) => {
                    let text = if verbatim {
                        Cow::Borrowed(text.as_str())
                    } else {
                        self.collapse_space(children, at, text)
                    };
                    if !text.is_empty() {
                        let text = document.create_text(text.into_owned());
                        document.append_child(to, text);
                    }
                }
                NodeKind::Element { name, .. } if name == "tbody" && !self.has_tbody => {
                    self.copy_children(child, to, verbatim, document);
                }
                NodeKind::Element { name, attributes } => {
                    let element = document.create_element(QName::local(name.clone()));
                    if let Some(element) = document.element_mut(element) {
                        element.attributes = attributes
                            .iter()
                            .map(|(name, value)| Attribute {
                                name: QName::local(name.clone()),
                                value: Cow::Owned(value.clone()),
                            })
                            .collect();
                    }
                    document.append_child(to, element);
                    self.copy_children(child, element, verbatim || preserves_space(name), document);
                }
            }
        }
    }

    /// Collapses the white space of a text. White space next to a block is removed.
    fn collapse_space<'x>(&self, siblings: &[Id], at: usize, text: &'x str) -> Cow<'x, str> {
        let inline = |id: Option<&Id>| id.is_some_and(|id| self.tree.name(*id).is_some_and(is_inline));
        let mut out = String::with_capacity(text.len());
        let space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | '\x0c');
        if text.starts_with(space) && inline(at.checked_sub(1).and_then(|before| siblings.get(before))) {
            out.push(' ');
        }
        let mut words = text.split(space).filter(|word| !word.is_empty()).peekable();
        if words.peek().is_none() {
            let between = !out.is_empty() && inline(siblings.get(at + 1));
            return Cow::Borrowed(if between { " " } else { "" });
        }
        while let Some(word) = words.next() {
            out.push_str(word);
            if words.peek().is_some() {
                out.push(' ');
            }
        }
        if text.ends_with(space) && inline(siblings.get(at + 1)) {
            out.push(' ');
        }
        Cow::Owned(out)
    }
}
