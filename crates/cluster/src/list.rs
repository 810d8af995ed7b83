//! Finds agents.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use busyhour_program::clock::monotonic_ns;
use futures_util::StreamExt as _;
use serde::Serialize;

use crate::connection::{Role, connect};
use crate::error::ClusterError;
use crate::invitation::Invitation;
use crate::messages::AgentInfo;
use crate::subjects;
use crate::wire::decode;

/// Time to wait for the first answer, and for further ones after each answer.
const FIRST: Duration = Duration::from_millis(1_000);
const FURTHER: Duration = Duration::from_millis(300);

/// An agent that answered a call.
#[derive(Clone, Debug, Serialize)]
pub struct ListedAgent {
    /// Its description.
    #[serde(flatten)]
    pub info: AgentInfo,
    /// Time until its answer arrived, in ms.
    pub answered_ms: f64,
}

/// Calls all agents of a hub; returns those that answer, sorted by name. Blocks the calling thread.
///
/// # Errors
/// The hub cannot be reached.
pub fn list_agents(
    invitation: &Invitation,
    say: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Vec<ListedAgent>, ClusterError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ClusterError::Thread)?;
    runtime.block_on(async {
        let client = connect(invitation, Role::Controller, "list", Arc::new(say)).await?;
        let mut agents = answers(&client).await?;
        agents.sort_by(|a, b| (&a.info.name, &a.info.id).cmp(&(&b.info.name, &b.info.id)));
        Ok(agents)
    })
}

/// Calls all agents, also those that work for a run; returns those that answer.
pub(crate) async fn call(client: &Client) -> Result<Vec<AgentInfo>, ClusterError> {
    Ok(answers(client).await?.into_iter().map(|agent| agent.info).collect())
}

async fn answers(client: &Client) -> Result<Vec<ListedAgent>, ClusterError> {
    let failed = |error: &dyn std::fmt::Display| ClusterError::message("the call of agents", error);
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.map_err(|error| failed(&error))?;
    let called_ns = monotonic_ns();
    client
        .publish_with_reply(subjects::CALL, inbox, Vec::new().into())
        .await
        .map_err(|error| failed(&error))?;
    client.flush().await.map_err(|error| failed(&error))?;
    let mut agents: Vec<ListedAgent> = Vec::new();
    loop {
        let patience = if agents.is_empty() { FIRST } else { FURTHER };
        let Ok(Some(answer)) = tokio::time::timeout(patience, answers.next()).await else { break };
        // Without agents, the server answers with a status and no payload.
        let Ok(info) = decode::<AgentInfo>(&answer.payload) else {
            if answer.status.is_some() {
                break;
            }
            continue;
        };
        let answered_ms = monotonic_ns().saturating_sub(called_ns) as f64 / 1e6;
        if !agents.iter().any(|known| known.info.id == info.id) {
            agents.push(ListedAgent { info, answered_ms });
        }
    }
    Ok(agents)
}
