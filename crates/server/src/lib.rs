//! The embedded HTTP server for a few clients at a time: the live page of a run, and scrapes of its metrics.
//!
//! [`Server`] runs hyper on one thread, so that a run needs only one more thread, for any number of clients. Each
//! connection carries one request. Clients that send or receive slowly are disconnected and never delay others.
//! Handlers are plain functions. If the response is not complete when the handler returns, its body is
//! [`Body::events`].
//! [`exposition`] writes the text of a scrape.

mod body;
pub mod exposition;
mod request;
mod server;
mod tls;

pub use body::Body;
pub use http;
pub use request::{Request, has_header, query_value, single_header};
pub use server::{Handler, Response, Server, respond};
pub use tls::{ServerTls, ServerTlsError};

/// Bytes of a body.
pub use hyper::body::Bytes;

/// The channel of a stream of events.
pub use tokio::sync::mpsc;
