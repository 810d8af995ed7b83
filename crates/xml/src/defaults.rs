//! Default attributes from the document type declaration.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use uppsala::{Attribute, Document, QName};

use crate::document::elements;

/// Attributes that a document may get by default: a short declaration applies to each element of a name.
const ADDED_MAX: usize = 1_000_000;

/// An attribute with its default value.
#[derive(Debug, PartialEq, Eq)]
struct Declared<'t> {
    element: &'t str,
    attribute: &'t str,
    value: &'t str,
}

/// Adds them to the elements that lack them.
///
/// # Errors
/// There are more than a document may have.
pub(crate) fn add<'t>(tree: &mut Document<'t>, text: &'t str) -> Result<(), String> {
    let mut defaults: HashMap<&str, Vec<Declared<'t>>> = HashMap::new();
    for default in declared(text) {
        defaults.entry(default.element).or_default().push(default);
    }
    if defaults.is_empty() {
        return Ok(());
    }
    let mut left = ADDED_MAX;
    for id in elements(tree) {
        let Some(element) = tree.element_mut(id) else { continue };
        let Some(defaults) = defaults.get(element.name.prefixed_name().as_ref()) else { continue };
        let Some(fewer) = left.checked_sub(defaults.len()) else {
            return Err(format!("Default attributes exceed the limit of {ADDED_MAX} for a document"));
        };
        left = fewer;
        let known: HashSet<String> =
            element.attributes.iter().map(|attribute| attribute.name.prefixed_name().into_owned()).collect();
        let missing = defaults.iter().filter(|default| !known.contains(default.attribute));
        element.attributes.extend(missing.map(|default| Attribute {
            name: QName { namespace_uri: None, prefix: None, local_name: Cow::Borrowed(default.attribute) },
            value: Cow::Borrowed(default.value),
        }));
    }
    Ok(())
}

/// The defaults in the internal subset of the declaration; the first one of an attribute counts.
fn declared(text: &str) -> Vec<Declared<'_>> {
    let mut all: Vec<Declared<'_>> = Vec::new();
    let mut known = HashSet::new();
    let Some(at) = text.find("<!DOCTYPE") else { return all };
    let Some(subset) = text[at..].find(['[', '>']).map(|end| &text[at + end..]) else { return all };
    let Some(mut rest) = subset.strip_prefix('[') else { return all };
    while let Some(at) = rest.find(['<', ']']) {
        rest = &rest[at..];
        let end = if rest.starts_with("<!--") {
            rest.find("-->").map(|end| end + 3)
        } else if rest.starts_with("<?") {
            rest.find("?>").map(|end| end + 2)
        } else if let Some(list) = rest.strip_prefix("<!ATTLIST") {
            let mut words = Words { rest: list };
            for default in words.defaults() {
                if known.insert((default.element, default.attribute)) {
                    all.push(default);
                }
            }
            Some(rest.len() - words.rest.len())
        } else if rest.starts_with('<') {
            Words { rest }.skip_to_end().map(|behind| rest.len() - behind.len())
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

/// The words of a declaration: names, signs, texts in quotes and in parentheses.
struct Words<'t> {
    rest: &'t str,
}

impl<'t> Words<'t> {
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
        let (word, rest) = text.split_at(length);
        self.rest = rest;
        Some(word)
    }

    /// What follows the declaration.
    fn skip_to_end(mut self) -> Option<&'t str> {
        while self.next()? != ">" {}
        Some(self.rest)
    }

    /// The content of `<!ATTLIST`, up to its end.
    fn defaults(&mut self) -> Vec<Declared<'t>> {
        let mut all = Vec::new();
        let Some(element) = self.next() else { return all };
        while let Some(attribute) = self.next().filter(|word| *word != ">") {
            if self.next() == Some("NOTATION") {
                self.next();
            }
            let mut value = self.next();
            if value == Some("#FIXED") {
                value = self.next();
            }
            let Some(value) = value else { break };
            let quoted = value.strip_prefix(['"', '\'']).map(|value| &value[..value.len() - 1]);
            // A declaration of a namespace, or a value made of entities, is left alone.
            if let Some(value) = quoted.filter(|value| !value.contains('&'))
                && !attribute.contains(':')
                && attribute != "xmlns"
            {
                all.push(Declared { element, attribute, value });
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        declared(text).iter().map(|d| format!("{}@{}={}", d.element, d.attribute, d.value)).collect()
    }

    #[test]
    fn defaults_are_found_among_other_declarations() {
        let text = "<?xml version='1.0'?><!DOCTYPE a [ <!-- <!ATTLIST a no CDATA 'no'> --> <!ENTITY e \"]>\">\n\
                    <!ATTLIST a k CDATA \"one\" id ID #REQUIRED kind (x | y) 'x' f CDATA #FIXED \"fixed\" k CDATA 'two'>\n\
                    <!ELEMENT a (b)*><!ATTLIST b n NOTATION (p|q) \"p\" o CDATA #IMPLIED xmlns CDATA 'urn:x' e CDATA '&e;'>]><a/>";
        assert_eq!(shown(text), ["a@k=one", "a@kind=x", "a@f=fixed", "b@n=p"]);
        for none in
            ["<a/>", "<!DOCTYPE a SYSTEM 'x.dtd'><a k='['/>", "<!DOCTYPE a [<!ATTLIST a k", "<!DOCTYPE a ["]
        {
            assert!(shown(none).is_empty(), "{none}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_declaration_is_read(text in "[<>!a-z\\[\\]\"'() #A-Zé-]{0,60}") {
            let _ = declared(&format!("<!DOCTYPE a [<!ATTLIST {text}"));
        }
    }
}
