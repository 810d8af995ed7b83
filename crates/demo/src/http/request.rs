//! A parsed request.

/// The methods that the shop supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// `GET` or `HEAD`; for `HEAD`, the body is not sent.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `DELETE`.
    Delete,
    /// `OPTIONS`.
    Options,
    /// Any other method.
    Other,
}

impl Method {
    /// Returns the method with this name.
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "GET" | "HEAD" => Self::Get,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "DELETE" => Self::Delete,
            "OPTIONS" => Self::Options,
            _ => Self::Other,
        }
    }
}

/// One request, borrowed from the connection's buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    /// The method.
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) target: &'a str,
    /// The `Host` header.
    pub(crate) host: Option<&'a str>,
    /// The `Accept` header; if there are several, the first.
    pub(crate) accept: Option<&'a str>,
    /// The `Content-Type` header.
    pub(crate) content_type: Option<&'a str>,
    /// The decoded body.
    pub(crate) body: &'a [u8],
}

/// Splits a request target into its authority, if it is an absolute URL, and its path with the query.
pub(crate) fn split_target(target: &str) -> (Option<&str>, &str) {
    let Some((scheme, rest)) = target.split_once("://") else { return (None, target) };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return (None, target);
    }
    match rest.find('/') {
        Some(at) => (Some(&rest[..at]), &rest[at..]),
        None => (Some(rest), "/"),
    }
}

impl<'a> Request<'a> {
    /// The path without the query.
    pub(crate) fn path(&self) -> &'a str {
        self.target.split_once('?').map_or(self.target, |(path, _)| path)
    }

    /// The value of a query parameter, as sent.
    pub(crate) fn parameter(&self, name: &str) -> Option<&'a str> {
        let (_, query) = self.target.split_once('?')?;
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// Whether the body is declared as JSON.
    pub(crate) fn sends_json(&self) -> bool {
        self.content_type.is_some_and(|sent| {
            sent.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
        })
    }

    /// Whether the media type of the body specifies the charset UTF-8.
    pub(crate) fn names_utf8(&self) -> bool {
        self.content_type
            .is_some_and(|sent| sent.to_ascii_lowercase().replace(' ', "").contains(";charset=utf-8"))
    }

    /// Whether the client accepts JSON.
    pub(crate) fn accepts_json(&self) -> bool {
        self.accept.is_none_or(|accept| {
            accept.split(',').any(|range| {
                let range = range.split(';').next().unwrap_or_default().trim();
                ["*/*", "*", "application/*", "application/json"]
                    .iter()
                    .any(|fit| range.eq_ignore_ascii_case(fit))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'a>(accept: Option<&'a str>, content_type: Option<&'a str>) -> Request<'a> {
        Request { method: Method::Get, target: "/a?x=1&y=&x=2", host: None, accept, content_type, body: b"" }
    }

    #[test]
    fn media_types_are_compared_without_their_parameters() {
        assert!(request(None, Some("application/json;charset=utf-8")).sends_json());
        assert!(request(None, Some("Application/JSON")).sends_json());
        assert!(!request(None, Some("text/plain")).sends_json());
        assert!(!request(None, None).sends_json());
        assert!(request(Some("application/json, text/plain, */*"), None).accepts_json());
        assert!(request(Some("text/html, application/*;q=0.1"), None).accepts_json());
        assert!(!request(Some("text/html"), None).accepts_json());
    }

    #[test]
    fn targets_can_be_absolute() {
        for (target, split) in [
            ("/a?u=http://x/y", (None, "/a?u=http://x/y")),
            ("http://h:1/a?b", (Some("h:1"), "/a?b")),
            ("HTTPS://h", (Some("h"), "/")),
            ("*", (None, "*")),
        ] {
            assert_eq!(split_target(target), split, "{target}");
        }
    }

    #[test]
    fn the_first_parameter_with_a_name_counts() {
        let request = request(None, None);
        assert_eq!(request.path(), "/a");
        assert_eq!(request.parameter("x"), Some("1"));
        assert_eq!(request.parameter("y"), Some(""));
        assert_eq!(request.parameter("z"), None);
    }
}
