//! Where a request goes: scheme, host and port.

use std::sync::Arc;

/// Scheme, host and port of a URL, and the texts made of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Origin {
    /// `https`.
    pub secure: bool,
    /// Host as the URL says it, in brackets when it is an IPv6 address.
    pub host: String,
    /// Port, the scheme's own when the URL names none.
    pub port: u16,
    /// `host:port`, or `host` when the URL names no port: the `Host` header.
    pub authority: String,
    /// `http://host:port`: how the URL begins.
    pub prefix: String,
}

impl Origin {
    /// An origin; `port` is `None` when the URL does not name one.
    pub fn new(secure: bool, host: &str, port: Option<u16>) -> Arc<Self> {
        let scheme = if secure { "https" } else { "http" };
        let authority = match port {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let prefix = format!("{scheme}://{authority}");
        let port = port.unwrap_or(if secure { 443 } else { 80 });
        Arc::new(Self { secure, host: host.to_owned(), port, authority, prefix })
    }

    /// `host:port` with the port always there, for messages.
    pub fn with_port(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Host without the brackets of an IPv6 address.
    pub fn bare_host(&self) -> &str {
        self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&self.host)
    }
}
