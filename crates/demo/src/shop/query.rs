//! Query parameters.

use super::fault::Fault;
use crate::http::request::Request;

/// Parses a numeric query parameter.
pub(super) fn number(request: &Request<'_>, name: &'static str) -> Result<Option<i64>, Fault> {
    match request.parameter(name) {
        None | Some("") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| Fault::Parameter(name)),
    }
}
