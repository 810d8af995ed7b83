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
    let mut text = match (claimed.len(), wanted) {
        (0, 1) => "no agent is available".to_owned(),
        (0, _) => format!("none of {wanted} agents is available"),
        (ready, _) => format!("only {ready} of {wanted} agents are available"),
    };
    // Agents that this run has claimed work for it already.
    let is_claimed = |agent: &&AgentInfo| claimed.iter().any(|known| known.id == agent.id);
    let busy: Vec<String> = found
        .iter()
        .filter(|agent| !is_claimed(agent))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invitation::Invitation;

    #[test]
    fn agents_that_work_for_other_runs_are_named() {
        let agent = |name: &str, run: Option<&str>| AgentInfo {
            id: format!("{name}-1"),
            name: name.into(),
            run: run.map(str::to_owned),
            ..AgentInfo::default()
        };
        let settings = ControllerSettings::new(Invitation::default());
        let (own, other) = (agent("a", Some("this-run")), agent("b", Some("other-run")));
        let found = [own.clone(), other];
        assert_eq!(
            too_few(&found, std::slice::from_ref(&own), 2, &settings),
            "only 1 of 2 agents are available; b works for other-run"
        );
        assert_eq!(too_few(&found[1..], &[], 1, &settings), "no agent is available; b works for other-run");
        assert_eq!(too_few(&[], &[], 3, &settings), "none of 3 agents is available; no agent answered");
    }
}
