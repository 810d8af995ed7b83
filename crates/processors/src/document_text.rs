//! Extracts the text of a response as a document, like Apache Tika in JMeter: of HTML, XML and plain text.
//!
//! JMeter's distribution detects the types, but extracts HTML and plain text only with `tika-app.jar` on its class path, as
//! its manual requires. The texts here are those of Tika 1.28.5 with that file.

use std::borrow::Cow;

use busyhour_program::ElementError;
use busyhour_xml::{self as xml, ReadOptions};

use crate::html::{self, NodeKind};

/// Tika's exception for an empty body, which JMeter uses as the text.
const EMPTY: &str = "org.apache.tika.exception.ZeroByteFileException: InputStream must have > 0 bytes";

/// Tika's exception for XML that is not well-formed, which JMeter uses as the text.
const XML_ERROR: &str = "org.apache.tika.exception.TikaException: XML parse error";

/// JMeter's text for a document without text.
const NO_TEXT: &str = "Missing tika-app.jar in classpath. Unable to convert to plain text this kind of document.\nDownload the \
    tika-app-x.x.jar file from http://tika.apache.org/download.html\nAnd put the file in <JMeter>/lib directory.";

/// Number of bytes at the start of a body in which Tika searches for the tags of an HTML page.
const TAG_SEARCH_BYTES: usize = 8_192;

/// Number of bytes at the start of a body in which Tika searches for the other marks of an HTML page.
const MARK_SEARCH_BYTES: usize = 64;

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentType {
    Html,
    Xml,
    PlainText,
    /// Another kind, whose text is not extracted here.
    Other(&'static str),
}

/// Extracts the text of a body as a document.
///
/// # Errors
/// The text of this kind of document is not extracted, or the document exceeds a limit.
pub(crate) fn document_text(body: &[u8]) -> Result<Cow<'_, str>, ElementError> {
    if body.is_empty() {
        return Ok(EMPTY.into());
    }
    let text = match document_type(body) {
        DocumentType::Html => html_text(&decode_body(body, html_encoding(body)))?,
        DocumentType::Xml => {
            let source = xml::decode(body);
            match xml::read(&source, ReadOptions { namespaces: true, ..ReadOptions::default() }) {
                Err(_) => return Ok(XML_ERROR.into()),
                Ok(document) => match root_kind(&document) {
                    RootKind::Html => html_text(&source)?,
                    RootKind::Feed => return Err(unsupported_document("a feed")),
                    RootKind::Data => xml_text(&document),
                },
            }
        }
        DocumentType::PlainText => format!("{}\n", decode_body(body, None)),
        DocumentType::Other(kind) => return Err(unsupported_document(kind)),
    };
    Ok(if text.is_empty() { NO_TEXT.into() } else { text.into() })
}

fn unsupported_document(kind: &str) -> ElementError {
    format!("the response is {kind}: Busyhour extracts the text of HTML, XML and plain text only").into()
}

/// The first bytes of documents that are not text.
const SIGNATURES: [(&[u8], &str); 9] = [
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x1f\x8b", "compressed"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"%!PS", "a PostScript document"),
];

fn document_type(body: &[u8]) -> DocumentType {
    if let Some((_, kind)) = SIGNATURES.iter().find(|(signature, _)| body.starts_with(signature)) {
        return DocumentType::Other(kind);
    }
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let has_utf_16_mark = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c' | b'\x1b');
    if !has_utf_16_mark && body[..body.len().min(512)].iter().any(is_control) {
        return DocumentType::Other("binary");
    }
    let starts = |mark: &str| body.starts_with(mark.as_bytes());
    let within = |mark: &str, bytes: usize| {
        let head = &body[..body.len().min(bytes.saturating_add(mark.len()))];
        memchr::memmem::find(head, mark.as_bytes()).is_some()
    };
    if starts("<?xml") || starts("<?XML") {
        return DocumentType::Xml;
    }
    if is_mail(body) {
        return DocumentType::Other("a mail");
    }
    let is_html = [
        "<!DOCTYPE HTML",
        "<!DOCTYPE html",
        "<!doctype HTML",
        "<!doctype html",
        "<HEAD",
        "<head",
        "<TITLE",
        "<title",
        "<HTML",
    ]
    .iter()
    .any(|mark| within(mark, MARK_SEARCH_BYTES))
        || ["<BODY", "<body", "<DIV", "<div", "<h1", "<H1"].iter().any(|mark| starts(mark))
        || within("<html", 2 * MARK_SEARCH_BYTES)
        || within("<html xmlns=", TAG_SEARCH_BYTES);
    if starts("<?php") {
        DocumentType::PlainText
    } else if is_html {
        DocumentType::Html
    } else if starts("<!--") {
        DocumentType::Xml
    } else if within("<html", TAG_SEARCH_BYTES) {
        DocumentType::Html
    } else {
        DocumentType::PlainText
    }
}

/// Whether the body is a mail: its first line, and another line near its start, are mail headers.
fn is_mail(body: &[u8]) -> bool {
    const NAMES: [&str; 13] = [
        "date:",
        "delivered-to:",
        "from:",
        "message-id:",
        "mime-version:",
        "received:",
        "return-path:",
        "sent:",
        "status:",
        "subject:",
        "to:",
        "user-agent:",
        "x-mailer:",
    ];
    let head = &body[..body.len().min(1_024)];
    let is_line_of_mail = |line: &[u8]| {
        NAMES.iter().any(|name| {
            line.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
        })
    };
    let mut lines = head.split(|byte| *byte == b'\n');
    lines.next().is_some_and(is_line_of_mail) && lines.any(is_line_of_mail)
}

