//! The text of a response as a document, as Apache Tika extracts it for JMeter: of pages, XML and plain text.
//!
//! JMeter's distribution detects the types, but extracts pages and plain text only with `tika-app.jar` on its class path,
//! which its manual asks for. The texts here are those of Tika 1.28.5 with that file.

use std::borrow::Cow;

use busyhour_program::ElementError;
use busyhour_xml::{self as xml, ReadOptions};

use crate::html::{self, Kind};

/// What Tika throws for an empty body; JMeter uses the exception as the text.
const EMPTY: &str = "org.apache.tika.exception.ZeroByteFileException: InputStream must have > 0 bytes";

/// The same for XML that is not well-formed.
const XML_ERROR: &str = "org.apache.tika.exception.TikaException: XML parse error";

/// JMeter's text for a document without text.
const NO_TEXT: &str = "Missing tika-app.jar in classpath. Unable to convert to plain text this kind of document.\nDownload the \
    tika-app-x.x.jar file from http://tika.apache.org/download.html\nAnd put the file in <JMeter>/lib directory.";

/// How far into a document Tika looks for a page's tags.
const PAGE_WITHIN: usize = 8_192;

/// How far it looks for the other marks of a page.
const MARK_WITHIN: usize = 64;

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentType {
    Page,
    Xml,
    PlainText,
    /// Another kind, whose text is not extracted here.
    Other(&'static str),
}

/// The text of a body as a document.
///
/// # Errors
/// For kinds of documents whose text is not extracted here, and for pages and XML beyond the limits.
pub(crate) fn document_text(body: &[u8]) -> Result<Cow<'_, str>, ElementError> {
    if body.is_empty() {
        return Ok(EMPTY.into());
    }
    let text = match document_type(body) {
        DocumentType::Page => page_text(&decoded(body, html_label(body)))?,
        DocumentType::Xml => {
            let source = xml::decode(body);
            match xml::read(&source, ReadOptions { namespaces: true, ..ReadOptions::default() }) {
                Err(_) => return Ok(XML_ERROR.into()),
                Ok(document) => match root_kind(&document) {
                    RootKind::Page => page_text(&source)?,
                    RootKind::Feed => return Err(refusal("a feed")),
                    RootKind::Data => xml_text(&document),
                },
            }
        }
        DocumentType::PlainText => format!("{}\n", decoded(body, None)),
        DocumentType::Other(what) => return Err(refusal(what)),
    };
    Ok(if text.is_empty() { NO_TEXT.into() } else { text.into() })
}

fn refusal(what: &str) -> ElementError {
    format!("the response is {what}: Busyhour extracts the text of HTML, XML and plain text only").into()
}

/// The first bytes of documents that are no text.
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
    if let Some((_, what)) = SIGNATURES.iter().find(|(signature, _)| body.starts_with(signature)) {
        return DocumentType::Other(what);
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
    let is_page = [
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
    .any(|mark| within(mark, MARK_WITHIN))
        || ["<BODY", "<body", "<DIV", "<div", "<h1", "<H1"].iter().any(|mark| starts(mark))
        || within("<html", 2 * MARK_WITHIN)
        || within("<html xmlns=", PAGE_WITHIN);
    if starts("<?php") {
        DocumentType::PlainText
    } else if is_page {
        DocumentType::Page
    } else if starts("<!--") {
        DocumentType::Xml
    } else if within("<html", PAGE_WITHIN) {
        DocumentType::Page
    } else {
        DocumentType::PlainText
    }
}

/// Whether the body begins like a mail: with two lines of its header.
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

/// The body as characters: by its byte order mark, the given label, as UTF-8 if it is that, else as windows-1252.
fn decoded<'b>(body: &'b [u8], label: Option<&'static encoding_rs::Encoding>) -> Cow<'b, str> {
    if let Some((encoding, length)) = encoding_rs::Encoding::for_bom(body) {
        return encoding.decode_without_bom_handling(&body[length..]).0;
    }
    if let Some(encoding) = label {
        return encoding.decode_without_bom_handling(body).0;
    }
    match std::str::from_utf8(body) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(body).0,
    }
}

