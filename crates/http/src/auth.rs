//! HTTP Authorization Manager: Basic credentials, sent preemptively as JMeter does by default, and the responses to
//! challenges.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use busyhour_program::run::Level;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use rand::Rng as _;

use crate::digest::{self, Asked, Challenge};
use crate::url_parts;
use crate::wire_request::WireRequest;

/// One row of the manager's table.
#[derive(Debug, Clone)]
pub struct Authorization {
    /// `Authorization.url`: the credentials are for URLs that begin so.
    pub url: Template,
    /// `Authorization.username`
    pub user: Template,
    /// `Authorization.password`
    pub password: Template,
    /// `Authorization.domain`: precedes the user name, in upper case, as in HttpClient's `NTCredentials`.
    pub domain: Template,
    /// `Authorization.realm`; empty: any.
    pub realm: Template,
    /// `Authorization.mechanism` is Basic: the credentials are sent unasked.
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
    /// Its rows, in order; the first that fits counts.
    pub entries: Vec<Authorization>,
    /// `httpclient4.auth.preemptive` is off: nothing is sent unasked, and realms must be the same.
    pub waits: bool,
}

/// What a request has been authorized with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Used {
    Basic,
    Digest,
}

/// What follows a server's question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The request is sent once more, authorized so; `None`: as it was, since HttpClient tries in vain.
    Again(Option<String>, Used),
    /// The question is the answer.
    Nothing,
}

impl AuthManager {
    /// The `Authorization` header for a URL, if credentials for it are known.
    pub fn header(&self, user: &mut UserState, url: &str) -> Option<String> {
        if self.waits {
            return None;
        }
        let entry = self.fitting(user, url).filter(|entry| entry.basic)?;
        let name = entry.principal(user);
        let password = entry.password.text(user);
        Some(basic(&name, &password))
    }

    fn fitting(&self, user: &mut UserState, url: &str) -> Option<&Authorization> {
        self.entries.iter().find(|entry| {
            let prefix = entry.url.text(user);
            url.starts_with(&*prefix)
                || with_other_port_form(url).is_some_and(|url| url.starts_with(&*prefix))
        })
    }

    /// Name and password for a realm.
    fn credentials(&self, user: &mut UserState, url: &str, realm: Option<&str>) -> Option<(String, String)> {
        let entry = if self.waits {
            self.entries.iter().find(|entry| {
                let same_server = same_server(&entry.url.text(user), url);
                same_server && Some(&*entry.realm.text(user)) == realm
            })?
        } else {
            let entry = self.fitting(user, url)?;
            let own = entry.realm.text(user);
            if !own.is_empty() && realm.is_some_and(|realm| realm != own) {
                return None;
            }
            entry
        };
        let name = entry.principal(user);
        Some((name, entry.password.text(user).into_owned()))
    }

    /// The response to a challenge after `used` was sent: `HttpAuthenticator.handleAuthChallenge` of HttpClient 4.5.
    pub(crate) fn reply(
        &self,
        user: &mut UserState,
        request: &WireRequest,
        challenges: &[String],
        used: Option<&Used>,
    ) -> Reply {
        let challenges: Vec<Challenge> = challenges.iter().map(|header| Challenge::parse(header)).collect();
        let of = |scheme: &str| challenges.iter().rev().find(|challenge| challenge.scheme == scheme);
        match used {
            Some(Used::Basic) if of("basic").is_some() => return Reply::Nothing,
            Some(Used::Digest) if of("digest").is_some_and(|challenge| !challenge.is_stale()) => {
                return Reply::Nothing;
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
            let asked = Asked { method: &request.method, uri, body };
            match digest::answer(challenge, asked, &name, &password, &cnonce, 1) {
                Ok(header) => return Reply::Again(Some(header), Used::Digest),
                Err(why) => {
                    user.log(Level::Warn, &format!("cannot authorize {}: {why}", request.url));
                    in_vain = true;
                }
            }
        }
        if let Some(challenge) = of("basic")
            && let Some((name, password)) = self.credentials(user, &request.url, challenge.parameter("realm"))
        {
            return Reply::Again(Some(basic(&name, &password)), Used::Basic);
        }
        if in_vain {
            return Reply::Again(None, Used::Digest);
        }
        if let Some(other) = ["ntlm", "negotiate", "kerberos"].into_iter().find(|scheme| of(scheme).is_some())
        {
            user.log(Level::Warn, &format!("{} asks for {other}, which is not supported", request.url));
        }
        Reply::Nothing
    }
}

/// `Basic` and the credentials in base64.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Whether two URLs lead to the same host and port.
fn same_server(one: &str, other: &str) -> bool {
    let server = |url: &str| {
        let parts = url_parts::split(url).ok()?;
        Some((parts.host.to_owned(), parts.port.unwrap_or(if parts.secure { 443 } else { 80 })))
    };
    server(one).is_some_and(|one| Some(one) == server(other))
}

/// The URL with the scheme's port named, or not named, if that is the port it goes to.
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
    fn default_ports_may_be_named_or_not() {
        assert_eq!(with_other_port_form("http://h/x").as_deref(), Some("http://h:80/x"));
        assert_eq!(with_other_port_form("https://h:443/x").as_deref(), Some("https://h/x"));
        assert_eq!(with_other_port_form("http://h:8080/x"), None);
        assert_eq!(basic("user", "pass"), "Basic dXNlcjpwYXNz");
        assert!(same_server("http://h/a", "http://h:80/b") && !same_server("http://h/", "https://h/"));
    }
}
