//! Fetches pages of metrics over HTTP.

use std::io::{self, Read};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::MultiGzDecoder;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::text::TextFormat;

/// Longest page that is read, after decompression, in bytes: about a million series.
pub const PAGE_MAX: u64 = 128 << 20;

/// The limit on the time to fetch a page unless [`FetchOptions::timeout`] is set; the same as Prometheus's default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Longest part of a server's answer that is repeated in an error, in characters.
const ANSWER_MAX: usize = 200;

/// The formats that are read, in the order of preference.
const ACCEPT: &str = "application/openmetrics-text;version=1.0.0,text/plain;version=1.0.0;q=0.8,\
                      text/plain;version=0.0.4;q=0.7,*/*;q=0.1";

/// How pages are fetched.
#[derive(Clone, Default)]
pub struct FetchOptions {
    /// A token for `Authorization: Bearer`.
    pub bearer_token: Option<String>,
    /// PEM text of certificate authorities that are trusted instead of the usual ones, for servers with their own.
    pub authorities: Option<Vec<u8>>,
    /// The limit on the time to fetch a page; 10 s if `None`.
    pub timeout: Option<Duration>,
}

impl std::fmt::Debug for FetchOptions {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FetchOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// A page cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address is not a URL with `http` or `https`.
    #[error("`{0}` is not an address like http://host:9100/metrics")]
    Address(String),
    /// The certificate authorities cannot be read.
    #[error("cannot read the certificate authorities (PEM)")]
    Authorities(#[source] Option<Box<ureq::Error>>),
    /// The server cannot be reached or did not answer in time.
    #[error("no answer from {url}")]
    Http {
        /// The address, without secrets.
        url: String,
        /// The cause.
        #[source]
        source: Box<ureq::Error>,
    },
    /// The server answered with an error.
    #[error("{url} answered {status}: {answer}")]
    Status {
        /// The address, without secrets.
        url: String,
        /// The status code.
        status: u16,
        /// The beginning of the answer.
        answer: String,
    },
    /// The page is incomplete or damaged.
    #[error("the page at {url} cannot be read")]
    Body {
        /// The address, without secrets.
        url: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The page is too long.
    #[error("the page at {url} is longer than {} MiB", PAGE_MAX >> 20)]
    TooLong {
        /// The address, without secrets.
        url: String,
    },
}

/// The address of pages, with the means to fetch them.
pub struct Fetcher {
    agent: ureq::Agent,
    url: String,
    shown: String,
    authorization: Option<String>,
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("url", &self.shown).finish_non_exhaustive()
    }
}

impl Fetcher {
    /// Prepares to fetch `url`, such as `https://user:password@host:9100/metrics`. Without a path, it is `/metrics`.
    ///
    /// # Errors
    /// The address is not an HTTP address, or the certificate authorities cannot be read.
    pub fn new(url: &str, options: &FetchOptions) -> Result<Self, FetchError> {
        let address = Address::parse(url).ok_or_else(|| FetchError::Address(without_secrets(url)))?;
        let mut config = ureq::Agent::config_builder()
            .timeout_global(Some(options.timeout.unwrap_or(TIMEOUT)))
            .http_status_as_error(false)
            .accept(ACCEPT)
            // `fetch` decompresses the page itself, to limit its length.
            .accept_encoding("gzip")
            .user_agent(concat!("busyhour/", env!("CARGO_PKG_VERSION")));
        if let Some(pem) = &options.authorities {
            config = config.tls_config(TlsConfig::builder().root_certs(authorities(pem)?).build());
        }
        let basic = address
            .credentials
            .map(|credentials| format!("Basic {}", BASE64_STANDARD.encode(percent_decoded(credentials))));
        let authorization = options.bearer_token.as_ref().map(|token| format!("Bearer {token}")).or(basic);
        Ok(Self { agent: config.build().new_agent(), url: address.url, shown: address.shown, authorization })
    }