/// The encoding that a page's `meta` names.
fn html_label(body: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    const NAME: &[u8] = b"charset=";
    let head = body[..body.len().min(PAGE_WITHIN)].to_ascii_lowercase();
    let meta = memchr::memmem::find(&head, b"<meta")?;
    let at = meta + memchr::memmem::find(&head[meta..], NAME)? + NAME.len();
    let rest = head[at..].trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)));
    encoding_rs::Encoding::for_label(&rest[..end.unwrap_or(rest.len())])
}

/// What the root of an XML document makes of it.
enum RootKind {
    Page,
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
        | ("http://www.w3.org/1999/xhtml", "html") => RootKind::Page,
        ("", "rss") | ("http://www.w3.org/2005/Atom", "feed") => RootKind::Feed,
        _ => RootKind::Data,
    }
}

/// A blank before each element, and a line end behind the whole.
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

/// Elements whose end is a line end.
#[rustfmt::skip]
fn ends_line(name: &str) -> bool {
    matches!(
        name,
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "div" | "ul" | "ol" | "dl" | "menu" | "dir" | "pre" | "hr" |
        "blockquote" | "address" | "fieldset" | "table" | "form" | "noscript" | "li" | "dt" | "dd" | "br" | "tr" |
        "select" | "option" | "link"
    )
}

/// Elements with a tab before their text.
fn is_indented(name: &str) -> bool {
    matches!(name, "li" | "dd" | "dt" | "td" | "th" | "frame")
}

/// Elements that hold other elements only: white space between these is no text.
#[rustfmt::skip]
fn holds_elements_only(name: &str) -> bool {
    matches!(
        name,
        "table" | "thead" | "tbody" | "tfoot" | "tr" | "ul" | "ol" | "dl" | "menu" | "dir" | "select" | "optgroup" | "colgroup"
    )
}

/// The text of a page's body.
fn page_text(source: &str) -> Result<String, ElementError> {
    let tree = html::parse(without_end(source)).map_err(|limit| ElementError::from(limit.to_string()))?;
    let mut out = String::new();
    let Some(body) = tree.with_descendants(html::ROOT).into_iter().find(|id| tree.name(*id) == Some("body"))
    else {
        return Ok(out);
    };
    let mut open = vec![(body, false)];
    while let Some((id, is_end)) = open.pop() {
        match &tree.nodes[id].kind {
            Kind::Text(text) => {
                let parent = tree.nodes[id].parent.and_then(|parent| tree.name(parent)).unwrap_or("");
                if !(holds_elements_only(parent) && text.trim().is_empty()) {
                    out.push_str(text);
                }
            }
            Kind::Element { name, .. } if is_end => {
                if ends_line(name) {
                    out.push('\n');
                }
            }
            Kind::Element { name, .. } => {
                if matches!(name.as_str(), "script" | "style") {
                    continue;
                }
                if is_indented(name) {
                    out.push('\t');
                }
                open.push((id, true));
                open.extend(tree.nodes[id].children.iter().rev().map(|child| (*child, false)));
            }
            Kind::Comment(_) | Kind::Document => {}
        }
    }
    Ok(out)
}

/// A page without what follows the end of its body, which browsers move into the body.
fn without_end(source: &str) -> &str {
    let without = |text: &'_ str, tag: &str| -> Option<usize> {
        let trimmed = text.trim_ascii_end();
        let at = trimmed.len().checked_sub(tag.len())?;
        trimmed.get(at..).filter(|end| end.eq_ignore_ascii_case(tag)).map(|_| at)
    };
    let inner = without(source, "</html>").map_or(source, |at| &source[..at]);
    without(inner, "</body>").map_or(inner, |at| &inner[..at])
}

#[cfg(test)]
mod tests;
