//! The origin of a request: scheme, host and port.

use std::sync::Arc;

/// The scheme, host and port of a URL, and texts derived from them.
#[derive(Debug, PartialEq, Eq)]
pub struct Origin {
    /// `https`.
    pub secure: bool,
    /// The host as in the URL, in brackets if it is an IPv6 address.
    pub host: String,
    /// The port; the default port of the scheme if the URL has none.
    pub port: u16,
    /// `host:port`, or `host` if the URL has no port: the `Host` header.
    pub authority: String,
    /// `http://host:port`: the start of the URL.
    pub prefix: String,
    /// The reason why Java does not accept the host; `None` for valid hosts.
    pub(crate) invalid_host: Option<InvalidHost>,
    /// Whether URLs refer to files of this machine.
    pub(crate) is_file: bool,
}

/// The problem of an invalid host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvalidHost {
    /// The error of `java.net.URI`, with its index.
    At(&'static str, usize),
    /// The host contains a character that ends a host.
    Contains(char),
}

impl Origin {
    /// Creates an origin; `port` is `None` if the URL has no port.
    pub fn new(secure: bool, host: &str, port: Option<u16>) -> Arc<Self> {
        let scheme = if secure { "https" } else { "http" };
        let authority = match port {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let prefix = format!("{scheme}://{authority}");
        let port = port.unwrap_or(if secure { 443 } else { 80 });
        let invalid_host = check_host(host, scheme.len() + 3);
        Arc::new(Self {
            secure,
            host: host.to_owned(),
            port,
            authority,
            prefix,
            invalid_host,
            is_file: false,
        })
    }

    /// The origin of `file:` URLs.
    pub(crate) fn file() -> Arc<Self> {
        Arc::new(Self {
            secure: false,
            host: String::new(),
            port: 0,
            authority: String::new(),
            prefix: "file:".into(),
            invalid_host: None,
            is_file: true,
        })
    }

    /// `host:port`, always with the port, for messages.
    pub fn with_port(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The host without the brackets of an IPv6 address.
    pub fn bare_host(&self) -> &str {
        self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&self.host)
    }
}

fn check_host(host: &str, at: usize) -> Option<InvalidHost> {
    if let Some(inner) = host.strip_prefix('[') {
        let address = inner.strip_suffix(']').unwrap_or(inner);
        let address = address.split('%').next().unwrap_or(address);
        return address
            .parse::<std::net::Ipv6Addr>()
            .is_err()
            .then_some(InvalidHost::At("Malformed IPv6 address", at + 1));
    }
    if let Some(end) = host.chars().find(|character| matches!(character, '?' | '#' | '@')) {
        return Some(InvalidHost::Contains(end));
    }
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$'()*,;&=+".contains(&byte) || !byte.is_ascii();
    (!host.bytes().all(fits)).then_some(InvalidHost::At("Illegal character in authority", at))
}
