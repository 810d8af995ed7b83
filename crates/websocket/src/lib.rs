//! WebSocket samplers: those of Peter Doornbosch's plugin (`eu.luminis.jmeter.wssampler`).
//!
//! The plugin hands out frames as they come: a fragment is a response of its own, control frames are not answered
//! unless a filter says so, and what is not expected fails the sample. A user has one connection, which its samplers
//! share. Frame headers are read and written by `tungstenite`; its message layer would hide what the plans look at.

mod binary;
mod connection;
mod filter;
mod frame;
pub mod limits;
mod sampler;
mod settings;
mod stream;
mod trouble;
mod upgrade;

pub use filter::{Comparison, FrameFilter, PingKind};
pub use settings::{Action, Data, Target, WebSocketSampler};
