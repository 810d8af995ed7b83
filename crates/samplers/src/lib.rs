//! All samplers that send requests, in one type.
//!
//! A program is generic over one protocol. [`AnySampler`] is the protocol of compiled plans. The HTTP sampler is stored unboxed;
//! the other samplers, their futures and their state per user are boxed. They cost nothing in a plan with only HTTP samplers.

mod any;
mod dummy;
mod hex;
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
pub use other::{OtherSampler, SampleRequest, Sampling};
pub use raw::{RawHttp, Udp, UdpCoder};
pub use session::{AnySession, OtherSessions, SamplerSession};
pub use system::ProcessSampler;
pub use tcp::{StatusProperties, Tcp, TcpClient, TcpProperties};