/// Decodes a body: by its byte order mark, else in the given encoding, else as UTF-8 if it is valid, else as windows-1252.
fn decode_body<'b>(body: &'b [u8], declared: Option<&'static encoding_rs::Encoding>) -> Cow<'b, str> {
    if let Some((encoding, length)) = encoding_rs::Encoding::for_bom(body) {
        return encoding.decode_without_bom_handling(&body[length..]).0;
    }
    if let Some(encoding) = declared {
        return encoding.decode_without_bom_handling(body).0;
    }
    match std::str::from_utf8(body) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(body).0,
    }
}

/// The encoding in the `meta` element of an HTML page.
fn html_encoding(body: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    const NAME: &[u8] = b"charset=";
    let head = body[..body.len().min(TAG_SEARCH_BYTES)].to_ascii_lowercase();
    let meta = memchr::memmem::find(&head, b"<meta")?;
    let at = meta + memchr::memmem::find(&head[meta..], NAME)? + NAME.len();
    let rest = head[at..].trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)));
    encoding_rs::Encoding::for_label(&rest[..end.unwrap_or(rest.len())])
}

/// The kind of an XML document by its root element.
enum RootKind {
    Html,
    Feed,
    Data,
}

fn root_kind(document: &xml::XmlDocument<'_>) -> RootKind {
    let root = document.tree.document_element().and_then(|root| xml::parts(&document.tree, root));
    let Some(name) = root.map(|root| root.name) else { return RootKind::Data };
    match (name.namespace.as_str(), name.local.as_str()) {
        (
            "",
            "html" | "HTML" | "link" | "LINK" | "body" | "BODY" | "p" | "P" | "script" | "SCRIPT"
            | "frameset" | "FRAMESET",
        )
        | ("http://www.w3.org/1999/xhtml", "html") => RootKind::Html,
        ("", "rss") | ("http://www.w3.org/2005/Atom", "feed") => RootKind::Feed,
        _ => RootKind::Data,
    }
}

/// The text of an XML document, with a space before each element and a line end at the end.
fn xml_text(document: &xml::XmlDocument<'_>) -> String {
    let tree = &document.tree;
    let mut out = String::new();
    let Some(root) = tree.document_element() else { return out };
    for node in std::iter::once(root).chain(tree.descendants(root)) {
        if xml::is_element(tree, node) {
            out.push(' ');
        } else if let Some(text) = xml::characters(tree, node) {
            out.push_str(text);
        }
    }
    out.push('\n');
    out
}

/// Whether the end of an element is a line end in the text.
#[rustfmt::skip]
fn ends_line(name: &str) -> bool {
    matches!(
        name,
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "div" | "ul" | "ol" | "dl" | "menu" | "dir" | "pre" | "hr" |
        "blockquote" | "address" | "fieldset" | "table" | "form" | "noscript" | "li" | "dt" | "dd" | "br" | "tr" |
        "select" | "option" | "link"
    )
}

/// Whether the text of an element starts with a tab.
fn is_indented(name: &str) -> bool {
    matches!(name, "li" | "dd" | "dt" | "td" | "th" | "frame")
}

/// Whether an element contains only other elements, so that white space between them is not text.
#[rustfmt::skip]
fn contains_elements_only(name: &str) -> bool {
    matches!(
        name,
        "table" | "thead" | "tbody" | "tfoot" | "tr" | "ul" | "ol" | "dl" | "menu" | "dir" | "select" | "optgroup" | "colgroup"
    )
}

/// The text of the body of an HTML page.
fn html_text(source: &str) -> Result<String, ElementError> {
    let tree = html::parse(strip_end_tags(source)).map_err(|limit| ElementError::from(limit.to_string()))?;
    let mut out = String::new();
    let Some(body) = tree.with_descendants(html::ROOT).into_iter().find(|id| tree.name(*id) == Some("body"))
    else {
        return Ok(out);
    };
    let mut open = vec![(body, false)];
    while let Some((id, is_end)) = open.pop() {
        match &tree.nodes[id].kind {
            NodeKind::Text(text) => {
                let parent = tree.nodes[id].parent.and_then(|parent| tree.name(parent)).unwrap_or("");
                if !(contains_elements_only(parent) && text.trim().is_empty()) {
                    out.push_str(text);
                }
            }
            NodeKind::Element { name, .. } if is_end => {
                if ends_line(name) {
                    out.push('\n');
                }
            }
            NodeKind::Element { name, .. } => {
                if matches!(name.as_str(), "script" | "style") {
                    continue;
                }
                if is_indented(name) {
                    out.push('\t');
                }
                open.push((id, true));
                open.extend(tree.nodes[id].children.iter().rev().map(|child| (*child, false)));
            }
            NodeKind::Comment(_) | NodeKind::Document => {}
        }
    }
    Ok(out)
}

/// Removes the end tags of `html` and `body`, and white space around them, which the HTML parser would move into the body.
fn strip_end_tags(source: &str) -> &str {
    let end_tag_start = |text: &'_ str, tag: &str| -> Option<usize> {
        let trimmed = text.trim_ascii_end();
        let at = trimmed.len().checked_sub(tag.len())?;
        trimmed.get(at..).filter(|end| end.eq_ignore_ascii_case(tag)).map(|_| at)
    };
    let inner = end_tag_start(source, "</html>").map_or(source, |at| &source[..at]);
    end_tag_start(inner, "</body>").map_or(inner, |at| &inner[..at])
}

#[cfg(test)]
mod tests;
