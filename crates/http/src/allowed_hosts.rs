//! The hosts to which this process may send requests. An agent restricts them for all runs, so that a plan that computes its
//! hosts cannot reach others.

use std::sync::OnceLock;

use crate::failure::Failure;

static ALLOWED: OnceLock<Vec<String>> = OnceLock::new();

/// Restricts the hosts to which this process may send requests, until it ends; see [`allows`]. An empty list allows all. Only the
/// first call has an effect.
pub fn allow_only(hosts: Vec<String>) {
    let _ = ALLOWED.set(hosts);
}

/// Whether the hosts are restricted.
#[must_use]
pub fn are_hosts_restricted() -> bool {
    ALLOWED.get().is_some_and(|hosts| !hosts.is_empty())
}

/// Refuses a host that is not allowed. Names are checked before they are resolved.
pub(crate) fn check(host: &str) -> Result<(), Failure> {
    match ALLOWED.get() {
        Some(allowed) if !allows(allowed, host) => Err(Failure::new(
            "java.lang.SecurityException",
            format!("this agent does not allow requests to {host}"),
        )),
        _ => Ok(()),
    }
}

/// Whether a list of allowed hosts contains `host`. `*.example` allows all names that end with `.example`. An empty list allows
/// every host.
#[must_use]
pub fn allows(allowed: &[String], host: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    allowed.is_empty()
        || allowed.iter().any(|rule| {
            let rule = rule.trim_matches(['[', ']']).to_ascii_lowercase();
            match rule.strip_prefix('*') {
                Some(end) => end.starts_with('.') && host.len() > end.len() && host.ends_with(end),
                None => rule == host,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_without_case_and_by_whole_labels() {
        let list = ["shop.example".to_owned(), "*.test".to_owned(), "::1".to_owned()];
        for host in ["Shop.Example", "a.test", "a.b.test", "[::1]"] {
            assert!(allows(&list, host), "{host}");
        }
        for host in ["example", "a.shop.example", "test", ".test", "atest", "127.0.0.1", ""] {
            assert!(!allows(&list, host), "{host}");
        }
        assert!(allows(&[], "anything"));
    }
}
