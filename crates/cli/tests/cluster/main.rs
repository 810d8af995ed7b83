//! Runs on several agents over a real NATS server. They are a program of their own, because they start many processes.

#![cfg(target_os = "linux")]
#![cfg(feature = "cluster")]

mod control_plane;
mod cost;
mod faults;
mod namespaces;
mod network;
mod processes;
mod relay;
mod runs;
mod security;
mod simulated;
mod soak;
mod twenty_agents;
