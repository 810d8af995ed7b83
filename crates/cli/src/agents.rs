//! Runs on agents: the options of `busyhour run`, and the start of such a run.

pub(crate) mod failure;
pub(crate) mod labels;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use busyhour_cluster::{
    AbandonedRun, AgentObservation, ClusterError, Controller, ControllerSettings, CsvRows, Invitation,
    OnAgentLoss,
};
use busyhour_diagnostic::io_hints::chain;
use busyhour_launch::{Prepared, RunEvent, RunHandle, RunObserver as _};
use busyhour_program::clock::Clock;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::Exit;
use busyhour_terminal::quantities::time_ns;
use clap::{Args, ValueEnum};

use failure::failure;
use labels::labels;

use crate::events::ShownEvents;

/// Default time to wait for agents.
const WAIT: Duration = Duration::from_secs(10);

/// Default time without a message from the controller after which agents stop.
const LEASE: Duration = Duration::from_secs(30);

/// Default if the share of a lost agent is given to another one, which waits for this time.
const SHORT_LEASE: Duration = Duration::from_secs(5);

/// Shortest such time: the controller sends a message every second.
const LEASE_MIN: Duration = Duration::from_secs(2);

/// Options of runs on agents.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Several machines")]
pub(crate) struct OnArgs {
    /// Generate the load on the agents of a hub: invitation of the hub for controllers.
    ///
    /// A file (busyhour-hub/controller.json), a line that starts with bh1_, or the address of a NATS server without
    /// authentication (nats://host:4222).
    #[arg(long, value_name = "HUB", hide_short_help = true)]
    on: Option<String>,
    /// Number of agents (default: all that are free).
    #[arg(long, value_name = "N", requires = "on", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..))]
    agents: Option<u32>,
    /// Give every agent all users of the plan, as JMeter does, instead of dividing them.
    #[arg(long, requires = "agents", hide_short_help = true)]
    users_per_agent: bool,
    /// How the load is divided: equal, or cores for shares in proportion to the agents' cores (default: equal).
    #[arg(
        long,
        value_name = "HOW",
        requires = "on",
        conflicts_with = "users_per_agent",
        hide_short_help = true
    )]
    shares: Option<ShareChoice>,
    /// What agents observe on their machines (default: auto, or none with --observe none).
    #[arg(long, value_name = "WHAT", requires = "on", hide_short_help = true)]
    observe_agents: Option<ObserveChoice>,
    /// Leave the records on the agents; the results come from the seconds that they send.
    #[arg(long, requires = "on", hide_short_help = true)]
    leave_records: bool,
    /// Use only agents with this label; may be given several times.
    #[arg(long = "where", value_name = "NAME=VALUE", requires = "on", hide_short_help = true)]
    labels: Vec<String>,
    /// Time to wait until enough agents are free (default: 10s).
    #[arg(long, value_name = "TIME", requires = "on", hide_short_help = true)]
    wait_for_agents: Option<String>,
    /// Which agents get the rows of CSV files: split, unique or copy (default: split for files that are read once, copy for others).
    #[arg(long, value_name = "ROWS", requires = "on", hide_short_help = true)]
    csv: Option<CsvChoice>,
    /// Time without a message from this program after which agents stop the run (default: 30s; 5s with redistribute).
    #[arg(long, value_name = "TIME", requires = "on", hide_short_help = true)]
    agent_lease: Option<String>,
    /// Action when an agent is lost (default: continue).
    #[arg(long, value_name = "ACTION", requires = "on", hide_short_help = true)]
    on_agent_loss: Option<LossAction>,
}

/// What agents observe on their machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ObserveChoice {
    /// Nothing.
    None,
    /// The machine.
    Os,
    /// The machine, and the systems under test that run on it.
    Auto,
}

/// How the load is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShareChoice {
    /// All shares have the same size.
    Equal,
    /// In proportion to the cores of the agents.
    Cores,
}

/// Which agents get the rows of CSV files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CsvChoice {
    /// Row i goes to agent i modulo their number.
    Split,
    /// As split; a plan in which a row could be used twice is refused.
    Unique,
    /// Every agent gets all rows.
    Copy,
}

/// The action when an agent is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LossAction {
    /// The other agents go on; the share of the lost agent is missing.
    Continue,
    /// Its share goes to an agent that is free, as soon as it has certainly stopped.
    Redistribute,
    /// The run is stopped.
    Stop,
}

