//! Digest authorization (RFC 7616) as in HttpClient 4.5: `auth`, `auth-int` and the old form without `qop`.

use crate::charset::Charset;
use busyhour_program::ElementError;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

/// A challenge: a scheme and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// In lower case.
    pub(crate) scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Parses the value of a `WWW-Authenticate` header, which by HttpClient's rules contains one challenge.
    pub(crate) fn parse(header: &str) -> Self {
        let header = header.trim_start();
        let (scheme, rest) = header.split_once(char::is_whitespace).unwrap_or((header, ""));
        let mut parameters = Vec::new();
        let mut rest = rest;
        while !rest.trim_start().is_empty() {
            let (name, after) = rest.split_at(rest.find(['=', ',']).unwrap_or(rest.len()));
            let mut value = String::new();
            let mut end = after.len();
            let mut quoted = false;
            let mut escaped = false;
            for (at, character) in after.char_indices().skip(usize::from(after.starts_with('='))) {
                match character {
                    ',' if !quoted => {
                        end = at;
                        break;
                    }
                    '"' if !escaped => quoted = !quoted,
                    '\\' if quoted && !escaped => {
                        escaped = true;
                        continue;
                    }
                    other => value.push(other),
                }
                escaped = false;
            }
            let name = name.trim().to_ascii_lowercase();
            if !name.is_empty() {
                parameters.push((name, value.trim().to_owned()));
            }
            rest = after.get(end + 1..).unwrap_or_default();
        }
        Self { scheme: scheme.to_ascii_lowercase(), parameters }
    }

    /// A parameter; if it occurs twice, the last value counts.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the credentials were correct, but the nonce has expired.
    pub(crate) fn is_stale(&self) -> bool {
        self.parameter("stale").is_some_and(|stale| stale.eq_ignore_ascii_case("true"))
    }
}

/// The request that is to be authorized.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DigestRequest<'r> {
    pub(crate) method: &'r str,
    /// The URI in the request line.
    pub(crate) uri: &'r str,
    /// The body, if the request can have one.
    pub(crate) body: Option<&'r [u8]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quality {
    /// The server implements only RFC 2069, which has no `qop`.
    Missing,
    Auth,
    AuthInt,
}

type Hash = fn(&[u8]) -> String;

