//! The class `URI`: parsing, and access to the parts of a URI.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass};
use super::{encode, text_of, unknown};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[LibraryClass {
    class: "URI",
    statics: "create",
    constructor_arguments: Some((1, 7)),
    methods: "getScheme getHost getPort getPath getRawPath getQuery getRawQuery getFragment getRawFragment getAuthority \
              getRawAuthority getUserInfo toASCIIString toURL resolve isAbsolute normalize",
    call_static: |machine, _, arguments| match arguments {
        [text] => {
            let text = text_of(machine, text)?;
            parse(&text)
        }
        _ => Err(unsupported("`URI.create` with these arguments")),
    },
    construct: |machine, arguments| match arguments {
        [text] => {
            let text = text_of(machine, text)?;
            parse(&text)
        }
        _ => from_parts(machine, arguments),
    },
}];

/// Characters besides letters and digits that a URI may contain.
const ALLOWED: &str = "-_.!~*'()%;/?:@&=+$,#[]";

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || ALLOWED.contains(c) || !c.is_ascii()
}

/// Parses a URI.
pub fn parse(text: &str) -> Outcome {
    if let Some(at) = text.chars().position(|c| !is_allowed(c)) {
        let part = if text.chars().take(at).any(|c| c == '?') { "query" } else { "path" };
        let message = format!("Illegal character in {part} at index {at}: {text}");
        return Err(thrown("URISyntaxException", message));
    }
    Ok(V::object(Object::Library(Box::new(Uri(text.to_owned())))))
}

/// Escapes the characters that a part of a URI must not contain.
fn escape_part(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if is_allowed(c) && !matches!(c, '#' | '?' | '[' | ']') {
            out.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

/// Calls constructors that take the parts of a URI, such as `new URI(scheme, host, path, query, fragment)`.
fn from_parts(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    let mut parts = Vec::new();
    for part in arguments {
        parts.push(match part {
            part if part.is_null() => None,
            V::Plain(crate::Value::Integer(port)) => Some(port.to_string()),
            part => Some(text_of(machine, part)?),
        });
    }
    let part = |at: usize| parts.get(at).cloned().flatten();
    let (authority, path, query, fragment) = match parts.len() {
        4 => (part(1), part(2), None, part(3)),
        5 => (part(1), part(2), part(3), part(4)),
        7 => {
            let port = part(3).filter(|port| port != "-1").map_or(String::new(), |port| format!(":{port}"));
            let user = part(1).map_or(String::new(), |user| format!("{user}@"));
            (part(2).map(|host| user + &host + &port), part(4), part(5), part(6))
        }
        _ => return Err(unsupported("`new URI` with these arguments")),
    };
    let mut text = part(0).map_or(String::new(), |scheme| scheme + ":");
    if let Some(authority) = authority {
        text.push_str("//");
        text.push_str(&authority);
    }
    text.push_str(&escape_part(&path.unwrap_or_default()));
    for (separator, part) in [('?', query), ('#', fragment)] {
        if let Some(part) = part {
            text.push(separator);
            text.push_str(&escape_part(&part));
        }
    }
    parse(&text)
}

#[derive(Debug)]
struct Uri(String);

/// The parts of a URI: scheme, authority, path, query and fragment.
type Parts<'t> = (Option<&'t str>, Option<&'t str>, &'t str, Option<&'t str>, Option<&'t str>);

impl Uri {
    fn parts(&self) -> Parts<'_> {
        let (rest, fragment) =
            self.0.split_once('#').map_or((&*self.0, None), |(rest, end)| (rest, Some(end)));
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, end)| (rest, Some(end)));
        let colon = rest.find(':').filter(|at| !rest[..*at].contains('/'));
        let (scheme, rest) = colon.map_or((None, rest), |at| (Some(&rest[..at]), &rest[at + 1..]));
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        (scheme, authority, path, query, fragment)
    }
}

impl Instance for Uri {
    fn class(&self) -> Class {
        Class::known("URI")
    }

    fn is_equal(&self, other: &V) -> bool {
        let V::Object(other) = other else { return false };
        other
            .library()
            .is_some_and(|other| other.class() == self.class() && other.own_text().as_ref() == Some(&self.0))
    }

    fn own_text(&self) -> Option<String> {
        Some(self.0.clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let (scheme, authority, path, query, fragment) = self.parts();
        let decoded = |text: &str| {
            encode::decode_url(&text.replace('+', "%2B"), "UTF-8").unwrap_or_else(|_| text.to_owned())
        };
        let owned = |text: Option<&str>| V::text_or_null(text.map(str::to_owned));
        let host = authority.map(|authority| authority.rsplit('@').next().unwrap_or(""));
        Ok(match (method, arguments) {
            ("getScheme", []) => owned(scheme),
            ("getAuthority" | "getRawAuthority", []) => owned(authority),
            ("getUserInfo", []) => {
                owned(authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user))
            }
            ("getHost", []) => owned(host.map(|host| host.split(':').next().unwrap_or(""))),
            ("getPort", []) => {
                let port = host.and_then(|host| host.split_once(':')).and_then(|(_, port)| port.parse().ok());
                V::int(port.unwrap_or(-1))
            }
            ("getPath", []) => V::text(decoded(path)),
            ("getRawPath", []) => V::text(path),
            ("getQuery", []) => V::text_or_null(query.map(decoded)),
            ("getRawQuery", []) => owned(query),
            ("getFragment", []) => V::text_or_null(fragment.map(decoded)),
            ("getRawFragment", []) => owned(fragment),
            ("isAbsolute", []) => V::truth(scheme.is_some()),
            ("toASCIIString", []) => {
                let mut out = String::new();
                for byte in self.0.bytes() {
                    if byte.is_ascii() {
                        out.push(char::from(byte))
                    } else {
                        out.push_str(&format!("%{byte:02X}"))
                    }
                }
                V::text(out)
            }
            ("toURL", []) => return super::url::parse(&self.0),
            ("resolve", [other]) => {
                let other = super::print::java(machine, other)?;
                if other.contains("://") {
                    return parse(&other);
                }
                let end = self.0.len() - self.0.find(['?', '#']).map_or(0, |at| self.0.len() - at);
                let base = &self.0[..end];
                let start = base.len() - path.len();
                let made = if other.starts_with('/') {
                    format!("{}{other}", &base[..start])
                } else {
                    let folder = path.rfind('/').map_or("", |at| &path[..=at]);
                    format!("{}{folder}{other}", &base[..start])
                };
                return parse(&made);
            }
            _ => return Err(unknown(object, method)),
        })
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.0.clone())
    }
}
