//! The class `URL`: its parts and its content.

use std::path::Path;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::truth::truth;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_static_method};
use super::url_connection::{self, Connection};
use super::{byte_streams, files, print, text_of, unknown};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[LibraryClass {
    class: "URL",
    statics: "",
    constructor_arguments: Some((1, 1)),
    methods: "getProtocol getHost getPort getDefaultPort getFile getPath getQuery getRef getAuthority \
              getUserInfo toExternalForm openConnection openStream newInputStream getContent getText getBytes \
              newReader withReader withInputStream eachLine readLines",
    call_static: no_static_method,
    construct: |machine, arguments| match arguments {
        [text] => {
            if text.is_null() {
                let message = "Cannot invoke \"String.length()\" because \"spec\" is null";
                return Err(thrown("MalformedURLException", message));
            }
            let text = text_of(machine, text)?;
            parse(&text)
        }
        _ => no_static_method(machine, "URL", arguments),
    },
}];

/// Parses a URL.
pub fn parse(text: &str) -> Outcome {
    Ok(V::object(Object::Library(Box::new(Url::parse(text)?))))
}

#[derive(Debug)]
struct Url {
    text: String,
    protocol: String,
    authority: String,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
    port: i64,
}

impl Url {
    fn parse(text: &str) -> Result<Url, Fault> {
        let malformed = |why: String| thrown("MalformedURLException", why);
        let text = text.trim();
        let Some((protocol, rest)) = text.split_once(':') else {
            return Err(malformed(format!("no protocol: {text}")));
        };
        if protocol.is_empty() || !protocol.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) {
            return Err(malformed(format!("no protocol: {text}")));
        }
        let protocol = protocol.to_ascii_lowercase();
        if !matches!(protocol.as_str(), "http" | "https" | "file" | "ftp" | "jar" | "mailto") {
            return Err(malformed(format!("unknown protocol: {protocol}")));
        }
        let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, end)| (rest, Some(end)));
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, end)| (rest, Some(end)));
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let host_and_port = authority.rsplit('@').next().unwrap_or("");
        let host_end = host_and_port.rfind(']').map_or(0, |at| at + 1);
        let port = match host_and_port[host_end..].split_once(':') {
            Some((_, digits)) if !digits.is_empty() => {
                digits.parse::<i64>().map_err(|_| malformed(format!("Error at index 0 in: \"{digits}\"")))?
            }
            _ => -1,
        };
        Ok(Url {
            text: text.to_owned(),
            protocol,
            authority: authority.to_owned(),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            fragment: fragment.map(str::to_owned),
            port,
        })
    }

    fn host(&self) -> &str {
        let host = self.authority.rsplit('@').next().unwrap_or("");
        match host.rfind(']') {
            Some(at) => &host[..=at],
            None => host.split(':').next().unwrap_or(""),
        }
    }
}

impl Url {
    /// Calls methods that read the URL's content; `None` for other methods.
    fn call_content(&self, machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Option<Outcome> {
        // Groovy's methods accept settings of the connection as a map before the other arguments.
        let (settings, rest) = match arguments {
            [settings @ V::Map(_), rest @ ..] if matches!(method, "getText" | "getBytes" | "newReader") => {
                (Some(settings), rest)
            }
            rest => (None, rest),
        };
        Some(match (method, rest) {
            ("openConnection", []) => self.connection().map(new_object),
            ("openStream" | "newInputStream" | "getContent", []) => self.stream(machine, None),
            ("getText" | "getBytes" | "readLines", _) => {
                let stream = match self.stream(machine, settings) {
                    Ok(stream) => stream,
                    Err(fault) => return Some(Err(fault)),
                };
                machine.invoke(&stream, method, rest.to_vec())
            }
            ("newReader", _) => self
                .stream(machine, settings)
                .and_then(|stream| machine.invoke(&stream, "newReader", rest.to_vec())),
            ("withReader" | "eachLine", [.., V::Closure(_)]) => {
                self.stream(machine, None).and_then(|stream| machine.invoke(&stream, method, rest.to_vec()))
            }
            ("withInputStream", [closure @ V::Closure(_)]) => {
                self.stream(machine, None).and_then(|stream| machine.call_value(closure, vec![stream]))
            }
            _ => return None,
        })
    }

    fn connection(&self) -> Result<Connection, Fault> {
        match self.protocol.as_str() {
            "http" | "https" => Ok(url_connection::open(&self.text, parse)),
            other => Err(unsupported(format!("a connection to a URL with the protocol {other}"))),
        }
    }

    /// The content as a stream; `settings` apply to the connection.
    fn stream(&self, machine: &mut Machine<'_>, settings: Option<&V>) -> Outcome {
        if self.protocol == "file" {
            let path = percent_decode(&self.path);
            let path = Path::new(&path);
            if path.exists() && !path.is_file() {
                return Err(unsupported("a file: URL of something other than a regular file"));
            }
            return Ok(byte_streams::input(files::bytes(path)?, None));
        }
        let connection = self.connection()?;
        if let Some(V::Map(settings)) = settings {
            for (name, value) in settings.ordered() {
                match name.as_text().unwrap_or("") {
                    "connectTimeout" => connection.set_timeout(false, value.as_long().unwrap_or(0))?,
                    "readTimeout" => connection.set_timeout(true, value.as_long().unwrap_or(0))?,
                    "useCaches" => connection.set_uses_caches(truth(machine, &value)?),
                    "allowUserInteraction" => {}
                    "requestProperties" => {
                        let V::Map(headers) = &value else {
                            return Err(unsupported("request properties that are not a map"));
                        };
                        for (name, value) in headers.ordered() {
                            let (name, value) = (print::java(machine, &name)?, print::java(machine, &value)?);
                            connection.set_header(name, value, true)?;
                        }
                    }
                    other => return Err(unsupported(format!("the setting `{other}` of a URL connection"))),
                }
            }
        }
        connection.input(machine)
    }
}

fn new_object(connection: Connection) -> V {
    V::object(Object::Library(Box::new(connection)))
}

/// Decodes the percent-encoded bytes of a path.
fn percent_decode(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| path.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()))
            .flatten();
        out.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Instance for Url {
    fn class(&self) -> Class {
        Class::known("URL")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        if let Some(outcome) = self.call_content(machine, method, arguments) {
            return outcome;
        }
        if !arguments.is_empty() {
            return Err(unknown(object, method));
        }
        Ok(match method {
            "getProtocol" => V::text(&self.protocol),
            "getHost" => V::text(self.host()),
            "getPort" => V::int(self.port),
            "getDefaultPort" => V::int(match self.protocol.as_str() {
                "http" => 80,
                "https" => 443,
                "ftp" => 21,
                _ => -1,
            }),
            "getPath" => V::text(&self.path),
            "getFile" => match &self.query {
                Some(query) => V::text(format!("{}?{query}", self.path)),
                None => V::text(&self.path),
            },
            "getQuery" => V::text_or_null(self.query.clone()),
            "getRef" => V::text_or_null(self.fragment.clone()),
            "getAuthority" => V::text(&self.authority),
            "getUserInfo" => {
                V::text_or_null(self.authority.rsplit_once('@').map(|(user, _)| user.to_owned()))
            }
            "toExternalForm" => V::text(&self.text),
            _ => return Err(unknown(object, method)),
        })
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.text.clone())
    }
}
