//! The observation of a run in a program that was built without the feature `observe`: nothing is observed.

use busyhour_launch::Prepared;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::hinted;
use clap::Args;

use crate::events::ShownEvents;
use crate::missing::build_hint;

/// Options of a run's observation, which are refused.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ObserveRunArgs {
    #[arg(long, value_name = "SOURCES", hide = true)]
    observe: Vec<String>,
    #[arg(long, value_name = "TIME", hide = true)]
    observe_interval: Option<String>,
    #[arg(long, value_name = "FILE", hide = true)]
    observe_ca: Option<String>,
    #[arg(long, value_name = "PATTERN", hide = true)]
    observe_metrics: Vec<String>,
}

/// A run without observation.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunObservation;

/// The series of an observed run; there is none.
#[derive(Debug)]
pub(crate) enum ObservedSeries {}

impl ObserveRunArgs {
    /// Refuses the options, except for `--observe none`.
    pub(crate) fn read(&self, _keep_secrets: bool) -> Result<RunObservation, CommandError> {
        let sources = self.observe.iter().any(|list| list.trim() != "none");
        let option =
            match (sources, &self.observe_interval, &self.observe_ca, self.observe_metrics.is_empty()) {
                (true, ..) => "--observe",
                (_, Some(_), ..) => "--observe-interval",
                (_, _, Some(_), _) => "--observe-ca",
                (.., false) => "--observe-metrics",
                (false, None, None, true) => return Ok(RunObservation),
            };
        let message =
            format!("this program was built without the observation of systems, so it has no {option}");
        Err(hinted(message, &build_hint("observe")).into())
    }
}

impl RunObservation {
    /// Does nothing.
    pub(crate) fn without_load(&mut self) {}

    /// Does nothing.
    #[cfg_attr(not(feature = "cluster"), allow(dead_code, reason = "only runs on agents have a hub"))]
    pub(crate) fn leave_out(&mut self, _host: String, _port: u16) {}

    /// Whether anything is observed.
    pub(crate) fn is_on(&self) -> bool {
        false
    }

    /// Observes nothing, because the demo also works without the observation.
    #[cfg_attr(not(feature = "demo"), allow(dead_code, reason = "only the demo names sources itself"))]
    #[allow(clippy::unnecessary_wraps, reason = "the observation of a program with the feature can fail")]
    pub(crate) fn of_list(_list: &str) -> Result<RunObservation, CommandError> {
        Ok(RunObservation)
    }

    /// Observes nothing.
    #[allow(clippy::unnecessary_wraps, reason = "the observation of a program with the feature can fail")]
    pub(crate) fn attach(
        &self,
        _prepared: &Prepared,
        _events: &ShownEvents,
        _is_silent: bool,
    ) -> Result<Option<ObservedSeries>, CommandError> {
        Ok(None)
    }
}
