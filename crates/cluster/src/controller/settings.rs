//! The settings of a controller, and the outcome of its agents.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock_table::ClockTable;
use crate::invitation::Invitation;
use crate::messages::AgentObservation;

/// The action when an agent is lost during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnAgentLoss {
    /// The other agents go on with their shares; the share of the lost agent is missing.
    #[default]
    Continue,
    /// The share goes to an agent that is free, as soon as the lost one has certainly stopped.
    Redistribute,
    /// The run is stopped.
    Stop,
}

/// Which agents get the rows of a CSV file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvRows {
    /// Rows of files that are read once (without recycling) are dealt in turn; every agent gets the other files completely.
    #[default]
    UsedOnce,
    /// The rows of all files are dealt in turn.
    Split,
    /// As [`CsvRows::Split`]; a run in which a row could be used twice is refused.
    Unique,
    /// Every agent gets all rows, as in JMeter.
    Copy,
}

/// The settings of a controller.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// The hub.
    pub invitation: Invitation,
    /// Number of agents; by default all that are free.
    pub agents: Option<usize>,
    /// Labels that agents must have.
    pub labels: Vec<(String, String)>,
    /// Time to wait until enough agents are free.
    pub wait: Duration,
    /// Which agents get the rows of CSV files.
    pub csv_rows: CsvRows,
    /// Whether the records stay on the agents. The results are then computed from the seconds that the agents sent.
    pub leaves_records: bool,
    /// Whether agents with more cores have larger shares.
    pub weighs_cores: bool,
    /// What agents observe on their machines.
    pub observe: AgentObservation,
    /// The action when an agent is lost.
    pub on_loss: OnAgentLoss,
    /// Time without a message from the controller after which agents stop the run.
    pub lease: Duration,
}

impl ControllerSettings {
    /// The default settings for a hub: all agents that are free, and equal shares.
    #[must_use]
    pub fn new(invitation: Invitation) -> ControllerSettings {
        ControllerSettings {
            invitation,
            agents: None,
            labels: Vec::new(),
            wait: Duration::from_secs(10),
            csv_rows: CsvRows::UsedOnce,
            leaves_records: false,
            weighs_cores: false,
            observe: AgentObservation::None,
            on_loss: OnAgentLoss::Continue,
            lease: Duration::from_secs(30),
        }
    }
}

/// The part of an agent in a run, for `cluster.json` in the run directory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AgentOutcome {
    /// Its name.
    pub name: String,
    /// Its identifier.
    pub id: String,
    /// Its share of the load, in the notation of [`busyhour_arrivals::LoadShare`].
    pub share: String,
    /// The name of the lost agent whose share it took over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// Number of cores.
    pub cores: u32,
    /// The directory with its record, relative to the run directory; `None` if it was not fetched.
    pub record: Option<String>,
    /// Where its record stays on the agent, if it was not to be fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_at: Option<String>,
    /// Number of samples in its record.
    pub samples: u64,
    /// The differences between its clock and that of the controller.
    pub clock: ClockTable,
    /// The times at which it was lost and returned, in ns of the run.
    pub losses: Vec<Loss>,
    /// Why its part of the run is incomplete; empty if it is complete.
    pub problem: String,
}

/// A time in which no message of an agent arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The last sign of life, in ns of the run.
    pub from_ns: u64,
    /// When it returned, in ns of the run; `None` if it did not return.
    pub to_ns: Option<u64>,
}
