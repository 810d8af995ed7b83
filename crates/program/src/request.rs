//! What scripts see and change of the sampler at hand: its request and its cookies.
//!
//! The sampler's crate implements [`crate::user::RequestAccess`]; scripts reach it through
//! [`crate::user::UserState::request`].

/// A text of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestText {
    /// Name of the sampler, which becomes the label of its sample.
    Name,
    /// Method.
    Method,
    /// Protocol, without `://`.
    Protocol,
    /// Host name.
    Domain,
    /// Port; empty: that of the protocol.
    Port,
    /// Path, or a whole URL.
    Path,
    /// Encoding of the body.
    ContentEncoding,
    /// Milliseconds until a connection is given up.
    ConnectTimeout,
    /// Milliseconds until a response is given up.
    ResponseTimeout,
}

/// A switch of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFlag {
    /// The values of the arguments are the body.
    RawBody,
    /// The connection is kept.
    KeepAlive,
    /// Redirects are followed, each as a sample of its own.
    FollowRedirects,
    /// Redirects are followed unseen.
    AutoRedirects,
    /// The body is multipart.
    Multipart,
}

/// An argument of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestArgument {
    /// Name; empty in a raw body.
    pub name: String,
    /// Value.
    pub value: String,
    /// Whether it is URL-encoded.
    pub encode: bool,
    /// Whether `=` stands between name and value.
    pub use_equals: bool,
    /// Content type of a part of a multipart body.
    pub content_type: String,
}

/// A file that the request uploads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFile {
    /// Path of the file.
    pub path: String,
    /// Name of the parameter.
    pub parameter: String,
    /// MIME type.
    pub mime: String,
}

/// A cookie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCookie {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// Domain.
    pub domain: String,
    /// Path.
    pub path: String,
    /// Sent over TLS only.
    pub secure: bool,
    /// When it expires, in milliseconds since 1970; 0: with the session.
    pub expires_ms: i64,
    /// The domain was given, so that the cookie is sent to hosts below it.
    pub domain_specified: bool,
    /// The path was given.
    pub path_specified: bool,
    /// Version.
    pub version: i32,
}
