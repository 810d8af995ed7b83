//! PerfMon: both sides of the protocol of the ServerAgent of jmeter-plugins.
//!
//! Test plans with a PerfMon Metrics Collector ask an agent on the machine under load for values. The original agent is no
//! longer maintained and its native library does not work on current systems; `AgentServer` replaces it on Linux, and
//! [`PerfMonCollector`] is the client that such a plan needs.
//!
//! - [`request`] parses the names of metrics; `system` reads their values from `/proc`.
//! - `agent_session` and [`client_session`] are the two sides of the protocol, without input or output.
//! - [`sample`] converts values in the same way as JMeter's collector.

#[cfg(target_os = "linux")]
pub mod agent_server;
#[cfg(target_os = "linux")]
pub mod agent_session;
pub mod client_session;
pub mod collector;
mod java_order;
mod lines;
pub mod measure;
pub mod request;
pub mod sample;
#[cfg(target_os = "linux")]
pub mod system;

#[cfg(target_os = "linux")]
pub use agent_server::AgentServer;
pub use collector::PerfMonCollector;
