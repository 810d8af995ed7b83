//! The target of a script's exchange: the parts of its URL.

use busyhour_program::user::Thrown;

/// The parts of an `http:` or `https:` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) is_secure: bool,
    /// The host, in brackets if it is an IPv6 address.
    pub(crate) host: String,
    /// The port; `None` for the default port.
    pub(crate) port: Option<u16>,
    /// Path and query.
    pub(crate) file: String,
}

impl Target {
    /// Parses a URL.
    pub(crate) fn parse(url: &str) -> Result<Self, Thrown> {
        let malformed = |message: String| Thrown { class: "java.net.MalformedURLException", message };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| malformed(format!("no protocol: {url}")))?;
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            other => return Err(malformed(format!("unknown protocol: {other}"))),
        };
        if url.contains(['\r', '\n']) {
            return Err(malformed("Illegal character in URL".to_owned()));
        }
        let rest = rest.split('#').next().unwrap_or(rest);
        let (authority, file) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let authority = authority.rsplit('@').next().unwrap_or(authority);
        let after_brackets = authority.rfind(']').map_or(0, |at| at + 1);
        let (host, port) = match authority[after_brackets..].find(':') {
            Some(colon) => authority.split_at(after_brackets + colon),
            None => (authority, ""),
        };
        let port = match port.trim_start_matches(':') {
            "" => None,
            digits => match digits.parse() {
                Ok(port) => Some(port),
                Err(_) => return Err(malformed(format!("Invalid port number: {digits}"))),
            },
        };
        let file = if file.starts_with('/') { file.to_owned() } else { format!("/{file}") };
        Ok(Self { is_secure, host: host.to_owned(), port, file })
    }

    /// The default port of the scheme.
    fn default_port(&self) -> u16 {
        if self.is_secure { 443 } else { 80 }
    }

    /// The `Host` header, in which Java omits the default port.
    pub(crate) fn host_header(&self) -> String {
        match self.port {
            Some(port) if port != self.default_port() => format!("{}:{port}", self.host),
            _ => self.host.clone(),
        }
    }

    fn prefix(&self) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        match self.port {
            Some(port) => format!("{scheme}://{}:{port}", self.host),
            None => format!("{scheme}://{}", self.host),
        }
    }

    /// Resolves a `Location`; `None` if Java does not follow it because the protocol changes.
    pub(crate) fn redirected(&self, location: &str) -> Result<Option<String>, Thrown> {
        if let Some((scheme, _)) = location.split_once("://")
            && !scheme.is_empty()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric())
        {
            let own = if self.is_secure { "https" } else { "http" };
            if !scheme.eq_ignore_ascii_case(own) {
                return Ok(None);
            }
            Target::parse(location)?;
            return Ok(Some(location.to_owned()));
        }
        let path = self.file.split('?').next().unwrap_or("/");
        Ok(Some(if location.starts_with("//") {
            format!("{}:{location}", if self.is_secure { "https" } else { "http" })
        } else if location.starts_with('/') {
            format!("{}{location}", self.prefix())
        } else if location.starts_with('?') {
            format!("{}{path}{location}", self.prefix())
        } else {
            let folder = path.rfind('/').map_or("/", |slash| &path[..=slash]);
            format!("{}{}", self.prefix(), without_dots(&format!("{folder}{location}")))
        }))
    }
}

/// A path with its `.` and `..` segments resolved.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.len() > 1 => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{}{query}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed() {
        let target = Target::parse("HTTP://user:secret@[::1]:8080?a=b#c").unwrap();
        assert_eq!((target.host.as_str(), target.port, target.file.as_str()), ("[::1]", Some(8080), "/?a=b"));
        assert_eq!(target.host_header(), "[::1]:8080");
        assert_eq!(Target::parse("https://h:443/").unwrap().host_header(), "h");
        assert_eq!(Target::parse("http://h:99999/").unwrap_err().class, "java.net.MalformedURLException");
        assert_eq!(Target::parse("http://h/a\r\nX: y").unwrap_err().message, "Illegal character in URL");
        assert!(Target::parse("ftp://h/").is_err());
    }

    #[test]
    fn a_location_may_be_relative() {
        let target = Target::parse("http://h:81/a/b?c").unwrap();
        let to = |location: &str| target.redirected(location).unwrap();
        assert_eq!(to("/x").as_deref(), Some("http://h:81/x"));
        assert_eq!(to("x?y").as_deref(), Some("http://h:81/a/x?y"));
        assert_eq!(to("../x").as_deref(), Some("http://h:81/x"));
        assert_eq!(to("?z").as_deref(), Some("http://h:81/a/b?z"));
        assert_eq!(to("//other/x").as_deref(), Some("http://other/x"));
        assert_eq!(to("http://other/x").as_deref(), Some("http://other/x"));
        assert_eq!(to("https://other/x"), None, "Java does not change the protocol");
    }
}
