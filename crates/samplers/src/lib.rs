//! All samplers that make requests, behind one type.
//!
//! A program is generic over one protocol. [`AnySampler`] is that of compiled plans: HTTP's sampler without any
//! detour, and all others boxed, with their futures and with what a user keeps for them, so that a plan that has
//! only HTTP samplers pays for nothing else.

mod any;
mod dummy;
pub mod java;
mod java_request;
pub mod limits;
mod other;
mod raw;
mod session;
mod system;
mod tcp;

pub use any::AnySampler;
pub use dummy::Dummy;
pub use java_request::{JavaClass, JavaRequest};
pub use other::{OtherSampler, Sampling, Visit};
pub use raw::{RawHttp, Udp, UdpCoder};
pub use session::{AnySession, Kept, OtherSessions};
pub use system::System;
pub use tcp::{StatusProperties, Tcp, TcpClient, TcpProperties};
