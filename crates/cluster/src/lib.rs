//! Runs one load on several machines, coordinated over a NATS server.
//!
//! ```text
//! controller ── orders: prepare, begin, start at T, change, fetch ──▶ agents
//!            ◀─ reports: ready, seconds, ended ──
//! ```
//!
//! An [agent](serve_agent) waits for work. A [`Controller`] claims agents, gives each of them a share of the load, and takes the
//! place of the engine of a run ([`busyhour_launch::RemoteGenerator`]): during the run it merges the seconds of the agents; at
//! the end it fetches their records and passes them to the recorder of the run. All totals, percentiles, files and reports are
//! therefore computed from the samples of all agents, exactly as from those of one machine.
//!
//! All agents use the clock of the run on the controller's machine. The difference between the clocks is estimated before,
//! during and after the run, and the times in the records are corrected.
//!
//! A [`Hub`] is a NATS server with its own certificates and users. The server is always the real `nats-server`.

mod agent;
mod clock_table;
mod connection;
mod controller;
mod error;
mod hub;
mod invitation;
mod list;
mod machine_clock;
mod merge;
mod messages;
mod orders;
mod parts;
mod seal;
pub mod simulated;
mod subjects;
mod wire;

pub use agent::{AgentObserver, AgentSettings, AgentStop, serve_agent};
pub use clock_table::{ClockOffset, ClockTable};
pub use controller::{
    AbandonedRun, AgentOutcome, Controller, ControllerSettings, CsvRows, Loss, OnAgentLoss, plan_file_paths,
};
pub use error::ClusterError;
pub use hub::{Hub, HubFiles, HubSettings, create_hub_files, find_server};
pub use invitation::Invitation;
pub use list::{ListedAgent, list_agents};
pub use messages::{AgentInfo, AgentObservation, PROTOCOL};
