//! Where a request goes: scheme, host and port.

use std::sync::Arc;

/// Scheme, host and port of a URL, and the texts made of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Origin {
    /// `https`.
    pub secure: bool,
    /// Host as in the URL, in brackets if it is an IPv6 address.
    pub host: String,
    /// Port, the scheme's own when the URL names none.
    pub port: u16,
    /// `host:port`, or `host` when the URL names no port: the `Host` header.
    pub authority: String,
    /// `http://host:port`: how the URL begins.
    pub prefix: String,
    /// Why Java does not take such a host; `None` for hosts as they should be.
    pub(crate) odd: Option<OddHost>,
    /// The disk of this machine.
    pub(crate) is_file: bool,
}

/// What is wrong with a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OddHost {
    /// The error of `java.net.URI`, with its index.
    At(&'static str, usize),
    /// A character that ends a host.
    Holds(char),
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
        let odd = odd_host(host, scheme.len() + 3);
        Arc::new(Self { secure, host: host.to_owned(), port, authority, prefix, odd, is_file: false })
    }

    /// Where `file:` URLs lead.
    pub(crate) fn file() -> Arc<Self> {
        Arc::new(Self {
            secure: false,
            host: String::new(),
            port: 0,
            authority: String::new(),
            prefix: "file:".into(),
            odd: None,
            is_file: true,
        })
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

fn odd_host(host: &str, at: usize) -> Option<OddHost> {
    if let Some(inner) = host.strip_prefix('[') {
        let address = inner.strip_suffix(']').unwrap_or(inner);
        let address = address.split('%').next().unwrap_or(address);
        return address
            .parse::<std::net::Ipv6Addr>()
            .is_err()
            .then_some(OddHost::At("Malformed IPv6 address", at + 1));
    }
    if let Some(end) = host.chars().find(|character| matches!(character, '?' | '#' | '@')) {
        return Some(OddHost::Holds(end));
    }
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$'()*,;&=+".contains(&byte) || !byte.is_ascii();
    (!host.bytes().all(fits)).then_some(OddHost::At("Illegal character in authority", at))
}
