//! The WebSocket samplers of Peter Doornbosch's plugin (`eu.luminis.jmeter.wssampler`).
//!
//! The plugin returns single frames: a fragment is a response, only filters respond to control frames, and an
//! unexpected frame fails the sample. The samplers of a user share one connection. `tungstenite` parses and writes
//! frame headers; its message layer is not used, because it would hide the frames that plans check.

mod binary;
mod connection;
mod failure;
mod filter;
mod frame;
pub mod limits;
mod sampler;
mod settings;
mod stream;
mod upgrade;

pub use filter::{FrameComparison, FrameFilter, PingKind};
pub use settings::{Action, Data, Target, WebSocketSampler};
