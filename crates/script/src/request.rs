//! The current sampler as scripts use it: its request and its cookies.

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
    /// The connect timeout in milliseconds.
    ConnectTimeout,
    /// The response timeout in milliseconds.
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

/// The request of the sampler at hand. Changes hold for this sample; those of cookies stay.
pub trait RequestFacts {
    /// A text of the request.
    fn text(&mut self, which: RequestText) -> String;
    /// Changes a text; whether that is possible.
    fn set_text(&mut self, which: RequestText, text: &str) -> bool;
    /// A switch of the request.
    fn flag(&mut self, which: RequestFlag) -> bool;
    /// Changes a switch.
    fn set_flag(&mut self, which: RequestFlag, on: bool);
    /// The arguments in their order.
    fn arguments(&mut self) -> Vec<RequestArgument>;
    /// Replaces the arguments.
    fn set_arguments(&mut self, arguments: Vec<RequestArgument>);
    /// Removes the arguments at these places. Those of the plan are gone for the user's later samples, too, as in JMeter.
    fn remove_arguments(&mut self, places: &[usize]);
    /// The headers of the sampler's header manager, names and values; `None` without one.
    fn headers(&mut self) -> Option<Vec<(String, String)>>;
    /// Replaces the headers of the sampler's header manager. If it is the only one in scope, they are those of the user's
    /// later samples, too, as in JMeter.
    fn set_headers(&mut self, headers: Vec<(String, String)>);
    /// Gives the sampler another header manager for this sample, merged with the one that it has.
    fn set_header_manager(&mut self, headers: Vec<(String, String)>);
    /// The files in their order.
    fn files(&mut self) -> Vec<RequestFile>;
    /// Replaces the files.
    fn set_files(&mut self, files: Vec<RequestFile>);
    /// The cookies of the user in the order in which they came; `None` without a cookie manager.
    fn cookies(&mut self) -> Option<Vec<RequestCookie>>;
    /// Replaces the cookies.
    fn set_cookies(&mut self, cookies: Vec<RequestCookie>);
    /// Removes all cookies. From then on the manager keeps cookies for one sample only, as in JMeter.
    fn clear_cookies(&mut self);
}
