//! Parses XML into a tree of elements with their positions.

use std::fmt;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// Maximum nesting depth of elements. Files of JMT have about ten levels.
const DEPTH_MAX: usize = 100;

/// An element with its attributes and child elements.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
    /// The text between the tags, without the text of child elements.
    text: String,
    pub(crate) children: Vec<Element>,
    /// Offset and length of the start tag in the document, in bytes.
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children_named(name).next()
    }

    pub(crate) fn children_named(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    pub(crate) fn text(&self) -> &str {
        self.text.trim()
    }
}

/// Formats the start tag, with the attribute that identifies the element.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let identifying = ["name", "className", "type", "customerclass", "stationName"];
        match identifying.iter().find_map(|key| Some((key, self.attribute(key)?))) {
            Some((key, value)) => write!(f, "<{} {key}=\"{value}\">", self.name),
            None => write!(f, "<{}>", self.name),
        }
    }
}

/// Parses a document. An error consists of an offset in bytes and a message.
pub(crate) fn parse(text: &str) -> Result<Element, (usize, String)> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    loop {
        let from = position(&reader);
        let event = reader
            .read_event()
            .map_err(|error| (usize::try_from(reader.error_position()).unwrap_or(0), error.to_string()))?;
        match event {
            Event::Start(tag) => {
                if root.is_some() {
                    return Err((from, "there is more than one root element".into()));
                }
                if open.len() >= DEPTH_MAX {
                    return Err((from, format!("more than {DEPTH_MAX} nested elements")));
                }
                open.push(read_element(&tag, from).map_err(|problem| (from, problem.to_string()))?);
            }
            Event::Empty(tag) => {
                let element = read_element(&tag, from).map_err(|problem| (from, problem.to_string()))?;
                close_element(element, &mut open, &mut root);
            }
            Event::End(_) => {
                if let Some(element) = open.pop() {
                    close_element(element, &mut open, &mut root);
                }
            }
            Event::Text(piece) => add_text(&mut open, &String::from_utf8_lossy(&piece)),
            Event::CData(piece) => add_text(&mut open, &String::from_utf8_lossy(&piece)),
            Event::GeneralRef(name) => {
                let reference = format!("&{};", String::from_utf8_lossy(&name));
                let text = unescape(&reference).map_err(|error| (from, error.to_string()))?;
                add_text(&mut open, &text);
            }
            Event::Eof => break,
            Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Comment(_) => {}
        }
    }
    match (root, open.last()) {
        (_, Some(element)) => Err((element.offset, format!("{element} is not closed"))),
        (Some(root), None) => Ok(root),
        (None, None) => Err((0, "there is no root element".into())),
    }
}

fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(0)
}

fn add_text(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// Adds a complete element to its parent; without a parent, it becomes the root.
fn close_element(element: Element, open: &mut [Element], root: &mut Option<Element>) {
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None => *root = Some(element),
    }
}

fn read_element(tag: &BytesStart<'_>, offset: usize) -> Result<Element, quick_xml::Error> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let attributes = tag
        .attributes()
        .map(|attribute| {
            let attribute = attribute?;
            let value = text(&attribute.value);
            let value = unescape(&value)?.into_owned();
            Ok((text(attribute.key.as_ref()), value))
        })
        .collect::<Result<_, quick_xml::Error>>()?;
    Ok(Element {
        name: text(tag.name().as_ref()),
        attributes,
        offset,
        len: tag.len() + 2,
        ..Element::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_positions() {
        let text = "<?xml version=\"1.0\"?>\n<a name=\"x &amp; y\">\n  <b/>t&lt;<![CDATA[<u>]]>\n</a>\n";
        let root = parse(text).unwrap();
        assert_eq!((root.attribute("name"), root.text()), (Some("x & y"), "t<<u>"));
        assert_eq!(root.to_string(), "<a name=\"x & y\">");
        let b = root.child("b").unwrap();
        assert!(text[b.offset..].starts_with("<b/>") && b.len >= 3);
    }

    #[test]
    fn invalid_documents_are_reported_with_positions() {
        for (text, offset) in [("", 0), ("<a><b></a>", 6), ("<a>\n<b>", 4), ("<a/><b></b>", 4)] {
            assert_eq!(parse(text).unwrap_err().0, offset, "{text}");
        }
        assert!(parse(&"<a>".repeat(1000)).unwrap_err().1.contains("nested elements"));
        assert!(parse("<a>&unknown;</a>").is_err());
    }
}