    /// The address for messages and names: without user, password and query.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Fetches the page. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// The server cannot be reached, answers with another status than 200, or the page cannot be read.
    pub fn fetch(&self) -> Result<(String, TextFormat), FetchError> {
        let url = || self.shown.clone();
        let mut request = self.agent.get(&self.url);
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let response = request.call();
        let mut response =
            response.map_err(|source| FetchError::Http { url: url(), source: Box::new(source) })?;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
        let format = TextFormat::of_content_type(header("Content-Type"));
        let is_gzip = header("Content-Encoding").trim().eq_ignore_ascii_case("gzip");
        let status = response.status().as_u16();
        let body = response.body_mut().as_reader();
        let result = if is_gzip { read_page(MultiGzDecoder::new(body)) } else { read_page(body) };
        if status != 200 {
            let text = result.ok().flatten().unwrap_or_default();
            let answer = text.lines().next().unwrap_or_default().trim().chars().take(ANSWER_MAX).collect();
            return Err(FetchError::Status { url: url(), status, answer });
        }
        match result {
            Ok(Some(text)) => Ok((text, format)),
            Ok(None) => Err(FetchError::TooLong { url: url() }),
            Err(source) => Err(FetchError::Body { url: url(), source }),
        }
    }
}

/// Reads a whole page; `None` if it is too long.
fn read_page(reader: impl Read) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    reader.take(PAGE_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > PAGE_MAX {
        return Ok(None);
    }
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Some(text))
}

fn authorities(pem: &[u8]) -> Result<RootCerts, FetchError> {
    let mut certificates: Vec<Certificate<'static>> = Vec::new();
    for item in parse_pem(pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(FetchError::Authorities(Some(Box::new(error)))),
        }
    }
    if certificates.is_empty() {
        return Err(FetchError::Authorities(None));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

/// The parts of a URL.
struct Address<'u> {
    /// Without credentials, with a path.
    url: String,
    /// Without credentials and query.
    shown: String,
    /// `user:password`, percent-encoded.
    credentials: Option<&'u str>,
}

impl<'u> Address<'u> {
    fn parse(text: &'u str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return None;
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (credentials, host) = match authority.rsplit_once('@') {
            Some((credentials, host)) => (Some(credentials), host),
            None => (None, authority),
        };
        if host.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let path = if path.is_empty() { "/metrics" } else { path };
        let shown = format!("{scheme}://{host}{path}");
        let url = query.map_or_else(|| shown.clone(), |query| format!("{shown}?{query}"));
        Some(Address { url, shown, credentials })
    }
}

/// The text of an address for an error, without the parts that may contain a password.
fn without_secrets(text: &str) -> String {
    let text = text.split('?').next().unwrap_or_default();
    text.rsplit('@').next().unwrap_or_default().chars().take(ANSWER_MAX).collect()
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split_into_their_parts() {
        for (text, url, shown, credentials) in [
            ("http://h:9100", "http://h:9100/metrics", "http://h:9100/metrics", None),
            ("https://a:b%40c@h/p?token=1#x", "https://h/p?token=1", "https://h/p", Some("a:b%40c")),
            ("http://[::1]:80/?q", "http://[::1]:80/?q", "http://[::1]:80/", None),
            ("HTTP://h?name[]=up", "HTTP://h/metrics?name[]=up", "HTTP://h/metrics", None),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((&*address.url, &*address.shown, address.credentials), (url, shown, credentials));
        }
        for text in ["h:9100/metrics", "ftp://h", "http://", "http://u@/", "http://a b/", ""] {
            assert!(Address::parse(text).is_none(), "{text}");
        }
        assert_eq!(percent_decoded("a%40%zz%4"), b"a@%zz%4");
    }

    #[test]
    fn errors_and_debug_texts_have_no_secrets() {
        let error = Fetcher::new("ftp://me:secret@h/x?key=secret", &FetchOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "`h/x` is not an address like http://host:9100/metrics");
        let options = FetchOptions { bearer_token: Some("secret".into()), ..FetchOptions::default() };
        let fetcher = Fetcher::new("http://me:secret@h/x?key=secret", &options).unwrap();
        assert!(!format!("{options:?} {fetcher:?}").contains("secret"));
    }

    #[test]
    fn authorities_must_be_certificates() {
        for pem in [&b""[..], b"-----BEGIN CERTIFICATE-----\nAAAA", b"text"] {
            let options = FetchOptions { authorities: Some(pem.to_vec()), ..FetchOptions::default() };
            assert!(matches!(Fetcher::new("https://h", &options), Err(FetchError::Authorities(_))));
        }
    }
}
