//! The settings of an agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use busyhour_launch::Prepared;

use crate::invitation::Invitation;
use crate::messages::AgentObservation;

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
    /// Observes the machine during runs; `None` if it cannot be observed.
    pub observe: Option<AgentObserver>,
}

/// The function that adds the observers of a machine to a run.
type Observe = dyn Fn(&Prepared, AgentObservation) -> Result<(), String> + Send + Sync;

/// Observes the agent's machine during runs.
#[derive(Clone)]
pub struct AgentObserver(Arc<Observe>);

impl AgentObserver {
    /// Observes with a function that adds observers to a run, which has not started. It returns the reason if it cannot.
    pub fn new(
        observe: impl Fn(&Prepared, AgentObservation) -> Result<(), String> + Send + Sync + 'static,
    ) -> AgentObserver {
        AgentObserver(Arc::new(observe))
    }

    /// Adds the observers to a run.
    ///
    /// # Errors
    /// The reason why the machine cannot be observed.
    pub(super) fn start(&self, prepared: &Prepared, what: AgentObservation) -> Result<(), String> {
        match what {
            AgentObservation::None => Ok(()),
            AgentObservation::Os | AgentObservation::Auto => (self.0)(prepared, what),
        }
    }
}

impl std::fmt::Debug for AgentObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentObserver").finish_non_exhaustive()
    }
}

impl AgentSettings {
    /// Number of cores that generate load.
    pub(super) fn core_count(&self) -> usize {
        self.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}
