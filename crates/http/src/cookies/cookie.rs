//! A cookie of a user.

/// A cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cookie {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) domain: String,
    pub(super) path: String,
    pub(super) secure: bool,
    /// Expiry in milliseconds since 1970; 0: at the end of the session.
    pub(super) expires_ms: i64,
    pub(super) domain_specified: bool,
    pub(super) path_specified: bool,
    pub(super) version: i32,
}

/// The path of a cookie without a path attribute, derived from the path of the request.
pub(super) fn default_path(path: &str) -> String {
    match path.rfind('/') {
        Some(0) | None => "/".into(),
        Some(slash) => path[..slash].to_owned(),
    }
}
