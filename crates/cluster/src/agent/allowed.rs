//! The hosts to which the runs of an agent may send requests.

/// Whether a list of allowed hosts contains `host`. `*.example` allows all names that end with `.example`. An empty list allows
/// every host.
pub(super) fn allows(allowed: &[String], host: &str) -> bool {
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
