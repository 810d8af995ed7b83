//! Requests that scripts send themselves, and the responses to them.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use busyhour_program::body_memory::BodyMemory;
use busyhour_program::clock::Clock;
use busyhour_program::run::RunShared;
use busyhour_program::user::Thrown;

/// A request that a script sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlRequest {
    /// The URL, `http:` or `https:`.
    pub url: String,
    /// The method.
    pub method: String,
    /// The headers that the script set.
    pub headers: Vec<(String, String)>,
    /// The body, if the script opened a stream for one.
    pub body: Option<Vec<u8>>,
    /// Maximum time for connecting.
    pub connect_timeout: Option<Duration>,
    /// Maximum time without data from the server.
    pub read_timeout: Option<Duration>,
    /// Whether redirects are followed.
    pub follows_redirects: bool,
}

/// The response to a [`UrlRequest`].
#[derive(Debug, Default)]
pub struct UrlResponse {
    /// The URL of the last request, after redirects.
    pub url: String,
    /// The method of the last request, after redirects.
    pub method: String,
    /// The first line of the response.
    pub status_line: String,
    /// The status code.
    pub code: u16,
    /// The reason phrase of the status.
    pub message: String,
    /// The headers in their order.
    pub headers: Vec<(String, String)>,
    /// The body as it was sent.
    pub body: Vec<u8>,
    /// Accounts for the memory of the body.
    pub memory: BodyMemory,
    /// The exception that ended the body early.
    pub failure: Option<Thrown>,
}

/// Sends requests for scripts, like Java's `HttpURLConnection`.
pub trait UrlClient: Send + Sync + fmt::Debug {
    /// Sends a request and reads its response. Other users of the core continue meanwhile.
    ///
    /// # Errors
    /// The exception that Java would throw.
    fn exchange(&self, clock: &Clock, request: UrlRequest) -> Result<UrlResponse, Thrown>;
}

/// The client of a run.
#[derive(Debug, Default)]
struct RunClient(OnceLock<Arc<dyn UrlClient>>);

/// Sets the client through which the scripts of a run send requests. Only the first call has an effect.
pub fn set_url_client(run: &RunShared, client: Arc<dyn UrlClient>) {
    let _ = run.shared::<RunClient>().0.set(client);
}

/// The client through which the scripts of a run send requests; `None` before the run starts.
pub fn url_client(run: &RunShared) -> Option<Arc<dyn UrlClient>> {
    run.shared::<RunClient>().0.get().cloned()
}
