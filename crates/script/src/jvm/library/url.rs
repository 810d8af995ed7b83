//! `URL`, as far as it is a text: its parts. Scripts make no requests of their own.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, Offer, no_static};
use super::{text_of, unknown};

/// The classes of this file.
pub const OFFERS: &[Offer] = &[Offer {
    class: "URL",
    statics: "",
    made: Some((1, 1)),
    methods: "getProtocol getHost getPort getDefaultPort getFile getPath getQuery getRef getAuthority \
              getUserInfo toExternalForm",
    call: no_static,
    make: |machine, arguments| match arguments {
        [text] => {
            let text = text_of(machine, text)?;
            of(&text)
        }
        _ => no_static(machine, "URL", arguments),
    },
}];

/// Members of a URL that open a connection; a script that names one of them is refused.
pub const CONNECTING: &[&str] = &[
    "text",
    "getText",
    "bytes",
    "getBytes",
    "openConnection",
    "openStream",
    "newInputStream",
    "newReader",
    "withReader",
    "withInputStream",
    "eachLine",
    "readLines",
    "content",
    "getContent",
];

/// The URL of that text.
pub fn of(text: &str) -> Outcome {
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
        let behind_brackets = host_and_port.rfind(']').map_or(0, |at| at + 1);
        let port = match host_and_port[behind_brackets..].split_once(':') {
            Some((_, digits)) if !digits.is_empty() => {
                digits.parse::<i64>().map_err(|_| malformed(format!("For input string: \"{digits}\"")))?
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

impl Instance for Url {
    fn class(&self) -> Class {
        Class::known("URL")
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
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
