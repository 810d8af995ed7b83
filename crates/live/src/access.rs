//! Access control for the live page and its commands (pause, resume, change the rate, stop). A client needs the page's address,
//! which contains a token; commands are accepted only from the page itself.
//!
//! The server listens on this machine, where other users and other pages in the same browser can reach it. Another page cannot
//! guess the token. It also cannot set the header that commands require, because that needs a CORS preflight request, which the
//! server never permits. Host names that resolve to this machine through DNS rebinding are not accepted.

use std::net::{IpAddr, SocketAddr};

use busyhour_server::{Request, has_header, query_value, single_header};
use rand::TryRngCore as _;
use rand::rand_core::OsError;
use rand::rngs::OsRng;
use subtle::ConstantTimeEq as _;

/// The request header that contains the token of a command.
pub(crate) const TOKEN_HEADER: &str = "X-Busyhour-Token";

/// A token: 128 random bits as hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Creates a random token.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub fn new() -> Result<Token, OsError> {
        let mut bytes = [0; 16];
        OsRng.try_fill_bytes(&mut bytes)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The token as it appears in the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares the token with a given one in constant time.
    fn is(&self, given: Option<&str>) -> bool {
        given.is_some_and(|given| bool::from(given.as_bytes().ct_eq(self.0.as_bytes())))
    }
}

/// Keeps the token out of logs.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Decides which requests are allowed.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) token: Token,
    /// Address of the server.
    pub(crate) address: SocketAddr,
}

impl Access {
    /// Whether a request may view the run.
    pub(crate) fn may_read(&self, request: &Request) -> bool {
        self.is_own_request(request) && self.token.is(query_value(request, "token"))
    }

    /// Whether a request may change the run. Its token must be in a header, because forms and images cannot set headers.
    pub(crate) fn may_steer(&self, request: &Request) -> bool {
        self.is_own_request(request) && self.token.is(single_header(request, TOKEN_HEADER))
    }

    /// Whether a request is addressed to this server and comes from its own page, according to its headers.
    fn is_own_request(&self, request: &Request) -> bool {
        let Some(host) = single_header(request, "Host").filter(|host| self.is_own(host)) else {
            return false;
        };
        let is_own_origin = match single_header(request, "Origin") {
            Some(origin) => origin.strip_prefix("http://") == Some(host),
            None => !has_header(request, "Origin"),
        };
        let is_own_site = match single_header(request, "Sec-Fetch-Site") {
            Some(site) => matches!(site, "same-origin" | "none"),
            None => !has_header(request, "Sec-Fetch-Site"),
        };
        is_own_origin && is_own_site
    }

    /// Whether a host, with its port, is a numeric address of this server or `localhost`. Other names may belong to other
    /// machines.
    fn is_own(&self, host: &str) -> bool {
        let port = self.address.port();
        if host == format!("localhost:{port}") {
            return self.address.ip().is_loopback() || self.address.ip().is_unspecified();
        }
        let Ok(named) = host.parse::<SocketAddr>() else {
            // Browsers omit the default port.
            return port == 80 && host.parse::<IpAddr>().is_ok_and(|ip| self.is_own_ip(ip));
        };
        named.port() == port && self.is_own_ip(named.ip())
    }

    fn is_own_ip(&self, ip: IpAddr) -> bool {
        ip == self.address.ip() || self.address.ip().is_unspecified()
    }
}

#[cfg(test)]
mod tests {
    use busyhour_server::{Bytes, http};

    use super::*;

    /// Whether a request with these header lines may read, and whether it may change the run, on a server at `address`.
    fn allowed(address: &str, target: &str, lines: &str) -> (bool, bool) {
        let access = Access { token: Token("ab".repeat(16)), address: address.parse().unwrap() };
        let mut request = http::Request::get(target);
        for line in lines.lines() {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let request = request.body(Bytes::new()).unwrap();
        (access.may_read(&request), access.may_steer(&request))
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (a, b) = (Token::new().unwrap(), Token::new().unwrap());
        assert_eq!(a.as_str().len(), 32);
        assert!(a != b && a.is(Some(a.as_str())) && !a.is(Some(b.as_str())));
        assert!(!a.is(None) && !a.is(Some("")) && !a.is(Some(&a.as_str()[1..])));
        assert_eq!(format!("{a:?}"), "Token(…)");
    }

    #[test]
    fn only_the_page_itself_has_access() {
        let token = "ab".repeat(16);
        let (query, header) = (format!("/?token={token}"), format!("{TOKEN_HEADER}: {token}"));
        let here = "127.0.0.1:8080";
        let full = |lines: &str| allowed(here, &query, &format!("{lines}\r\n{header}"));
        assert_eq!(full("Host: 127.0.0.1:8080"), (true, true));
        assert_eq!(full("Host: localhost:8080\r\nOrigin: http://localhost:8080"), (true, true));
        assert_eq!(full("Host: 127.0.0.1:8080\r\nSec-Fetch-Site: same-origin"), (true, true));
        for lines in [
            "X: no host",
            "Host: evil.example:8080",
            "Host: 127.0.0.1:8081",
            "Host: 127.0.0.1",
            "Host: 127.0.0.2:8080",
            "Host: 127.0.0.1:8080\r\nHost: 127.0.0.1:8080",
            "Host: 127.0.0.1:8080\r\nOrigin: http://evil.example",
            "Host: 127.0.0.1:8080\r\nOrigin: null",
            "Host: 127.0.0.1:8080\r\nOrigin: https://127.0.0.1:8080",
            "Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080",
            "Host: 127.0.0.1:8080\r\nSec-Fetch-Site: cross-site",
        ] {
            assert_eq!(full(lines), (false, false), "{lines}");
        }
        let host = "Host: 127.0.0.1:8080";
        assert_eq!(allowed(here, "/", host), (false, false));
        assert_eq!(allowed(here, "/?token=", host), (false, false));
        // Reading requires the token in the address; commands require it in the header.
        assert_eq!(allowed(here, &query, host), (true, false));
        assert_eq!(allowed(here, "/", &format!("{host}\r\n{header}")), (false, true));
        assert_eq!(allowed("[::1]:8080", &query, "Host: [::1]:8080"), (true, false));
        assert_eq!(allowed("0.0.0.0:80", &query, "Host: 192.0.2.7"), (true, false));
        assert_eq!(allowed("0.0.0.0:80", &query, "Host: a.example"), (false, false));
    }
}
