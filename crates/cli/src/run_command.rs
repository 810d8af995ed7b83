//! A run as described by the command line, in Busyhour's or JMeter's form.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_launch::RunRequest;
use busyhour_report::RunShow;
use busyhour_terminal::outputs::OutputFile;
use busyhour_verb_inputs::thresholds::ThresholdFiles;

use crate::agents::AgentsOfRun;
use crate::live::LiveArgs;
use crate::observing::RunObservation;

/// A run and the way in which it is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunCommand {
    /// The request for the run.
    pub(crate) run: RunRequest,
    /// Whether an existing results file and report are overwritten.
    pub(crate) force: bool,
    /// Directory for JMeter's dashboard files.
    pub(crate) dashboard: Option<PathBuf>,
    /// Whether the summary is printed as JSON.
    pub(crate) json: bool,
    /// Other files to write at the end.
    pub(crate) files: Vec<OutputFile>,
    /// Whether the command line had JMeter's form: JMeter's lines are printed, and the run listens on JMeter's stop port.
    pub(crate) as_jmeter: bool,
    /// Files for the outcome of the thresholds.
    pub(crate) threshold_files: ThresholdFiles,
    /// Tables to show at the end.
    pub(crate) show: RunShow,
    /// Options for the live view and its control of the run.
    pub(crate) live: LiveArgs,
    /// The observation of the system under test.
    pub(crate) observation: RunObservation,
    /// The agents that generate the load; `None` if this process does.
    pub(crate) agents: Option<AgentsOfRun>,
    /// Whether the report is opened at the end.
    pub(crate) open_report: bool,
    /// Time for users to finish their samples after a stop request; `None` if not given.
    pub(crate) grace: Option<Duration>,
}

impl RunCommand {
    /// Whether the run is for a URL instead of a plan.
    pub(crate) fn is_for_url(&self) -> bool {
        let target = self.run.plan.to_string_lossy();
        target.split_once("://").is_some_and(|(scheme, _)| {
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        })
    }
}
