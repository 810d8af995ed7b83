//! Finds agents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use busyhour_program::clock::{monotonic_ns, wall_ns};
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use serde::Serialize;

use crate::clock_table::{Exchange, best_offset};
use crate::connection::{Role, connect};
use crate::error::ClusterError;
use crate::invitation::Invitation;
use crate::messages::{AgentAnswer, AgentInfo, AgentRequest};
use crate::orders::{Orders, signing_key};
use crate::subjects;
use crate::wire::decode;

/// Time to wait for the first answer, and for further ones after each answer.
const FIRST: Duration = Duration::from_millis(1_000);
const FURTHER: Duration = Duration::from_millis(300);

/// Number of exchanges with which the clock of an agent is read.
const CLOCK_EXCHANGES: usize = 4;

/// An agent that answered a call.
#[derive(Clone, Debug, Serialize)]
pub struct ListedAgent {
    /// Its description.
    #[serde(flatten)]
    pub info: AgentInfo,
    /// Time until its answer arrived, in ms.
    pub answered_ms: f64,
    /// The time of day on its machine minus that on this one, in ms; `None` if the agent does not tell it.
    pub clock_offset_ms: Option<f64>,
    /// The largest possible error of this difference, in ms.
    pub clock_bound_ms: Option<f64>,
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
        let orders = Orders { key: signing_key(invitation)?, client, run: "list".to_owned() };
        let mut agents = answers(&orders.client).await?;
        join_all(agents.iter_mut().map(|agent| read_clock(&orders, agent))).await;
        agents.sort_by(|a, b| (&a.info.name, &a.info.id).cmp(&(&b.info.name, &b.info.id)));
        Ok(agents)
    })
}

/// Compares the time of day on the agent's machine with that on this one.
async fn read_clock(orders: &Orders, agent: &mut ListedAgent) {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    let mut exchanges = Vec::with_capacity(CLOCK_EXCHANGES);
    for _ in 0..CLOCK_EXCHANGES {
        let sent = signed(wall_ns());
        let Ok(AgentAnswer::Clock(there)) = orders.ask(&agent.info.id, &AgentRequest::Clock).await else {
            return;
        };
        let received = signed(wall_ns());
        let took_ns = signed(there.sent_ns.saturating_sub(there.received_ns));
        let answered_there = signed(there.wall_ns);
        exchanges.push(Exchange { sent, received_there: answered_there - took_ns, answered_there, received });
    }
    if let Some(offset) = best_offset(&exchanges) {
        agent.clock_offset_ms = Some(offset.offset_ns as f64 / 1e6);
        agent.clock_bound_ms = Some(offset.bound_ns as f64 / 1e6);
    }
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
            agents.push(ListedAgent { info, answered_ms, clock_offset_ms: None, clock_bound_ms: None });
        }
    }
    tell_apart(&mut agents);
    Ok(agents)
}

/// Gives agents with the same name, such as those of one machine, their identifiers as names. They start with the name.
fn tell_apart(agents: &mut [ListedAgent]) {
    let mut counts = BTreeMap::<String, u32>::new();
    for agent in &*agents {
        *counts.entry(agent.info.name.clone()).or_default() += 1;
    }
    for agent in agents {
        if counts.get(&agent.info.name).is_some_and(|count| *count > 1) {
            agent.info.name.clone_from(&agent.info.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_with_the_same_name_are_told_apart() {
        let agent = |name: &str, id: &str| ListedAgent {
            info: AgentInfo { id: id.into(), name: name.into(), ..AgentInfo::default() },
            answered_ms: 1.0,
            clock_offset_ms: None,
            clock_bound_ms: None,
        };
        let mut agents = [agent("vm", "vm-1a"), agent("load", "load-2b"), agent("vm", "vm-3c")];
        tell_apart(&mut agents);
        assert_eq!(agents.map(|agent| agent.info.name), ["vm-1a", "load", "vm-3c"]);
    }
}
