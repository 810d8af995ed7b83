//! Selects and claims agents for a run.

use super::settings::ControllerSettings;
use crate::error::ClusterError;
use crate::messages::{AgentAnswer, AgentInfo, AgentRequest, PROTOCOL};
use crate::orders::Orders;

/// The free agents with the right labels.
pub(super) fn suitable(found: &[AgentInfo], settings: &ControllerSettings) -> Vec<AgentInfo> {
    let has_labels = |agent: &&AgentInfo| {
        settings.labels.iter().all(|(name, value)| agent.labels.get(name) == Some(value))
    };
    found.iter().filter(|agent| agent.run.is_none()).filter(has_labels).cloned().collect()
}

/// Claims an agent. Returns false if it was claimed by another controller in the meantime.
pub(super) async fn claim(orders: &Orders, agent: &AgentInfo) -> Result<bool, ClusterError> {
    let request = AgentRequest::Claim {
        run: orders.run.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
    };
    match orders.ask(&agent.id, &request).await? {
        AgentAnswer::Claimed => Ok(true),
        AgentAnswer::Busy { .. } => Ok(false),
        AgentAnswer::Refused { reason } => Err(ClusterError::Refused { agent: agent.name.clone(), reason }),
        AgentAnswer::Clock(_) => Err(ClusterError::message("the claim of an agent", "an unexpected answer")),
    }
}

/// Why there are too few agents.
pub(super) fn too_few(
    found: &[AgentInfo],
    claimed: &[AgentInfo],
    wanted: usize,
    settings: &ControllerSettings,
) -> String {
    let mut text = format!("only {} of {wanted} agents are available", claimed.len());
    let busy: Vec<String> = found
        .iter()
        .filter_map(|agent| Some(format!("{} works for {}", agent.name, agent.run.as_ref()?)))
        .filter(|text| !text.is_empty())
        .take(5)
        .collect();
    if found.is_empty() {
        text += "; no agent answered";
    } else if !busy.is_empty() {
        text += &format!("; {}", busy.join(", "));
    }
    if !settings.labels.is_empty() {
        let labels: Vec<String> =
            settings.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        text += &format!("; required labels: {}", labels.join(", "));
    }
    text
}
