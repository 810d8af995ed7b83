//! HTTP/1.1 as the original's server spoke it.
//!
//! An own thin layer instead of a framework, because the bytes on the wire are part of what the shop promises: header
//! names and their order, chunks of at most 8192 bytes, and no chunks at all towards a client that asked for
//! `Connection: close`. Common HTTP libraries decide these things themselves.

pub(crate) mod answer;
pub(crate) mod connection;
mod framing;
pub(crate) mod request;
