//! HTTP Authorization Manager: Basic credentials, sent without being asked for, as JMeter does by default.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;

/// One row of the manager's table.
#[derive(Debug, Clone)]
pub struct Authorization {
    /// `Authorization.url`: the credentials are for URLs that begin so.
    pub url: Template,
    /// `Authorization.username`
    pub user: Template,
    /// `Authorization.password`
    pub password: Template,
}

/// An HTTP Authorization Manager.
#[derive(Debug, Clone, Default)]
pub struct AuthManager {
    /// Its rows, in order; the first that fits counts.
    pub entries: Vec<Authorization>,
}

impl AuthManager {
    /// The `Authorization` header for a URL, if credentials for it are known.
    pub fn header(&self, user: &mut UserState, url: &str) -> Option<String> {
        for entry in &self.entries {
            let prefix = entry.url.text(user);
            if url.starts_with(&*prefix)
                || with_other_port_form(url).is_some_and(|url| url.starts_with(&*prefix))
            {
                let name = entry.user.text(user).into_owned();
                let password = entry.password.text(user);
                return Some(basic(&name, &password));
            }
        }
        None
    }
}

/// `Basic` and the credentials in base64.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
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
    }
}