fn hex<D: Digest>(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    D::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Java's hash function with this name; `-sess` is supported only for MD5.
fn hash_named(algorithm: &str) -> Option<Hash> {
    Some(match algorithm.to_ascii_uppercase().as_str() {
        "MD5" | "MD5-SESS" => hex::<Md5>,
        "SHA" | "SHA1" | "SHA-1" => hex::<Sha1>,
        "SHA-256" => hex::<Sha256>,
        "SHA-384" => hex::<Sha384>,
        "SHA-512" => hex::<Sha512>,
        _ => return None,
    })
}

/// The `Authorization` header for a challenge; `count` is the number of uses of its nonce, including this one.
///
/// # Errors
/// If no valid response to the challenge exists; the message is for the log.
pub(crate) fn authorization(
    challenge: &Challenge,
    request: DigestRequest<'_>,
    user: &str,
    password: &str,
    cnonce: &str,
    count: u32,
) -> Result<String, ElementError> {
    let required =
        |name: &str| challenge.parameter(name).ok_or_else(|| format!("missing {name} in challenge"));
    let (realm, nonce) = (required("realm")?, required("nonce")?);
    let algorithm = challenge.parameter("algorithm").unwrap_or("MD5");
    let quality = match challenge.parameter("qop") {
        None => Quality::Missing,
        Some(list) => {
            let offers = |name: &str| list.split(',').any(|offer| offer.trim().eq_ignore_ascii_case(name));
            if request.body.is_some() && offers("auth-int") {
                Quality::AuthInt
            } else if offers("auth") {
                Quality::Auth
            } else {
                return Err(format!("None of the qop methods is supported: {list}").into());
            }
        }
    };
    let hash = hash_named(algorithm).ok_or_else(|| format!("Unsupported digest algorithm: {algorithm}"))?;
    let utf8 = challenge.parameter("charset").is_some_and(|charset| charset.eq_ignore_ascii_case("UTF-8"));
    let bytes = |text: &str| {
        let mut out = Vec::new();
        let charset = if utf8 { Charset::Utf8 } else { Charset::Latin1 };
        charset.encode(text, &mut out);
        out
    };
    let mut ha1 = hash(&bytes(&format!("{user}:{realm}:{password}")));
    if algorithm.eq_ignore_ascii_case("MD5-sess") {
        ha1 = hash(&bytes(&format!("{ha1}:{nonce}:{cnonce}")));
    }
    let DigestRequest { method, uri, body } = request;
    let ha2 = match (quality, body) {
        (Quality::AuthInt, Some(body)) => format!("{method}:{uri}:{}", hash(body)),
        _ => format!("{method}:{uri}"),
    };
    let ha2 = hash(&bytes(&ha2));
    let name = if quality == Quality::AuthInt { "auth-int" } else { "auth" };
    let response = if quality == Quality::Missing {
        hash(format!("{ha1}:{nonce}:{ha2}").as_bytes())
    } else {
        hash(format!("{ha1}:{nonce}:{count:08x}:{cnonce}:{name}:{ha2}").as_bytes())
    };
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut header = format!(
        "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{}\", response=\"{response}\"",
        quoted(user),
        quoted(realm),
        quoted(nonce),
        quoted(uri)
    );
    if quality != Quality::Missing {
        header.push_str(&format!(", qop={name}, nc={count:08x}, cnonce=\"{cnonce}\""));
    }
    header.push_str(&format!(", algorithm={algorithm}"));
    if let Some(opaque) = challenge.parameter("opaque") {
        header.push_str(&format!(", opaque=\"{}\"", quoted(opaque)));
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of RFC 2617, section 3.5, and that of RFC 7616, section 3.9.1.
    #[test]
    fn examples_of_the_rfcs_are_reproduced() {
        let challenge = Challenge::parse(
            "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", \
             opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"",
        );
        let request = DigestRequest { method: "GET", uri: "/dir/index.html", body: None };
        let header = authorization(&challenge, request, "Mufasa", "Circle Of Life", "0a4f113b", 1).unwrap();
        assert_eq!(
            header,
            "Digest username=\"Mufasa\", realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", \
             uri=\"/dir/index.html\", response=\"6629fae49393a05397450978507c4ef1\", qop=auth, nc=00000001, \
             cnonce=\"0a4f113b\", algorithm=MD5, opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""
        );
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
        let challenge = Challenge::parse(&format!(
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=SHA-256, nonce=\"{nonce}\""
        ));
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let header = authorization(&challenge, request, "Mufasa", "Circle of Life", cnonce, 1).unwrap();
        assert!(
            header.contains("response=\"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1\""),
            "{header}"
        );
    }

    #[test]
    fn invalid_challenges_are_rejected() {
        let request = DigestRequest { method: "GET", uri: "/", body: None };
        for header in [
            "Digest nonce=1",
            "Digest realm=r",
            "Digest realm=r, nonce=1, qop=token",
            "Digest realm=r, nonce=1, algorithm=MD6",
        ] {
            assert!(authorization(&Challenge::parse(header), request, "u", "p", "c", 1).is_err(), "{header}");
        }
        assert!(Challenge::parse("digest STALE=TRUE").is_stale());
        assert_eq!(Challenge::parse("Basic realm=\"a \\\"b\\\", c\"").parameter("realm"), Some("a \"b\", c"));
    }

    proptest! {
        #[test]
        fn random_headers_never_panic(header in ".{0,60}") {
            let _ = Challenge::parse(&header);
        }
    }
}
