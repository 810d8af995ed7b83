//! The properties that contain the headers, the body and the secret parameters of a request to a URL.
//!
//! The plan that is generated for a URL is stored in the run directory. It contains references to these properties instead
//! of their values, and the run sets the properties.

use crate::redaction::{self, REQUEST_PROPERTY};

/// Properties and their values.
#[derive(Debug, Default)]
pub(crate) struct RequestProperties {
    /// Whether the plan contains the values itself.
    are_kept: bool,
    /// Name and value.
    pub(crate) all: Vec<(String, String)>,
}

impl RequestProperties {
    /// Creates an empty list of properties. With `keep_secrets`, no text is moved to properties.
    pub(crate) fn new(keep_secrets: bool) -> Self {
        Self { are_kept: keep_secrets, all: Vec::new() }
    }

    /// Returns the text that replaces a header's value in the plan.
    pub(crate) fn header(&mut self, name: &str, value: &str) -> String {
        if redaction::is_public(name, value) {
            return value.to_owned();
        }
        self.moved(&format!("header.{}", name.to_lowercase()), value)
    }

    /// Returns the text that replaces a body in the plan.
    pub(crate) fn body(&mut self, text: &str) -> String {
        self.moved("body", text)
    }

    /// Returns the text that replaces a path and query in the plan; only their secret parts are moved to properties.
    pub(crate) fn path(&mut self, text: &str) -> String {
        if self.are_kept {
            return text.to_owned();
        }
        redaction::replace_path_secrets(text, |name, value| self.moved(&format!("parameter.{name}"), value))
    }

    /// Moves a text to properties, except for the variables and functions in it. Returns the text with references to the
    /// properties.
    fn moved(&mut self, name: &str, text: &str) -> String {
        if self.are_kept {
            return text.to_owned();
        }
        let mut out = String::new();
        for part in parts(text) {
            match part {
                Part::Reference(reference) => out += reference,
                Part::Text(text) => {
                    // __P trims its value, as in JMeter.
                    let kept = text.trim_matches(|character: char| character <= ' ');
                    let Some((before, after)) = text.split_once(kept).filter(|_| !kept.is_empty()) else {
                        out += text;
                        continue;
                    };
                    let property = self.add(name, kept);
                    out += &format!("{before}${{__P({property},)}}{after}");
                }
            }
        }
        out
    }

    /// Adds a property and returns its name. If the name already exists, a number is appended to it.
    fn add(&mut self, name: &str, value: &str) -> String {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let mut unique = format!("{REQUEST_PROPERTY}{name}");
        let mut number = 1;
        while self.all.iter().any(|(known, _)| *known == unique) {
            number += 1;
            unique = format!("{REQUEST_PROPERTY}{name}.{number}");
        }
        self.all.push((unique.clone(), value.to_owned()));
        unique
    }
}

/// A part of a text.
enum Part<'t> {
    Text(&'t str),
    /// `${…}`
    Reference(&'t str),
}

/// The parts of a text. A `${` without an end is literal text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut begin, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = text[at..].find("${").map(|found| at + found) {
        let Some(end) = end_of_reference(&text[found..]).map(|end| found + end) else { break };
        if begin < found {
            parts.push(Part::Text(&text[begin..found]));
        }
        parts.push(Part::Reference(&text[found..end]));
        (begin, at) = (end, end);
    }
    if begin < text.len() {
        parts.push(Part::Text(&text[begin..]));
    }
    parts
}

/// Length of the reference at the beginning of a text, including nested references.
fn end_of_reference(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' if at > 0 && text.as_bytes()[at - 1] == b'$' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_moved_and_references_stay() {
        let mut properties = RequestProperties::new(false);
        assert_eq!(properties.header("Accept", "*/*"), "*/*");
        assert_eq!(properties.header("Cookie", "a=b"), "${__P(busyhour.request.header.cookie,)}");
        assert_eq!(properties.header("Cookie", "c"), "${__P(busyhour.request.header.cookie.2,)}");
        assert_eq!(
            properties.body(" a=${__Random(1,${MAX})}&b=2\n"),
            " ${__P(busyhour.request.body,)}${__Random(1,${MAX})}${__P(busyhour.request.body.2,)}\n"
        );
        assert_eq!(properties.path("/a?b=c&sig=x"), "/a?b=c&sig=${__P(busyhour.request.parameter.sig,)}");
        let values: Vec<&str> = properties.all.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["a=b", "c", "a=", "&b=2", "x"]);
        assert_eq!(RequestProperties::new(true).body("x"), "x");
        assert_eq!(RequestProperties::new(false).body("${open"), "${__P(busyhour.request.body,)}");
        assert_eq!(RequestProperties::new(false).body(" "), " ");
    }
}
