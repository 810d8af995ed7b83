//! The settings of an agent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::invitation::Invitation;

/// The settings of an agent.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// The hub.
    pub invitation: Invitation,
    /// Its name, usually that of the machine.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Number of cores that generate load; by default all cores that this process may use.
    pub cores: Option<usize>,
    /// Directory for the records of its runs.
    pub dir: PathBuf,
    /// The hosts to which runs may send requests (`shop.example`, `*.example`, `10.1.2.3`); empty: all hosts.
    pub allowed_hosts: Vec<String>,
    /// Whether the agent ends after its first run.
    pub is_for_one_run: bool,
}

impl AgentSettings {
    /// Number of cores that generate load.
    pub(super) fn core_count(&self) -> usize {
        self.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}
