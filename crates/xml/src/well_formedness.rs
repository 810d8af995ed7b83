//! The messages of Java's parser (Xerces) for documents that are not well-formed. JMeter writes these messages to its results.
//! The XML library has different messages, so the errors that are frequent in responses are detected here.

use std::collections::HashSet;

use super::document::ReadOptions;

struct Scan<'t> {
    rest: &'t str,
    open: Vec<&'t str>,
    /// Whether the document type declaration has an internal subset, which may declare entities.
    declares_entities: bool,
}

/// Xerces's message for the first error of a document, if it is a frequent kind of error.
pub(crate) fn xerces_message(text: &str, options: ReadOptions) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Some("Premature end of file.".to_owned());
    }
    let mut scan = Scan { rest: text, open: Vec::new(), declares_entities: false };
    scan.document(options).err()?
}

/// The result of a scan. An error contains the message of Xerces, or `None` if the scan does not recognize the document's first
/// error.
type Scanned = Result<(), Option<String>>;

fn message<T>(text: impl Into<String>) -> Result<T, Option<String>> {
    Err(Some(text.into()))
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_' || character == ':'
}

fn name_length(text: &str) -> usize {
    if !text.starts_with(is_name_start) {
        return 0;
    }
    text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '\u{b7}')))
        .unwrap_or(text.len())
}

impl<'t> Scan<'t> {
    fn skip_past(&mut self, mark: &str) -> Scanned {
        match self.rest.find(mark) {
            Some(at) => {
                self.rest = &self.rest[at + mark.len()..];
                Ok(())
            }
            None => message("XML document structures must start and end within the same entity."),
        }
    }

    /// Skips white space. Returns whether there was any.
    fn skip_space(&mut self) -> bool {
        let rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let skipped_any = rest.len() < self.rest.len();
        self.rest = rest;
        skipped_any
    }

