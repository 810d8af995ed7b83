//! HTTP Authorization Manager: Basic credentials, which are sent preemptively as JMeter does by default, and responses to
//! challenges.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use rand::Rng as _;

use crate::digest::{self, Challenge, DigestRequest};
use crate::url_parts;
use crate::wire_request::WireRequest;

/// One row of the manager's table.
#[derive(Debug, Clone)]
pub struct Authorization {
    /// `Authorization.url`: the credentials apply to URLs with this prefix.
    pub url: Template,
    /// `Authorization.username`
    pub user: Template,
    /// `Authorization.password`
    pub password: Template,
    /// `Authorization.domain`: precedes the user name, in upper case, as in HttpClient's `NTCredentials`.
    pub domain: Template,
    /// `Authorization.realm`; empty: any.
    pub realm: Template,
    /// Whether `Authorization.mechanism` is Basic: the credentials are sent preemptively.
    pub basic: bool,
}

impl Authorization {
    /// The user's name with its domain, if it has one.
    fn principal(&self, user: &mut UserState) -> String {
        let name = self.user.text(user).into_owned();
        let domain = self.domain.text(user);
        if domain.is_empty() { name } else { format!("{}\\{name}", domain.to_uppercase()) }
    }
}

/// An HTTP Authorization Manager.
#[derive(Debug, Clone, Default)]
pub struct AuthManager {
    /// Its rows, in order; the first matching row is used.
    pub entries: Vec<Authorization>,
    /// Whether `httpclient4.auth.preemptive` is off. Credentials are then sent only after a challenge, and only if the realm of
    /// the challenge equals that of the row.
    pub waits: bool,
}

/// The scheme with which a request was authorized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UsedScheme {
    Basic,
    Digest,
}

/// The reaction to a server's challenge.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AuthReply {
    /// Repeat the request with this `Authorization` header. With `None`, the request is repeated unchanged: HttpClient does
    /// this, too, although it cannot succeed.
    Repeat(Option<String>, UsedScheme),
    /// Use the challenge as the response of the sample.
    Stop,
}

impl AuthManager {
    /// The `Authorization` header for a URL, if credentials for it are known.
    pub fn header(&self, user: &mut UserState, url: &str) -> Option<String> {
        if self.waits {
            return None;
        }
        let entry = self.matching_entry(user, url).filter(|entry| entry.basic)?;
        let name = entry.principal(user);
        let password = entry.password.text(user);
        Some(basic(&name, &password))
    }

    fn matching_entry(&self, user: &mut UserState, url: &str) -> Option<&Authorization> {
        self.entries.iter().find(|entry| {
            let prefix = entry.url.text(user);
            url.starts_with(&*prefix)
                || with_other_port_form(url).is_some_and(|url| url.starts_with(&*prefix))
        })
    }

    /// The user name and password for a realm.
    fn credentials(&self, user: &mut UserState, url: &str, realm: Option<&str>) -> Option<(String, String)> {
        let entry = if self.waits {
            self.entries.iter().find(|entry| {
                let same_server = same_server(&entry.url.text(user), url);
                same_server && Some(&*entry.realm.text(user)) == realm
            })?
        } else {
            let entry = self.matching_entry(user, url)?;
            let own = entry.realm.text(user);
            if !own.is_empty() && realm.is_some_and(|realm| realm != own) {
                return None;
            }
            entry
        };
        let name = entry.principal(user);
        Some((name, entry.password.text(user).into_owned()))
    }

    /// The reaction to a challenge if the request was authorized with the scheme `used`; the rules are those of
    /// `HttpAuthenticator.handleAuthChallenge` in HttpClient 4.5.
    pub(crate) fn reply(
        &self,
        user: &mut UserState,
        request: &WireRequest,
        challenges: &[String],
        used: Option<&UsedScheme>,
    ) -> AuthReply {
        let challenges: Vec<Challenge> = challenges.iter().map(|header| Challenge::parse(header)).collect();
        let of = |scheme: &str| challenges.iter().rev().find(|challenge| challenge.scheme == scheme);
        match used {
            Some(UsedScheme::Basic) if of("basic").is_some() => return AuthReply::Stop,
            Some(UsedScheme::Digest) if of("digest").is_some_and(|challenge| !challenge.is_stale()) => {
                return AuthReply::Stop;
            }
            _ => {}
        }
        let mut in_vain = false;
        if let Some(challenge) = of("digest")
            && let Some((name, password)) = self.credentials(user, &request.url, challenge.parameter("realm"))
        {
            let cnonce = format!("{:016x}", user.random.random::<u64>());
            let line = String::from_utf8_lossy(&request.wire);
            let uri = line.split(' ').nth(1).unwrap_or("/");
            let body = request.has_body.then_some(&request.body[..]);
            let digest_request = DigestRequest { method: &request.method, uri, body };
            match digest::authorization(challenge, digest_request, &name, &password, &cnonce, 1) {
                Ok(header) => return AuthReply::Repeat(Some(header), UsedScheme::Digest),
                Err(why) => {
                    user.log(LogLevel::Warn, &format!("cannot authorize {}: {why}", request.url));
                    in_vain = true;
                }
            }
        }
        if let Some(challenge) = of("basic")
            && let Some((name, password)) = self.credentials(user, &request.url, challenge.parameter("realm"))
        {
            return AuthReply::Repeat(Some(basic(&name, &password)), UsedScheme::Basic);
        }
        if in_vain {
            return AuthReply::Repeat(None, UsedScheme::Digest);
        }
        if let Some(other) = ["ntlm", "negotiate", "kerberos"].into_iter().find(|scheme| of(scheme).is_some())
        {
            user.log(LogLevel::Warn, &format!("{} asks for {other}, which is not supported", request.url));
        }
        AuthReply::Stop
    }
}

/// `Basic` and the credentials in base64.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Whether two URLs have the same host and port.
fn same_server(left: &str, right: &str) -> bool {
    let server = |url: &str| {
        let parts = url_parts::split(url).ok()?;
        Some((parts.host.to_owned(), parts.port.unwrap_or(if parts.secure { 443 } else { 80 })))
    };
    server(left).is_some_and(|left| Some(left) == server(right))
}

/// The URL in its other form: with the default port of its scheme if it has no port, or without it.
fn with_other_port_form(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let default = if scheme == "https" { ":443" } else { ":80" };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.strip_suffix(default) {
        Some(host) => Some(format!("{scheme}://{host}{path}")),
        None if authority.contains(':') => None,
        None => Some(format!("{scheme}://{authority}{default}{path}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_ports_may_be_omitted() {
        assert_eq!(with_other_port_form("http://h/x").as_deref(), Some("http://h:80/x"));
        assert_eq!(with_other_port_form("https://h:443/x").as_deref(), Some("https://h/x"));
        assert_eq!(with_other_port_form("http://h:8080/x"), None);
        assert_eq!(basic("user", "pass"), "Basic dXNlcjpwYXNz");
        assert!(same_server("http://h/a", "http://h:80/b") && !same_server("http://h/", "https://h/"));
    }
}
