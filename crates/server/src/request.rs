//! Requests, read as a whole before they are handled.

use hyper::body::Bytes;

/// A request with its complete body.
pub type Request = http::Request<Bytes>;

/// The value of a parameter of the query as written; nothing is decoded.
#[must_use]
pub fn query_value<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let pairs = request.uri().query()?.split('&');
    pairs.filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The value of a header; `None` if it is missing, repeated, or not ASCII.
#[must_use]
pub fn single_header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let mut values = request.headers().get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Whether the request has a header of this name.
#[must_use]
pub fn has_header(request: &Request, name: &str) -> bool {
    request.headers().contains_key(name)
}