/// The agents of a run.
#[derive(Clone, Debug)]
pub(crate) struct AgentsOfRun {
    settings: ControllerSettings,
    /// The run that is taken over; `None` for a new run.
    abandoned: Option<Arc<Mutex<Option<AbandonedRun>>>>,
    /// The clock of that run.
    clock: Option<Clock>,
}

impl OnArgs {
    /// The settings; `None` if the run is not on agents. `is_observed` is whether the run is observed.
    pub(crate) fn settings(&self, is_observed: bool) -> Result<Option<AgentsOfRun>, CommandError> {
        let Some(hub) = &self.on else { return Ok(None) };
        let invitation =
            Invitation::for_controller(hub).map_err(|error| format!("--on: {}", chain(&error)))?;
        let wait = match &self.wait_for_agents {
            Some(text) => Duration::from_nanos(time_ns("--wait-for-agents", text)?),
            None => WAIT,
        };
        let lease = match &self.agent_lease {
            Some(text) => Duration::from_nanos(time_ns("--agent-lease", text)?),
            None if self.on_agent_loss == Some(LossAction::Redistribute) => SHORT_LEASE,
            None => LEASE,
        };
        if lease < LEASE_MIN {
            return Err("--agent-lease: at least 2s".into());
        }
        let settings = ControllerSettings {
            invitation,
            agents: self.agents.map(|agents| agents as usize),
            labels: labels(&self.labels).map_err(|error| format!("--where: {error}"))?,
            wait,
            csv_rows: match self.csv {
                Some(CsvChoice::Split) => CsvRows::Split,
                Some(CsvChoice::Unique) => CsvRows::Unique,
                Some(CsvChoice::Copy) => CsvRows::Copy,
                None => CsvRows::UsedOnce,
            },
            on_loss: match self.on_agent_loss {
                Some(LossAction::Stop) => OnAgentLoss::Stop,
                Some(LossAction::Redistribute) => OnAgentLoss::Redistribute,
                Some(LossAction::Continue) | None => OnAgentLoss::Continue,
            },
            observe: match self.observe_agents {
                Some(ObserveChoice::None) => AgentObservation::None,
                Some(ObserveChoice::Os) => AgentObservation::Os,
                Some(ObserveChoice::Auto) => AgentObservation::Auto,
                None if is_observed => AgentObservation::Auto,
                None => AgentObservation::None,
            },
            lease,
            leaves_records: self.leave_records,
            weighs_cores: self.shares == Some(ShareChoice::Cores),
        };
        Ok(Some(AgentsOfRun { settings, abandoned: None, clock: None }))
    }

    /// By what the users of the plan are multiplied.
    pub(crate) fn user_factor(&self) -> Option<u32> {
        self.agents.filter(|_| self.users_per_agent)
    }
}

impl AgentsOfRun {
    /// The agents of a run that is taken over.
    pub(crate) fn attach(run: AbandonedRun, invitation: Invitation) -> AgentsOfRun {
        AgentsOfRun {
            settings: run.settings(invitation),
            clock: Some(run.clock().clone()),
            abandoned: Some(Arc::new(Mutex::new(Some(run)))),
        }
    }

    /// The clock of a run that is taken over; `None` for a new run.
    pub(crate) fn clock(&self) -> Option<&Clock> {
        self.clock.as_ref()
    }

    /// Assembles the agents of a new run, or finds those of a run that is taken over.
    fn controller(
        &self,
        prepared: &Prepared,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Controller, ClusterError> {
        let abandoned = self.abandoned.as_ref();
        let taken = abandoned.and_then(|run| run.lock().unwrap_or_else(PoisonError::into_inner).take());
        match taken {
            Some(run) => Controller::attach(prepared, run, self.settings.clone(), say),
            None => Controller::assemble(prepared, self.settings.clone(), say),
        }
    }

    /// Assembles the agents and starts the run on them.
    pub(crate) fn start(
        &self,
        prepared: Prepared,
        events: &ShownEvents,
    ) -> Result<RunHandle, (Exit, String)> {
        let shown = events.clone();
        let say = move |text: &str| {
            let event = match text.strip_prefix("warning: ") {
                Some(warning) => RunEvent::Warning(warning.to_owned()),
                None => RunEvent::Notice(text.to_owned()),
            };
            shown.clone().event(&event);
        };
        let controller = self.controller(&prepared, say).map_err(|error| failure(&error))?;
        for (name, share) in controller.shares() {
            events.clone().event(&RunEvent::Notice(format!("the agent {name} generates the share {share}")));
        }
        let generator = Box::new(controller);
        prepared.start_remote(generator).map_err(|error| (Exit::Internal, chain(&error)))
    }
}
