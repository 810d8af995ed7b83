//! Simulated agents, for tests and measurements: many agents in one process that generate no load.
//!
//! They connect to a hub as agents do, and answer calls, claims, orders and requests for files with the same messages. Instead of
//! running a plan, each of them sends a synthetic second per second ([`SimulatedLoad`]), and at the end a record that the recorder
//! of a run has written, or none: the controller then restores the samples from the seconds.

mod agent;
mod load;
mod run;
mod site;

pub use load::SimulatedLoad;

use std::path::PathBuf;
use std::sync::Arc;

use crate::connection::{Role, Say, connect};
use crate::error::ClusterError;
use crate::invitation::Invitation;
use agent::{serve, subscribe};
use load::Templates;
use site::Site;

/// The settings of simulated agents.
#[derive(Clone, Debug)]
pub struct SimulatedSettings {
    /// The hub.
    pub invitation: Invitation,
    /// Number of agents.
    pub agents: usize,
    /// The load that they report.
    pub load: SimulatedLoad,
    /// Directory for the records of the agents, which are kept; `None` to write no records.
    pub dir: Option<PathBuf>,
}

/// Simulated agents that wait for runs. They disappear when this is dropped.
#[derive(Debug)]
pub struct SimulatedAgents {
    runtime: Option<tokio::runtime::Runtime>,
}

impl SimulatedAgents {
    /// Connects the agents. When this returns, they answer calls. `say` receives messages for the user.
    ///
    /// # Errors
    /// The hub cannot be reached, or a thread cannot be started.
    pub fn start(
        settings: SimulatedSettings,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<SimulatedAgents, ClusterError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("simulated")
            .enable_all()
            .build()
            .map_err(ClusterError::Thread)?;
        let say: Say = Arc::new(say);
        let templates = Arc::new(Templates::new(settings.load.clone()));
        runtime.block_on(connect_all(&settings, &say, &templates))?;
        Ok(SimulatedAgents { runtime: Some(runtime) })
    }
}

/// Connects the agents. Each of them is a task of the runtime.
async fn connect_all(
    settings: &SimulatedSettings,
    say: &Say,
    templates: &Arc<Templates>,
) -> Result<(), ClusterError> {
    for number in 0..settings.agents {
        // Agents have a connection each: the permissions of a hub allow one answer to a call per connection.
        let name = format!("simulated-{number}");
        let client = connect(&settings.invitation, Role::Agent, &name, Arc::clone(say)).await?;
        let trusted = settings.invitation.controllers.clone();
        let site = Site::new(client.clone(), trusted, number, settings.dir.clone(), Arc::clone(templates));
        let subscriptions = subscribe(&site).await?;
        tokio::spawn(serve(site, subscriptions));
        client.flush().await.map_err(|error| ClusterError::message("subscribe", error))?;
    }
    Ok(())
}

impl Drop for SimulatedAgents {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
