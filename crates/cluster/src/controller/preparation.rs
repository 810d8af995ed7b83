//! The order to prepare a run, for each agent.

use busyhour_arrivals::LoadShare;
use busyhour_launch::{Prepared, RunRequest};
use busyhour_program::clock::Clock;
use busyhour_record::RunDir;

use super::settings::ControllerSettings;
use crate::error::ClusterError;
use crate::messages::{AgentObservation, FileFact, PrepareOrder};

/// Everything in the order that is the same for all agents.
#[derive(Clone, Debug)]
pub(super) struct Preparation {
    /// The request for the whole load.
    request: RunRequest,
    pub(super) clock: Clock,
    grace_ms: u64,
    lease_s: u64,
    observe: AgentObservation,
}

/// The part of the order that differs.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) share: LoadShare,
    pub(super) files: Vec<FileFact>,
    /// The start of the run's clock, by the clock of the agent's process in ns.
    pub(super) origin_ns: i64,
    /// Delay after the end of a second before it is sent, in ms.
    pub(super) phase_ms: u64,
    /// Whether the agent joins a run that has started.
    pub(super) joins: bool,
}

impl Preparation {
    /// The preparation of a run.
    ///
    /// # Errors
    /// The plan cannot be read.
    pub(super) fn of(
        prepared: &Prepared,
        settings: &ControllerSettings,
    ) -> Result<Preparation, ClusterError> {
        let plan = std::fs::read(RunDir::open(prepared.dir().path()).plan_path())
            .map_err(ClusterError::file(prepared.dir().plan_path()))?;
        let plan_text = String::from_utf8(plan)
            .map_err(|_| ClusterError::Agents("the plan is not in UTF-8; convert it first".into()))?;
        Ok(Preparation {
            request: agent_request(prepared, plan_text),
            clock: prepared.clock().clone(),
            grace_ms: u64::try_from(prepared.control().grace().as_millis()).unwrap_or(u64::MAX),
            lease_s: settings.lease.as_secs().max(1),
            observe: settings.observe,
        })
    }

    /// The order for an agent.
    pub(super) fn order(&self, seat: Seat) -> PrepareOrder {
        let Seat { share, files, origin_ns, phase_ms, joins } = seat;
        PrepareOrder {
            request: RunRequest { share, ..self.request.clone() },
            files,
            origin_ns,
            wall_start_ms: self.clock.wall_start_ms(),
            grace_ms: self.grace_ms,
            lease_s: self.lease_s,
            phase_ms,
            joins,
            observe: self.observe,
        }
    }
}

/// The request of the agents for the whole load, without everything that the controller does itself.
fn agent_request(prepared: &Prepared, plan_text: String) -> RunRequest {
    let request = prepared.request();
    RunRequest {
        plan: request.plan.file_name().map_or_else(|| "plan.jmx".into(), Into::into),
        plan_text: Some(plan_text),
        url_plan: request.url_plan.clone(),
        hashed_with_plan: request.hashed_with_plan.clone(),
        known_warnings: request.known_warnings.clone(),
        properties: prepared.resolved_properties(),
        seed: Some(prepared.info().seed),
        user_factor: request.user_factor,
        allow_unsupported: request.allow_unsupported,
        verify_tls: request.verify_tls,
        proxy: request.proxy.clone(),
        request_deadline: request.request_deadline,
        open: request.open.clone(),
        spin: request.spin,
        command_line: request.command_line.clone(),
        keep_secrets: request.keep_secrets,
        has_secret_url: request.has_secret_url,
        backs_off: request.backs_off,
        length: request.length,
        ..RunRequest::default()
    }
}
