//! HTTP/1.1 as TicketMonster's server implements it.
//!
//! This is a thin layer and not a framework, because the shop reproduces TicketMonster's bytes on the wire. These
//! include header names and their order, chunks of at most 8192 bytes, and no chunks for clients that send
//! `Connection: close`. Common HTTP libraries determine these details themselves.

pub(crate) mod framing;
pub(crate) mod request;
pub(crate) mod response;
