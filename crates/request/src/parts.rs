//! The parts of the current sampler that scripts read and change: its request and its cookies.

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
    /// Port; if empty, the default port of the protocol.
    Port,
    /// Path, or a whole URL.
    Path,
    /// Encoding of the body.
    ContentEncoding,
    /// Connect timeout, in milliseconds.
    ConnectTimeout,
    /// Response timeout, in milliseconds.
    ResponseTimeout,
}

/// A flag of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFlag {
    /// Whether the values of the arguments form the body.
    RawBody,
    /// Whether the connection is kept alive.
    KeepAlive,
    /// Whether redirects are followed, each as a sub-sample.
    FollowRedirects,
    /// Whether redirects are followed without sub-samples.
    AutoRedirects,
    /// Whether the body is multipart.
    Multipart,
}

/// An argument of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestArgument {
    /// Name; empty in a raw body.
    pub name: String,
    /// Value.
    pub value: String,
    /// Whether the argument is URL-encoded.
    pub encode: bool,
    /// Whether `=` is written between name and value.
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
    /// Whether the cookie is sent over TLS only.
    pub secure: bool,
    /// Expiry time, in milliseconds since 1970; 0 if the cookie expires at the end of the session.
    pub expires_ms: i64,
    /// Whether the domain was given explicitly, so that the cookie is also sent to its subdomains.
    pub domain_specified: bool,
    /// Whether the path was given explicitly.
    pub path_specified: bool,
    /// Version.
    pub version: i32,
}
