//! The reasons why no plan can be generated for a URL.

use busyhour_compile::SettingError;

/// The reason why no plan can be generated for a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlPlanError {
    /// The text has no scheme.
    #[error("{0:?} is not a URL")]
    NotAUrl(String),
    /// The URL contains a user name.
    #[error("credentials in a URL are not sent; use -H 'Authorization: Basic …'")]
    Credentials,
    /// The URL has no host.
    #[error("{0:?} has no host")]
    NoHost(String),
    /// The port is not a number up to 65,535.
    #[error("{port:?} in {url:?} is not a port number")]
    Port {
        /// The port as written in the URL.
        port: String,
        /// The URL.
        url: String,
    },
    /// The path contains white space.
    #[error("{0:?} contains white space; write %20 for a space")]
    WhiteSpace(String),
    /// A header has no colon.
    #[error("-H {0:?} is not of the form 'Name: value'")]
    Header(String),
    /// The think time has an invalid syntax.
    #[error(transparent)]
    ThinkTime(#[from] SettingError),
}
