//! WebSocket samplers: those of Peter Doornbosch's plugin (`eu.luminis.jmeter.wssampler`).
//!
//! The plugin returns single frames: a fragment is a response, control frames are answered only by filters, and an
//! unexpected frame fails the sample. A user has one connection, which its samplers share. `tungstenite` parses and
//! writes frame headers; its message layer would hide the frames that plans check.

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