    fn name(&mut self) -> &'t str {
        let (name, rest) = self.rest.split_at(name_length(self.rest));
        self.rest = rest;
        name
    }

    fn document(&mut self, options: ReadOptions) -> Scanned {
        if self.rest.starts_with("<?xml ") {
            self.skip_past("?>")?;
        }
        self.prolog(options)?;
        self.content()?;
        self.skip_space();
        while !self.rest.is_empty() {
            if self.rest.starts_with("<!--") {
                self.skip_past("-->")?;
            } else if self.rest.starts_with("<?") {
                self.skip_past("?>")?;
            } else if self.rest.starts_with('<') {
                return message("The markup in the document following the root element must be well-formed.");
            } else {
                return message("Content is not allowed in trailing section.");
            }
            self.skip_space();
        }
        Err(None)
    }

    fn prolog(&mut self, options: ReadOptions) -> Scanned {
        loop {
            self.skip_space();
            if self.rest.is_empty() {
                return message("Premature end of file.");
            } else if self.rest.starts_with("<?xml ") {
                return message(
                    "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
                );
            } else if self.rest.starts_with("<!--") {
                self.skip_past("-->")?;
            } else if self.rest.starts_with("<?") {
                self.skip_past("?>")?;
            } else if self.rest.starts_with("<!DOCTYPE") {
                if options.no_doctype {
                    return message(
                        "DOCTYPE is disallowed when the feature \
                         \"http://apache.org/xml/features/disallow-doctype-decl\" set to true.",
                    );
                }
                let end = self.rest.find('>').unwrap_or(self.rest.len());
                if self.rest[..end].contains('[') {
                    self.declares_entities = true;
                    self.skip_past("]")?;
                }
                self.skip_past(">")?;
            } else if !self.rest.starts_with('<') {
                return message("Content is not allowed in prolog.");
            } else if name_length(&self.rest[1..]) == 0 {
                return message("The markup in the document preceding the root element must be well-formed.");
            } else {
                return Ok(());
            }
        }
    }

    /// Scans the root element and its content.
    fn content(&mut self) -> Scanned {
        loop {
            if self.rest.starts_with("<!--") {
                self.skip_past("-->")?;
            } else if self.rest.starts_with("<![CDATA[") {
                self.skip_past("]]>")?;
            } else if self.rest.starts_with("<?") {
                self.skip_past("?>")?;
            } else if let Some(rest) = self.rest.strip_prefix("</") {
                self.rest = rest;
                self.end_tag()?;
            } else if let Some(rest) = self.rest.strip_prefix('<') {
                self.rest = rest;
                self.start_tag()?;
            } else {
                self.text()?;
            }
            if self.open.is_empty() {
                return Ok(());
            }
            if self.rest.is_empty() {
                return message("XML document structures must start and end within the same entity.");
            }
        }
    }

    fn end_tag(&mut self) -> Scanned {
        let name = self.name();
        match self.open.pop() {
            Some(open) if open == name => {
                self.skip_space();
                match self.rest.strip_prefix('>') {
                    Some(rest) => {
                        self.rest = rest;
                        Ok(())
                    }
                    None => message(format!(
                        "The end-tag for element type \"{name}\" must end with a '>' delimiter."
                    )),
                }
            }
            Some(open) => message(format!(
                "The element type \"{open}\" must be terminated by the matching end-tag \"</{open}>\"."
            )),
            None => Err(None),
        }
    }

    fn start_tag(&mut self) -> Scanned {
        let element = self.name();
        if element.is_empty() {
            return message("The content of elements must consist of well-formed character data or markup.");
        }
        let mut seen = HashSet::new();
        loop {
            let has_space = self.skip_space();
            if let Some(rest) = self.rest.strip_prefix("/>") {
                self.rest = rest;
                return Ok(());
            }
            if let Some(rest) = self.rest.strip_prefix('>') {
                self.rest = rest;
                self.open.push(element);
                return Ok(());
            }
            if self.rest.is_empty() {
                return message("XML document structures must start and end within the same entity.");
            }
            if !has_space || name_length(self.rest) == 0 {
                return message(format!(
                    "Element type \"{element}\" must be followed by either attribute specifications, \">\" or \"/>\"."
                ));
            }
            let name = self.name();
            self.attribute(element, name)?;
            if !seen.insert(name) {
                return message(format!(
                    "Attribute \"{name}\" was already specified for element \"{element}\"."
                ));
            }
        }
    }

    fn attribute(&mut self, element: &str, name: &str) -> Scanned {
        self.skip_space();
        let Some(rest) = self.rest.strip_prefix('=') else {
            return message(format!(
                "Attribute name \"{name}\" associated with an element type \"{element}\" must be followed by the ' = ' \
                 character."
            ));
        };
        self.rest = rest;
        self.skip_space();
        let Some(quote) = self.rest.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
            return message(format!(
                "Open quote is expected for attribute \"{name}\" associated with an  element type  \"{element}\"."
            ));
        };
        self.rest = &self.rest[1..];
        let Some(end) = self.rest.find([quote, '<', '&']) else {
            return message(format!(
                "Close quote is expected for attribute \"{name}\" associated with an  element type  \"{element}\"."
            ));
        };
        self.rest = &self.rest[end..];
        match self.rest.chars().next() {
            Some('<') => message(format!(
                "The value of attribute \"{name}\" associated with an element type \"{element}\" must not contain the \
                 '<' character."
            )),
            Some('&') => {
                self.reference()?;
                while let Some(at) = self.rest.find([quote, '<', '&']) {
                    self.rest = &self.rest[at..];
                    if !self.rest.starts_with('&') {
                        break;
                    }
                    self.reference()?;
                }
                match self.rest.strip_prefix(quote) {
                    Some(rest) => {
                        self.rest = rest;
                        Ok(())
                    }
                    None => Err(None),
                }
            }
            _ => {
                self.rest = &self.rest[1..];
                Ok(())
            }
        }
    }

    /// Scans text up to the next tag.
    fn text(&mut self) -> Scanned {
        while !self.rest.is_empty() && !self.rest.starts_with('<') {
            if self.rest.starts_with('&') {
                self.reference()?;
                continue;
            }
            let end = self.rest.find(['<', '&']).unwrap_or(self.rest.len());
            if self.rest[..end].contains("]]>") {
                return message(
                    "The character sequence \"]]>\" must not appear in content unless used to mark the end of a CDATA \
                     section.",
                );
            }
            self.rest = &self.rest[end..];
        }
        Ok(())
    }

    fn reference(&mut self) -> Scanned {
        self.rest = &self.rest[1..];
        if let Some(rest) = self.rest.strip_prefix('#') {
            self.rest = rest;
            return self.skip_past(";");
        }
        let name = self.name();
        if name.is_empty() {
            return message("The entity name must immediately follow the '&' in the entity reference.");
        }
        let Some(rest) = self.rest.strip_prefix(';') else {
            return message(format!("The reference to entity \"{name}\" must end with the ';' delimiter."));
        };
        self.rest = rest;
        if self.declares_entities || matches!(name, "amp" | "lt" | "gt" | "quot" | "apos") {
            return Ok(());
        }
        message(format!("The entity \"{name}\" was referenced, but not declared."))
    }
}
