//! Default attributes from the document type declaration.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use uppsala::{Attribute, Document, QName};

use crate::document::elements;

/// Maximum number of default attributes that are added to a document. There can be many, because one declaration applies to
/// every element of that name.
const ADDED_MAX: usize = 1_000_000;

/// The declaration of an attribute with a default value.
#[derive(Debug, PartialEq, Eq)]
struct DefaultAttribute<'t> {
    element: &'t str,
    attribute: &'t str,
    value: &'t str,
}

/// Adds default attributes to the elements that lack them.
///
/// # Errors
/// The document needs more than [`ADDED_MAX`] default attributes.
pub(crate) fn add<'t>(tree: &mut Document<'t>, text: &'t str) -> Result<(), String> {
    let mut defaults: HashMap<&str, Vec<DefaultAttribute<'t>>> = HashMap::new();
    for default in declared_defaults(text) {
        defaults.entry(default.element).or_default().push(default);
    }
    if defaults.is_empty() {
        return Ok(());
    }
    let mut remaining = ADDED_MAX;
    for id in elements(tree) {
        let Some(element) = tree.element_mut(id) else { continue };
        let Some(defaults) = defaults.get(element.name.prefixed_name().as_ref()) else { continue };
        let Some(fewer) = remaining.checked_sub(defaults.len()) else {
            return Err(format!("Default attributes exceed the limit of {ADDED_MAX} for a document"));
        };
        remaining = fewer;
        let present: HashSet<String> =
            element.attributes.iter().map(|attribute| attribute.name.prefixed_name().into_owned()).collect();
        let missing = defaults.iter().filter(|default| !present.contains(default.attribute));
        element.attributes.extend(missing.map(|default| Attribute {
            name: QName { namespace_uri: None, prefix: None, local_name: Cow::Borrowed(default.attribute) },
            value: Cow::Borrowed(default.value),
        }));
    }
    Ok(())
}

/// The attributes with default values in the internal subset of the document type declaration. Only the first declaration of an
/// attribute is effective.
fn declared_defaults(text: &str) -> Vec<DefaultAttribute<'_>> {
    let mut all: Vec<DefaultAttribute<'_>> = Vec::new();
    let mut declared = HashSet::new();
    let Some(start) = text.find("<!DOCTYPE") else { return all };
    let Some(subset) = text[start..].find(['[', '>']).map(|end| &text[start + end..]) else { return all };
    let Some(mut rest) = subset.strip_prefix('[') else { return all };
    while let Some(start) = rest.find(['<', ']']) {
        rest = &rest[start..];
        let end = if rest.starts_with("<!--") {
            rest.find("-->").map(|end| end + 3)
        } else if rest.starts_with("<?") {
            rest.find("?>").map(|end| end + 2)
        } else if let Some(list) = rest.strip_prefix("<!ATTLIST") {
            let mut tokens = Tokens { rest: list };
            for default in tokens.read_defaults() {
                if declared.insert((default.element, default.attribute)) {
                    all.push(default);
                }
            }
            Some(rest.len() - tokens.rest.len())
        } else if rest.starts_with('<') {
            Tokens { rest }.skip_to_end().map(|after| rest.len() - after.len())
        } else {
            None
        };
        match end {
            Some(end) => rest = &rest[end..],
            None => break,
        }
    }
    all
}

/// The tokens of a declaration: names, `>`, and text in quotes or parentheses.
struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    fn next(&mut self) -> Option<&'t str> {
        let text = self.rest.trim_start();
        let first = text.chars().next()?;
        let length = match first {
            '"' | '\'' => text[1..].find(first)? + 2,
            '(' => text.find(')')? + 1,
            '>' => 1,
            _ => text
                .find(|c: char| c.is_whitespace() || matches!(c, '>' | '"' | '\'' | '('))
                .unwrap_or(text.len()),
        };
        let (token, rest) = text.split_at(length);
        self.rest = rest;
        Some(token)
    }

    /// Skips the rest of the declaration and returns the text after it.
    fn skip_to_end(mut self) -> Option<&'t str> {
        while self.next()? != ">" {}
        Some(self.rest)
    }

    /// Reads an `<!ATTLIST` declaration to its end and returns the attributes with a default value.
    fn read_defaults(&mut self) -> Vec<DefaultAttribute<'t>> {
        let mut all = Vec::new();
        let Some(element) = self.next() else { return all };
        while let Some(attribute) = self.next().filter(|token| *token != ">") {
            if self.next() == Some("NOTATION") {
                self.next();
            }
            let mut value = self.next();
            if value == Some("#FIXED") {
                value = self.next();
            }
            let Some(value) = value else { break };
            let quoted = value.strip_prefix(['"', '\'']).map(|value| &value[..value.len() - 1]);
            // Namespace declarations and values that contain references are not added.
            if let Some(value) = quoted.filter(|value| !value.contains('&'))
                && !attribute.contains(':')
                && attribute != "xmlns"
            {
                all.push(DefaultAttribute { element, attribute, value });
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults_as_text(text: &str) -> Vec<String> {
        declared_defaults(text).iter().map(|d| format!("{}@{}={}", d.element, d.attribute, d.value)).collect()
    }

    #[test]
    fn defaults_are_found_among_other_declarations() {
        let text = "<?xml version='1.0'?><!DOCTYPE a [ <!-- <!ATTLIST a no CDATA 'no'> --> <!ENTITY e \"]>\">\n\
                    <!ATTLIST a k CDATA \"one\" id ID #REQUIRED kind (x | y) 'x' f CDATA #FIXED \"fixed\" k CDATA 'two'>\n\
                    <!ELEMENT a (b)*><!ATTLIST b n NOTATION (p|q) \"p\" o CDATA #IMPLIED xmlns CDATA 'urn:x' e CDATA '&e;'>]><a/>";
        assert_eq!(defaults_as_text(text), ["a@k=one", "a@kind=x", "a@f=fixed", "b@n=p"]);
        for without_defaults in
            ["<a/>", "<!DOCTYPE a SYSTEM 'x.dtd'><a k='['/>", "<!DOCTYPE a [<!ATTLIST a k", "<!DOCTYPE a ["]
        {
            assert!(defaults_as_text(without_defaults).is_empty(), "{without_defaults}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_declaration_is_read(text in "[<>!a-z\\[\\]\"'() #A-Zé-]{0,60}") {
            let _ = declared_defaults(&format!("<!DOCTYPE a [<!ATTLIST {text}"));
        }
    }
}
