//! Requests that a script changes or sends.

use busyhour_program::user::Thrown;
use busyhour_request::{RequestAccess, UrlRequest, UrlResponse};

/// The request of the current sampler, and requests that the script sends itself.
///
/// [`request`](Self::request) borrows the scope: the interpreter obtains a new reference for each operation and drops
/// it before the next call. [`RequestAccess`] states when changes have an effect and how long they last.
/// [`Scope`](crate::Scope) has an example.
pub trait ScriptRequests {
    /// The current sampler, if it sends requests that scripts may change. The result is the same for the whole run of a script.
    fn request(&mut self) -> Option<Box<dyn RequestAccess + '_>> {
        None
    }
    /// Sends a request to a server and waits for its response; other users continue meanwhile.
    ///
    /// # Errors
    /// Java's exception, which the script may catch.
    fn exchange(&mut self, _request: UrlRequest) -> Result<UrlResponse, Thrown> {
        let message = "a URL connection is not supported here".to_owned();
        Err(Thrown { class: "java.lang.UnsupportedOperationException", message })
    }
}
