//! A run as the command line describes it, in either form.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_launch::RunRequest;
use busyhour_report::RunShow;

use crate::live::LiveArgs;
use crate::outputs::OutputFile;
use crate::thresholds::ThresholdFiles;

/// A run and how it is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunCommand {
    /// What to run.
    pub(crate) run: RunRequest,
    /// Overwrite an existing results file and report.
    pub(crate) force: bool,
    /// Directory for JMeter's dashboard files.
    pub(crate) dashboard: Option<PathBuf>,
    /// Print the summary as JSON.
    pub(crate) json: bool,
    /// Other files to write at the end.
    pub(crate) files: Vec<OutputFile>,
    /// The command line was JMeter's: print JMeter's lines and listen on its stop port.
    pub(crate) as_jmeter: bool,
    /// Files for the outcome of the thresholds.
    pub(crate) threshold_files: ThresholdFiles,
    /// Tables to show at the end.
    pub(crate) show: RunShow,
    /// Live view and control.
    pub(crate) live: LiveArgs,
    /// Open the report at the end.
    pub(crate) open_report: bool,
    /// Time for users to finish their samples after a stop request, if given.
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
